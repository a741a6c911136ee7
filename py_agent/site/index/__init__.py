"""Writing an index: what ``py_agent.search`` reads."""

from py_agent.site.index.write import DEFAULT_BASE_URL, write_index

__all__ = ["DEFAULT_BASE_URL", "write_index"]
