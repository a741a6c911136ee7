"""The one door: python build.py dist | demo | test | bench | lock | clean (python build.py --help).

This file stays readable for any Python, so that an old one gets a sentence and no traceback; the rest is in
py_agent/site/door/, which needs nothing but the standard library until it has made .venv.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - an older Python gets here, and must be told
    sys.exit(
        "build.py: Python 3.11 or newer is needed, this is %d.%d. Install a newer one and run it by name, "  # noqa: UP031
        "for example: python3.11 build.py" % sys.version_info[:2]
    )

from py_agent.site.door.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
