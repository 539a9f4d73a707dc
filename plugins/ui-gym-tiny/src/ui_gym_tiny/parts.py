"""The parts of a job, as tasks of one click: what a model is taught that has never seen the job.

`Parts` shows check boxes and buttons at any places, and names some of them; a click on any that is
named is right, whether it is ticked or not. Nothing on a board is ever to be brought to a state,
and nothing is saved: the next board has nothing to do with the last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from numpy.random import Generator

from ui_gym import BrowserTask, Click, Verdict, register
from ui_gym.browser.content import words
from ui_gym.contract import draws
from ui_gym.contract.action import Action
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError

SIZE = (320, 256)
PATCH = 32
ROWS = 7
"""Of things, below the page's title."""

SAVE = "Save"
OTHERS = ("Help", "Back", "Close")
"""Buttons that no goal names."""
VERBS = ("Choose", "Click")
MOST_NAMED = 3
SAVE_SHARE = 0.2
"""How often the button is picked where boxes are named as well. Its label is always the same, and
the easiest to find: a model that is shown it as often as the boxes stops at no box."""


@dataclass(frozen=True)
class BoardBox:
    """A check box with its label; `at` is its left upper corner, in pixels."""

    label: str
    ticked: bool
    at: tuple[int, int]


@dataclass(frozen=True)
class BoardButton:
    """A button; `at` is the left upper corner of its cell, in pixels."""

    label: str
    at: tuple[int, int]


@dataclass(frozen=True)
class BoardView:
    """What is shown at once; `pick`, of the labels that are named, is what the oracle clicks."""

    boxes: tuple[BoardBox, ...]
    buttons: tuple[BoardButton, ...]
    pick: str


@dataclass(frozen=True)
class PartsParams:
    """All that varies between episodes."""

    named: tuple[str, ...]
    """The labels of the check boxes that the goal names, in its order."""
    save: bool
    """Whether the goal names the button "Save"."""
    verb: int
    button_first: bool
    """Whether the goal names the button before the boxes."""
    boards: tuple[BoardView, ...]

    @property
    def called(self) -> tuple[str, ...]:
        """The labels that are right to click."""
        return (*self.named, *([SAVE] if self.save else []))


@register("Parts", suite="tiny", category="input", difficulty="easy", max_steps=8)
class Parts(BrowserTask[PartsParams]):
    """Click any of the named check boxes and buttons.

    ## Description
    A board of check boxes and buttons. The goal names one of them, or several of which any will do;
    which are ticked does not matter. After a click the next board is there, with other things at
    other places, for the same goal.

    ## Rewards
    The share of the boards on which one of the named was clicked.

    ## Episode end
    Termination: something was clicked on each board.

    ## Arguments
    | `boards` | 1 | how many boards there are, one after the other, 1 to 16 |
    """

    page = Path(__file__).with_name("parts.html")
    mistakes = ("stray",)
    viewport = SIZE

    def __init__(self, *, boards: int = 1) -> None:
        if not 1 <= boards <= 16:
            raise UserError(f"Parts: boards must be 1 to 16, not {boards!r}")
        self.boards = boards
        self.max_steps = 2 * boards

    def sample(self, rng: Generator) -> PartsParams:
        kind = int(rng.integers(8))  # one in eight names the button alone, three in eight both
        count = 0 if kind == 0 else int(rng.integers(1, MOST_NAMED + 1))
        named = tuple(str(name) for name in rng.permutation(words.FIRST_SHORT)[:count])
        save = kind < 4
        boards = tuple(_board(rng, named, save) for _ in range(self.boards))
        verb, button_first = int(rng.integers(len(VERBS))), bool(rng.random() < 0.5)
        return PartsParams(named, save, verb, button_first, boards)

    def page_params(self, params: PartsParams) -> dict[str, Any]:
        boards = asdict(params)["boards"]
        for board in boards:
            del board["pick"]
        return {"boards": boards}

    def goal(self, params: PartsParams) -> str:
        verb = VERBS[params.verb]
        if not params.named:
            return f"{verb} {SAVE}."
        *most, last = params.named
        names = f"{', '.join(most)} or {last}" if most else last
        if not params.save:
            return f"{verb} {names}."
        if params.button_first:
            return f"Press {SAVE}. Or {verb.lower()} {names}."
        return f"{verb} {names}. Or press {SAVE}."

    def judge(self, device: Any, params: PartsParams, history: Sequence[Action]) -> Verdict:
        device.state()
        pressed = [str(event.data["label"]) for event in device.events if event.type == "press"]
        score = sum(label in params.called for label in pressed) / len(params.boards)
        return Verdict(score, done=len(pressed) == len(params.boards), notes=f"pressed {pressed}")

    def oracle(self, device: Any, params: PartsParams) -> Iterator[Demo]:
        for board in params.boards:
            pick = board.pick
            kind = "box" if any(box.label == pick for box in board.boxes) else "button"
            place = device.center(f"#{kind}-{pick}")
            told = lines(board, params.called)
            yield Demo(Click(*place), thought(board, params.called), "\n".join(told))

    def misread(self, params: PartsParams, mistake: str, rng: Generator) -> PartsParams:
        """``stray``: on each board, something that is not named is clicked."""
        boards = []
        for board in params.boards:
            strays = [box.label for box in board.boxes if box.label not in params.named]
            pick = draws.pick(rng, strays)
            boards.append(replace(board, pick=pick))
        return replace(params, boards=tuple(boards))


def thought(board: BoardView, called: Collection[str]) -> str:
    """The board read aloud from top to bottom, as far as what is clicked: its place stands right
    before the click. A model of a million parameters cannot look it up further above."""
    read = lines(board, called)
    clicked = next(i for i, line in enumerate(read) if line.split()[0] == board.pick)
    return "\n".join(read[: clicked + 1])


def lines(board: BoardView, called: Collection[str]) -> list[str]:
    """All that the board says, from top to bottom, and which of it is `called` by the goal."""

    def line(label: str, top: int, *more: str) -> str:
        called_out = ["named"] if label in called else []
        return " ".join([label, *called_out, *more, f"<y{(top + PATCH // 2) // 8}>"])

    read = [
        (box.at, line(box.label, box.at[1], "on" if box.ticked else "off")) for box in board.boxes
    ]
    read += [(button.at, line(button.label, button.at[1])) for button in board.buttons]
    return [text for _, text in sorted(read, key=_row)]


def _row(thing: tuple[tuple[int, int], str]) -> int:
    return thing[0][1]


def _board(rng: Generator, named: Sequence[str], save: bool) -> BoardView:
    others = [str(name) for name in rng.permutation(words.FIRST_SHORT) if name not in named]
    labels = [*named, *others[: int(rng.integers(4, 6)) - len(named)]]
    buttons = [SAVE] if save or rng.random() < 0.7 else []
    buttons += [draws.pick(rng, OTHERS)] if rng.random() < 0.5 else []
    places = _places(rng, len(labels) + len(buttons))
    boxes = [BoardBox(label, bool(rng.random() < 0.5), places.pop()) for label in labels]
    button = save and (not named or rng.random() < SAVE_SHARE)
    pick = SAVE if button else draws.pick(rng, named)
    return BoardView(
        tuple(boxes), tuple(BoardButton(label, places.pop()) for label in buttons), pick
    )


def _places(rng: Generator, count: int) -> list[tuple[int, int]]:
    """Free rows of the page, in random order."""
    return [(0, PATCH * (1 + int(row))) for row in rng.permutation(ROWS)[:count]]
