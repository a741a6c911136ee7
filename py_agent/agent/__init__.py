"""DocsAgent: the harness as one object. It wires runners, planner, tools and gates into the turn that a reader sees."""

from py_agent.agent.docs_agent import DocsAgent
from py_agent.agent.pipelines import Pipelines
from py_agent.model.config import AgentConfig

__all__ = ["AgentConfig", "DocsAgent", "Pipelines"]
