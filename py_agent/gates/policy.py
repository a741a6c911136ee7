"""Every threshold of the gates, with its reason."""

from __future__ import annotations

#: Folded characters of a quote at least (or the whole passage, if that is shorter): below it, "the" would verify.
MIN_QUOTE_CHARS = 8

#: Times that prose without a citation is held back before it is shown, marked as uncited: a model that has been told
#: twice and still writes prose will go on doing so, and prose that says what it is does no harm.
STUCK_PROSE_LIMIT = 2

#: Words of a reply that may pass as conversation. Longer prose makes claims, and claims want sources.
CONVERSATIONAL_WORDS = 60

#: Passages offered to a reader whose question found no answer.
RELATED_PASSAGES = 3

#: Characters of a model's reason for not knowing that the reader sees.
REASON_CHARS = 240

#: Times that a model may ask for the same call before it is told to answer. Two runs and one refusal that repeats the
#: result have then stood in its prompt.
SAME_CALL_LIMIT = 3

#: Requests that a model has left for its answer after it was told; then the turn ends without it.
FOLDED_REQUESTS = 2

#: Results that are put in front of it then, the newest ones: more would bury the one it needs.
FOLDED_RESULTS = 3
