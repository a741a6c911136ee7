"""Driving the widget as a reader does: for our tests, for ``demo --check``, and for the tests of a site's owner.

Everything goes through what a reader has, the elements of the widget's open shadow root: no script is evaluated in the
page, so that the driver works under any Content-Security-Policy.
"""

from __future__ import annotations

import dataclasses
import json
import time
from typing import Any, Final

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from py_agent.model.errors import AgentError

#: Seconds for an answer, the first start of Python included: a cold start on a slow machine takes about ten.
ANSWER_S: Final = 120.0

#: Seconds for what only moves elements: the launcher, the dialog.
DISPLAY_S: Final = 20.0

#: Seconds between two looks at a state that changes by itself.
POLL_S: Final = 0.05

ELEMENT: Final = "py-agent-widget"


#: A source as the reader sees it: ``title``, ``link`` (absolute), ``quote``, and of what it cites ``passage``, ``page``
#: and ``anchor``.
Source = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Answer:
    """An answer as the reader sees it.

    Attributes:
        text: The answer's text, without status line, sources and buttons.
        sources: The checked citations, in order.
        related: The passages offered where no answer was found.
        status: ``answered``, ``abstained``, ``uncited``, ``stopped``, ``failed``, or ``search`` for the passages that
            the search shows while another tab answers.
        error: ``code``, ``message`` and ``hint`` of what the reader is told when it failed; None otherwise.
        first_text_s: Seconds from sending until the first words of an answer stood there; None if there were none
            before the end.
        done_s: Seconds from sending until the answer was complete.
    """

    text: str
    sources: list[Source]
    related: list[Source]
    status: str
    error: dict[str, str] | None
    first_text_s: float | None
    done_s: float


@dataclasses.dataclass(frozen=True)
class Message:
    """One message of the conversation on display: ``role`` is ``user`` or ``assistant``."""

    role: str
    text: str


class WidgetDriver:
    """The widget on ``page``, which must have been opened already.

    Raises:
        AgentError: From every method: ``no_widget`` where the page shows no launcher or dialog, ``timeout`` where an
            answer takes longer than it may.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.root: Locator = page.locator(ELEMENT)
        self.launcher = self.root.locator(".launcher")
        self.dialog = self.root.locator("[role=dialog]")
        self.field = self.dialog.locator("textarea")
        self._opened: float | None = None
        self._timings: dict[str, float] = {}

    def open(self) -> None:
        """Opens the dialog, as a click on the launcher does. Does nothing when it is open."""
        if self.dialog.is_visible():
            return
        self._opened = self._opened or time.monotonic()
        try:
            self.launcher.click(timeout=DISPLAY_S * 1_000)
            self.dialog.wait_for(state="visible", timeout=DISPLAY_S * 1_000)
        except PlaywrightTimeoutError as error:
            raise AgentError(
                "The page shows no chat: " + (self.error() or "there is no launcher, or it opens no dialog") + ".",
                hint="Look at the page's console: the script tag may be missing, or a setting on it wrong.",
                code="no_widget",
            ) from error

    def close(self) -> None:
        """Closes the dialog."""
        self.dialog.get_by_role("button", name="Close the chat").click()

    def wait_until_ready(self, timeout_s: float = ANSWER_S) -> None:
        """Waits until the harness answers, or only the search does because another tab has it (``waiting``).

        Args:
            timeout_s: Seconds.

        Raises:
            AgentError: ``timeout``; ``load_failed`` with the widget's own words.
        """
        limit = time.monotonic() + timeout_s
        while (state := self.state()) not in {"ready", "waiting"}:
            if state == "failed":
                raise AgentError(f"The chat did not start. {self.error()}", hint="", code="load_failed")
            if time.monotonic() > limit:
                raise AgentError(
                    f"The chat was not ready within {timeout_s:g} s; its state is {state!r}.",
                    hint="Look at the page's console and its requests.",
                    code="timeout",
                )
            self._wait()
        if self._opened is not None:
            self._timings.setdefault("ready_s", round(time.monotonic() - self._opened, 3))

    def send(self, text: str) -> Locator:
        """Sends a question and returns the element of its answer, without waiting for it.

        Raises:
            AgentError: ``timeout``: the question does not show up in the conversation.
        """
        self.open()
        before = self._answers().count()
        self.field.fill(text)
        self.field.press("Enter")
        answer = self._answers().nth(before)
        try:
            answer.wait_for(state="attached", timeout=DISPLAY_S * 1_000)
        except PlaywrightTimeoutError as error:
            raise AgentError(
                f"The chat did not take the question; its state is {self.state()!r}. {self.error()}".strip(),
                hint="It takes none while it answers another one.",
                code="timeout",
            ) from error
        return answer

    def ask(self, text: str, timeout_s: float = ANSWER_S) -> Answer:
        """Asks as a reader does and waits for the end of the answer.

        Args:
            text: The question.
            timeout_s: Seconds from sending to the end of the answer.

        Raises:
            AgentError: ``timeout``; ``load_failed`` when the chat failed to start.
        """
        # The stored conversation comes in when the chat is ready; messages counted before that would be off.
        self.open()
        self.wait_until_ready(timeout_s)
        started = time.monotonic()
        element = self.send(text)
        first_text: float | None = None
        while (status := self._status(element)) == "running":
            elapsed = time.monotonic() - started
            if first_text is None and self._has_text(element):
                first_text = elapsed
            if elapsed > timeout_s:
                raise AgentError(
                    f"There was no complete answer within {timeout_s:g} s.",
                    hint="Look at the page's console; a longer time-out helps slow machines.",
                    code="timeout",
                )
            self._wait()
        done = time.monotonic() - started
        self._timings.setdefault("first_answer_s", round(done, 3))
        return self._read(element, status, first_text, done)

    def timings(self) -> dict[str, float]:
        """Seconds from opening until ready (``ready_s``), from sending the first question until its answer was complete
        (``first_answer_s``), and the harness's own boot phases (``boot_PHASE_ms``, milliseconds)."""
        phases: dict[str, float] = json.loads(self.root.get_attribute("data-timings") or "{}")
        return {**self._timings, **{f"boot_{name}_ms": round(ms, 1) for name, ms in phases.items()}}

    def stop(self) -> None:
        """Stops the answer under way."""
        self.dialog.get_by_role("button", name="Stop the answer").click()

    def new_conversation(self) -> None:
        """Begins an empty conversation."""
        self.dialog.get_by_role("button", name="New conversation").click()

    def messages(self) -> list[Message]:
        """The conversation on display."""
        shown = []
        for element in self.dialog.locator("article.message").all():
            question = "question" in (element.get_attribute("class") or "").split()
            text = element.locator(".bubble" if question else ".body").inner_text()
            shown.append(Message("user" if question else "assistant", text.strip()))
        return shown

    def state(self) -> str:
        """``idle``, ``loading``, ``waiting``, ``ready``, ``failed`` or ``suspended``."""
        return self.root.get_attribute("data-state", timeout=DISPLAY_S * 1_000) or "idle"

    def error(self) -> str:
        """What the widget tells the reader about a failure of its own; empty if nothing."""
        parts = self.root.locator(".notice .error, .launcher-note.shown")
        return " ".join(part.strip() for part in parts.all_inner_texts()).replace("\n", " ")

    def notice(self) -> str:
        """The strip under the dialog's header; empty if there is none."""
        return " ".join(self.dialog.locator(".notice").inner_text().split())

    def _answers(self) -> Locator:
        return self.dialog.locator("article.answer")

    def _wait(self) -> None:
        # Not time.sleep: Playwright hears of events only while it waits itself.
        self.page.wait_for_timeout(POLL_S * 1_000)

    @staticmethod
    def _status(element: Locator) -> str:
        return element.get_attribute("data-status") or ""

    @staticmethod
    def _has_text(element: Locator) -> bool:
        try:
            return bool(element.locator(".body").inner_text(timeout=1_000).strip())
        except PlaywrightError:
            return False

    def _read(self, element: Locator, status: str, first_text: float | None, done: float) -> Answer:
        body = element.locator(".body")
        error = element.locator(".error")
        failed = error.count() > 0
        return Answer(
            text=body.inner_text().strip() if body.count() else "",
            sources=_sources(element.locator("> .sources li, > .passages li")),
            related=_sources(element.locator("> .related li")),
            status=status,
            error=_error(element, error) if failed else None,
            first_text_s=first_text,
            done_s=done,
        )


def _error(element: Locator, error: Locator) -> dict[str, str]:
    hint = error.locator(".hint")
    return {
        "code": element.get_attribute("data-code") or "",
        "message": error.locator("p").first.inner_text(),
        "hint": hint.inner_text() if hint.count() else "",
    }


def _sources(items: Locator) -> list[Source]:
    found: list[Source] = []
    for item in items.all():
        link = item.locator("a")
        quote = item.locator("q")
        found.append(
            {
                "title": link.inner_text(),
                "link": link.get_attribute("href") or "",
                "quote": (quote.text_content() or "") if quote.count() else "",
                **{name: link.get_attribute(f"data-{name}") or "" for name in ("passage", "page", "anchor")},
            }
        )
    return found
