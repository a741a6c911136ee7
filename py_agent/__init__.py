"""A docs chatbot that lives in the page: the harness, in pure Python, for CPython >= 3.11 and Pyodide."""

__version__ = "0.1.0"
