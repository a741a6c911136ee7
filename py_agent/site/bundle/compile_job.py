"""Runs inside Pyodide, never here: compiles one tree of sources to sourceless ``.pyc`` files, in place.

``pyc``s must carry the magic number of the Python that reads them, so the one that will run them compiles them.
Unchecked-hash headers keep a time stamp out of the bytes and a look for the source out of every import.
"""

import os
import py_compile


def compile_tree(root: str, optimize: int) -> int:
    """Replace every ``X.py`` below `root` by ``X.pyc`` beside it.

    Args:
        root: The folder.
        optimize: As for :func:`compile`: 0 keeps assertions and docstrings, 2 drops both.

    Returns:
        The number of files compiled.

    Raises:
        py_compile.PyCompileError: A file is no valid Python.
    """
    count = 0
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".py"):
                continue
            source = os.path.join(folder, name)  # noqa: PTH118 - runs where every import counts
            py_compile.compile(
                source,
                cfile=source + "c",
                dfile=os.path.relpath(source, root),
                doraise=True,
                optimize=optimize,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
            os.remove(source)  # noqa: PTH107
            count += 1
    return count
