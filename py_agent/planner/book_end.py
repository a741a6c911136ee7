"""The planner's dispatch: before a word of the answer exists, the model commits to what kind of answer it will be."""

from __future__ import annotations

from collections.abc import Sequence

from py_agent.model.errors import EngineError, WindowTooSmall
from py_agent.model.plan import SCOPE_WORDS, Plan
from py_agent.model.prompt import GenerateOptions
from py_agent.model.record import StoredThought
from py_agent.model.tool import ToolRegistry
from py_agent.planner.tool import make_plan
from py_agent.prompt.conversation import Conversation
from py_agent.prompt.envelopes import envelope
from py_agent.prompt.wording import wording
from py_agent.runner.contexts import DispatchContext, TurnContext
from py_agent.runner.dispatch import DispatchRunner
from py_agent.runner.events import Status
from py_agent.runner.executor import execute
from py_agent.runner.types import Middleware, Next

#: Tries for a plan. Decoding is arg-max: each try has its own words, since the same prompt gives the same answer.
PLANNER_TRIES = 3

#: Output of one try at most, thoughts included: a plan is one short call.
PLANNER_OUTPUT_TOKENS = 512

# After these the engine is not what it was: to go on as if there were merely no plan would hide it.
_NEVER_SWALLOWED = ("out_of_memory", "lost")


async def plan_turn(
    turn: TurnContext, tool_names: Sequence[str], input_pipeline: Sequence[Middleware[DispatchContext]]
) -> None:
    """Sets ``turn.plan``. Fails open: without a plan the turn goes on.

    Args:
        turn: The turn.
        tool_names: What the worker will have.
        input_pipeline: As the worker's.

    Raises:
        EngineError: ``out_of_memory`` or ``lost``.
    """
    turn.emit(Status(phase="planning"))
    tool = make_plan(tool_names)
    for attempt in range(PLANNER_TRIES):
        conversation = Conversation(
            wording("planner_system", title=turn.config.title),
            tools=(tool.spec(),),
            history=turn.history,
            thinking=True,
        )
        reader = envelope(turn.question, kind="reader", nonce=turn.nonce())
        conversation.user(wording("planner_question", reader=reader, attempt=attempt))
        context = DispatchContext(
            turn=turn,
            purpose="planner",
            conversation=conversation,
            tools=ToolRegistry.of([tool]),
            options=GenerateOptions(max_output_tokens=min(PLANNER_OUTPUT_TOKENS, turn.config.max_output_tokens)),
            allowed={tool.name},
        )
        runner = DispatchRunner(execute, input_pipeline=input_pipeline, output_pipeline=[_one_try], max_iterations=1)
        try:
            await runner.run(context)
        except EngineError as error:
            if error.code in _NEVER_SWALLOWED:
                raise
            continue
        except WindowTooSmall:
            # The worker's own check will say so, with the numbers of the prompt that matters.
            return
        if context.proposal is not None:
            turn.plan = Plan.model_validate(context.proposal.args.model_dump())
            turn.thoughts.append(StoredThought(id=f"{turn.turn}-plan", kind="plan", text=plan_thought(turn.plan)))
            return


async def _one_try(context: DispatchContext, next_: Next) -> None:
    if context.proposal is not None:
        context.signals.ack()
    else:
        context.signals.abort("no plan in this try")
    await next_()


def plan_thought(plan: Plan) -> str:
    """The plan as the worker's own thought, in the first person."""
    return wording("plan_thought", plan=plan, words=SCOPE_WORDS[plan.answer_scope])
