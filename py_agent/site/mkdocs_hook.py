"""Puts the generated reference into the documentation's site; ``mkdocs.yml`` names this file under ``hooks``."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from py_agent.site.reference import read_reference, write_reference


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds ``reference.md``."""
    files.append(File.generated(config, "reference.md", content=write_reference(read_reference())))
    return files
