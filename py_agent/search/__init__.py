"""The query side of the index: pure Python, in the page and on the command line."""

from py_agent.search.base import Hit, Page, Searcher, SearchResult
from py_agent.search.searcher import IndexSearcher, open_index

__all__ = ["Hit", "IndexSearcher", "Page", "SearchResult", "Searcher", "open_index"]
