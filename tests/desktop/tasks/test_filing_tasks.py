"""Tasks in the file manager: what counts as done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from desktop_episodes import (
    assert_near_miss,
    assert_solved,
    desktops,
    made,
)

from ui_gym.contract import registry
from ui_gym.contract.device import DevicePool
from ui_gym.contract.task import SPLITS, params_json
from ui_gym.playing.env import UIEnv
from ui_gym.testing import check_ui_env

TASKS = (
    "DesktopNewFolder", "DesktopNewFile", "DesktopRenameFile", "DesktopMoveFile", "DesktopCopyFile",
    "DesktopDeleteFile", "DesktopSortFiles", "DesktopFolderSetting",
)  # fmt: skip


MISTAKES = [(name, mistake) for name in TASKS for mistake in registry.spec(name).load().mistakes]


@pytest.fixture(scope="module")
def small() -> Iterator[DevicePool]:
    with desktops(size=(1024, 768)) as pool:
        yield pool


@pytest.mark.parametrize("name", TASKS)
def test_the_oracle_reaches_the_goal_and_idleness_does_not(name: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        first = env.reset(seed=0)[0]["screenshot"].tobytes()
        for action in ("wait(0.1)", "finish('failure')"):
            assert env.step(action)[4]["score"] == 0
        for seed in (0, 1):
            assert_solved(env, seed)
        assert env.reset(seed=0)[0]["screenshot"].tobytes() == first


@pytest.mark.parametrize("name", TASKS)
def test_the_oracle_finds_its_way_on_another_screen_and_in_another_dialect(
    name: str, small: DevicePool
) -> None:
    with made(name, pool=small, viewport=(1024, 768), dialect="uitars") as env:
        assert_solved(env, 2)


@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_near_misses_are_no_success(name: str, mistake: str, pool: DevicePool) -> None:
    with made(name, pool=pool) as env:
        assert_near_miss(env, mistake)


@pytest.mark.parametrize("name", TASKS)
def test_goals_and_params_vary_and_are_split(name: str) -> None:
    task = registry.spec(name).load()()
    assert len({task.goal(task.draw(seed)) for seed in range(30)}) > 8
    drawn = {split: {params_json(task.draw(s, split)) for s in range(30)} for split in SPLITS}
    assert len(drawn["train"]) == len(drawn["heldout"]) == 30
    assert not drawn["train"] & drawn["heldout"]


def test_a_task_keeps_the_contract_of_all(pool: DevicePool) -> None:
    check_ui_env("DesktopMoveFile", seeds=range(1), pool=pool)


# -- what is and what is not as asked --


def begun(env: UIEnv, seed: int = 0) -> Any:
    """Begin an episode; its params."""
    env.reset(seed=seed)
    return env.task.draw(seed, env.split)


def scored(env: UIEnv, *lines: str) -> float:
    """The score once somebody ran these lines on the desktop."""
    for line in lines:
        assert env.device.run(line).code == 0, line  # type: ignore[attr-defined]
    return float(env.step("wait(0.1)")[4]["score"])


def test_a_file_that_is_copied_is_not_moved(pool: DevicePool) -> None:
    with made("DesktopMoveFile", pool=pool) as env:
        params = begun(env)
        assert scored(env, f"cp '{params.path}' '{params.value}/'") == 0
        assert scored(env, f"rm '{params.path}'") == 1


def test_another_file_of_the_new_name_is_not_the_renamed_one(pool: DevicePool) -> None:
    with made("DesktopRenameFile", pool=pool) as env:
        params = begun(env)
        new = f"{params.source}/{params.value}"
        assert scored(env, f"rm '{params.path}'; echo other > '{new}'") == 0


def test_to_delete_all_files_is_not_to_delete_one(pool: DevicePool) -> None:
    with made("DesktopDeleteFile", pool=pool) as env:
        params = begun(env)
        assert scored(env, f"rm '{params.source}'/*") == 0


def test_a_new_folder_must_be_a_folder_and_empty(pool: DevicePool) -> None:
    with made("DesktopNewFolder", pool=pool) as env:
        params = begun(env)
        path = f"'{params.source}/{params.name}'"
        assert scored(env, f"touch {path}") == 0
        assert scored(env, f"rm {path}; mkdir {path}; touch {path}/full") == 0
        assert scored(env, f"rm {path}/full") == 1


def test_sorting_is_scored_by_the_share_that_is_done(pool: DevicePool) -> None:
    with made("DesktopSortFiles", pool=pool) as env:
        params = begun(env)
        (first, here), (second, there) = params.kinds
        names = [name for name in params.names(params.source) if name.endswith(f".{first}")]
        rest = [name for name in params.names(params.source) if name.endswith(f".{second}")]
        share = len(names) / len(names + rest)
        folder = f"'{params.source}'"
        assert scored(env, f"mv {folder}/*.{first} '{here}/'") == pytest.approx(share)
        assert scored(env, f"cp {folder}/*.{second} '{there}/'") == pytest.approx(share)
        assert scored(env, f"rm {folder}/*.{second}") == 1


def test_sorting_scores_nothing_once_a_file_is_lost(pool: DevicePool) -> None:
    with made("DesktopSortFiles", pool=pool) as env:
        params = begun(env)
        (first, here), (second, _) = params.kinds
        folder = f"'{params.source}'"
        assert scored(env, f"mv {folder}/*.{first} '{here}/'; rm {folder}/*.{second}") == 0


def test_hidden_files_of_applications_do_not_count(pool: DevicePool) -> None:
    with made("DesktopDeleteFile", pool=pool) as env:
        params = begun(env)
        assert scored(env, f"touch '{params.source}/.index'; rm '{params.path}'") == 1
