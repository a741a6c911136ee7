"""Drives the widget in a Playwright page: for tests, for ``demo --check``, and for owners of sites.

It uses ``window.PyAgent`` and what stands in the widget's shadow root. Waiting is done here, by asking the page again
and again: Playwright's own waiting evaluates text in the page, which a strict Content-Security-Policy forbids.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from playwright.sync_api import Locator, Page
from pydantic import BaseModel, ConfigDict

from py_agent.model.errors import AgentError

#: Seconds until the widget is usable: a slow machine boots Python in ten.
OPEN_TIMEOUT_S = 90.0

#: Seconds for one answer, booting included.
ANSWER_TIMEOUT_S = 120.0

#: Seconds for what needs neither network nor Python: a click, a redrawn list.
QUICK_TIMEOUT_S = 10.0

#: Seconds between two looks at the page: shorter than a person notices, long enough to cost the page nothing.
POLL_S = 0.05

#: States in which the widget has ended its loading, one way or the other.
SETTLED = frozenset({"ready", "waiting", "failed"})

ELEMENT = "py-agent-widget"

# Keeps what the page tells of itself. Installed once per page, before anything is started.
_RECORD = """() => {
  if (window.__pyAgentDriver || !window.PyAgent?.isPyAgent) return;
  const record = window.__pyAgentDriver = { timings: {}, engine: null, error: null, asks: {}, count: 0 };
  const plain = ({ code, summary, message, hint }) => (
    { code: code ?? "unexpected", message: summary ?? message, hint: hint ?? "" }
  );
  record.plain = plain;
  PyAgent.on("error", (error) => { record.error = plain(error); });
  PyAgent.on("state", ({ state, timings, engine }) => {
    if (state === "loading") record.error = null;
    if (timings) record.timings = timings;
    if (engine) record.engine = engine;
  });
}"""

# Null, or why the dialog did not open: a script that never arrives neither loads nor fails.
_OPEN = """(ms) => Promise.race([
  PyAgent.open().then(() => null, (error) => window.__pyAgentDriver.plain(error)),
  new Promise((done) => setTimeout(done, ms, { code: "timeout", message: "The chat did not open in time.", hint: "" })),
])"""

_ASK = """(text) => {
  const record = window.__pyAgentDriver;
  const id = `ask-${++record.count}`;
  record.asks[id] = null;
  PyAgent.ask(text).then(
    (value) => { record.asks[id] = { value }; },
    (error) => { record.asks[id] = { error: record.plain(error) }; },
  );
  return id;
}"""

_MESSAGES = """(name) => {
  const root = document.querySelector(name)?.shadowRoot;
  return Array.from(root?.querySelectorAll(".message") ?? [], (element) => ({
    role: element.classList.contains("question") ? "user"
      : element.matches(".interrupted, .decision") ? "notice" : "assistant",
    status: element.dataset.status ?? "",
    text: (element.querySelector(".bubble, .body, .remark")?.innerText ?? "").trim(),
    links: Array.from(element.querySelectorAll(".passages a"), (link) => link.href),
  }));
}"""

T = TypeVar("T")


class Answer(BaseModel):
    """What became of one question.

    Attributes:
        text: The answer's Markdown; empty without one.
        status: ``answered``, ``abstained``, ``uncited``; ``stopped``, ``interrupted`` or ``failed`` without an answer.
        sources: Checked citations, each with ``link``, ``page``, ``anchor``, ``title``, ``quote``.
        related: The best passages of a turn that found no answer.
        error: ``code``, ``message`` and ``hint`` where there is no answer.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    status: str
    sources: list[dict[str, Any]]
    related: list[dict[str, Any]]
    error: dict[str, str] | None = None


class Message(BaseModel):
    """One message as it stands in the dialog.

    Attributes:
        role: ``user``, ``assistant``, or ``notice`` for the line under an interrupted question and for a decision.
        status: How the answer ended; ``running`` while it is under way, ``search`` for a list of passages, ``""``.
        text: What the reader sees, without sources.
        links: Addresses of sources and passages.
    """

    model_config = ConfigDict(frozen=True)

    role: str
    status: str
    text: str
    links: list[str]


class WidgetDriver:
    """The widget of ``page``, which must have been opened (``page.goto``).

    Args:
        page: A Playwright page with the widget's script tag.
    """

    def __init__(self, page: Page) -> None:
        self.page = page

    @property
    def element(self) -> Locator:
        """The widget's element in the page; Playwright's locators reach into its shadow root."""
        return self.page.locator(ELEMENT)

    def open(self, timeout_s: float = OPEN_TIMEOUT_S) -> str:
        """Opens the dialog and waits until the chat is usable.

        Returns:
            ``ready``, or ``waiting`` where another tab answers.

        Raises:
            AgentError: What the widget shows as its error; ``no_widget`` if the page has none; ``timeout``.
        """
        self._attach()
        self._raise(self.page.evaluate(_OPEN, timeout_s * 1_000))
        state = self._until(self._settled, timeout_s, "The chat is not usable", "Look at the page's console.")
        if state == "failed":
            self._raise(self.error())
        return state

    def close(self) -> None:
        """Closes the dialog."""
        self._attach()
        self.page.evaluate("() => PyAgent.close()")

    def ask(self, text: str, timeout_s: float = ANSWER_TIMEOUT_S) -> Answer:
        """Asks and waits for the end of the turn. Starts what is needed; what goes wrong is in ``Answer.error``.

        Raises:
            AgentError: ``timeout``; ``no_widget`` if the page has none.
        """
        return self.wait(self.begin(text), timeout_s)

    def begin(self, text: str) -> str:
        """Asks and returns at once, with a name of the question for ``wait``.

        Raises:
            AgentError: ``no_widget`` if the page has none.
        """
        self._attach()
        return str(self.page.evaluate(_ASK, text))

    def wait(self, ask: str, timeout_s: float = ANSWER_TIMEOUT_S) -> Answer:
        """Waits for the end of the question that ``begin`` named.

        Raises:
            AgentError: ``timeout``.
        """
        look = "(id) => window.__pyAgentDriver.asks[id]"
        outcome = self._until(
            lambda: self.page.evaluate(look, ask), timeout_s, "The question was not answered", "Give it more time."
        )
        if "error" in outcome:
            error = outcome["error"]
            status = error["code"] if error["code"] in ("stopped", "interrupted") else "failed"
            return Answer(text="", status=status, sources=[], related=[], error=error)
        value = outcome["value"]
        return Answer(text=value["answer"], **{key: value[key] for key in ("status", "sources", "related")})

    def stop(self) -> None:
        """Clicks the stop button; the dialog must be open and an answer under way."""
        self.element.locator("button.stop").click(timeout=QUICK_TIMEOUT_S * 1_000)

    def new_conversation(self) -> None:
        """Clicks the button for a new conversation and waits until the list is empty; the dialog must be open.

        Raises:
            AgentError: ``timeout``.
        """
        self.element.locator("button.fresh").click(timeout=QUICK_TIMEOUT_S * 1_000)
        self._until(lambda: not self.messages(), QUICK_TIMEOUT_S, "The old conversation did not go", "")

    def messages(self) -> list[Message]:
        """What stands in the dialog, from top to bottom."""
        return [Message(**message) for message in self.page.evaluate(_MESSAGES, ELEMENT)]

    def state(self) -> str:
        """``absent``, ``idle``, ``loading``, ``waiting``, ``ready``, ``failed`` or ``suspended``."""
        found = self.page.evaluate("(name) => document.querySelector(name)?.dataset.state ?? 'absent'", ELEMENT)
        return str(found)

    def error(self) -> dict[str, str] | None:
        """The last error that the widget told: ``code``, ``message``, ``hint``."""
        found: dict[str, str] | None = self.page.evaluate("() => window.__pyAgentDriver?.error ?? null")
        return found

    def timings(self) -> dict[str, float]:
        """Milliseconds per phase of the last boot; empty before it or if it came before this driver."""
        found: dict[str, float] = self.page.evaluate("() => window.__pyAgentDriver?.timings ?? {}")
        return found

    def _attach(self) -> None:
        """Waits for ``window.PyAgent`` (its script may be async) and listens to it."""
        self._until(
            lambda: self.page.evaluate("() => window.PyAgent?.isPyAgent === true"),
            QUICK_TIMEOUT_S,
            "The page has no chat",
            "Check that its script tag is there and that the script loads.",
            code="no_widget",
        )
        self.page.evaluate(_RECORD)

    def _settled(self) -> str | None:
        state = self.state()
        return state if state in SETTLED else None

    def _raise(self, error: dict[str, str] | None) -> None:
        if error is not None:
            raise AgentError(error["message"], hint=error["hint"], code=error["code"])

    def _until(self, look: Callable[[], T | None], timeout_s: float, what: str, hint: str, code: str = "timeout") -> T:
        """The first true value of ``look``."""
        end = time.monotonic() + timeout_s
        while not (value := look()):
            if time.monotonic() > end:
                raise AgentError(f"{what} within {timeout_s:g} s (state: {self.state()}).", hint=hint, code=code)
            self.page.wait_for_timeout(POLL_S * 1_000)
        return value
