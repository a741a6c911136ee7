"""The bundle: everything a page loads, built into ``dist/agent/`` (docs/bundle.md tells what lies where and why).

``python build.py dist`` calls :func:`py_agent.site.bundle.dist.build`. One module a step; each step is a function of
its inputs alone and cached by their hash (:mod:`py_agent.site.bundle.cache`), so that the same sources give the same
bytes and the same names, and an unchanged build only looks.
"""
