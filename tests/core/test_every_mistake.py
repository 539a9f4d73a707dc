"""All mistakes at once, of every task that is built in: a careless oracle may make each of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from ui_gym.contract import registry
from ui_gym.contract.arguments import make_task

SUITES = ("browser", "android", "desktop")
FEW = [
    ("UI/CheckboxSet-v0", {"asked": 1}),
    ("UI/DropdownPick-v0", {"asked": 1, "compact": True}),
    ("UI/FileManager-v0", {"depth": 1, "compact": True}),
]
"""Forms in which one mistake leaves nothing for the next."""


def forms() -> Iterator[tuple[str, dict[str, Any]]]:
    for spec in registry.specs(elsewhere=False):
        if spec.suite in SUITES and spec.category != "suite":
            known = inspect.signature(spec.load()).parameters
            levels = getattr(spec.load(), "levels", ())
            yield from ((spec.id, given) for given in [{"level": one} for one in levels] or [{}])
            yield from [(spec.id, {"compact": True})] * ("compact" in known)
    yield from FEW


@pytest.mark.parametrize(("id", "given"), [pytest.param(*f, id=f"{f[0]}-{f[1]}") for f in forms()])
def test_all_mistakes_at_once_leave_something_to_play(id: str, given: dict[str, Any]) -> None:
    task = make_task(id, given)
    every = dict.fromkeys(task.mistakes, 1.0)
    for seed in range(20 if (id, given) in FEW else 3):
        task.misunderstand(task.draw(seed, "train"), every, seed)
