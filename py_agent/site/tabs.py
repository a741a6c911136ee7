"""Tabs: which panel belongs to which label, so that a page keeps the text of every tab, each under its name."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

#: How far above the labels the panels may hang: list, frame, and the frame's own wrapper.
LEVELS = 3
_LABEL_LISTS = '[role="tablist"], .tabbed-labels, .nav-tabs, .vp-code-group > .tabs'
_ANY = re.compile(r"role=[\"']?tab|tabbed-|tab-pane|vp-code-group")
_LABELS = '[role="tab"], label, .nav-link'
_PANELS = '[role="tabpanel"], .tabbed-block, .tab-pane, .vp-code-group > .blocks > *'


def find_tabs(tree: LexborHTMLParser, source: str) -> tuple[dict[int, str], frozenset[int]]:
    """Labels of the panels by the panels' ``mem_id``, and the ``mem_id`` of the label lists that are read thereby."""
    if not _ANY.search(source):
        return {}, frozenset()
    labels: dict[int, str] = {}
    read: set[int] = set()
    _by_reference(tree, labels)
    for strip in tree.css(_LABEL_LISTS):
        found = [" ".join(label.text().split()) for label in strip.css(_LABELS)]
        panels = _panels_of(strip, len(found))
        if not panels:
            continue
        read.add(strip.mem_id)
        for label, panel in zip(found, panels, strict=True):
            labels[panel.mem_id] = labels.get(panel.mem_id) or label
    return labels, frozenset(read)


def _by_reference(tree: LexborHTMLParser, labels: dict[int, str]) -> None:
    """Panels that say by whom they are labelled, or whose label says what it opens."""
    tabs = tree.css('[role="tab"]')
    by_id = {node.attributes.get("id") or "": node for node in tabs}
    by_panel = {node.attributes.get("aria-controls") or "": node for node in tabs}
    for panel in tree.css('[role="tabpanel"]'):
        label = by_id.get(panel.attributes.get("aria-labelledby") or "-") or by_panel.get(
            panel.attributes.get("id") or "-"
        )
        labels[panel.mem_id] = " ".join(label.text().split()) if label is not None else ""


def _panels_of(strip: LexborNode, count: int) -> list[LexborNode]:
    above = strip.parent
    for _ in range(LEVELS):
        if above is None or not count:
            return []
        found = [panel for panel in above.css(_PANELS) if _nearest_set(panel, strip, above)]
        if len(found) == count:
            return found
        if len(found) > count:
            return []
        above = above.parent
    return []


def _nearest_set(panel: LexborNode, strip: LexborNode, above: LexborNode) -> bool:
    """Whether no other panel stands between the panel and the set: tabs may hold tabs."""
    known = {node.mem_id for node in above.css(_PANELS)}
    node = panel.parent
    while node is not None and node.mem_id != above.mem_id:
        if node.mem_id in known:
            return False
        node = node.parent
    return strip.mem_id != panel.mem_id
