"""Tells talk from claims: prose that answers from the docs needs a source, a greeting does not."""

from __future__ import annotations

import re

from py_agent.gates.policy import CONVERSATIONAL_WORDS
from py_agent.runner.contexts import DispatchContext

# What makes a claim that a reader would act on: code, a flag, a call, a number, a path.
_CLAIM = re.compile(r"`|\b\d|(?<!\w)--?[A-Za-z]|\w\(\)|\w_\w|\w/\w|^ {4}\S", re.MULTILINE)


def is_conversational(context: DispatchContext) -> bool:
    """Whether the prose of this completion may stand without a source: short, without a claim, nothing retrieved."""
    turn = context.turn
    text = context.done.text
    if turn.shelf.ledger.retrieved or len(text.split()) > CONVERSATIONAL_WORDS or _CLAIM.search(text):
        return False
    return turn.plan is None or turn.plan.answer_kind in ("conversational", "rhetorical", "refusal")
