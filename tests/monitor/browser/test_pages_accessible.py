"""The pages for those who see little or use the keyboard alone (WCAG 2.2, levels A and AA)."""

from __future__ import annotations

from typing import Any

import pytest
from all_views import NAMES, views
from watched_page import WatchedPage

from ui_gym_agents.monitor.app import MonitorServer

NAMED = {"button", "link", "textbox", "searchbox", "combobox", "spinbutton", "slider", "checkbox",
         "radio", "image", "dialog", "table"}  # fmt: skip
"""Roles that a screen reader reads with a name."""

FAINT = """
() => {
  const parse = (text) => {
    const numbers = text.match(/[\\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    const scale = text.startsWith("color(") ? 255 : 1;
    return [...numbers.slice(0, 3).map((x) => scale * x), numbers[3] ?? 1];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((x, i) => a * x + (1 - a) * below[i]);
  const behind = (node) => {
    if (!node) return [255, 255, 255];
    const color = parse(getComputedStyle(node).backgroundColor);
    return color[3] === 1 ? color.slice(0, 3) : over(color, behind(node.parentElement));
  };
  const part = (x) => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const found = {};
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    const text = texts.currentNode.data.trim();
    const seen = { opacityProperty: true, visibilityProperty: true };
    if (!text || !node.checkVisibility(seen)) continue;
    if (node.closest("svg, canvas, :disabled, option, .unseen, .skip, noscript")) continue;
    const style = getComputedStyle(node);
    let ground = behind(node);
    let opacity = 1;
    for (let one = node; one; one = one.parentElement) opacity *= getComputedStyle(one).opacity;
    const color = parse(style.color);
    const ink = over([...color.slice(0, 3), color[3] * opacity], ground);
    const [one, other] = [light(ink), light(ground)].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const name = `${node.tagName.toLowerCase()}.${[...node.classList].join(".")}`;
    if (ratio < (large ? 3 : 4.5)) found[name] ??= `${ratio.toFixed(2)}: ${text.slice(0, 40)}`;
  }
  return found;
}
"""
"""Texts whose contrast with what is behind them is too low (1.4.3), by their element."""

REACHABLE = """
() => {
  const all = [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex='0']")];
  const radios = new Set();
  return all.filter((node) => {
    if (node.disabled || node.tabIndex < 0) return false; // the latter is reached by other keys
    if (!node.checkVisibility({ visibilityProperty: true })) return false;
    if (node.type !== "radio") return true;
    const first = !radios.has(node.name);
    radios.add(node.name);
    return first;
  }).map((node, at) => (node.dataset.place = at));
}
"""
"""Numbers all controls in the order of the document; of radio buttons one a group."""

FOCUS = """
() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const drawn = (one) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
    return (outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) || boxShadow !== "none";
  };
  const box = node.getBoundingClientRect();
  return {
    place: node.dataset.place ?? null,
    name: `${node.tagName} ${node.className} ${node.getAttribute("aria-label") ?? ""} ${
      node.textContent.slice(0, 30)}`,
    visible: drawn(node) || drawn(node.parentElement) || [...node.children].some(drawn),
    inside: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
}
"""


def _open(page: WatchedPage, server: MonitorServer, name: str) -> None:
    hash, text = views(server)[name]
    page.open(f"{server.url}/{hash}")
    page.until_seen(text)


@pytest.mark.parametrize("name", NAMES)
def test_every_control_has_a_name(page: WatchedPage, shown: MonitorServer, name: str) -> None:
    _open(page, shown, name)
    nodes = page.run(("Accessibility.getFullAXTree", {}))["nodes"]
    controls = [n for n in nodes if not n["ignored"] and n["role"]["value"] in NAMED]
    assert len(controls) > 5
    unnamed = [_told(page, n) for n in controls if not n["name"]["value"].strip()]
    assert unnamed == []
    headings = [n for n in nodes if not n["ignored"] and n["role"]["value"] == "heading"]
    assert headings, "without a heading nobody knows where they are"


def _told(page: WatchedPage, node: dict[str, Any]) -> str:
    asked = {"backendNodeId": node["backendDOMNodeId"]}
    return str(page.run(("DOM.getOuterHTML", asked))["outerHTML"])[:200]


@pytest.mark.parametrize("name", NAMES)
def test_text_can_be_read_in_both_themes(
    page: WatchedPage, shown: MonitorServer, name: str
) -> None:
    for theme in ("light", "dark"):
        page.prefer(theme)
        _open(page, shown, name)
        assert page.js(f"({FAINT})()") == {}, theme


@pytest.mark.parametrize("name", NAMES)
def test_the_keyboard_reaches_every_control_in_order_and_shows_where_it_is(
    page: WatchedPage, shown: MonitorServer, name: str
) -> None:
    _open(page, shown, name)
    controls = page.js(f"({REACHABLE})()")
    reached: list[dict[str, Any]] = []
    for _ in range(len(controls) + 10):
        page.press("Tab")
        found = page.js(f"({FOCUS})()")
        if found is None or (reached and found["place"] == reached[0]["place"]):
            break
        reached.append(found)
    places = [one["place"] for one in reached if one["place"] is not None]
    missed = {str(place) for place in controls} - set(places)
    found = "(place) => document.querySelector(`[data-place='${place}']`).outerHTML"
    assert [page.js(found, place) for place in missed] == []
    assert [int(place) for place in places] == sorted(map(int, places))
    assert [one["name"] for one in reached if not one["visible"]] == []
    assert [one["name"] for one in reached if not one["inside"]] == []
