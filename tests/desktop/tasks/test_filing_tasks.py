"""Tasks in the file manager: what counts as done."""

from __future__ import annotations

from typing import Any

import pytest
from desktop_episodes import (
    made,
)

from ui_gym.contract.device import DevicePool
from ui_gym.playing.env import UIEnv


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
