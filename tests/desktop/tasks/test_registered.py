"""What every task of the suite keeps: one task a family daily, all of them nightly."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import Any

import pytest
from desktop_episodes import assert_near_miss, assert_solved, made

from ui_gym.contract import registry
from ui_gym.contract.device import DevicePool
from ui_gym.contract.task import SPLITS, params_json
from ui_gym.testing import check_ui_env

FAMILIES = ("mousepad", "pcmanfm", "terminal", "calculator", "gnumeric", "calc", "writer")
"""Categories by what their tasks are done with."""

OFFICE = ("calc", "writer")
"""Those that need LibreOffice."""

TASKS = {
    family: [spec.name for spec in registry.specs() if spec.category == family]
    for family in FAMILIES
}

needs_libreoffice = pytest.mark.skipif(
    shutil.which("soffice") is None, reason="LibreOffice is not installed"
)


def cases(families: Iterable[str] = FAMILIES, *, daily: int = 1) -> list[Any]:
    """The tasks of these families, all but the first `daily` of each for the night."""
    return [
        pytest.param(
            name,
            marks=[pytest.mark.nightly] * (n >= daily) + [needs_libreoffice] * (family in OFFICE),
        )
        for family in families
        for n, name in enumerate(TASKS[family])
    ]


@pytest.mark.parametrize("name", cases())
def test_the_oracle_reaches_the_goal_and_idleness_does_not(name: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        first = env.reset(seed=1)[0]["screenshot"].tobytes()
        for action in ("wait(0.1)", "finish('failure')"):
            assert env.step(action)[4]["score"] == 0
        assert_solved(env, 1)
        assert env.reset(seed=1)[0]["screenshot"].tobytes() == first


@pytest.mark.parametrize("name", cases(FAMILIES[:1]) + cases(FAMILIES[1:5], daily=0))
def test_the_oracle_finds_its_way_on_another_screen_and_in_another_dialect(
    name: str, small: DevicePool
) -> None:
    with made(name, pool=small, viewport=(1024, 768), dialect="uitars") as env:
        assert_solved(env, 2)


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        pytest.param(name, mistake, marks=[pytest.mark.nightly] * (n > 0))
        for family in ("mousepad", "pcmanfm")
        for n, (name, mistake) in enumerate(
            (name, mistake)
            for name in TASKS[family]
            for mistake in registry.spec(name).load().mistakes
        )
    ],
)
def test_near_misses_are_no_success(name: str, mistake: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        assert_near_miss(env, mistake)


def test_goals_and_params_vary_and_are_split() -> None:
    for spec in (spec for spec in registry.specs() if spec.category in (*FAMILIES, "shell")):
        name, task = spec.name, spec.load()()
        assert len({task.goal(task.draw(seed)) for seed in range(30)}) > 8, name
        drawn = {split: {params_json(task.draw(s, split)) for s in range(30)} for split in SPLITS}
        assert len(drawn["train"]) == len(drawn["heldout"]) == 30, name
        assert not drawn["train"] & drawn["heldout"], name


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for family in FAMILIES[:5] for name in TASKS[family]])
def test_a_task_keeps_the_contract_of_all(name: str, pool: DevicePool) -> None:
    check_ui_env(name, seeds=range(1), pool=pool)
