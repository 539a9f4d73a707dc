"""Boards: words at places, in the ways in which compact pages show words.

A page of a family shows the same dozen words at the same places in each episode, beside the few
that vary. On a board all words of all families are as frequent as each other, some twenty a
screen: what a small model's eyes are opened with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from numpy.random import Generator

from ui_gym import BrowserTask, Click, Verdict, register
from ui_gym.browser.looks import PLAIN, check_look
from ui_gym.contract import draws
from ui_gym.contract.action import Action
from ui_gym.contract.task import Demo

SIZE = (320, 256)
PATCH = 32
THEMES = 4
WORDS = tuple(Path(__file__).with_name("words.txt").read_text().split())
"""The words of letters that goals and compact pages of the browser's families say."""
WAYS = {
    "text": (2, 3), "text bold": (2, 3), "text muted": (2, 3), "text head": (2,), "card": (3,),
    "button": (3,), "button primary": (3,), "button danger": (3,), "button small": (2,),
    "tick": (3, 4), "field": (4,), "filled": (4,),
}  # fmt: skip
"""How a thing may look, and how many patches wide."""
WEIGHTS = (4, 2, 1, 1, 1, 3, 1, 1, 1, 2, 1, 1)
EMPTY = 0.25
"""How often a place stays empty."""
TWO_WORDS = 0.2
NUMBERS = 0.1


@dataclass(frozen=True)
class Thing:
    """What is shown somewhere: `at` is its left upper corner, in pixels, `width` how far it goes.
    `on`: a box that is ticked, a button that can be pressed, a field that has the focus."""

    text: str
    way: str
    at: tuple[int, int]
    width: int
    on: bool


@dataclass(frozen=True)
class BoardParams:
    """All that varies between episodes."""

    title: str
    brand: int
    things: tuple[Thing, ...]
    pick: int
    """The number of the thing that the goal names."""


@register("ReadBoard", suite="tiny", category="input", difficulty="easy", max_steps=2)
class ReadBoard(BrowserTask[BoardParams]):
    """Click a word.

    ## Description
    A board of words: plain and bold, in buttons, fields and check boxes.

    ## Rewards
    1 for a click on the thing that the goal names.

    ## Episode end
    Termination: after the first action.

    ## Arguments
    | `look` | `"plain"` | what the board looks like |
    """

    page = Path(__file__).with_name("board.html")
    viewport = SIZE
    compact = True

    def __init__(self, *, look: str = PLAIN) -> None:
        self.look = check_look(look)

    def sample(self, rng: Generator) -> BoardParams:
        things = tuple(_things(rng))
        pick = int(rng.integers(len(things)))
        return BoardParams(_text(rng), int(rng.integers(THEMES)), things, pick)

    def page_params(self, params: BoardParams) -> dict[str, Any]:
        shown = asdict(params)
        del shown["pick"]
        return shown

    def goal(self, params: BoardParams) -> str:
        return f"Click {params.things[params.pick].text}."

    def judge(self, device: Any, params: BoardParams, history: Sequence[Action]) -> Verdict:
        device.state()
        pressed = [event.data["index"] for event in device.events if event.type == "press"]
        asked = params.things[params.pick].text
        right = [params.things[index].text == asked for index in pressed]
        return Verdict(float(right == [True]), done=bool(history), notes=f"pressed {pressed}")

    def oracle(self, device: Any, params: BoardParams) -> Iterator[Demo]:
        place = device.center(f"#thing-{params.pick}")
        yield Demo(Click(*place), params.things[params.pick].text, "")


def _things(rng: Generator) -> Iterator[Thing]:
    """Row by row, from the left, below the title; one at least."""
    ways, total = list(WAYS), sum(WEIGHTS)
    odds = [weight / total for weight in WEIGHTS]
    told = False
    for top in range(PATCH, SIZE[1], PATCH):
        left = PATCH * int(rng.integers(3)) if rng.random() < 0.5 else 0
        while left < SIZE[0]:
            way = str(rng.choice(ways, p=odds))
            width = PATCH * draws.pick(rng, WAYS[way])
            if left + width > SIZE[0]:
                break
            if rng.random() >= EMPTY or (not told and top == SIZE[1] - PATCH):
                text = _text(rng, two=width >= 3 * PATCH and "button" not in way)
                yield Thing(text, way, (left, top), width, bool(rng.random() < 0.5))
                told = True
            left += width


def _text(rng: Generator, *, two: bool = False) -> str:
    if rng.random() < NUMBERS:
        return str(int(rng.integers(100)))
    count = 2 if two and rng.random() < TWO_WORDS else 1
    return " ".join(str(draws.pick(rng, WORDS)) for _ in range(count))
