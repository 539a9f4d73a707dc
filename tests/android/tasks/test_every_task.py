"""What every task of the suite keeps, on the built-in phone."""

from __future__ import annotations

import pytest

from tests.android.tasks.android_episodes import (
    SEEDS,
    assert_idleness_scores_nothing,
    assert_near_misses_fail,
    assert_solved,
)
from ui_gym.contract.arguments import make_task
from ui_gym.contract.suite import families
from ui_gym.testing import check_ui_env

TASKS = [spec.name for spec in families("android", extra=True)]


@pytest.mark.parametrize("name", TASKS)
def test_a_task_keeps_its_contract(name: str) -> None:
    check_ui_env(name, seeds=[0])
    assert_near_misses_fail(name, 1)
    assert_idleness_scores_nothing(name, SEEDS[:1])


@pytest.mark.parametrize("name", TASKS)
def test_a_task_says_what_may_change(name: str) -> None:
    task = make_task(name, {})
    assert task.may_change(task.draw(0)) is not None
    assert task.excesses


@pytest.mark.nightly
@pytest.mark.parametrize("name", TASKS)
def test_a_task_keeps_its_contract_on_many_seeds(name: str) -> None:
    assert_solved(name)
    assert_near_misses_fail(name, 4)
    assert_idleness_scores_nothing(name, SEEDS[:3])
