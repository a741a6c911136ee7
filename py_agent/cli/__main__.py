"""``python -m py_agent.cli``."""

from py_agent.cli import main

main()
