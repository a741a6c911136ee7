"""Behind ``build.py``: sets up what is missing, then runs a command (:mod:`py_agent.site.door.main`).

:mod:`~py_agent.site.door.main` and :mod:`~py_agent.site.door.setup` need only the standard library: they run before
``.venv`` exists. The other modules run inside it.
"""
