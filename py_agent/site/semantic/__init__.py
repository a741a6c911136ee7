"""Meaning at build time: encodes passages, and fits the table that stands for the encoder at query time."""

from py_agent.site.semantic.build import Semantic, build_semantic
from py_agent.site.semantic.cache import CachingEncoder
from py_agent.site.semantic.encoder import Encoder, is_installed, require_encoder

__all__ = ["CachingEncoder", "Encoder", "Semantic", "build_semantic", "is_installed", "require_encoder"]
