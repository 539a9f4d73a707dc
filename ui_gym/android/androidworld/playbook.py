"""Playbook: how AndroidWorld's tasks are solved, and nearly solved, on the built-in phone.

A play is a function of a device and a `WorldGoal`; `plays` enters it for the classes that it
solves. A near miss is the same play on params that somebody careless takes for those of the goal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ui_gym.android.device import AndroidDevice
from ui_gym.contract.action import Action


@dataclass(frozen=True)
class WorldGoal:
    """What a play is told: AndroidWorld's object once it has prepared the phone, and its params as
    the player takes them."""

    evaluation: Any
    params: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.params[key]

    def __contains__(self, key: str) -> bool:
        return key in self.params


Play = Callable[[AndroidDevice, WorldGoal], Iterator[Action]]
NearMiss = Callable[[dict[str, Any]], dict[str, Any]]
"""Params as somebody careless takes them, made of the goal's."""


@dataclass(frozen=True)
class WorldPlan:
    """How a class is solved, and nearly."""

    play: Play
    near: NearMiss


PLANS: dict[str, WorldPlan] = {}
"""The plans by the names of AndroidWorld's classes."""


def plays(*names: str, near: NearMiss) -> Callable[[Play], Play]:
    """Decorator: this play solves these classes."""

    def enter(play: Play) -> Play:
        PLANS.update(dict.fromkeys(names, WorldPlan(play, near)))
        return play

    return enter


def other_way(key: str, one: str, two: str) -> NearMiss:
    """A near miss: the param `key` is taken for the other of its two values."""
    return lambda params: {**params, key: two if params[key] == one else one}


def altered(key: str, text: str = "x") -> NearMiss:
    """A near miss: a text in the param `key` begins otherwise."""
    return lambda params: {**params, key: f"{text}{params[key]}"}


def lacking(key: str = "row_objects") -> NearMiss:
    """A near miss: the first of a list of things is forgotten."""
    return lambda params: {**params, key: list(params[key])[1:]}


def careless(params: dict[str, Any]) -> dict[str, Any]:
    """A near miss of a play that has no params: it asks for ``careless`` itself."""
    return {**params, "careless": True}
