"""Parts of jobs on the screens of all compact tasks: what `tiny-reader` is taught.

A screen of some task is shown, as its start or after a few aimless actions, and one part is asked
for: click one of the things that are named, type a word into a field, drag one thing to another,
scroll. Or the task's own goal is told, and any part of a job will do: a click on whatever the goal
names or on some control, or a word of the goal typed into a field that has the focus. Nothing is
ever to be brought to an end, and which part comes next is never told. What is shown and where comes
from the element list of the observation, so that any task has parts without knowing of them.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from ui_gym import Click, Verdict, register
from ui_gym.android.content import texts
from ui_gym.android.task import AndroidTask
from ui_gym.browser.content import words
from ui_gym.browser.looks import PLAIN
from ui_gym.browser.task import BrowserTask
from ui_gym.contract.action import Action, Answer, Drag, Press, Scroll, Type, Wait
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DeviceOptions, DevicePool, Element
from ui_gym.contract.draws import pick
from ui_gym.contract.suite import compact_families
from ui_gym.contract.task import Brief, Demo, Split, Task
from ui_gym.desktop.compact_task import NAMES
from ui_gym.desktop.task import DesktopTask
from ui_gym.errors import ActionError, UserError
from ui_gym_tiny.board import ReadBoard

PATCH = 32
CELL = 8
LIKE_ROWS = 0.5
"""How often what a picture says is read row by row; else things are told in any order."""
ASKED = {"click": 0.5, "type": 0.12, "drag": 0.08, "scroll": 0.05, "goal": 0.25}
"""What is asked for, by how often."""
AIMED = 0.8
"""How often whoever has only the task's goal acts on something that the goal names."""
MOST_NAMED = 3
MOST_WALKED = 3
SCROLLED = 128
"""How far a part scrolls, in pixels."""
VERBS = ("Click", "Choose", "Press", "Open", "Find")
FIELDS = ("textbox", "searchbox", "combobox")
LISTED = ("option", "menuitem")
"""What floats over the page: all behind it is out of sight."""
CONTROLS = (
    "button", "checkbox", "link", "menuitem", "option", "radio", "slider", "switch", "tab",
    "treeitem", *FIELDS,
)  # fmt: skip
DRAGGED = (
    "AndroidMediaVolume", "AndroidOpenApp", "CanvasDraw", "FileManager", "KanbanDrag",
    "SliderSet", "SortableList", "TextFormat", "VideoPlayer",
)  # fmt: skip
"""Tasks that know of dragging: there, whatever a goal names, or slides, may be dragged."""
DOUBLED = ("DesktopCopyFile", "DesktopMoveFile", "FileManager", "TextFormat")
"""Tasks that know of double clicks."""
SCROLLING = (
    "AndroidMediaVolume", "AndroidOpenApp", "AndroidOpenSettingsPage", "AndroidUninstall",
    "DropdownPick", "FeedScroll", "MapPin", "TableLookup",
)  # fmt: skip
"""Tasks that know of scrolling."""
KEYS = {
    "AndroidNoteToSms": ("home",),
    "CopyPaste": ("ctrl+a", "ctrl+c", "ctrl+v"),
    "DesktopAppendLine": ("ctrl+end", "ctrl+s"),
    "DesktopCopyFile": ("ctrl+c", "ctrl+v", "alt+up"),
    "DesktopDeleteFiles": ("delete",),
    "DesktopDeleteLine": ("ctrl+shift+delete", "ctrl+s"),
    "DesktopFixValue": ("ctrl+s",),
    "DesktopMoveFile": ("ctrl+x", "ctrl+v", "alt+up"),
    "DesktopRenameFile": ("f2",),
    "FormulaSheet": ("enter",),
    "TableEdit": ("enter", "delete"),
}
"""Tasks that know of keys."""
WAITING = ("FeedScroll", "FlakyForm")
"""Tasks that know of waiting."""
ANSWERING = ("AndroidEventQuery",)
"""Tasks that know of answering what the screen says."""
ANSWERS = re.compile("|".join([r"\b\d+:\d\d\b", *texts.PLACES_SHORT, *texts.EVENTS_SHORT]))
UNTOLD = ("DesktopDropFile",)
"""Tasks whose element list does not tell what is on the screen."""
COPIED = ("DataEntry", "PaginatedSearch", "TableLookup")
"""Tasks that know of typing what the screen says."""
CONTENT = tuple(dict.fromkeys([*words.FIRST_SHORT, *words.LAST_SHORT, *words.THINGS_SHORT, *NAMES]))
LONGEST = 3
"""Words of a name that is asked for."""


@dataclass(frozen=True)
class ReadingParams:
    """All that varies between episodes."""

    member: str
    """The id of the task whose screen is shown."""
    shown: Any
    """The params of that task."""
    asked: str
    """A key of `ASKED`."""
    noise: int
    """The seed of what is drawn when the screen is there."""


@dataclass(frozen=True)
class Part:
    """Something that it is right to do now: `action`, said with `thought`. A click or a drag is as
    right anywhere in its `boxes`, or less than a cell beside them."""

    action: Action
    thought: str
    boxes: tuple[tuple[int, int, int, int], ...] = ()

    def is_done_by(self, action: Action) -> bool:
        if _way(action) != _way(self.action):
            return False
        if isinstance(action, Answer | Press | Type | Wait):
            return str(action) == str(self.action)
        if isinstance(action, Scroll) and isinstance(self.action, Scroll):
            return action.dy * self.action.dy > 0
        places = zip(action.points(), self.boxes, strict=False)
        return all(_holds(_wider(box), point) for point, box in places)


class Reading(Task[ReadingParams, Any]):
    """Base class: parts of jobs on the screens of one suite's compact tasks."""

    base: ClassVar[type[Task[Any, Any]]]
    suite: ClassVar[str]
    has_oracle = True
    arguments: Mapping[str, Any] = MappingProxyType({"compact": True})
    """What the tasks are made with."""

    @classmethod
    def pool(cls, options: DeviceOptions) -> DevicePool:
        return cls.base.pool(replace(options, elements=True))

    def __init__(self, *, tasks: Sequence[str] | None = None, parts: int = 3) -> None:
        specs = [spec for spec in compact_families(self.suite) if spec.name not in UNTOLD]
        known = {spec.name: spec for spec in specs}
        chosen = list(known) if tasks is None else list(tasks)
        if not chosen or set(chosen) - set(known):
            raise UserError(f"tasks are some of {', '.join(known)}")
        self.members: Mapping[str, Task[Any, Any]] = {
            known[name].id: make_task(known[name].id, self.arguments) for name in chosen
        }
        self._drawn = list(self.members)
        self.viewport = next(iter(self.members.values())).viewport
        self.parts = self.check_range("parts", parts, 1, 16)
        self.max_steps = 2 * parts

    def _draw(self, rng: Generator) -> str:
        """The id of the task whose screen is shown."""
        return pick(rng, self._drawn)

    def sample(self, rng: Generator) -> ReadingParams:
        member = self._draw(rng)
        asked = str(rng.choice(tuple(ASKED), p=tuple(ASKED.values())))
        shown = self.members[member].sample(rng)
        return ReadingParams(member, shown, asked, int(rng.integers(2**31)))

    def split_of(self, params: ReadingParams) -> Split:
        return self.members[params.member].split_of(params.shown)

    def setup(self, device: Any, params: ReadingParams) -> None:
        member = self.members[params.member]
        member.setup(device, params.shown)
        self._rng = np.random.default_rng(params.noise)
        self._asked, self._done, self._judged = "goal", 0, 0
        self._member = member.spec.name
        self._right: list[Part] = []
        self._goal = member.brief(device, params.shown).goal
        walked = 0 if isinstance(member, ReadBoard) else int(self._rng.integers(MOST_WALKED + 1))
        for _ in range(walked):
            self._look(_seen(device))
            if self._right:
                with contextlib.suppress(ActionError):
                    device.perform(self._pick().action)
        seen = _seen(device)
        self._ask(params.asked, seen)
        self._look(seen)

    def goal(self, params: ReadingParams) -> str:
        return self._goal

    def brief(self, device: Any, params: ReadingParams) -> Brief:
        return Brief(self._goal)

    def judge(self, device: Any, params: ReadingParams, history: Sequence[Action]) -> Verdict:
        if not history:
            return Verdict(0.0)
        if len(history) > self._judged:  # what could not be done is judged again, and adds nothing
            self._judged = len(history)
            self._done += any(part.is_done_by(history[-1]) for part in self._right)
        self._look(_seen(device))
        over = len(history) >= self.parts or history[-1].ends_episode or not self._right
        notes = f"{self._done} of {len(history)} are parts of it"
        return Verdict(self._done / len(history) if over else 0.0, done=over, notes=notes)

    def oracle(self, device: Any, params: ReadingParams) -> Iterator[Demo]:
        for _ in range(self.parts):
            if not self._right:
                return
            part = self._pick()
            yield Demo(part.action, part.thought, self._caption())

    # -- what is asked, and what is right --

    def _ask(self, asked: str, seen: Sequence[Element]) -> None:
        """Make the goal, of what is seen; the task's own where nothing fits."""
        names = [str(name) for name in self._rng.permutation(sorted(_named(seen)))]
        empty = [e.name for e in seen if e.role in FIELDS and not _value(e) and e.name in names]
        self._names: list[str] = []
        if asked == "click" and names:
            self._names = names[: int(self._rng.integers(1, MOST_NAMED + 1))]
            *most, last = self._names
            told = f"{', '.join(most)} or {last}" if most else last
            self._goal = f"{VERBS[int(self._rng.integers(len(VERBS)))]} {told}."
        elif asked == "type" and empty:
            word = CONTENT[int(self._rng.integers(len(CONTENT)))]
            word = str(self._rng.integers(100)) if self._rng.random() < 0.2 else word
            self._names = [empty[int(self._rng.integers(len(empty)))], word]
            self._goal = f"Type {word} in {self._names[0]}."
        elif asked == "drag" and len(names) > 1:
            self._names = names[:2]
            self._goal = f"Drag {names[0]} to {names[1]}."
        elif asked == "scroll" and names:
            self._names = [("down", "up")[int(self._rng.integers(2))], names[0]]
            self._goal = f"Scroll {self._names[0]} at {names[0]}."
        else:
            asked = "goal"
        self._asked = asked

    def _look(self, seen: Sequence[Element]) -> None:
        """Note what is seen, and what it is right to do."""
        self._seen = seen
        self._right = list(getattr(self, f"_{self._asked}_parts")(_named(self._seen)))

    def _pick(self) -> Part:
        """A part of those that are right, each way of acting as often as any other."""
        named = [
            p for p in self._right if p.thought in self._goal or not isinstance(p.action, Click)
        ]
        among = named if named and self._rng.random() < AIMED else self._right
        ways = sorted({_way(p.action) for p in among})
        way = ways[int(self._rng.integers(len(ways)))]
        among = [p for p in among if _way(p.action) == way]
        return among[int(self._rng.integers(len(among)))]

    def _click_parts(self, named: Mapping[str, Element]) -> Iterator[Part]:
        return (_clicked(named[name]) for name in self._names if name in named)

    def _type_parts(self, named: Mapping[str, Element]) -> Iterator[Part]:
        field, word = self._names
        if field not in named or _value(named[field]):
            return
        if "focused" in named[field].states:
            yield Part(Type(word), f"{field} {word}")
        else:
            yield _clicked(named[field], f"{field} {word}")

    def _drag_parts(self, named: Mapping[str, Element]) -> Iterator[Part]:
        if set(self._names) <= set(named):
            yield _dragged(*(named[name] for name in self._names))

    def _scroll_parts(self, named: Mapping[str, Element]) -> Iterator[Part]:
        way, name = self._names
        if name in named:
            dy = SCROLLED if way == "down" else -SCROLLED
            yield Part(
                Scroll(*_cell(named[name].center), 0, dy), f"{way} {name}", (named[name].box,)
            )

    def _goal_parts(self, named: Mapping[str, Element]) -> Iterator[Part]:
        """What somebody might do who knows the goal, and not how to get there."""
        called = _words(self._goal)
        told = [name for name in named if set(_words(name)) <= set(called)]
        for name, element in named.items():
            if name in told or element.role in CONTROLS:
                yield _clicked(element)
        if self._member in DRAGGED:
            sliding = [name for name in named if named[name].role == "slider" and name not in told]
            for one, other in itertools.product([*told, *sliding], told):
                if one != other:
                    yield _dragged(named[one], named[other])
        if self._member in DOUBLED:
            yield from (_clicked(named[name], count=2) for name in told)
        if self._member in SCROLLING:
            for name, way in itertools.product(list(named)[-2:], ("down", "up")):
                yield _scrolled(named[name], way)
        for key in KEYS.get(self._member, ()):
            yield Part(Press(key), key)
        if self._member in WAITING:
            yield Part(Wait(), "wait")
        if self._member in ANSWERING:
            told_so = ANSWERS.findall("\n".join(e.name for e in self._seen))
            yield from (Part(Answer(text), text) for text in dict.fromkeys(told_so))
        field = next((e for e in self._seen if e.role in FIELDS and "focused" in e.states), None)
        if field is not None and not _value(field):
            copied = list(named) if self._member in COPIED else []
            for text in dict.fromkeys([*_runs(called), *filter(_is_content, copied)]):
                if text in copied or text not in named:
                    yield Part(Type(text), f"{field.name} {text}".strip())

    def _caption(self) -> str:
        """All that is seen: read row by row, a place and what stands there; or found, in any order,
        a thing and its place."""
        things = sorted(self._seen, key=lambda e: (e.center[1] // PATCH, e.center[0]))
        if self._rng.random() < LIKE_ROWS:
            return "\n".join(["read", *(f"{_point(e)} {_said(e)}" for e in things)])
        mixed = [things[i] for i in self._rng.permutation(len(things))]
        return "\n".join(["find", *(f"{_said(e)} {_point(e)}" for e in mixed)])


@register("ReadPages", suite="tiny", category="input", difficulty="easy", max_steps=6)
class ReadPages(Reading):
    """Do a part of a job on a page of any compact browser family.

    ## Description
    See the module. The goal names things of the screen, or is that of the family.

    ## Rewards
    At the end, the share of the actions that were right.

    ## Episode end
    Termination: after `parts` actions, or when nothing is left that would be right.

    ## Arguments
    | `tasks` | all | the names of the families |
    | `parts` | 3 | how many actions an episode has, 1 to 16 |
    | `boards` | 0 | how many screens of a hundred are boards of words (`board`), 0 to 100 |
    | `look` | `"plain"` | what pages and boards look like |
    """

    base, suite = BrowserTask, "browser"

    def __init__(
        self,
        *,
        tasks: Sequence[str] | None = None,
        parts: int = 3,
        boards: int = 0,
        look: str = PLAIN,
    ) -> None:
        self.arguments = {"compact": True, "look": look}
        super().__init__(tasks=tasks, parts=parts)
        self.boards = self.check_range("boards", boards, 0, 100)
        if boards:
            board = make_task(ReadBoard.spec.id, {"look": look})
            self.members = {**self.members, ReadBoard.spec.id: board}

    def _draw(self, rng: Generator) -> str:
        member = super()._draw(rng)
        return ReadBoard.spec.id if self.boards and rng.integers(100) < self.boards else member


@register("ReadPhones", suite="tiny", category="input", difficulty="easy", max_steps=6)
class ReadPhones(Reading):
    """Do a part of a job on a screen of any compact phone task; see `ReadPages`, without `boards`
    and `look`."""

    base, suite = AndroidTask, "android"


@register("ReadDesktops", suite="tiny", category="input", difficulty="easy", max_steps=6)
class ReadDesktops(Reading):
    """Do a part of a job on a screen of any compact desktop task; see `ReadPages`, without `boards`
    and `look`."""

    base, suite = DesktopTask, "desktop"


def _seen(device: Any) -> tuple[Element, ...]:
    """What is on the screen and has a name; a label that only repeats its control is left out."""
    elements: Sequence[Element] = device.capture(elements=True).elements
    width, height = device.size
    listed = [e.box for e in elements if e.role in LISTED]
    controls = {(e.name, e.center[1] // PATCH) for e in elements if e.role in CONTROLS}
    return tuple(
        e
        for e in elements
        if e.name.strip()
        and e.role not in ("group", "dialog", "list", "listbox", "region", "document", "window")
        and (e.role in CONTROLS or (e.name, e.center[1] // PATCH) not in controls)
        and 0 <= e.center[0] < width
        and 0 <= e.center[1] < height
        and (e.role in LISTED or not _holds(_around(listed), e.center))
    )


def _named(seen: Sequence[Element]) -> dict[str, Element]:
    """Things by their names, where a name is short and stands once."""
    names = [e.name for e in seen]
    return {e.name: e for e in seen if names.count(e.name) == 1 and len(e.name.split()) <= LONGEST}


def _clicked(element: Element, thought: str = "", count: int = 1) -> Part:
    action = Click(*_cell(element.center), count=count)
    return Part(action, thought or element.name, (element.box,))


def _scrolled(element: Element, way: str) -> Part:
    dy = SCROLLED if way == "down" else -SCROLLED
    action = Scroll(*_cell(element.center), 0, dy)
    return Part(action, f"{way} {element.name}", (element.box,))


def _dragged(one: Element, other: Element) -> Part:
    action = Drag(*_cell(one.center), *_cell(other.center))
    return Part(action, f"{one.name} {other.name}", (one.box, other.box))


def _cell(point: tuple[int, int]) -> tuple[int, int]:
    """The middle of the cell that a point is in: all that can be said of it."""
    return point[0] // CELL * CELL + CELL // 2, point[1] // CELL * CELL + CELL // 2


def _point(element: Element) -> str:
    x, y = element.center
    return f"<x{x // CELL}><y{y // CELL}>"


def _said(element: Element) -> str:
    """What a picture tells of an element, in words."""
    told = [element.name]
    if element.role in ("checkbox", "radio", "switch"):
        told.append("on" if "checked" in element.states else "off")
    if (value := _value(element)) and value != element.name:
        told.append(value)
    if "focused" in element.states and element.role in FIELDS:
        told.append("<here>")
    return " ".join(told)


def _value(element: Element) -> str:
    """What is in a field."""
    found = next((s for s in element.states if s.startswith("value=")), "value=")
    return found.removeprefix("value=").strip('"')


def _way(action: Action) -> str:
    """How something is done; a click twice is another way than one."""
    return f"{action.name}{getattr(action, 'count', '')}"


def _words(text: str) -> list[str]:
    return re.findall(r"\w+(?:\.txt)?", text)


def _is_content(word: str) -> bool:
    return word.removesuffix(".txt") in CONTENT or word.isdigit()


def _runs(called: Sequence[str]) -> Iterator[str]:
    """Words of content that follow each other, at most `LONGEST`: what may be typed."""
    for first, count in itertools.product(range(len(called)), range(1, LONGEST + 1)):
        run = called[first : first + count]
        if len(run) == count and all(map(_is_content, run)):
            yield " ".join(run)


def _around(boxes: Sequence[tuple[int, int, int, int]]) -> tuple[int, int, int, int]:
    """The box that holds all of them."""
    if not boxes:
        return 0, 0, 0, 0
    left, top = (min(box[i] for box in boxes) for i in (0, 1))
    right, bottom = (max(box[i] + box[i + 2] for box in boxes) for i in (0, 1))
    return left, top, right - left, bottom - top


def _wider(box: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """The box as far as a cell whose middle stands for its own: what is said is rounded so."""
    left, top, width, height = box
    return left - CELL // 2, top - CELL // 2, width + CELL, height + CELL


def _holds(box: tuple[int, int, int, int], point: tuple[int, int]) -> bool:
    left, top, width, height = box
    return left <= point[0] < left + width and top <= point[1] < top + height
