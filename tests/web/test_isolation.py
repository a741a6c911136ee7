"""The host page and the widget leave each other alone."""

from __future__ import annotations

import json

import pytest

from tests.web.conftest import ROOT, Open, page_html, tag

pytestmark = pytest.mark.browser

HOSTILE = (ROOT / "tests" / "fixtures" / "web" / "hostile_css.html").read_text(encoding="utf-8")

_STYLES = """(selector) => {
  const style = getComputedStyle(document.querySelector(selector));
  return Object.fromEntries(Array.from(style, (name) => [name, style.getPropertyValue(name)]));
}"""


def test_a_closed_widget_changes_nothing_in_the_page(tab: Open) -> None:
    plain = tab(HOSTILE.replace("<script async", "<!-- <script async").replace("</script>", "</script> -->"))
    opened = tab(HOSTILE)
    opened.driver.element.locator("button.launcher").wait_for()
    for selector in ("#host-button", "h1"):
        assert opened.page.evaluate(_STYLES, selector) == plain.page.evaluate(_STYLES, selector)
    opened.page.evaluate("document.querySelector('#host-button').onclick = () => { window.clicked = true; }")
    box = opened.page.locator("#host-button").bounding_box()
    assert box is not None
    opened.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert opened.page.evaluate("window.clicked") is True
    assert opened.page.evaluate("document.documentElement.scrollHeight") == plain.page.evaluate(
        "document.documentElement.scrollHeight"
    )


def test_hostile_styles_do_not_reach_the_dialog(tab: Open) -> None:
    opened = tab(HOSTILE)
    opened.driver.open()
    opened.driver.ask("cited: styled")
    size = opened.page.viewport_size
    box = opened.driver.element.locator("[role=dialog]").bounding_box()
    assert size is not None
    assert box is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= size["width"]
    assert box["y"] + box["height"] <= size["height"]
    assert opened.driver.element.locator("textarea").is_visible()
    style = opened.shadow(
        "(({fontSize, letterSpacing, lineHeight, color}) => ({fontSize, letterSpacing, lineHeight, color}))"
        "(getComputedStyle(root.querySelector('.body p')))"
    )
    assert 13 <= float(style["fontSize"].removesuffix("px")) <= 20
    assert style["letterSpacing"] == "normal"
    assert float(style["lineHeight"].removesuffix("px")) < 2 * float(style["fontSize"].removesuffix("px"))
    assert style["color"] != "rgb(128, 0, 128)"
    for name in ("send", "close", "fresh"):
        button = opened.driver.element.locator(f"button.{name}").bounding_box()
        assert button is not None
        assert 32 <= button["width"] <= 60
    field = opened.shadow("getComputedStyle(root.querySelector('textarea')).fontSize")
    assert float(field.removesuffix("px")) >= 16  # below that, phones zoom into the field


def test_a_page_in_the_top_layer_does_not_hide_the_launcher(tab: Open) -> None:
    style = "<style>.over{position:fixed;inset:0;z-index:2147483647;background:red}</style>"
    opened = tab(page_html(head=style, tail='<div class="over"></div>' + tag()))
    opened.driver.element.locator("button.launcher").click(timeout=3_000)
    opened.driver.element.locator("[role=dialog]").wait_for()


def test_right_to_left_pages_mirror_the_dialog_but_not_code(tab: Open) -> None:
    opened = tab(page_html(attributes=' dir="rtl"', tail=tag()))
    opened.driver.open()
    opened.driver.ask("markdown:```\ncode\n```")
    assert opened.shadow("getComputedStyle(root.querySelector('.panel')).direction") == "rtl"
    assert opened.shadow("getComputedStyle(root.querySelector('.body pre')).direction") == "ltr"
    close = opened.driver.element.locator("button.close").bounding_box()
    title = opened.driver.element.locator("h1").bounding_box()
    assert close is not None
    assert title is not None
    assert close["x"] < title["x"]


def test_printing_leaves_the_widget_out(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    opened.page.emulate_media(media="print")
    assert not opened.driver.element.locator("[role=dialog]").is_visible()
    opened.driver.close()
    assert not opened.driver.element.locator("button.launcher").is_visible()


def test_motion_stops_for_those_who_asked_for_that(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.page.emulate_media(reduced_motion="reduce")
    opened.driver.open()
    opened.driver.begin("lines:50")
    assert opened.shadow("getComputedStyle(root.querySelector('.status'), '::before').animationName") == "none"


def test_on_a_narrow_screen_the_dialog_fills_it(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.page.set_viewport_size({"width": 390, "height": 700})
    opened.driver.open()
    box = opened.driver.element.locator("[role=dialog]").bounding_box()
    assert box == {"x": 0, "y": 0, "width": 390, "height": 700}


def test_long_headings_stay_inside_the_dialog(tab: Open) -> None:
    opened = tab(page_html(tail=tag()))
    opened.driver.open()
    path = ["Application programming interface", "class lantern.Request(environ, shallow=False, populate=True)"]
    place = {
        "link": "/api.html",
        "path": [*path, "max_form_memory_size: t.Optional[int] = None"],
        "quote": "word " * 60,
    }
    opened.driver.ask(f"sources:{json.dumps([place])}")
    right = "root.querySelector('.list').getBoundingClientRect().right"
    edges = opened.shadow("Array.from(root.querySelectorAll('.passages *'), (e) => e.getBoundingClientRect().right)")
    assert max(edges) <= opened.shadow(right)
