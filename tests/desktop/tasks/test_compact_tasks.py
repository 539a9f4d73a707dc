"""Compact forms of the desktop's tasks: they keep the contract, lie on the screen and its grid, and
are said in few words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from desktop_episodes import assert_near_miss, assert_solved, desktops, made

from ui_gym.contract import registry
from ui_gym.contract.action import Click
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DevicePool
from ui_gym.contract.suite import compact_families
from ui_gym.contract.task import SPLITS, params_json
from ui_gym.desktop import compact
from ui_gym.desktop.compact_task import NAMES, CompactDesktopTask
from ui_gym.desktop.task import DesktopTask
from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym.testing import check_ui_env

TASKS = [spec.name for spec in compact_families("desktop")]
KINDS = (
    "DesktopAppendLine", "DesktopCopyFile", "DesktopDeleteFiles", "DesktopDeleteLine",
    "DesktopDropFile", "DesktopFixValue", "DesktopMoveFile", "DesktopRenameFile",
)  # fmt: skip
INK = 120
"""Below this a pixel is written on."""

each_task = pytest.mark.parametrize("name", KINDS)


@pytest.fixture(scope="module")
def small_pool() -> Iterator[DevicePool]:
    with desktops(size=compact.SIZE) as pool:
        yield pool


@pytest.mark.nightly
@each_task
def test_a_compact_task_keeps_the_contract_of_all(name: str, small_pool: DevicePool) -> None:
    check_ui_env(name, seeds=range(1), compact=True, pool=small_pool)


@each_task
def test_who_reads_it_reaches_the_goal_in_half_the_steps(name: str, small_pool: DevicePool) -> None:
    with made(name, compact=True, dialect="cells", pool=small_pool) as env:
        _, info = env.reset(seed=5, options={"oracle": True})
        while not info["success"]:
            thought, _, action = info["oracle"]["action_text"].rpartition("\n")
            assert name == "DesktopDeleteFiles" or 1 <= len(thought.split()) <= 3
            observation, _, terminated, truncated, info = env.step(action)
            assert info["action_error"] is None, observation["feedback"]
            assert not truncated, info["notes"]
            assert terminated == info["success"]
        task = env.task
        assert isinstance(task, CompactDesktopTask)
        assert info["step"] == task.compact_steps
        assert name == "DesktopDeleteFiles" or env.max_steps == 2 * task.compact_steps


@pytest.mark.nightly
@each_task
def test_the_oracle_succeeds_on_several_seeds_and_its_mistakes_do_not(
    name: str, small_pool: DevicePool
) -> None:
    with made(name, compact=True, dialect="cells", pool=small_pool) as env:
        for seed in range(10):
            assert_solved(env, seed)
        for mistake in env.task.mistakes:
            assert_near_miss(env, mistake, episodes=2)


@pytest.mark.parametrize(
    ("name", "left", "top", "rows", "rim"),
    [
        ("DesktopRenameFile", 40, compact.TOP, range(5), 1),
        # Around the cell that is chosen, the first one, there is a border.
        ("DesktopFixValue", 80, compact.TOP, range(1, 4), 6),
        ("DesktopDeleteLine", 4, compact.TEXT_TOP, range(3), 1),
    ],
)
def test_words_stand_in_patches(
    name: str, left: int, top: int, rows: range, rim: int, small_pool: DevicePool
) -> None:
    with made(name, compact=True, pool=small_pool) as env:
        picture = env.reset(seed=0)[0]["screenshot"].min(axis=2)
    for row in rows:
        begin = top + compact.PATCH * row
        word = picture[begin + rim : begin + compact.PATCH - 1, left + 2 : left + 60]
        written = np.flatnonzero((word < INK).any(axis=1))
        assert written.min() > 0, row
        assert written.max() < len(word) - 1, row


def test_names_of_icons_stand_in_patches(small_pool: DevicePool) -> None:
    with made("DesktopDropFile", compact=True, pool=small_pool) as env:
        picture = env.reset(seed=0)[0]["screenshot"].min(axis=2)
        for row in range(4):
            x, _ = compact.icon(row)
            top = compact.PATCH * (2 * row + 1)
            light = picture[top : top + compact.PATCH, x - 12 : x + 12] > 200
            rows = np.flatnonzero(light.any(axis=1))
            assert rows.min() > 0
            assert rows.max() < compact.PATCH - 1


@pytest.mark.parametrize(
    ("name", "told"),
    [
        pytest.param(
            "DesktopRenameFile", "cell", marks=pytest.mark.skipif(
                not any(Path("/usr/lib").glob("*/gtk-2.0/modules/libatk-bridge.so")),
                reason="libatk-adaptor is not installed",
            ),
        ),
        ("DesktopDeleteLine", "textbox"),
    ],
)  # fmt: skip
def test_elements_lie_on_the_screen(name: str, told: str) -> None:
    with made(name, compact=True, observation="both") as env:
        text = env.reset(seed=0)[0]["elements"]
        assert told in text, text


# -- without a desktop --


def test_the_compact_tasks_are_these() -> None:
    assert sorted(TASKS) == sorted(KINDS)


@each_task
def test_goals_have_few_words_and_params_are_split(name: str) -> None:
    task = make_task(name, {"compact": True})
    assert task.viewport == compact.SIZE
    drawn = {split: [task.draw(seed, split) for seed in range(30)] for split in SPLITS}
    goals = [task.goal(params) for params in drawn["train"]]
    assert all(len(goal.split()) <= 12 for goal in goals)
    assert all(any(thing in goal for thing in NAMES) for goal in goals)
    assert len({task.goal(task.draw(seed)).split()[0] for seed in range(30)}) > 1
    told = {split: set(map(params_json, params)) for split, params in drawn.items()}
    assert not told["train"] & told["heldout"]


@each_task
def test_without_the_argument_it_is_as_large_as_ever(name: str) -> None:
    full = make_task(name, {})
    assert isinstance(full, DesktopTask)
    assert full.viewport == DesktopTask.viewport
    assert full.max_steps == registry.spec(name).max_steps
    assert full.goals == type(full).goals


def test_what_is_made_from_a_task_has_no_compact_form() -> None:
    with pytest.raises(UserError, match="takes no argument 'compact'"):
        UIEnv("DesktopCalcFixValue", compact=True)


def test_targets_are_as_large_as_a_row() -> None:
    points = [compact.at_row(row) for row in range(compact.ROWS)]
    points += [compact.at_cell(column, row) for column in range(3) for row in range(5)]
    points += [Click(*compact.icon(index)) for index in range(8)]
    for point in points:
        assert 12 <= point.x < compact.SIZE[0] - 12
        assert 12 <= point.y < compact.SIZE[1] - 12
