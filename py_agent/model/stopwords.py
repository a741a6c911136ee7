"""Words that say nothing about what a question is about. English only: other languages keep all their words, and
rarity does the weighing."""

from __future__ import annotations

_ENGLISH = """
a about after again all also am an and any anyone are as at be because been before being between both but by can
cannot could did do does doing don done down during each either else every few for from further get gets getting
got had has have having he her here hers him his how i if in instead into is isn it its itself just let like made
make makes making may me might more most must my myself need needs no nor not now of off on once one only or other
our ours out over own per please same shall she should show so some somebody someone something such t tell than
that the their theirs them then there these they thing things this those through to too under until up us use used
uses using very via want wants was way we were what when where whether which while who whom whose why will with
within without would you your yours yourself s re ve ll d m
"""

STOP_WORDS: frozenset[str] = frozenset(_ENGLISH.split())
