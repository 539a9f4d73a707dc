"""Elements from an accessibility tree in the XML that OSWorld's server writes.

A tag is a role of AT-SPI with ``-`` for spaces (``push-button``), states are attributes of the
namespace ``st``, and where a node is, is told by ``cp:screencoord`` and ``cp:size``, in pixels of
the machine's screen. Source: https://github.com/xlang-ai/OSWorld (``desktop_env/server/main.py``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from ui_gym.contract.device import Element
from ui_gym.errors import DeviceError

MAX_XML = 32 << 20
"""The longest tree that is read, in characters."""

MAX_VALUE = 1000
"""The longest content of a node that is told, in characters."""

NAMESPACES = {
    name: f"https://accessibility.ubuntu.example.org/ns/{path}"
    for name, path in {
        "st": "state",
        "attr": "attributes",
        "cp": "component",
        "doc": "document",
        "docattr": "document/attributes",
        "txt": "text",
        "val": "value",
        "act": "action",
    }.items()
}
"""The namespaces by their prefixes, as a tree of Linux has them."""

Scale = float | tuple[float, float]
"""Observed pixels for one of the screen's; across and down, where they differ."""

_ROLES = {
    "push-button": "button", "toggle-button": "button", "push-button-menu": "button",
    "check-box": "checkbox", "check-menu-item": "menuitemcheckbox", "radio-button": "radio",
    "radio-menu-item": "menuitemradio", "text": "textbox", "entry": "textbox",
    "password-text": "textbox", "document-text": "textbox", "combo-box": "combobox",
    "menu": "menuitem", "menu-item": "menuitem", "page-tab": "tab", "list-item": "listitem",
    "tree-item": "treeitem", "table-cell": "cell", "table-column-header": "columnheader",
    "table-row-header": "rowheader", "spin-button": "spinbutton", "label": "text",
    "static": "text", "caption": "text", "paragraph": "text", "scroll-bar": "scrollbar",
    "progress-bar": "progressbar", "level-bar": "progressbar", "tool-tip": "tooltip",
    "frame": "window", "tool-bar": "toolbar", "status-bar": "status", "info-bar": "status",
}  # fmt: skip
"""Our names of AT-SPI's roles; others stay as they are."""

_ACTED_ON = frozenset([
    "button", "checkbox", "menuitemcheckbox", "radio", "menuitemradio", "textbox", "combobox",
    "menuitem", "tab", "spinbutton", "link", "slider", "switch", "icon", "terminal",
])  # fmt: skip
"""What is told even without a name: it can be clicked or typed into."""

_SILENT = frozenset([
    "application", "desktop-frame", "panel", "filler", "scroll-pane", "viewport", "split-pane",
    "layered-pane", "root-pane", "glass-pane", "redundant-object", "separator", "section",
    "grouping", "canvas", "drawing-area", "html-container", "menu-bar", "page-tab-list",
    "scrollbar", "table", "tree", "tree-table", "list", "form", "landmark", "unknown", "toolbar",
    "document-frame", "document-web", "document-spreadsheet", "document-presentation",
    "option-pane", "internal-frame", "block-quote", "ruler", "header", "footer",
])  # fmt: skip
"""What is there for the layout: never told, though what lies in it is."""

_VALUED = frozenset([
    "textbox", "terminal", "spinbutton", "slider", "combobox", "cell", "progressbar",
])  # fmt: skip
"""What has a value beside its name."""

_STATES = ("focused", "checked", "selected", "expanded", "pressed", "active")
_PAIR = re.compile(r"\(\s*(-?\d{1,6})(?:\.\d+)?\s*,\s*(-?\d{1,6})(?:\.\d+)?\s*\)")


def elements_from_xml(xml: str, scale: Scale = 1.0) -> tuple[Element, ...]:
    """The elements that show and are worth telling, in the order of the tree, numbered from 0.

    Args:
        xml: What a server answers as ``AT``.
        scale: From the screen's pixels to the observed ones.

    Raises:
        DeviceError: it is no such tree.
    """
    found: list[Element] = []
    for node in parse_tree(xml).iter():
        if not (_is(node, "showing") and _is(node, "visible")):
            continue
        role, name = _role(node), _name(node)
        if role in _SILENT or not (name or role in _ACTED_ON):
            continue
        box = _box(node, scale)
        if box is not None:
            found.append(Element(len(found), role, name, box, tuple(_states(node, role))))
    return tuple(found)


def terminal_text(xml: str) -> str | None:
    """What stands in the terminal that has the focus, in the window that is active; None if none.

    Raises:
        DeviceError: `xml` is no accessibility tree.
    """
    for frame in parse_tree(xml).iter("frame"):
        if _is(frame, "active"):
            focused = [node for node in frame.iter("terminal") if _is(node, "focused")]
            if len(focused) == 1:
                return (focused[0].text or "").rstrip()
    return None


def parse_tree(xml: str) -> ElementTree.Element:
    """The tree's root.

    Raises:
        DeviceError: it is no XML, too long, or has a declaration, which no server writes.
    """
    if len(xml) > MAX_XML:
        raise DeviceError(
            f"the accessibility tree has {len(xml)} characters; at most {MAX_XML} are read"
        )
    if "<!" in xml:  # neither entities nor a DTD has any business there
        raise DeviceError("the accessibility tree is not as OSWorld writes it: it declares things")
    try:
        return ElementTree.fromstring(xml.encode("utf-8", "replace"))
    except ElementTree.ParseError as error:
        raise DeviceError(f"the accessibility tree is not XML: {error}") from None


def _is(node: ElementTree.Element, state: str) -> bool:
    return node.get(f"{{{NAMESPACES['st']}}}{state}") == "true"


def _role(node: ElementTree.Element) -> str:
    return _ROLES.get(node.tag, node.tag)


def _name(node: ElementTree.Element) -> str:
    """What it is called: of what has a value, not what stands in it."""
    name = (node.get("name") or "").strip()
    if not name and _role(node) not in _VALUED:
        name = (node.text or "").strip()[:MAX_VALUE]
    return name


def _states(node: ElementTree.Element, role: str) -> Iterator[str]:
    yield from (state for state in _STATES if _is(node, state))
    if role in _ACTED_ON and not (_is(node, "enabled") or _is(node, "sensitive")):
        yield "disabled"
    if role in _VALUED:
        value = _value(node, role)
        if (value and value != node.get("name")) or role == "textbox":
            yield f"value={json.dumps(value, ensure_ascii=False)}"


def _value(node: ElementTree.Element, role: str) -> str:
    """What stands in it: of a long text the beginning, of a terminal the end."""
    value = node.text or node.get(f"{{{NAMESPACES['val']}}}value") or ""
    if role == "terminal":
        value = value.rstrip()
        return value if len(value) <= MAX_VALUE else "..." + value[-MAX_VALUE:]
    return value if len(value) <= MAX_VALUE else value[:MAX_VALUE] + "..."


def _box(node: ElementTree.Element, scale: Scale) -> tuple[int, int, int, int] | None:
    """(left, top, width, height) in observed pixels; None where nothing of it can be seen."""
    place = _PAIR.fullmatch(node.get(f"{{{NAMESPACES['cp']}}}screencoord") or "")
    size = _PAIR.fullmatch(node.get(f"{{{NAMESPACES['cp']}}}size") or "")
    if place is None or size is None:
        return None
    across, down = scale if isinstance(scale, tuple) else (scale, scale)
    left, top = int(place[1]), int(place[2])
    right, bottom = left + int(size[1]), top + int(size[2])
    x, y = max(0, round(left * across)), max(0, round(top * down))
    width, height = round(right * across) - x, round(bottom * down) - y
    return (x, y, width, height) if width > 0 and height > 0 else None
