"""The real LiteRT-LM, reached from Python in Pyodide through the product's own worker and protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_agent.site.serve import Canned, SiteServer
from tests.browser.python_page import PythonPage

pytestmark = pytest.mark.browser

MODELS = {"CPU": "tiny-cpu", "GPU": "tiny-cpu", "GPU_ARTISAN": "tiny-artisan"}
COUNT_TO_20 = " ".join(str(number) for number in range(1, 21)) + "."

#: Python helpers for the page: an engine per backend, kept for the module, and a whole answer.
_HELPERS = """
_engines = {}

async def engine(backend, model, window=512):
    if backend not in _engines:
        settings = LitertSettings(wasm=js.assets.litertWasm, model=model, backend=backend, window=window)
        _engines[backend] = LitertEngine(port("engine"), settings)
        await _engines[backend].open()
    return _engines[backend]

def prompt(text, *more, tools=(), system="Answer briefly."):
    return Prompt(
        messages=(PromptMessage(role="system", content=system), PromptMessage(role="user", content=text), *more),
        tools=tools,
    )

async def answer(engine, prompt, tokens=80):
    async with aclosing(engine.generate(prompt, GenerateOptions(max_output_tokens=tokens))) as chunks:
        return [chunk.model_dump(mode="json") async for chunk in chunks]

def text_of(chunks):
    return "".join(chunk["text"] for chunk in chunks if chunk["kind"] == "text")
"""


@pytest.fixture(scope="module")
def python(browser: BrowserContext, server: SiteServer, assets: dict[str, Any]) -> Iterator[PythonPage]:
    page = browser.new_page()
    page.goto(server.url)
    python = PythonPage(page, f"{server.url}/agent/", assets)
    page.evaluate("code => pyodide.runPython(code)", _HELPERS)
    yield python
    page.close()


def model_url(server: SiteServer, backend: str) -> str:
    return f"{server.url}/models/{MODELS[backend]}.litertlm"


@pytest.mark.parametrize("backend", MODELS)
def test_each_backend_answers_and_streams(python: PythonPage, server: SiteServer, backend: str) -> None:
    chunks = python.run(
        "return await answer(await engine(backend, model), prompt('count to 20'))",
        backend=backend,
        model=model_url(server, backend),
    )
    assert "".join(chunk["text"] for chunk in chunks if chunk["kind"] == "text") == COUNT_TO_20
    assert len(chunks) > 20
    end = chunks[-1]
    assert (end["kind"], end["reason"]) == ("end", "stop")
    assert end["usage"]["prompt_tokens"] > 0
    assert end["usage"]["output_tokens"] > 20


@pytest.mark.parametrize("backend", MODELS)
def test_a_tool_call_comes_back_as_a_call_and_its_result_is_read(
    python: PythonPage, server: SiteServer, backend: str
) -> None:
    calls, text = python.run(
        """
        tools = tuple(
            ToolSpec(name=name, description="d", parameters={"type": "object", "properties": {}})
            for name in ("set_light", "get_weather", "set_timer")
        )
        question = "what is the weather in Paris?"
        model = await engine(backend, model)
        first = await answer(model, prompt(question, tools=tools))
        calls = [chunk["call"] for chunk in first if chunk["kind"] == "call"]
        call = CallSpec.model_validate(calls[0])
        more = (
            PromptMessage(role="model", calls=(call,)),
            PromptMessage(role="tool", name="get_weather", content="sunny"),
        )
        return [calls, text_of(await answer(model, prompt(question, *more, tools=tools)))]
        """,
        backend=backend,
        model=model_url(server, backend),
    )
    assert calls == [{"name": "get_weather", "arguments": {"city": "Paris"}}]
    assert text.startswith("It is ")


def test_a_stream_on_the_gpu_is_cancelled_and_the_next_answer_is_whole(python: PythonPage, server: SiteServer) -> None:
    taken, after = python.run(
        """
        model = await engine("GPU_ARTISAN", model)
        taken = []
        async with aclosing(model.generate(prompt("count to 40"), GenerateOptions())) as chunks:
            async for chunk in chunks:
                taken.append(chunk.text)
                if len(taken) == 3:
                    break
        return [taken, text_of(await answer(model, prompt("hello")))]
        """,
        model=model_url(server, "GPU_ARTISAN"),
    )
    assert "".join(taken) == "1 2"
    assert after == "Hello! How can I help you?"


def test_cancel_ends_the_running_stream_with_its_reason(python: PythonPage, server: SiteServer) -> None:
    reasons = python.run(
        """
        model = await engine("GPU_ARTISAN", model)
        reasons = []
        async with aclosing(model.generate(prompt("count to 40"), GenerateOptions())) as chunks:
            async for chunk in chunks:
                reasons.append(chunk.reason)
                if len(reasons) == 2:
                    stopping = asyncio.ensure_future(model.cancel())
        await stopping
        return reasons
        """,
        model=model_url(server, "GPU_ARTISAN"),
    )
    assert reasons[-1] == "cancelled"
    assert len(reasons) < 40


def test_an_answer_that_reaches_its_cap_says_so(python: PythonPage, server: SiteServer) -> None:
    end = python.run(
        "return (await answer(await engine('CPU', model), prompt('count to 20'), tokens=8))[-1]",
        model=model_url(server, "CPU"),
    )
    assert end["reason"] == "length"


def test_a_prompt_that_is_too_long_is_an_overflow_and_the_next_one_answers(
    python: PythonPage, server: SiteServer
) -> None:
    code, after = python.run(
        """
        model = await engine("CPU", model)
        try:
            code = (await answer(model, prompt("count to 20 " * 200)))[-1]
        except AgentError as error:
            code = error.code
        return [code, text_of(await answer(model, prompt("hello")))]
        """,
        model=model_url(server, "CPU"),
    )
    assert code == "overflow"
    assert after == "Hello! How can I help you?"


def test_a_killed_worker_fails_its_stream_with_lost_and_the_next_question_loads_again(
    python: PythonPage, server: SiteServer
) -> None:
    code, after = python.run(
        """
        own = port("engine")
        model = LitertEngine(own, LitertSettings(wasm=js.assets.litertWasm, model=url, backend="CPU", window=512))
        await model.open()
        line = js.lines[js.lines.length - 1]
        line.worker.terminate()  # from outside: nobody tells the port
        try:
            code = await answer(model, prompt("count to 20"))
        except AgentError as error:
            code = error.code
        after = text_of(await answer(model, prompt("hello")))
        own.close()
        return [code, after]
        """,
        url=model_url(server, "CPU"),
    )
    assert code == "lost"
    assert after == "Hello! How can I help you?"


@pytest.mark.parametrize(
    ("canned", "code", "said"),
    [
        (Canned(404, b"<!doctype html>nothing here", "text/html"), "load_failed", "404"),
        (Canned(200, b"<!doctype html><title>App</title>", "text/html"), "wrong_content", "HTML"),
        (Canned(200, b"<html>", "application/octet-stream"), "wrong_content", "HTML"),
        (Canned(200, b'{"error": "restricted"}', "application/json"), "wrong_content", "JSON"),
        (Canned(200, b"version https://git-lfs.github.com/spec/v1\noid", "text/plain"), "wrong_content", "Git LFS"),
        (Canned(200, b"", "application/octet-stream"), "wrong_content", "empty"),
    ],
)
def test_what_is_no_model_is_named_with_its_address(
    python: PythonPage, server: SiteServer, canned: Canned, code: str, said: str
) -> None:
    server.canned["/models/other.litertlm"] = canned
    url = f"{server.url}/models/other.litertlm"
    error = python.run(
        """
        own = port("engine")
        settings = LitertSettings(wasm=js.assets.litertWasm, model=url, backend="CPU", window=512)
        try:
            await LitertEngine(own, settings).open()
        except AgentError as error:
            return error_of(error)
        finally:
            own.close()
        """,
        url=url,
    )
    assert error["code"] == code
    assert url in error["message"]
    assert said in error["message"]
    assert "Unexpected token" not in error["message"]
    assert error["hint"]


def test_progress_counts_the_bytes_of_the_model(python: PythonPage, server: SiteServer) -> None:
    steps = python.run(
        """
        own = port("engine")
        steps = []
        settings = LitertSettings(wasm=js.assets.litertWasm, model=url, backend="CPU", window=512)
        await LitertEngine(own, settings).open(lambda *step: steps.append(step))
        own.close()
        return steps
        """,
        url=model_url(server, "CPU"),
    )
    loaded = [step[0] for step in steps]
    assert loaded == sorted(loaded)
    assert steps[-1][0] == steps[-1][1] == 1_577_952


def test_the_engine_leaves_the_console_of_the_page_alone(python: PythonPage, server: SiteServer) -> None:
    python.console.clear()
    python.run("return await answer(await engine('CPU', model), prompt('hello'))", model=model_url(server, "CPU"))
    assert python.console == []
