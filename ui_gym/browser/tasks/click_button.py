"""Click button: press the one button that the goal names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from numpy.random import Generator

from ui_gym.browser.content.choices import lookalike
from ui_gym.browser.content.data import table
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, one_of, whole
from ui_gym.contract.action import Click
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict

Likeness = Literal["low", "high"]


FAMILIES: dict[str, tuple[str, ...]] = table("forms")["click_button"]
"""Labels by their first word, which is also the name of their icon."""

LONGEST_COMPACT = 9
"""Letters that fit on a button of the compact page."""

LAYOUTS = ("dialog", "toolbar", "list")
SCENES = 4

SHEET_COLUMNS, SHEET_ROWS = 10, 7
"""Patches below the compact page's header; a button is three wide and one high."""

GOALS = (
    'Press the "{}" button.',
    'Click "{}".',
    'Choose "{}".',
    'Find the button that says "{}" and press it.',
)


@dataclass(frozen=True)
class ClickButtonParams:
    """All that varies between episodes."""

    labels: tuple[str, ...]
    """The buttons, in reading order."""
    target: int
    """The index of the button to press."""
    layout: str
    """What the page looks like; ``"sheet"`` if it is compact."""
    scene: int
    """Which texts and colours surround the buttons."""
    primary: int
    """The index of the button that stands out, -1 for none."""
    columns: int
    """Buttons side by side, where the layout leaves that open."""
    place: tuple[int, int]
    """How far the buttons are moved, in pixels: right, down."""
    phrasing: int


@register("ClickButton", suite="browser", category="input", difficulty="easy", max_steps=5)
class ClickButton(Family[ClickButtonParams]):
    """Press the button that the goal names, among several.

    ## Description
    A page of an office app: a dialog, the toolbar of an editor, or a list with an action in each
    row. The goal names one button by its label. Which button stands out says nothing about which
    is asked for, and with ``likeness="high"`` most labels begin with the same word, so that whole
    labels must be read.

    ## Action space
    One click solves it; Tab and Enter work as on any page.

    ## Rewards
    1 if the first button pressed is the one named, else 0.

    ## Starting state
    Nothing pressed, nothing focused.

    ## Episode end
    Termination: a button was pressed, whichever. Clicks beside all buttons do nothing.

    ## Arguments
    | `count` | 6, 6, 10 (compact: 4 where no level is named) | how many buttons, 2 to 10 |
    | `likeness` | "low", "high", "high" | "low": first words differ; "high": alike labels |
    | `compact` | False | a 320x256 page that a model of a million parameters can read |
    """

    page = "click_button.html"
    shown = ("labels", "layout", "scene", "primary", "columns", "place")
    ends, waiting = "press", "nothing is pressed"
    translated = ("ClickButton",)
    count: int = whole(2, 10, easy=6, medium=6, hard=10)
    likeness: Likeness = one_of(get_args(Likeness), easy="low", medium="high", hard="high")
    compact_values = {"count": 4}
    mistakes = ("lookalike", "neighbour")

    def sample(self, rng: Generator) -> ClickButtonParams:
        labels = self._labels(rng)
        if self.compact:
            layout = "sheet"
            # The sheet has a heading of one row, so six rows are left for buttons.
            columns = pick(rng, [n for n in (1, 2, 3) if -(-self.count // n) < SHEET_ROWS])
            rows = 1 + -(-self.count // columns)
            right = PATCH * int(rng.integers(SHEET_COLUMNS - 3 * columns + 1))
            down = PATCH * int(rng.integers(SHEET_ROWS - rows + 1))
        else:
            layout = pick(rng, LAYOUTS)
            columns = int(rng.integers(2, 4))
            right, down = (24 * int(n) for n in rng.integers(5, size=2))
        return ClickButtonParams(
            labels=labels,
            target=int(rng.integers(self.count)),
            layout=layout,
            scene=int(rng.integers(SCENES)),
            primary=int(rng.integers(-1, self.count)),
            columns=columns,
            place=(right, down),
            phrasing=int(rng.integers(len(GOALS))),
        )

    def goal(self, params: ClickButtonParams) -> str:
        say = self.speak(params)
        return say(GOALS[params.phrasing]).format(say(params.labels[params.target]))

    def page_params(self, params: ClickButtonParams) -> dict[str, Any]:
        icons = [label.split()[0].lower() for label in params.labels]
        return {**super().page_params(params), "icons": icons}

    def verdict(self, data: Mapping[str, Any], params: ClickButtonParams) -> Verdict:
        wanted = params.labels[params.target]
        pressed = str(data.get("label"))
        return Verdict(float(pressed == wanted), done=True, notes=f"pressed {pressed!r}")

    def oracle(self, device: BrowserDevice, params: ClickButtonParams) -> Steps:
        point = device.center(f"#button-{params.target}")
        caption = self.caption(params) if self.compact else ""
        label = self.speak(params)(params.labels[params.target])
        yield Demo(Click(*point), label, caption)

    def misread(self, params: ClickButtonParams, mistake: str, rng: Generator) -> ClickButtonParams:
        """``lookalike``: the label most like the named one is taken for it. ``neighbour``: the
        button before or after it is pressed."""
        others = [i for i in range(len(params.labels)) if i != params.target]
        if mistake == "neighbour":
            beside = [i for i in others if abs(i - params.target) == 1]
            taken = pick(rng, beside)
        else:
            taken = lookalike(params.labels[params.target], params.labels)
        return replace(params, target=taken)

    def blind_rate(self, params: ClickButtonParams) -> float:
        """Any of the buttons."""
        return 1 / len(params.labels)

    def caption(self, params: ClickButtonParams) -> str:
        """All that the compact picture says that varies: the labels, row by row."""
        rows = range(0, len(params.labels), params.columns)
        return "\n".join(" ".join(params.labels[i : i + params.columns]) for i in rows)

    def _labels(self, rng: Generator) -> tuple[str, ...]:
        """Distinct labels in random order: of as many, or as few, families as possible."""
        names = [str(name) for name in rng.permutation(list(FAMILIES))]
        shuffled = {name: [str(label) for label in rng.permutation(self._family(name))]
                    for name in names}  # fmt: skip
        if self.likeness == "low":
            chosen = [shuffled[name][0] for name in names[: self.count]]
        else:
            # One family, or what of it there is, and then the next.
            chosen = [label for name in names for label in shuffled[name]][: self.count]
        return tuple(str(label) for label in rng.permutation(chosen))

    def _family(self, name: str) -> list[str]:
        longest = LONGEST_COMPACT if self.compact else 99
        if self.compact and self.likeness == "low":
            return [FAMILIES[name][0]]  # one word each: twelve tokens are all that is to be read
        return [label for label in FAMILIES[name] if len(label) <= longest]
