"""Slider set: bring sliders to the given values and apply them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.choices import changed_share
from ui_gym.browser.content.panels import MOST, PANELS, Slider, SliderPanel
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, whole
from ui_gym.browser.moves import click
from ui_gym.contract.action import Drag, Press
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

GOALS = (
    "Set {changes}. Then press Apply.",
    "Please bring {changes}; leave the rest as it is and apply.",
    "Adjust the sliders: {changes}. Apply it when all is set.",
)
COMPACT_GOALS = (
    "Set {changes}. Press Apply.",
    "Move {changes}. Press Apply.",
    "Drag {changes}. Press Apply.",
)

COMPACT_SLIDERS = tuple(Slider(thing, 0, 9, 1, "") for thing in words.THINGS_SHORT)
"""Each with ten places, 16 px apart, on a track of five patches."""
COMPACT_PANELS = {
    key: SliderPanel("Panel", "gear", "", "", faders, COMPACT_SLIDERS)
    for key, faders in {"rows": False, "faders": True}.items()
}
ALL_PANELS = {**PANELS, **COMPACT_PANELS}
COMPACT_MOST = {"rows": 5, "faders": 3}
"""Sliders that the compact page has room for: below one another, side by side."""


@dataclass(frozen=True)
class SliderSetParams:
    """All that varies between episodes. Sliders are counted from 0, as they are shown."""

    panel: str
    shown: tuple[int, ...]
    """Which of the panel's sliders are shown, in this order."""
    starts: tuple[int, ...]
    asked: tuple[tuple[int, int], ...]
    """(slider, value) of what is to be changed."""
    columns: int
    """How many columns of sliders there are, where they do not stand upright."""
    place: int
    """How far the panel is moved to the right, in pixels; compact: down, if sliders lie."""
    theme: int
    phrasing: int

    @property
    def sliders(self) -> list[Slider]:
        return [ALL_PANELS[self.panel].sliders[i] for i in self.shown]


@register("SliderSet", suite="browser", category="input", difficulty="medium", max_steps=12)
class SliderSet(Family[SliderSetParams]):
    """Bring sliders to the given values and press Apply.

    ## Description
    A panel of sliders, lying or upright: lights, a photo, a greenhouse, a printer, an equalizer, a
    mixer. The goal names some of them with a value each, at the easier levels with how far off it
    may be. The others must stay. Which sliders there are, their order and start, the layout and
    the theme vary. The compact page has short names and the values 0 to 9, which must be exact.

    ## Action space
    Dragging a thumb or clicking on its track sets it; arrow keys move it by a step, Page Up and
    Page Down by ten, Home and End to its ends.

    ## Rewards
    1 if Apply is pressed with all the named sliders as asked and the others untouched. Else the
    share of the named ones that are right, less one such share for each other one that was moved.

    ## Starting state
    Every slider at a value of its own, none of the named ones near its target; nothing focused.

    ## Episode end
    Termination: something was applied (Apply can be pressed once something has changed).
    `max_steps` is 4 for each named slider, and 4; compact: 2 and 2.

    ## Arguments
    | `sliders` | 5 (compact: 3) | how many sliders there are, 2 to 8, compact to 5 |
    | `changes` | 2 | how many of them are named, 1 to 8 |
    | `slack` | 2 (compact: 0) | how far off a value may be, in percent of its range, 0 to 20 |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "slider_set.html"
    ends, waiting = "apply", "not applied yet"
    mistakes = ("neighbour", "value")
    translated = ("SliderSet",)
    sliders: int = whole(2, MOST, easy=3, medium=5, hard=8)
    changes: int = whole(1, MOST, easy=1, medium=2, hard=4)
    slack: int = whole(0, 20, easy=5, medium=2, hard=0)
    compact_values = {"sliders": 3, "changes": 2, "slack": 0}

    def prepare(self) -> None:
        if self.changes > self.sliders:
            raise UserError(f"SliderSet: changes must be 1 to {self.sliders}, not {self.changes}")
        self.max_steps = 4 * self.changes + 4
        self.panels = tuple(PANELS)
        if self.compact:
            self._prepare_compact()

    def _prepare_compact(self) -> None:
        self.check_range("sliders", self.sliders, 2, max(COMPACT_MOST.values()))
        if self.slack:
            raise UserError(
                f"SliderSet: values of the compact page are exact; slack is 0, not {self.slack}"
            )
        self.panels = tuple(key for key, most in COMPACT_MOST.items() if self.sliders <= most)
        self.max_steps = 2 * self.changes + 2

    def sample(self, rng: Generator) -> SliderSetParams:
        panel = pick(rng, self.panels)
        bank = ALL_PANELS[panel].sliders
        shown = rng.choice(len(bank), size=self.sliders, replace=False)
        if panel == "equalizer":
            shown.sort()
        sliders = [bank[i] for i in shown]
        starts = tuple(int(s.low + s.step * rng.integers(s.steps + 1)) for s in sliders)
        named = rng.choice(self.sliders, size=self.changes, replace=False)
        asked = tuple((int(i), self._target(sliders[i], starts[i], rng)) for i in named)
        return SliderSetParams(
            panel=panel,
            shown=tuple(int(i) for i in shown),
            starts=starts,
            asked=asked,
            columns=2 if self.sliders > 3 and not self.compact and rng.random() < 0.5 else 1,
            place=PATCH * self._place(panel, rng),
            theme=0 if self.compact else int(rng.integers(6)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: SliderSetParams) -> str:
        say, changes = self.speak(params), []
        for i, value in params.asked:
            slider, off = params.sliders[i], self._tolerance(params.sliders[i])
            room = say(" (give or take {off})").format(off=f"{off}{slider.unit}") if off else ""
            name = slider.label if self.compact else say.named(slider.label)
            said = say("{name} to {value}").format(name=name, value=slider.said(value))
            changes.append(f"{said}{room}")
        if self.compact:
            return COMPACT_GOALS[params.phrasing].format(changes=", ".join(changes))
        return say(GOALS[params.phrasing]).format(changes=say.listing(changes))

    def page_params(self, params: SliderSetParams) -> dict[str, Any]:
        panel = ALL_PANELS[params.panel]
        sliders = [
            {**slider._asdict(), "start": start}
            for slider, start in zip(params.sliders, params.starts, strict=True)
        ]
        layout = {"columns": params.columns, "place": params.place, "theme": params.theme}
        return {**panel._asdict(), **layout, "sliders": sliders}

    def verdict(self, data: Mapping[str, Any], params: SliderSetParams) -> Verdict:
        asked = list(params.starts)
        for i, value in params.asked:
            asked[i] = value
        now = [int(value) for value in data["values"]]
        for i, value in params.asked:
            if abs(now[i] - value) <= self._tolerance(params.sliders[i]):
                now[i] = value
        score = changed_share(params.starts, asked, now)
        return Verdict(score, done=True, notes=_told(params, asked, now))

    def oracle(self, device: BrowserDevice, params: SliderSetParams) -> Steps:
        say = self.speak(params)
        for i, value in params.asked:
            slider = params.sliders[i]
            if device.state()["values"][i] == value:
                continue
            thought = f'"{say(slider.label)}" has to be at {slider.said(value)}.'
            if self.compact:
                thought = f"{slider.label} {value}"
            yield Demo(self._drag(device, params, i, value), thought)
            more, less = ("up", "down") if ALL_PANELS[params.panel].faders else ("right", "left")
            while (now := device.state()["values"][i]) != value:
                if abs(now - value) <= self._tolerance(slider):
                    break
                said = f"It is at {slider.said(now)}: a step more is needed."
                yield Demo(Press(more if now < value else less), said)
        yield Demo(click(device, "#apply"), "Apply" if self.compact else "All is set: apply.")

    def misread(self, params: SliderSetParams, mistake: str, rng: Generator) -> SliderSetParams:
        """``neighbour``: the slider beside one of the named ones is moved. ``value``: one is
        brought to another value than was said."""
        at = int(rng.integers(len(params.asked)))
        i, value = params.asked[at]
        if mistake == "neighbour":
            i = i + 1 if i + 1 < len(params.shown) else i - 1
            slider = params.sliders[i]
            value = min(max(value, slider.low), slider.high)
            value = slider.low + (value - slider.low) // slider.step * slider.step
        else:
            value = self._target(params.sliders[i], value, rng)
        asked = (*params.asked[:at], (i, value), *params.asked[at + 1 :])
        return replace(params, asked=asked)

    def blind_rate(self, params: SliderSetParams) -> float:
        """Any sliders, at any values."""
        rate = 1 / math.comb(len(params.shown), len(params.asked))
        for i, _ in params.asked:
            slider = params.sliders[i]
            rate *= (2 * self._tolerance(slider) // slider.step + 1) / (slider.steps + 1)
        return rate

    def _place(self, panel: str, rng: Generator) -> int:
        """How far the panel is moved, in patches."""
        if not self.compact:
            return int(rng.integers(-3, 4))
        free = 10 - 3 * self.sliders if ALL_PANELS[panel].faders else 6 - self.sliders
        return int(rng.integers(free + 1))

    def _tolerance(self, slider: Slider) -> int:
        return self.slack * slider.steps // 100 * slider.step

    def _target(self, slider: Slider, start: int, rng: Generator) -> int:
        """A value that is clearly another one than `start`."""
        apart = max(0.12 * (slider.high - slider.low), 2 * self._tolerance(slider))
        values = range(slider.low, slider.high + 1, slider.step)
        far = [value for value in values if abs(value - start) > apart]
        return pick(rng, far)

    def _drag(self, device: BrowserDevice, params: SliderSetParams, i: int, value: int) -> Drag:
        slider = params.sliders[i]
        left, top, width, height = device.box(f"#slider-{i} .rail")
        x, y = device.center(f"#slider-{i} .thumb")
        share = (value - slider.low) / (slider.high - slider.low)
        if ALL_PANELS[params.panel].faders:
            return Drag(x, y, x, round(top + (1 - share) * height))
        return Drag(x, y, round(left + share * width), y)


def _told(params: SliderSetParams, asked: Sequence[int], now: Sequence[int]) -> str:
    wrong = [
        f"{slider.label} is at {slider.said(got)}, not {slider.said(want)}"
        for slider, want, got in zip(params.sliders, asked, now, strict=True)
        if want != got
    ]
    return "; ".join(wrong) or "applied as asked"
