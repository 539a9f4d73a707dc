"""What tests of browser tasks share: a page that only reports, and judging what it reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from ui_gym.browser.device import PageEvent
from ui_gym.contract.action import Action
from ui_gym.contract.task import Task, Verdict

SEEDS = range(60)

LEVELS = ("easy", "medium", "hard")

Told = tuple[str, Mapping[str, Any]]
"""The type and the data of an event."""


class Reported:
    """A stand-in for a device: a page that reported these events and is in this state."""

    size = (320, 256)

    def __init__(self, *events: Told, state: Mapping[str, Any] | None = None) -> None:
        self.events = [PageEvent(type, data) for type, data in events]
        self._state = dict(state or {})

    def state(self) -> dict[str, Any]:
        return dict(self._state)


def judge(
    task: Task[Any, Any], params: Any, *events: Told, state: Mapping[str, Any] | None = None
) -> Verdict:
    """What `task` says of a page that reported `events` and is in `state`."""
    return task.judge(Reported(*events, state=state), params, ())


def verdicts(task: Task[Any, Any], params: Any, table: Mapping[str, tuple[Any, ...]]) -> Any:
    """A test of the verdicts in `table`: a name, and events, the score, whether it is over, notes.

    Notes may be left out. A page that reported nothing is judged in test_all.py, for all tasks.
    """

    @pytest.mark.parametrize("row", table.values(), ids=table)
    def test(row: tuple[Any, ...]) -> None:
        notes = row[-1] if isinstance(row[-1], str) else None
        *events, score, done = row[:-1] if notes else row
        verdict = judge(task, params, *events)
        assert (verdict.score, verdict.done) == (pytest.approx(score), done), verdict.notes
        assert verdict.success == (score == 1.0)
        assert notes in (None, verdict.notes)

    return test


def levels(family: Callable[..., Task[Any, Any]], *some: str) -> pytest.MarkDecorator:
    """Parametrises ``task``: the family at all or some of its levels."""
    tasks = [pytest.param(family(level=level), id=level) for level in some or LEVELS]
    return pytest.mark.parametrize("task", tasks)


def mistakes_fail(
    family: Callable[..., Task[Any, Any]],
    played: Callable[[Any], Iterable[Told]],
    possible: Callable[[Any], bool] = bool,
) -> Any:
    """A test, at all levels, of what is `played` by somebody who believes the params.

    It succeeds with the true ones, and with no mistake; what is believed must be `possible`.
    """

    @levels(family)
    def test(task: Any) -> None:
        rng = np.random.default_rng(0)
        for params in draws(task):
            assert judge(task, params, *played(params)).success
            for mistake in task.mistakes:
                believed = task.misread(params, mistake, rng)
                assert possible(believed), mistake
                assert not judge(task, params, *played(believed)).success, mistake

    return test


def perform(device: Any, *actions: Action) -> Any:
    """Perform actions one after the other; the page's state then, with its events up to date."""
    for action in actions:
        device.perform(action)
    return device.state()


def draws(task: Task[Any, Any]) -> Iterator[Any]:
    """The params of `SEEDS`."""
    return map(task.draw, SEEDS)


def goals(task: Task[Any, Any]) -> Iterator[tuple[Any, str]]:
    """The params of `SEEDS`, each with its goal."""
    return ((params, task.goal(params)) for params in draws(task))
