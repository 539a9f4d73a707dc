"""CompactTask: a task with a screen, too, that a model of a few million parameters can read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import ClassVar, TypeVar

from ui_gym.android import moves, opening, scenery
from ui_gym.android.content import people, scenes, texts
from ui_gym.android.content.people import Person
from ui_gym.android.content.scenes import StartScene
from ui_gym.android.device import COLUMNS, AndroidDevice
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask
from ui_gym.contract.action import Action, Answer, Click, Drag, LongPress, Open, Press
from ui_gym.contract.device import Element
from ui_gym.contract.draws import Rng
from ui_gym.contract.task import Demo
from ui_gym.errors import TaskError

P = TypeVar("P")

COMPACT_SIZE = (256, 320)
"""Of a compact screen, in pixels."""
PATCH = 32
"""Its grid, in pixels: what lies on it varies in whole patches of a small vision model."""

FOCUS = "dumpsys window | grep mCurrentFocus"
MOST_WORDS = 3
"""Of a thought, which are the screen's own."""


class CompactTask(AndroidTask[P]):
    """A task whose argument `compact` makes its screen small.

    The built-in phone then lays all out on a grid (`COLUMNS`), begins at its home screen and
    holds little; goals are short, and what an oracle thinks is what the screen says. A subclass
    draws what varies by `people`, `scene` and the like, and says its goals under
    ``compact`` in ``goals.toml``.
    """

    compact: bool = False
    compact_steps: ClassVar[int]
    """Steps until truncation on the compact screen."""
    compact_lines: ClassVar[tuple[str, ...]] = (
        f"settings put secure {COLUMNS} {COMPACT_SIZE[0] // PATCH}",
    )
    """What lays the screen out; any other phone than the built-in one takes no notice."""

    def __init__(self, *, compact: bool = False) -> None:
        self.compact = self.check_flag("compact", compact)
        if compact:
            self.viewport = COMPACT_SIZE
            self.max_steps = self.compact_steps
            self.goals = texts.compact_goals(self.spec.name) or self.goals

    def setup_lines(self, params: P) -> Sequence[str]:
        form = self.compact_lines if self.compact else ()
        return [*form, *super().setup_lines(params)]

    # -- what is drawn, full or short --

    def people(self, rng: Rng, count: int) -> tuple[Person, ...]:
        """Different people; the second has the first one's first name."""
        return people.people(rng, count, short=self.compact)

    def scene(self, rng: Rng) -> StartScene:
        """How the phone is, and where; compact, it is quiet, and at home."""
        return scenes.quiet(rng) if self.compact else scenes.draw(rng)

    def scenery(self, rng: Rng) -> Scenery:
        """How the phone is."""
        return scenery.quiet(rng) if self.compact else scenery.draw(rng)

    # -- how it is shown --

    def demonstrate(self, device: AndroidDevice, params: P) -> Iterator[Demo]:
        """The oracle's steps. On the compact screen apps are opened by their icons, and a step is
        thought of in words of the screen."""
        for demo in super().demonstrate(device, params):
            if not self.compact:
                yield demo
            elif isinstance(demo.action, Open) and opening.url_of(demo.action.target) is None:
                yield from _by_icon(device, demo.action.target, demo)
            else:
                yield _thought(device, demo)


def _by_icon(device: AndroidDevice, app: str, demo: Demo) -> Iterator[Demo]:
    """Touch an app's icon on the home screen."""
    if "launcher" not in device.shell(FOCUS).text.lower():
        yield _thought(device, dataclasses.replace(demo, action=Press("home")))
    icon = moves.find(device, app)
    if icon is None:
        raise TaskError(f"the home screen shows no app {app!r}")
    yield Demo(Click(*icon.center), app)


def _thought(device: AndroidDevice, demo: Demo) -> Demo:
    """The step with a thought: the name of what is touched, or else the screen's title."""
    if demo.thought:
        return demo
    words = _seen(device, demo.action).split(", ")[0].split()
    return dataclasses.replace(demo, thought=" ".join(words[:MOST_WORDS]))


def _seen(device: AndroidDevice, action: Action) -> str:
    if isinstance(action, Answer):
        return action.text
    named = [element for element in moves.elements(device) if element.name]
    if isinstance(action, Click | LongPress):
        under = [element for element in named if _holds(element, action.x, action.y)]
    elif isinstance(action, Drag):
        under = [element for element in named if _holds(element, action.x1, action.y1)]
    else:
        under = [element for element in named if "focused" in element.states]
    title = [element for element in named if element.role == "text"] or named
    return min(under or title[:1], key=_area).name if named else ""


def _holds(element: Element, x: int, y: int) -> bool:
    left, top, width, height = element.box
    return left <= x < left + width and top <= y < top + height


def _area(element: Element) -> int:
    return element.box[2] * element.box[3]
