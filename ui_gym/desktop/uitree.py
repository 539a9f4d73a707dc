"""Elements from an accessibility tree in the XML that OSWorld's server writes.

A tag is a role of AT-SPI with ``-`` for spaces (``push-button``), states are attributes of the
namespace ``st``, and where a node is, is told by ``cp:screencoord`` and ``cp:size``, in pixels of
the machine's screen. Source: https://github.com/xlang-ai/OSWorld (``desktop_env/server/main.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from ui_gym.contract.device import Element
from ui_gym.contract.uitree import Corners, Scale, Told, elements_of, parse_xml, value_state

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
    return elements_of(_told(parse_tree(xml)), scale)


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
    return parse_xml(xml, MAX_XML, what="the accessibility tree", writer="OSWorld")


def _told(root: ElementTree.Element) -> Iterator[Told]:
    for node in root.iter():
        role, name = _role(node), _name(node)
        seen = _is(node, "showing") and _is(node, "visible")
        if seen and role not in _SILENT and (name or role in _ACTED_ON):
            yield role, name, _corners(node), _states(node, role)


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
            yield value_state(value)


def _value(node: ElementTree.Element, role: str) -> str:
    """What stands in it: of a long text the beginning, of a terminal the end."""
    value = node.text or node.get(f"{{{NAMESPACES['val']}}}value") or ""
    if role == "terminal":
        value = value.rstrip()
        return value if len(value) <= MAX_VALUE else "..." + value[-MAX_VALUE:]
    return value if len(value) <= MAX_VALUE else value[:MAX_VALUE] + "..."


def _corners(node: ElementTree.Element) -> Corners | None:
    """Where it is on the screen, without what lies left of it or above."""
    place = _PAIR.fullmatch(node.get(f"{{{NAMESPACES['cp']}}}screencoord") or "")
    size = _PAIR.fullmatch(node.get(f"{{{NAMESPACES['cp']}}}size") or "")
    if place is None or size is None:
        return None
    left, top = int(place[1]), int(place[2])
    return max(0, left), max(0, top), left + int(size[1]), top + int(size[2])
