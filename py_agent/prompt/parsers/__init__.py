"""Reads the calls that models write: their own form, and the forms they fall back to.

One module a form. None of them decides whether a text *is* a call: that is the splitter's, which knows where the text
stands. None evaluates anything.
"""
