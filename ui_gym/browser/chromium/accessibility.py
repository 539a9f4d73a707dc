"""What is on the page in words: the browser's accessibility tree, joined with its layout.

The tree (``Accessibility.getFullAXTree``) says what a screen reader would say: role, name, states.
Where things are comes from ``DOMSnapshot.captureSnapshot``, by the node that both name.

The browser takes some 20 microseconds to tell a node of the tree. So where much of a page is out of
sight, `Reader` asks for the upper levels only, and then for the children of those nodes that hold
something in sight.

Frames have trees of their own, which are asked for where a frame is in sight, and are told in the
place of the frame. (The snapshot has the documents of all frames of the same process.)
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ui_gym.browser.chromium.protocol import Command, Message, Run
from ui_gym.contract.device import Element
from ui_gym.contract.tables import read_table
from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels."""

ElementIds = defaultdict[int, int]
"""The numbers of elements, by the browser's number of their node."""

Pixels = tuple[int, int, int, int]
"""Left, top, width, height."""

UNSEEN = 200
"""Boxes out of sight from which on a page's tree is told in parts."""

_LEVELS = 3
"""Levels of such a tree that are told at once, to begin with."""

_STYLES = ("overflow-x", "overflow-y", "position")

_ROLES = read_table("ui_gym.browser", "roles")
_WHOLE = frozenset(_ROLES["whole"])
_ACTED_ON = _WHOLE - set(_ROLES["idle"])
_SILENT = frozenset(_ROLES["silent"])
_PLAIN = frozenset(_ROLES["plain"])
_NAMES: Mapping[str, str] = _ROLES["names"]
_MAKING = ("role", "contenteditable")


def queries(frame: str | None = None) -> list[Command]:
    """The commands whose answers `elements` takes; of a frame of the page if one is named."""
    return [("Accessibility.getFullAXTree", _of(frame)), _SNAPSHOT]


_SNAPSHOT: Command = ("DOMSnapshot.captureSnapshot", {"computedStyles": list(_STYLES)})


def _of(frame: str | None) -> Message:
    return {} if frame is None else {"frameId": frame}


def element_ids() -> ElementIds:
    """Numbers for elements: small, the same in every browser, and kept while the page lives.

    The browser's own node numbers go on counting from page to page.
    """
    return defaultdict(itertools.count().__next__)


def elements(
    answers: Sequence[Message], run: Run, size: tuple[int, int], ids: ElementIds
) -> tuple[Element, ...]:
    """The accessible elements that can be seen on a page of `size`, in the order of the page; `run`
    asks for what is in its frames."""
    tree, snapshot = answers
    document = _document(snapshot, None)
    boxes = _seen(document, _window(size))
    return _joined(tree["nodes"], boxes, ids, _inner(snapshot, document, boxes, run))


class Reader:
    """Reads the elements of the pages of one device, and remembers how that was fastest."""

    def __init__(self) -> None:
        self._ids = element_ids()
        self._levels: int | None = None
        self._enabled = False

    def next_page(self) -> None:
        """Another page begins. It is likely to be as large as the last one, not as deep."""
        self._ids = element_ids()
        self._levels = None if self._levels is None else _LEVELS

    def queries(self, frame: str | None) -> list[Command]:
        """The commands whose answers `elements` takes."""
        if self._levels is not None:
            # Children are told only where the tree is enabled.
            upper = {"depth": self._levels, **_of(frame)}
            return [*self._enable(True), ("Accessibility.getFullAXTree", upper), _SNAPSHOT]
        # Enabled, the browser reports changes as well, which nobody reads.
        return [*self._enable(False), *queries(frame)]

    def elements(
        self, answers: Sequence[Message], run: Run, size: tuple[int, int], frame: str | None
    ) -> tuple[Element, ...]:
        """The accessible elements that can be seen; `run` asks for what is missing for that."""
        *_, tree, snapshot = answers
        document = _document(snapshot, frame)
        boxes, nodes = _seen(document, _window(size)), tree["nodes"]
        in_parts = document.has_much_beside(boxes)
        if self._levels is None:
            self._levels = _LEVELS if in_parts else None
        elif in_parts:
            nodes = self._completed(nodes, _Sight(document, boxes), run, frame)
        else:
            self._levels = None
            nodes = _whole(run, frame)
        return _joined(nodes, boxes, self._ids, _inner(snapshot, document, boxes, run))

    def _completed(
        self, upper: list[Message], sight: _Sight, run: Run, frame: str | None
    ) -> list[Message]:
        try:
            nodes, spared = _completed(upper, sight, run, frame)
        except (DeviceLost, DeviceTimeout):
            raise
        except DeviceError:  # the page has changed meanwhile: a node is gone
            return _whole(run, frame)
        self._levels = (self._levels or 0) + spared
        return nodes

    def _enable(self, wanted: bool) -> list[Command]:
        before, self._enabled = self._enabled, wanted
        if wanted:  # again and again: the page may have been renewed
            return [("Accessibility.enable", {})]
        return [("Accessibility.disable", {})] if before else []


def _whole(run: Run, frame: str | None) -> list[Message]:
    nodes: list[Message] = run(queries(frame)[:1])[0]["nodes"]
    return nodes


def _joined(
    tree: Sequence[Message], boxes: Mapping[int, Pixels], ids: ElementIds, inner: _Trees
) -> tuple[Element, ...]:
    """The nodes of a tree, and of those in it, that are told and seen."""
    return tuple(
        Element(
            id=ids[node["backendDOMNodeId"]],
            role=_role(node),
            name=_name(node),
            box=boxes[node["backendDOMNodeId"]],
            states=tuple(_states(node)),
        )
        for node in _told(tree, inner)
        if node.get("backendDOMNodeId") in boxes
    )


# -- the tree --


_Trees = Mapping[int, Sequence[Message]]
"""The trees of frames, by the browser's number of the node that shows the frame."""


def _told(tree: Sequence[Message], inner: _Trees) -> Iterator[Message]:
    """The nodes that are worth a line."""
    nodes = {node["nodeId"]: node for node in tree}
    waiting = list(tree[:1])
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
        yield from _told(inner.get(node.get("backendDOMNodeId", -1), ()), inner)
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


# -- frames --


def _inner(snapshot: Message, document: _Document, boxes: dict[int, Pixels], run: Run) -> _Trees:
    """The trees of the frames that are in sight, and what can be seen in them, into `boxes`."""
    trees: dict[int, Sequence[Message]] = {}
    waiting = [document]
    while waiting:
        shown = [
            (number, _Document(snapshot["strings"], snapshot["documents"][index]))
            for number, index in waiting.pop().frames()
            if number in boxes
        ]
        if not shown:
            continue
        # The browser keeps a tree until it is disabled, and crashes when it is enabled once a frame
        # of which it kept one is gone.
        asked: list[Command] = [("Accessibility.enable", {})]
        for number, frame in shown:
            asked.append(("Accessibility.getFullAXTree", _of(frame.frame)))
            asked.append(("DOM.getBoxModel", {"backendNodeId": number}))
        try:
            _, *answers, _ = run([*asked, ("Accessibility.disable", {})])
        except (DeviceLost, DeviceTimeout):
            raise
        except DeviceError:  # the page has changed meanwhile: a frame is gone
            continue
        for (number, frame), tree, model in zip(shown, answers[::2], answers[1::2], strict=True):
            trees[number] = tree["nodes"]
            left, top, right, _, _, bottom, *_ = model["model"]["content"]  # its corners
            x, y, width, height = boxes[number]
            window = _cut((left, top, right, bottom), (x, y, x + width, y + height))
            boxes.update(_seen(frame, window, (left, top)))
            waiting.append(frame)
    return trees


# -- parts of the tree --


def _completed(
    upper: Sequence[Message], sight: _Sight, run: Run, frame: str | None
) -> tuple[list[Message], int]:
    """The upper levels of a tree and, below them, all that can matter to what is told.

    Also how many more levels would better have been told at once.
    """
    nodes, new = list(upper), upper
    known = {node["nodeId"] for node in upper}
    in_cells: set[str] = set()  # cells, and what lies in them
    spared, sparing = 0, True
    while True:
        for node in new:  # parents come first
            if node.get("parentId") in in_cells or _role(node) == "cell":
                in_cells.add(node["nodeId"])
        cut = [n for n in new if n.get("childIds") and known.isdisjoint(n["childIds"])]
        asked = [n for n in cut if sight.wants(n, in_cell=n.get("parentId") in in_cells)]
        if not asked:
            return nodes, spared
        # A round trip takes as long as 30 nodes, one more command in it as long as two.
        unasked = sum(len(n["childIds"]) for n in cut) - sum(len(n["childIds"]) for n in asked)
        sparing = sparing and unasked < 30 + 2 * len(asked)
        spared += sparing
        answers = run([
            ("Accessibility.getChildAXNodes", {"id": n["nodeId"], **_of(frame)}) for n in asked
        ])  # fmt: skip
        new = [n for answer in answers for n in answer["nodes"] if n["nodeId"] not in known]
        known.update(n["nodeId"] for n in new)
        nodes += new


class _Sight:
    """What of a page can be seen, and what it may be: which nodes' children are worth asking for.

    The children of a node in the tree are taken to lie in it in the document too (``aria-owns``
    could say otherwise; see `_Document.has_much_beside`).
    """

    def __init__(self, document: _Document, boxes: Collection[int]) -> None:
        self._boxes = boxes
        self._holding = document.above(
            index for index, number in enumerate(document.numbers) if number in boxes
        )
        self._rich = document.above(document.controls())

    def wants(self, node: Message, *, in_cell: bool) -> bool:
        number = node.get("backendDOMNodeId")
        if number is None:
            return True
        role = "" if node.get("ignored") else _role(node)
        if role in ("text", "Iframe", "IframePresentational"):
            return False
        rich = number in self._rich
        if role == "cell":
            return rich and (in_cell or number in self._boxes or number in self._holding)
        if role in _ACTED_ON and role != "combobox":
            return False
        if role in _WHOLE and role != "combobox":
            return rich and in_cell
        return number in self._holding or (rich and in_cell)


# -- the layout --


@dataclass(frozen=True)
class _Document:
    """One document of a snapshot."""

    strings: Sequence[str]
    told: Message

    @property
    def numbers(self) -> Sequence[int]:
        """The browser's number of each node."""
        return self.told["nodes"]["backendNodeId"]  # type: ignore[no-any-return]

    @property
    def parents(self) -> Sequence[int]:
        """The index of each node's parent, below 0 where it has none."""
        return self.told["nodes"]["parentIndex"]  # type: ignore[no-any-return]

    @property
    def frame(self) -> str:
        """The id of the frame that it is in."""
        return self.strings[self.told["frameId"]]

    def frames(self) -> Iterator[tuple[int, int]]:
        """The browser's numbers of the nodes that show frames, and the indices of the documents in
        them."""
        held = self.told["nodes"].get("contentDocumentIndex", {"index": [], "value": []})
        for index, document in zip(held["index"], held["value"], strict=True):
            yield self.numbers[index], document

    def has_much_beside(self, seen: Collection[int]) -> bool:
        """Whether most of it is out of sight, where it lies in the tree as in the document."""
        unseen = len(self.told["layout"]["nodeIndex"]) - len(seen)
        return unseen > UNSEEN and "aria-owns" not in self.strings

    def above(self, indices: Iterable[int]) -> set[int]:
        """The numbers of all nodes that hold one of those."""
        parents, found = self.parents, set()
        for index in indices:
            above = parents[index]
            while above >= 0 and above not in found:
                found.add(above)
                above = parents[above]
        return {self.numbers[index] for index in found}

    def controls(self) -> Iterator[int]:
        """Indices of the elements that may be controls."""
        strings, nodes = self.strings, self.told["nodes"]
        plain = {number for number, text in enumerate(strings) if text in _PLAIN}
        making = {number for number, text in enumerate(strings) if text in _MAKING}
        for index, (kind, name, attributes) in enumerate(
            zip(nodes["nodeType"], nodes["nodeName"], nodes["attributes"], strict=True)
        ):
            if kind == 1 and (name not in plain or not making.isdisjoint(attributes[::2])):
                yield index


def _document(snapshot: Message, frame: str | None) -> _Document:
    """The document of a frame, else of the page."""
    strings = snapshot["strings"]
    for document in snapshot["documents"]:
        if frame is None or strings[document["frameId"]] == frame:
            return _Document(strings, document)
    empty: Message = {"backendNodeId": [], "parentIndex": []}
    return _Document(strings, {"nodes": empty, "layout": {"nodeIndex": []}})


def _window(size: tuple[int, int]) -> Box:
    return 0.0, 0.0, float(size[0]), float(size[1])


def _seen(
    document: _Document, window: Box, origin: tuple[float, float] = (0.0, 0.0)
) -> dict[int, Pixels]:
    """What can be seen of each node that has a box, by the browser's number of the node.

    The document is shown in `window`; where it is not scrolled, it begins at `origin`.
    """
    layout = document.told["layout"]
    if not layout["nodeIndex"]:
        return {}
    strings, parents, numbers = document.strings, document.parents, document.numbers
    across = document.told.get("scrollOffsetX", 0.0) - origin[0]
    down = document.told.get("scrollOffsetY", 0.0) - origin[1]
    kinds: dict[tuple[int, ...], tuple[bool, bool]] = {(): (False, False)}
    clips: dict[int, Box] = {}  # of what lies in a node, by its index
    boxes: dict[int, Pixels | None] = {}
    # Parents come before their children.
    for index, bounds, styles in zip(
        layout["nodeIndex"], layout["bounds"], map(tuple, layout["styles"]), strict=True
    ):
        if styles not in kinds:
            *overflow, position = (strings[style] for style in styles)
            kinds[styles] = (overflow != ["visible", "visible"], position == "fixed")
        cuts, fixed = kinds[styles]
        clip = window if fixed else _clip_of(parents[index], parents, clips, window)
        left, top = bounds[0] - across, bounds[1] - down
        seen = _cut((left, top, left + bounds[2], top + bounds[3]), clip)
        clips[index] = seen if cuts else clip
        boxes.setdefault(numbers[index], _pixels(seen))  # a node's first box is its own
    return {number: box for number, box in boxes.items() if box is not None}


def _pixels(box: Box) -> Pixels | None:
    """Whole pixels, where anything is left of a box."""
    left, top = round(box[0]), round(box[1])
    width, height = round(box[2]) - left, round(box[3]) - top
    return (left, top, width, height) if width > 0 and height > 0 else None


def _clip_of(index: int, parents: Sequence[int], clips: Mapping[int, Box], window: Box) -> Box:
    """The part of the window that a node's children can be seen in."""
    while index >= 0:
        if index in clips:
            return clips[index]
        index = parents[index]  # it has no box of its own (display: contents)
    return window


def _cut(box: Box, clip: Box) -> Box:
    left, top, right, bottom = box
    from_left, from_top, to_right, to_bottom = clip
    # Comparisons: this is done for every box, and min and max are calls.
    left = left if left > from_left else from_left
    top = top if top > from_top else from_top
    right = right if right < to_right else to_right
    bottom = bottom if bottom < to_bottom else to_bottom
    return left, top, right if right > left else left, bottom if bottom > top else top
