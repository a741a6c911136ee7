"""Turn gates: a turn that runs asks its reader something, and goes on with the answer, or without one."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import TypeAdapter, ValidationError

from py_agent.model.errors import AgentError
from py_agent.model.gate import GateAnswer, GateRequest
from py_agent.runner.events import GateClosed, GateOpen
from py_agent.runner.types import Emit

#: Characters of an answer at most: it goes into the prompt.
MAX_ANSWER_CHARS = 2_000


class GateError(AgentError):
    """A decision cannot be taken. Codes: ``no_gate`` (none is open under this id), ``bad_answer`` (it stays open)."""

    code = "bad_answer"


class TurnGates:
    """The gates of one turn; one is open at a time, further ones wait for it.

    Args:
        emit: Takes ``gate_open`` and ``gate_closed``.
        interactive: Whether somebody can answer. Else every gate closes at once as ``aborted``: nothing ever hangs.
    """

    def __init__(self, emit: Emit, *, interactive: bool) -> None:
        self._emit = emit
        #: Whether somebody can answer.
        self.interactive = interactive
        self._turn = asyncio.Lock()
        self._open: _Gate | None = None

    async def wait_for(self, request: GateRequest, schema: Any = None) -> GateAnswer:
        """Asks, and waits for the answer, for the time-out, or for the end of the turn.

        Args:
            request: What is asked.
            schema: A type that pydantic knows; an answer must fit it. By default ``bool`` to approve and text to ask.

        Returns:
            What came of it; never raises because nobody answered.

        Raises:
            asyncio.CancelledError: The turn was stopped; the gate is closed as ``aborted``.
        """
        if not self.interactive:
            return GateAnswer(result="aborted")
        async with self._turn:
            gate = _Gate(request, schema)
            self._open = gate
            self._emit(GateOpen(gate=request))
            answer = GateAnswer(result="aborted")
            try:
                async with asyncio.timeout(request.timeout_s):
                    answer = await gate.decided
            except TimeoutError:
                answer = GateAnswer(result="timeout")
            finally:
                self._open = None
                self._emit(GateClosed(id=request.id, result=answer.result, value=answer.value))
            return answer

    def resolve(self, gate_id: str, value: Any) -> None:
        """The reader's decision.

        Raises:
            GateError: ``no_gate``: it was decided, or its time is over. ``bad_answer``: the value is none that the gate
                takes; it stays open.
        """
        gate = self._open
        if gate is None or gate.request.id != gate_id or gate.decided.done():
            raise GateError(
                "This question is not open any more: it was answered, or its time was over.",
                hint="Ask the assistant again.",
                code="no_gate",
            )
        gate.decided.set_result(GateAnswer(result="resolved", value=gate.check(value)))

    def expire(self, gate_id: str) -> None:
        """Ends the time of a gate now, as a replay of one that nobody answered does. Does nothing to another one."""
        gate = self._open
        if gate is not None and gate.request.id == gate_id and not gate.decided.done():
            gate.decided.set_result(GateAnswer(result="timeout"))


class _Gate:
    def __init__(self, request: GateRequest, schema: Any) -> None:
        self.request = request
        self.decided: asyncio.Future[GateAnswer] = asyncio.get_running_loop().create_future()
        self._schema = schema if schema is not None else (bool if request.kind == "approve" else str)

    def check(self, value: Any) -> Any:
        try:
            checked = TypeAdapter(self._schema).validate_python(value, strict=True)
        except ValidationError as error:
            raise GateError(
                f"The answer does not fit the question: {error.errors()[0]['msg']}.", hint="Answer once more."
            ) from error
        if not isinstance(checked, str):
            return checked
        if not checked.strip() or len(checked) > MAX_ANSWER_CHARS:
            raise GateError(
                f"An answer has between 1 and {MAX_ANSWER_CHARS} characters; this one has {len(checked)}.",
                hint="Answer once more.",
            )
        if self.request.choices and checked not in self.request.choices:
            raise GateError(
                f"The answer is none of the choices: {', '.join(self.request.choices)}.", hint="Take one of them."
            )
        return checked
