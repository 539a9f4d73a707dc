"""The compact file manager, which a tiny model reads, and the task that is played in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from desktop_episodes import assert_near_miss, assert_solved, desktops, made

from ui_gym.contract.device import DevicePool
from ui_gym.desktop import compact
from ui_gym.desktop.tasks import pcmanfm_delete
from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv

INK = 120
"""Below this a pixel is written on."""


@pytest.fixture(scope="module")
def small_pool() -> Iterator[DevicePool]:
    with desktops(size=compact.SIZE) as pool:
        yield pool


@pytest.fixture
def env(small_pool: DevicePool) -> Iterator[UIEnv]:
    with made("DesktopDeleteFiles", compact=True, dialect="cells", pool=small_pool) as env:
        yield env


def test_rows_are_patches_and_names_begin_in_the_second(env: UIEnv) -> None:
    picture = env.reset(seed=0)[0]["screenshot"].min(axis=2)
    assert picture.shape == compact.SIZE[::-1]
    left, right = compact.PATCH, compact.SIZE[0] // 2
    for row in range(pcmanfm_delete.FILES):
        top = compact.TOP + compact.PATCH * row
        # Around the first row there is the dotted line of the cursor.
        inside = picture[top + 1 : top + compact.PATCH - 1, left + 1 : right]
        rows, columns = np.nonzero(inside < INK)
        assert rows.min() > 8
        assert rows.max() < compact.PATCH - 8
        assert columns.min() < 8
    below = compact.TOP + compact.PATCH * pcmanfm_delete.FILES
    assert not (picture[below : below + compact.PATCH // 2, left:right] < INK).any()


def test_the_same_seed_gives_the_same_picture(env: UIEnv) -> None:
    first = env.reset(seed=3)[0]["screenshot"].copy()
    env.reset(seed=4)
    assert np.array_equal(env.reset(seed=3)[0]["screenshot"], first)


@pytest.mark.parametrize("seed", range(3))
def test_who_reads_it_deletes_what_is_named(env: UIEnv, seed: int) -> None:
    assert_solved(env, seed)


def test_another_file_is_no_success(env: UIEnv) -> None:
    assert_near_miss(env, "sibling")


def test_who_is_aimless_clicks_what_is_named_or_presses_the_key(env: UIEnv) -> None:
    pressed = 0
    for seed in range(3):
        _, info = env.reset(seed=seed, options={"oracle": {"aimless": 1.0}})
        done = False
        while not done:
            answer: str = info["oracle"]["action_text"]
            action = answer.rpartition("\n")[2]
            pressed += action == 'press("delete")'
            if action.startswith("click"):
                name, mark, *_, height = answer.split("\n")[-2].split()
                assert name in pcmanfm_delete.NAMES
                assert mark == "named"
                assert height in action
            *_, terminated, truncated, info = env.step(action)
            done = terminated or truncated
    assert 0 < pressed < 3 * env.max_steps


def test_its_budget_is_one_action_more_than_needed() -> None:
    with made("DesktopDeleteFiles", compact=True, asked=3) as env:
        assert env.max_steps == 7
    with pytest.raises(UserError, match="asked must be 1 to 3"):
        UIEnv("DesktopDeleteFiles", asked=4)
    with pytest.raises(UserError, match="compact is True or False"):
        UIEnv("DesktopDeleteFiles", compact="yes")
