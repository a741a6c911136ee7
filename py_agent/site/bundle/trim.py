"""What the page never needs: files left out of the standard library and of the wheels.

Drop lists, not keep lists: a module that is missing from a drop list costs bytes, one that is missing from a keep list
costs a reader the answer. A test imports the whole harness from the trimmed bundle. Every entry says why it may go.
Patterns are matched against the path inside the archive, with ``fnmatch`` (``*`` crosses slashes).
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

#: Pyodide's standard library. What needs processes, sockets, terminals or a desktop cannot work in a page; the rest are
#: developer's tools, and formats and protocols that a docs chatbot has no part in.
STDLIB = (
    # terminals, desktops, debuggers, profilers
    "_pyrepl/*", "pdb.py", "bdb.py", "cmd.py", "code.py", "rlcompleter.py", "tty.py", "pty.py", "curses/*",
    "turtle*", "tkinter/*", "idlelib/*", "profile.py", "cProfile.py", "pstats.py", "trace.py", "timeit.py",
    "getpass.py", "pyodide/console.py", "sqlite3/__main__.py", "asyncio/__main__.py", "antigravity.py", "this.py",
    "__hello__.py", "__phello__/*", "webbrowser.py", "profiling/*",
    # tests and docs about Python itself
    "unittest/*", "doctest.py", "pydoc.py", "pydoc_data/*", "test/*",
    # building and installing Python code
    "ensurepip/*", "venv/*", "lib2to3/*", "distutils/*", "zipapp.py", "compileall.py", "py_compile.py",
    "modulefinder.py", "pyclbr.py", "symtable.py", "tabnanny.py", "pickletools.py",
    # servers, mail and file transfer: the page has fetch and nothing else
    "xmlrpc/*", "wsgiref/*", "socketserver.py", "smtplib.py", "imaplib.py", "poplib.py", "ftplib.py", "mailbox.py",
    "netrc.py", "http/server.py", "http/cookiejar.py",
    # processes, second interpreters, other systems
    "multiprocessing/*", "concurrent/futures/process.py", "concurrent/futures/interpreter.py",
    "concurrent/interpreters/*", "asyncio/windows_*",
    # XML, sound, tables and shelves: no part of the harness reads them
    "xml/*", "plistlib.py", "wave.py", "shelve.py", "dbm/*", "filecmp.py", "fileinput.py",
    "optparse.py", "configparser.py", "tomllib/*", "statistics.py", "sched.py", "nturl2path.py",
    # legacy encodings: docs sites and every message here are UTF-8 (cp437 stays: it is zipfile's for old names)
    "encodings/cp[0-35-9]*", "encodings/cp42*", "encodings/mac_*", "encodings/iso*", "encodings/koi8*",
    "encodings/kz*", "encodings/ptcp*",
    "encodings/tis_*", "encodings/hp_*", "encodings/big5*", "encodings/gb*", "encodings/hz*", "encodings/euc_*",
    "encodings/shift_*", "encodings/johab*", "encodings/palmos*", "encodings/mbcs*", "encodings/oem*",
    "*/site-packages/README*", "site-packages/*",
)  # fmt: skip

#: Files of any wheel: types for editors, packaging data that nothing reads at run time, licence texts (they are in
#: ``dist/agent/licenses/``).
ANY_WHEEL = (
    "*.pyi",
    "*/py.typed",
    "*.dist-info/RECORD",
    "*.dist-info/sboms/*",
    "*.dist-info/licenses/*",
    "*.dist-info/LICENSE*",
    "*.dist-info/entry_points.txt",
)

#: Per wheel, by normalised name.
WHEELS: dict[str, tuple[str, ...]] = {
    # The V1 API (its import is lazy), checker plugins, and the modules that only forward to removed V1 names.
    "pydantic": ("pydantic/v1/*", "pydantic/mypy.py", "pydantic/_internal/_git.py"),
    # A PyInstaller hook with a test in it; the dispatchers fall back to the pure modules themselves.
    "rapidfuzz": ("rapidfuzz/__pyinstaller/*", "rapidfuzz/process_cpp.py"),
}

#: Wheels that only a question needs: they are fetched after the dialog is ready, while the question is typed.
LATE_WHEELS = frozenset({"json-repair", "python-jsonpath", "simpleeval"})

#: Build-time code of our own package, which never enters the page's wheel.
OWN_BUILD_TIME = ("py_agent/site", "py_agent/evals", "py_agent/testing", "py_agent/cli")


def dropped(path: str, patterns: Iterable[str]) -> bool:
    """Whether `path` (inside an archive, with slashes) matches one of `patterns`."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def wheel_patterns(name: str) -> tuple[str, ...]:
    """The drop list of the wheel of `name` (normalised: lower case, hyphens)."""
    return ANY_WHEEL + WHEELS.get(name, ())
