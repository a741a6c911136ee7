"""The forms in which small models write tool calls, one module a form. None of them ever evaluates anything."""
