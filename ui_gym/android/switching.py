"""SwitchTask: what tasks share that are about one switch of the phone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ui_gym.android import scenery
from ui_gym.android.checks import ShellCheck
from ui_gym.android.content import texts
from ui_gym.android.device import AndroidDevice
from ui_gym.android.facts import settings_change
from ui_gym.android.scenery import Scenery
from ui_gym.android.task import AndroidTask
from ui_gym.android.toggles import TOGGLES, switch_to
from ui_gym.contract.action import Action
from ui_gym.contract.harm import AllowedChange
from ui_gym.contract.task import Demo
from ui_gym.errors import UserError


@dataclass(frozen=True)
class SwitchParams:
    """All that varies between episodes."""

    switch: str
    """The switch that is to be turned, of `ui_gym.android.toggles`."""
    on: bool
    """Whether it is to be on."""
    phrasing: int
    by_tile: bool
    """Whether the quick settings are the way that the oracle takes, rather than Settings."""
    scenery: Scenery


class SwitchTask(AndroidTask[SwitchParams]):
    """Base class: `switch` is to be on or off, at the start it is the other way."""

    switch: ClassVar[str]
    neighbour: ClassVar[str]
    """The switch that somebody careless takes for it."""
    goals: tuple[str, ...] = texts.goals("switches")
    states: ClassVar[tuple[str, str]] = ("off", "on")
    """How goals call its two states: ``{state}`` in `goals`, where ``{not_}`` is a word, too."""
    mistakes: tuple[str, ...] = ("neighbour", "opposite")

    def __init__(self, *, to: str | None = None) -> None:
        """Choose the state that is asked for.

        Args:
            to: ``on`` or ``off``; drawn for each episode if None.
        """
        if to not in (None, "on", "off"):
            raise UserError(f"{self.spec.name}: to is 'on' or 'off', not {to!r}")
        self.to = to

    def sample(self, rng: np.random.Generator) -> SwitchParams:
        drawn = bool(rng.random() < 0.5)
        return SwitchParams(
            switch=self.switch,
            on=drawn if self.to is None else self.to == "on",
            phrasing=int(rng.integers(len(self.goals))),
            by_tile=bool(rng.random() < 0.4),
            scenery=scenery.draw(rng),
        )

    def goal(self, params: SwitchParams) -> str:
        label = TOGGLES[self.switch].label
        said = self.goals[params.phrasing].format(
            label=label, state=self.states[params.on], not_="" if params.on else "not "
        )
        return said[0].upper() + said[1:]

    def prepare(self, params: SwitchParams) -> Sequence[str]:
        turned = TOGGLES[self.switch].turn(not params.on)
        return [*params.scenery.lines(but=(self.switch,)), turned]

    def checks(self, params: SwitchParams) -> Sequence[ShellCheck]:
        return [TOGGLES[self.switch].check(params.on)]

    def may_change(self, params: SwitchParams) -> Sequence[AllowedChange]:
        return settings_change(TOGGLES[self.switch].name)

    def oracle(self, device: AndroidDevice, params: SwitchParams) -> Iterator[Action | Demo]:
        toggle = TOGGLES[params.switch]
        yield from switch_to(device, toggle, params.on, by_tile=params.by_tile)

    def misread(self, params: SwitchParams, mistake: str, rng: np.random.Generator) -> SwitchParams:
        """``neighbour``: another switch is turned instead. ``opposite``: the state is mistaken."""
        if mistake == "neighbour":
            return dataclasses.replace(params, switch=self.neighbour)
        return dataclasses.replace(params, on=not params.on)
