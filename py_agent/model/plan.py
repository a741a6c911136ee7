"""The plan of a turn: what kind of answer it wants, which tools it takes, how wide the answer should be."""

from __future__ import annotations

from typing import Literal

from py_agent.model.base import Record

AnswerKind = Literal["conversational", "tool_computed", "doc_cited", "capacity_scoped", "rhetorical", "refusal"]
AnswerScope = Literal["brief", "normal", "thorough"]

#: Words that an answer of each scope should stay under. A guide for the model, not a gate.
SCOPE_WORDS: dict[AnswerScope, int] = {"brief": 60, "normal": 150, "thorough": 350}


class Plan(Record):
    """What the planner committed to, before any word of the answer exists."""

    answer_kind: AnswerKind
    tools_to_use: tuple[str, ...] = ()
    answer_scope: AnswerScope = "normal"
