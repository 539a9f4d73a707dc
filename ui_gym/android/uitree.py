"""Elements from what `uiautomator dump` writes: XML, one ``node`` for every view that is shown.

A node that can be touched speaks for what lies in it, as a screen reader has it: a row of a list is
one element, named by its texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from ui_gym.contract.device import Element
from ui_gym.contract.uitree import Corners, Scale, elements_of, parse_xml, value_state

MAX_XML = 8 << 20
"""The longest tree that is read, in characters."""
MAX_JOINED = 6
"""A node with more texts in it is a region of the screen, and they are told one by one."""

_BOUNDS = re.compile(r"\[(-?\d{1,6}),(-?\d{1,6})\]\[(-?\d{1,6}),(-?\d{1,6})\]")

_ROLES = {
    "button": "button", "imagebutton": "button", "floatingactionbutton": "button", "chip": "button",
    "materialbutton": "button", "switch": "switch", "switchcompat": "switch",
    "switchmaterial": "switch", "togglebutton": "switch", "compoundbutton": "switch",
    "checkbox": "checkbox", "checkedtextview": "checkbox", "radiobutton": "radio",
    "edittext": "textbox", "autocompletetextview": "textbox",
    "multiautocompletetextview": "textbox", "textinputedittext": "textbox", "seekbar": "slider",
    "slider": "slider", "progressbar": "progressbar", "spinner": "combobox", "textview": "text",
    "imageview": "image", "image": "image", "listview": "list", "recyclerview": "list",
    "gridview": "list", "scrollview": "scroll", "nestedscrollview": "scroll",
    "horizontalscrollview": "scroll", "viewpager": "scroll", "webview": "web", "tab": "tab",
}  # fmt: skip
"""Roles by the last part of a class's name, in lower case."""

_VALUED = ("slider", "progressbar")


def elements_from_xml(xml: str, scale: Scale = 1.0) -> tuple[Element, ...]:
    """The elements worth telling, in the order of the tree, numbered from 0.

    Args:
        xml: What `uiautomator` wrote; a message after it is ignored.
        scale: From the device's pixels to the observed ones.

    Raises:
        DeviceError: it is no such tree.
    """
    tree = tree_of(xml) or xml.strip()  # an empty one is <hierarchy rotation="0" />
    root = parse_xml(tree, MAX_XML, what="the screen's tree", writer="uiautomator")
    told = ((_role(node), _name(node), _corners(node), _states(node)) for node in _told(root))
    return elements_of(told, scale)


def tree_of(output: str) -> str | None:
    """The XML in the output of `uiautomator dump /dev/tty`, without the message at its end."""
    start, end = output.find("<?xml"), output.rfind("</hierarchy>")
    start = output.find("<hierarchy") if start < 0 else start
    return output[start : end + len("</hierarchy>")] if 0 <= start < end else None


def _told(root: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """The nodes that are worth a line; those that can be touched have been given a name."""
    waiting = [root]
    spoken_for: set[ElementTree.Element] = set()
    while waiting:
        node = waiting.pop()
        waiting += reversed(node)
        if node.tag != "node" or node in spoken_for or node.get("visible-to-user") == "false":
            continue
        if _is_touched(node):
            _adopt(node, spoken_for)
            yield node
        elif _own_name(node) or node.get("checkable") == "true":
            yield node


def _adopt(node: ElementTree.Element, spoken_for: set[ElementTree.Element]) -> None:
    """Let a node that can be touched speak for what in it cannot: its texts, the mark of a row."""
    texts, marks = [], []
    waiting = list(reversed(node))
    while waiting:
        child = waiting.pop()
        if _is_touched(child):
            continue
        if child.get("checkable") == "true":
            marks.append(child)
        elif _own_name(child):
            texts.append(child)
        waiting += reversed(child)
    if len(marks) == 1 and node.get("checkable") != "true":
        for what in ("class", "checkable", "checked"):
            node.set(what, marks[0].get(what, ""))
        spoken_for.update(marks)
    own = _own_name(node)
    if own or _role(node) == "textbox":
        spoken_for.update(child for child in texts if _own_name(child) in own)
    elif len(texts) <= MAX_JOINED:
        spoken_for.update(texts)
        node.set("content-desc", ", ".join(dict.fromkeys(map(_own_name, texts))))


def _is_touched(node: ElementTree.Element) -> bool:
    clickable = node.get("clickable") == "true" or node.get("long-clickable") == "true"
    return clickable or _role(node) == "textbox"


def _role(node: ElementTree.Element) -> str:
    kind = node.get("class", "").rpartition(".")[2].rpartition("$")[2].lower()
    role = _ROLES.get(kind)
    if role is None:
        role = "checkbox" if node.get("checkable") == "true" else "group"
    if role in ("group", "text", "image") and node.get("clickable") == "true":
        return "button"
    return role


def _own_name(node: ElementTree.Element) -> str:
    return (node.get("content-desc") or node.get("text") or "").strip()


def _name(node: ElementTree.Element) -> str:
    """What it is called; of a field, not what stands in it."""
    role = _role(node)
    if role == "textbox":
        return (node.get("content-desc") or node.get("hint") or "").strip()
    return node.get("content-desc", "").strip() if role in _VALUED else _own_name(node)


def _states(node: ElementTree.Element) -> Iterator[str]:
    if node.get("checkable") == "true" and node.get("checked") == "true":
        yield "checked"
    if node.get("focused") == "true":
        yield "focused"
    if node.get("enabled") == "false":
        yield "disabled"
    if node.get("selected") == "true":
        yield "selected"
    role, text = _role(node), node.get("text", "")
    if role == "textbox":
        # An empty field gives its hint for its text.
        value = "" if text and text == node.get("hint") else text
        yield value_state(value)
    elif role in _VALUED and text:
        yield value_state(text)


def _corners(node: ElementTree.Element) -> Corners | None:
    match = _BOUNDS.fullmatch(node.get("bounds", ""))
    if match is None:
        return None
    left, top, right, bottom = map(int, match.groups())
    return left, top, right, bottom
