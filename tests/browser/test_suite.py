"""The browser suite as one env: every episode is one of its families', as that plays it alone."""

from __future__ import annotations

import contextlib
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ui_gym.browser.family import COMPACT_SIZE
from ui_gym.contract.suite import families
from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv


def test_all_families_are_drawn() -> None:
    assert len(families("browser")) == 45
    made: Any = UIEnv("Browser").task
    drawn = {made.choose(seed, None).spec.id for seed in range(600)}
    assert drawn == {spec.id for spec in families("browser")}
    assert made.choose(5, None) is made.choose(5, None)


def test_an_episode_is_that_of_the_family_alone() -> None:
    with contextlib.closing(UIEnv("Browser")) as suite:
        seen, info = suite.reset(seed=4, options={"oracle": True, "ground_truth": True})
        assert info["task"] != "UI/Browser-v0"
        with contextlib.closing(UIEnv(info["task"])) as alone:
            other, told = alone.reset(seed=4, options={"oracle": True, "ground_truth": True})
            assert seen["goal"] == other["goal"]
            np.testing.assert_array_equal(seen["screenshot"], other["screenshot"])
            for key in ("oracle", "ground_truth"):
                assert info[key] == told[key]
            assert suite.max_steps == alone.max_steps
        while True:
            _, _, terminated, truncated, info = suite.step(info["oracle"]["action_text"])
            if terminated or truncated:
                break
        assert info["success"]


def test_the_compact_suite_plays_every_family_small() -> None:
    task: Any = UIEnv("Compact").task
    assert task.viewport == COMPACT_SIZE
    assert set(task.members) == {spec.id for spec in families("browser")}
    assert all(member.compact for member in task.members.values())
    with contextlib.closing(UIEnv("Compact", dialect="cells")) as suite:
        seen, info = suite.reset(seed=3)
        with contextlib.closing(UIEnv(info["task"], compact=True, dialect="cells")) as alone:
            other, _ = alone.reset(seed=3)
        np.testing.assert_array_equal(seen["screenshot"], other["screenshot"])
    made: Any = UIEnv("Browser", compact=True, category="drag").task
    assert made.viewport == COMPACT_SIZE


def test_a_suite_gives_its_tasks_the_arguments_that_they_take() -> None:
    given = {"compact": True, "words": "short"}
    made: Any = UIEnv("Browser", tasks=["DataEntry", "Login"], arguments=given).task
    entry, login = made.members.values()
    assert (entry.words, login.compact) == ("short", True)
    with pytest.raises(UserError, match="compact is True or False"):
        UIEnv("Browser", compact="small")


def test_a_reset_asks_for_a_task_slot_by_slot() -> None:
    envs: Any = UIVectorEnv(2, "Browser", tasks=["Login", "ClickButton"], level="easy")
    with contextlib.closing(envs):
        _, info = envs.reset(seed=1, options={"task": ["UI/ClickButton-v0", "Login"]})
        assert info["task"].tolist() == ["UI/ClickButton-v0", "UI/Login-v0"]
        with pytest.raises(UserError, match="UI/Browser-v0 does not play 'DataEntry'"):
            envs.reset(seed=1, options={"task": "DataEntry"})


def test_a_choice_that_leaves_nothing_is_an_error() -> None:
    with pytest.raises(UserError, match="no task is left"):
        UIEnv("Browser", tasks=["Login"], category="drag")
    with pytest.raises(UserError, match="there is no category 'inptu'"):
        UIEnv("Browser", category="inptu")
    with pytest.raises(UserError, match="there is no task 'Logni'"):
        UIEnv("Browser", tasks=["Logni"])


def test_gymnasium_makes_it() -> None:
    with contextlib.closing(gym.make("UI/Browser-v0", category="choice")) as env:
        made: Any = env.unwrapped
        assert all(task.spec.category == "choice" for task in made.task.members.values())
