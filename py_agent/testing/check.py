"""``demo --check``: ask in a real browser, then hold every citation against the site's own files."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from py_agent.model.errors import AgentError
from py_agent.site.serve import SiteServer
from py_agent.testing.chromium import open_chromium
from py_agent.testing.driver import Answer, WidgetDriver
from py_agent.testing.verify import CitationError, verify_citation

#: Seconds for one answer: a slow machine boots Python in ten, and answers in one.
ANSWER_TIMEOUT_S = 120.0


class Checked(BaseModel):
    """One question, its answer, and what became of its citations.

    Attributes:
        failures: Why citations do not hold; empty if all do.
        seconds: From asking to the end of the answer; the first question's include booting.
    """

    question: str
    status: str
    answer: str
    sources: list[dict[str, Any]]
    related: list[dict[str, Any]]
    failures: list[str]
    seconds: float
    error: dict[str, str] | None = None


class Report(BaseModel):
    """All that ``demo --check`` found out.

    Attributes:
        agent_requests: Paths under ``/agent/`` that Chromium requested until the first answer, each once, the index
            left out: what a first visit loads.
        console_errors: Errors on the page's console.
    """

    ok: bool
    questions: list[Checked]
    timings: dict[str, float]
    agent_requests: list[str]
    console_errors: list[str]


def check(server: SiteServer, site: Path, questions: Sequence[str], *, start: str = "/") -> Report:
    """Asks ``questions`` in one page of ``server``, each in a conversation of its own.

    The check holds if no turn failed, each cited page and anchor exists, the quoted words stand there, and at least
    one question got a citation. An honest "not in these docs" cites nothing, and is no failure.

    Args:
        server: A running server with the agent and the index under ``/agent``.
        site: The folder of pages that was indexed.
        questions: What to ask.
        start: Path of the page to open.

    Raises:
        AgentError: ``no_chromium``, or the widget did not load (its own message).
    """
    errors: list[str] = []
    results: list[Checked] = []
    first_requests: list[str] = []
    begin = time.perf_counter()
    with open_chromium() as browser:
        page = browser.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(server.url + start)
        driver = WidgetDriver(page)
        driver.open()
        for number, question in enumerate(questions):
            if number:
                driver.new_conversation()
            results.append(_ask(driver, site, question))
            if not number:
                first_requests = _agent_requests(server)
        timings = {"total_s": round(time.perf_counter() - begin, 3), **driver.timings()}
    cited = sum(bool(result.sources) for result in results)
    ok = cited > 0 and not any(result.failures or result.status == "failed" for result in results)
    return Report(ok=ok, questions=results, timings=timings, agent_requests=first_requests, console_errors=errors)


def _ask(driver: WidgetDriver, site: Path, question: str) -> Checked:
    begin = time.perf_counter()
    answer: Answer = driver.ask(question, timeout_s=ANSWER_TIMEOUT_S)
    seconds = round(time.perf_counter() - begin, 3)
    failures = []
    for source in answer.sources:
        try:
            verify_citation(site, source["page"], source["anchor"], source["quote"])
            _verify_link(source)
        except CitationError as error:
            failures.append(str(error))
    if answer.status == "answered" and not answer.sources:
        failures.append("the answer cites nothing")
    return Checked(
        question=question,
        status=answer.status,
        answer=answer.text,
        sources=answer.sources,
        related=answer.related,
        failures=failures,
        seconds=seconds,
        error=answer.error,
    )


def _verify_link(source: dict[str, Any]) -> None:
    """The link that the reader clicks must lead to the page and the anchor that were checked."""
    link = urlsplit(source["link"])
    page = source["page"]
    pretty = page.removesuffix("index.html")
    if not link.path.endswith((f"/{page}", f"/{pretty}")):
        raise CitationError(f"{source['link']}: the link does not lead to {page}")
    if source["anchor"] and link.fragment.partition(":~:")[0] != source["anchor"]:
        raise CitationError(f"{source['link']}: the link does not lead to #{source['anchor']}")


def _agent_requests(server: SiteServer) -> list[str]:
    paths = dict.fromkeys(
        request.path.removeprefix("/agent/")
        for request in server.requests
        if request.path.startswith("/agent/") and not request.path.startswith("/agent/index/") and request.status < 400
    )
    return list(paths)


def print_report(report: Report) -> None:
    """The report for a person."""
    for result in report.questions:
        print(f"\nQ: {result.question}\n{result.status} in {result.seconds:.2f} s")
        print("  " + result.answer.strip().replace("\n", "\n  "))
        for source in result.sources:
            print(f"  [{source['link']}]\n    “{' '.join(source['quote'].split())}”")
        for source in result.related:
            print(f"  nearest: {source['link']}")
        for failure in result.failures:
            print(f"  NOT VERIFIED: {failure}")
        if result.error:
            print(f"  ERROR: {result.error['message']} {result.error['hint']}")
    print("\ntimings: " + ", ".join(f"{name} {value}" for name, value in report.timings.items()))
    for error in report.console_errors:
        print(f"console error: {error}")
    print("every citation holds" if report.ok else "the check FAILED")


def main(server: SiteServer, site: Path, questions: Sequence[str], json_file: Path | None = None) -> int:
    """Runs the check, prints it, and returns the exit status: 0 only if it holds."""
    try:
        report = check(server, site, questions)
    except AgentError as error:
        print(f"demo --check: {error}")
        return 1
    print_report(report)
    if json_file is not None:
        json_file.write_text(json.dumps(report.model_dump(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if report.ok else 1
