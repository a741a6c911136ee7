"""What one turn may cost. A limit that is reached ends the turn honestly, never with an exception to the reader."""

from __future__ import annotations

from py_agent.model.errors import AgentError
from py_agent.runner.contexts import TurnContext


class LimitReached(AgentError):
    """The turn has used what it may cost, without an end that anyone accepted."""

    code = "limit_reached"


def check_limits(turn: TurnContext) -> None:
    """To be called before each request.

    Raises:
        LimitReached: Tokens or seconds are used up.
    """
    most = turn.config.max_turn_tokens
    if most is not None and turn.tokens >= most:
        raise LimitReached(
            f"The turn has used {turn.tokens} tokens; at most {most} are allowed.", hint="Ask a narrower question."
        )
    if turn.seconds_left <= 0:
        raise out_of_time(turn)


def out_of_time(turn: TurnContext) -> LimitReached:
    """The error of a turn whose time is over."""
    seconds = turn.config.max_turn_seconds
    return LimitReached(f"The turn has taken {seconds:.0f} s, which is its limit.", hint="Ask a narrower question.")
