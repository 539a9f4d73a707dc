"""The table of `ui_gym.contract`: what each kind of step gives."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import paint  # noqa: F401  registers what is played
import pytest

from ui_gym.playing.env import UIEnv


@pytest.fixture
def env() -> Iterator[UIEnv]:
    with contextlib.closing(UIEnv("PaintText")) as made:
        yield made


def told(info: dict[str, Any]) -> tuple[Any, ...]:
    names = ("step", "score", "success", "action_error", "failure")
    return tuple(info[name] for name in names)


def test_the_first_a_middle_and_the_last_step(env: UIEnv) -> None:
    first, info = env.reset(seed=3, options={"oracle": True})
    assert told(info) == (0, 0.0, False, None, None)
    assert first["feedback"] == ""

    middle, reward, terminated, truncated, info = env.step("(this is no action)")
    assert (reward, terminated, truncated) == (0, False, False)
    assert told(info) == (1, 0.0, False, "parse", None)
    assert middle["feedback"]
    assert middle["goal"] == first["goal"]
    assert (middle["screenshot"] == first["screenshot"]).all()

    while not (terminated or truncated):
        assert reward == 0
        last, reward, terminated, truncated, info = env.step(info["oracle"]["action_text"])
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert told(info)[1:] == (1.0, True, None, None)
    assert last["goal"] == first["goal"]


def test_the_last_step_of_an_episode_that_takes_too_long(env: UIEnv) -> None:
    env.reset(seed=3)
    for _ in range(env.max_steps):
        _, reward, terminated, truncated, info = env.step("move(1, 1)")
    assert (reward, terminated, truncated) == (0, False, True)
    assert info["step"] == info["max_steps"]
    assert info["failure"] is None


def test_a_failed_step(env: UIEnv) -> None:
    first, _ = env.reset(seed=3)
    env.device.close()
    last, reward, terminated, truncated, info = env.step("click(1, 1)")
    assert (reward, terminated, truncated) == (0, False, True)
    assert told(info)[:4] == (1, 0.0, False, None)
    assert info["failure"].startswith("device: ")
    assert last["goal"] == first["goal"]
    assert last["feedback"] == ""
    assert (last["screenshot"] == first["screenshot"]).all()


def test_progress_is_counted_from_the_start() -> None:
    with contextlib.closing(UIEnv("PaintText", reward="progress")) as env:
        _, info = env.reset(seed=3, options={"oracle": True})
        total, over = info["score"], False
        while not over:
            _, reward, terminated, truncated, info = env.step(info["oracle"]["action_text"])
            total, over = total + reward, terminated or truncated
        assert total == info["score"] == 1.0
