"""The query side of the index: pure Python, in the page and in the terminal alike."""

from py_agent.search.base import Hit, Searcher, SearchResult
from py_agent.search.searcher import IndexSearcher, open_index

__all__ = ["Hit", "IndexSearcher", "SearchResult", "Searcher", "open_index"]
