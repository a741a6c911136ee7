"""The vocabulary: what is required, what is refused, and what is worked out when."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from py_agent.engines.scripted import ScriptedEngine
from py_agent.model.identity import ASSISTANT, OWNER
from py_agent.model.instruction import StandingInstruction
from py_agent.model.media import Media
from py_agent.model.memory import Memory
from py_agent.model.prompt import PromptMessage
from py_agent.model.retrievable import Retrievable
from py_agent.model.thought import Thought
from py_agent.model.tokenizable import Tokenizable, TokenizableError
from py_agent.prompt.conversation import Conversation
from tests.harness import World, call


def test_a_dynamic_text_is_worked_out_in_its_context_and_falls_back_without_one() -> None:
    text = Tokenizable(lambda context: f"call {context}" if context is not None else "no call yet")
    assert (text.render("c1"), str(text), text.is_static) == ("call c1", "no call yet", False)
    assert Tokenizable("fixed").tokens(len) == 5


@pytest.mark.parametrize("evaluator", [lambda context: 7, lambda context: None, lambda context: context.missing])
def test_an_evaluator_that_gives_no_text_is_loud(evaluator: Any) -> None:
    with pytest.raises(TokenizableError):
        Tokenizable(evaluator).render()


def test_a_thought_is_the_assistants_and_a_payload_needs_the_engine_it_is_for() -> None:
    assert Thought(id="t", kind="plan", content=Tokenizable("x")).identity == ASSISTANT
    Thought(id="t", kind="thinking", content=Tokenizable(""), payload={"sig": 1}, replay="litert")
    with pytest.raises(ValidationError, match="payload"):
        Thought(id="t", kind="thinking", content=Tokenizable("x"), payload={"sig": 1})
    with pytest.raises(ValidationError, match="content"):
        Thought(id="t", kind="nudge", content=Tokenizable(" "))


def test_a_dynamic_thought_is_evaluated_once_when_the_prompt_is_put_together() -> None:
    calls: list[Any] = []

    def evaluate(context: Any) -> str:
        calls.append(context)
        return f"I saw {context}"

    conversation = Conversation("system")
    conversation.thought(Thought(id="t", kind="nudge", content=Tokenizable(evaluate)))
    assert calls == []
    first = conversation.prompt("now")
    second = conversation.prompt("later")
    assert first == second  # what stands in a prompt is never rewritten
    assert first.messages[-1].content == "I saw now"
    assert calls == ["now"]


def test_knowledge_has_no_default_trust() -> None:
    with pytest.raises(ValidationError, match="trust"):
        Retrievable(id="p1", content="x", source="a.html")  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        Retrievable(id="p1", content="x", source="a.html", trust="mine")  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="trust"):
        Memory(id="m", content="x", source="t")  # type: ignore[call-arg]


def test_an_instruction_is_the_owners_unless_somebody_else_is_named() -> None:
    assert StandingInstruction(text="Be brief.").author == OWNER
    with pytest.raises(ValidationError):
        StandingInstruction(text="x" * 301)


async def test_an_engine_that_takes_no_pictures_refuses_them_by_name() -> None:
    async def read() -> bytes:
        return b""

    from py_agent.agent import Pipelines
    from py_agent.runner.contexts import DispatchContext
    from py_agent.runner.types import Next

    async def attach(context: DispatchContext, next_: Next) -> None:
        picture = Media(kind="image", mime="image/png", trust="first-party", read=read)
        message = PromptMessage(role="user", content="Look.", attachments=(picture,))
        context.conversation._turn.append(message)
        await next_()

    world = World(
        ScriptedEngine([call("say_i_dont_know", reason="x")]),
        pipelines=Pipelines(dispatch_input=(attach,)),
        planner=False,
    )
    end = await world.ask("What is this?")
    assert end.error is not None
    assert (end.error["code"], "takes no image" in end.error["message"]) == ("refused", True)
