"""What is on the page in words: the browser's accessibility tree, joined with its layout.

The tree (``Accessibility.getFullAXTree``) says what a screen reader would say: role, name, states.
Where things are comes from ``DOMSnapshot.captureSnapshot``, by the node that both name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ui_gym.browser.protocol import Command, Message
from ui_gym.device import Element

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels."""

_STYLES = ("overflow-x", "overflow-y", "position")

# Roles whose name says all that is inside them.
_WHOLE = frozenset({
    "button", "checkbox", "columnheader", "combobox", "heading", "image", "link", "menuitem",
    "menuitemcheckbox", "menuitemradio", "option", "radio", "rowheader", "searchbox", "slider",
    "spinbutton", "switch", "tab", "textbox", "tooltip", "treeitem",
})  # fmt: skip
# Told even without a name: an agent may want to act on them.
_ACTED_ON = _WHOLE - {"heading", "image", "columnheader", "rowheader", "tooltip"}
# Never told for themselves, only what is in them.
_SILENT = frozenset({
    "InlineTextBox", "LabelText", "LayoutTable", "LayoutTableCell", "LayoutTableRow", "LineBreak",
    "ListMarker", "MenuListPopup", "RootWebArea", "WebArea", "emphasis", "generic", "none",
    "paragraph", "presentation", "row", "rowgroup", "strong", "table", "grid",
})  # fmt: skip
_NAMES = {"StaticText": "text", "gridcell": "cell", "img": "image", "graphics-symbol": "image"}


def queries(frame: str | None = None) -> list[Command]:
    """The commands whose answers `elements` takes; of a frame of the page if one is named."""
    return [
        ("Accessibility.getFullAXTree", {} if frame is None else {"frameId": frame}),
        ("DOMSnapshot.captureSnapshot", {"computedStyles": list(_STYLES)}),
    ]


class ElementIds:
    """Numbers for elements: small, the same in every browser, and kept while the page lives.

    The browser's own node numbers go on counting from page to page.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def __getitem__(self, node: int) -> int:
        return self._numbers.setdefault(node, len(self._numbers))


def elements(
    answers: Sequence[Message], size: tuple[int, int], ids: ElementIds, frame: str | None = None
) -> tuple[Element, ...]:
    """The accessible elements that can be seen on a page of `size`, in the order of the page."""
    tree, snapshot = answers
    nodes = {node["nodeId"]: node for node in tree["nodes"]}
    boxes = _boxes(snapshot, size, frame)
    found = []
    for node in _told(nodes, tree["nodes"][0] if tree["nodes"] else None):
        box = boxes.get(node.get("backendDOMNodeId", -1))
        if box is None:
            continue
        left, top, right, bottom = (round(edge) for edge in box)
        if right > left and bottom > top:
            found.append(
                Element(
                    id=ids[node["backendDOMNodeId"]],
                    role=_role(node),
                    name=_name(node),
                    box=(left, top, right - left, bottom - top),
                    states=tuple(_states(node)),
                )
            )
    return tuple(found)


# -- the tree --


def _told(nodes: Mapping[str, Message], root: Message | None) -> Iterator[Message]:
    """The nodes that are worth a line."""
    waiting = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        role, name = _role(node), _name(node)
        children = [nodes[child] for child in node.get("childIds", ()) if child in nodes]
        inside = children
        if not node.get("ignored"):
            if role == "cell":
                # A cell that holds controls is told by them, and by its text.
                inside = children if _has_controls(children, nodes) else []
                if not inside and name:
                    yield node
            elif role in _ACTED_ON or (name and role not in _SILENT):
                yield node
            if role == "combobox":  # its list, where that is open
                inside = [c for c in children if _role(c) in ("MenuListPopup", "listbox", "option")]
            elif role in _WHOLE or role == "text":
                inside = []
            elif role == "LabelText":  # its words are the name of its control
                inside = [child for child in children if _role(child) != "text"]
        waiting += reversed(inside)


def _has_controls(children: Sequence[Message], nodes: Mapping[str, Message]) -> bool:
    waiting = list(children)
    while waiting:
        node = waiting.pop()
        if _role(node) in _ACTED_ON and not node.get("ignored"):
            return True
        waiting += [nodes[child] for child in node.get("childIds", ()) if child in nodes]
    return False


def _role(node: Message) -> str:
    role = str(node.get("role", {}).get("value", ""))
    return _NAMES.get(role, role)


def _name(node: Message) -> str:
    return str(node.get("name", {}).get("value", "")).strip()


def _states(node: Message) -> Iterator[str]:
    told: dict[str, Any] = {
        each["name"]: each.get("value", {}).get("value") for each in node.get("properties", ())
    }
    for state in ("focused", "disabled", "checked", "pressed", "expanded", "selected", "readonly"):
        value = told.get(state)
        if value in (True, "true"):
            yield state
        elif value == "mixed":
            yield f"{state}=mixed"
    if told.get("invalid") not in (None, False, "false"):
        yield "invalid"
    value = node.get("value", {}).get("value")
    if value is not None or _role(node) in ("textbox", "searchbox"):
        yield f"value={json.dumps('' if value is None else str(value), ensure_ascii=False)}"


# -- the layout --


def _boxes(snapshot: Message, size: tuple[int, int], frame: str | None) -> dict[int, Box]:
    """What can be seen of each node that has a box, by the browser's number of the node."""
    strings = snapshot["strings"]
    document = next(
        (d for d in snapshot["documents"] if frame is None or strings[d["frameId"]] == frame), None
    )
    if document is None:
        return {}
    nodes, layout = document["nodes"], document["layout"]
    scroll = (document.get("scrollOffsetX", 0.0), document.get("scrollOffsetY", 0.0))
    window: Box = (0.0, 0.0, float(size[0]), float(size[1]))
    parents, numbers = nodes["parentIndex"], nodes["backendNodeId"]
    clips: dict[int, Box] = {}  # of what lies in a node, by its index
    boxes: dict[int, Box] = {}
    # Parents come before their children.
    for index, bounds, styles in zip(
        layout["nodeIndex"], layout["bounds"], layout["styles"], strict=True
    ):
        left, top = bounds[0] - scroll[0], bounds[1] - scroll[1]
        overflow_x, overflow_y, position = (
            (strings[style] for style in styles) if styles else ("visible", "visible", "static")
        )
        clip = window if position == "fixed" else _clip_of(parents[index], parents, clips, window)
        seen = _cut((left, top, left + bounds[2], top + bounds[3]), clip)
        boxes.setdefault(numbers[index], seen)
        clips[index] = clip if overflow_x == overflow_y == "visible" else seen
    return boxes


def _clip_of(index: int, parents: Sequence[int], clips: Mapping[int, Box], window: Box) -> Box:
    """The part of the window that a node's children can be seen in."""
    while index >= 0:
        if index in clips:
            return clips[index]
        index = parents[index]  # it has no box of its own (display: contents)
    return window


def _cut(box: Box, clip: Box) -> Box:
    left, top = max(box[0], clip[0]), max(box[1], clip[1])
    return left, top, max(left, min(box[2], clip[2])), max(top, min(box[3], clip[3]))
