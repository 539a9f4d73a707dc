"""Episodes of Android tasks, as the tests of tasks play them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ui_gym.android.device import AndroidDevice
from ui_gym.playing.env import UIEnv

SEEDS = range(20)


def play(env: UIEnv, seed: int, oracle: Any = True) -> dict[str, Any]:
    """An episode of the oracle, which may make mistakes (name -> rate): the last info."""
    _, info = env.reset(seed=seed, options={"oracle": oracle})
    assert not info["success"]
    while True:
        answer = info["oracle"]["action_text"]
        observation, _, terminated, truncated, info = env.step(answer)
        assert info["failure"] is None, info["failure"]
        assert info["action_error"] is None, f"{answer!r}: {observation['feedback']}"
        if terminated or truncated:
            return info


@contextlib.contextmanager
def made(name: str, **arguments: Any) -> Iterator[UIEnv]:
    """An env of a task."""
    with contextlib.closing(UIEnv(name, **arguments)) as env:
        yield env


def assert_solved(name: str, seeds: Sequence[int] = SEEDS, **arguments: Any) -> None:
    """The oracle reaches the goal within the steps that there are."""
    with made(name, **arguments) as env:
        for seed in seeds:
            info = play(env, seed)
            assert info["success"], f"seed {seed}: {info['notes']} in {info['step']} steps"


def assert_near_misses_fail(name: str, many: int, **arguments: Any) -> None:
    """No mistake that the task knows is a success, on `many` seeds where it makes a difference."""
    with made(name, **arguments) as env:
        for mistake in env.task.mistakes:
            played = 0
            for seed in range(200):
                params = env.task.draw(seed, env.split)
                if env.task.misunderstand(params, {mistake: 1.0}, seed) == params:
                    continue
                info = play(env, seed, {mistake: 1.0})
                assert not info["success"], f"{mistake}, seed {seed}: {info['notes']}"
                played += 1
                if played == many:
                    break
            assert played == many, f"{mistake} made a difference on {played} seeds"


def assert_idleness_scores_nothing(name: str, seeds: Sequence[int], **arguments: Any) -> None:
    """Who does nothing and gives up has a score of 0."""
    with made(name, **arguments) as env:
        for seed in seeds:
            env.reset(seed=seed)
            _, _, _, _, info = env.step("wait(1)")
            assert info["score"] == 0, f"seed {seed}: {info['notes']}"
            _, _, _, _, info = env.step("finish('failure')")
            assert info["score"] == 0, f"seed {seed}: {info['notes']}"


def shell(env: UIEnv, line: str) -> None:
    """Run a line on the env's phone, as somebody else might."""
    assert isinstance(env.device, AndroidDevice)
    assert env.device.shell(line).code == 0


def first_pictures(name: str, seeds: Sequence[int], **arguments: Any) -> list[np.ndarray]:
    """The first screenshots of some seeds."""
    with made(name, **arguments) as env:
        return [env.reset(seed=seed)[0]["screenshot"] for seed in seeds]
