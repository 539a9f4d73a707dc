"""Episodes of desktop tasks, as the tests of tasks play them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ui_gym.contract.device import DevicePool
from ui_gym.contract.task import params_json
from ui_gym.desktop.pool import DesktopPool
from ui_gym.playing.env import UIEnv


@contextlib.contextmanager
def desktops(kind: str = "x11", size: tuple[int, int] = (1280, 720)) -> Iterator[DevicePool]:
    """Devices that the envs of a module share."""
    from ui_gym.contract.device import DeviceOptions

    with contextlib.closing(DesktopPool(DeviceOptions(kind, size))) as pool:
        yield pool


@contextlib.contextmanager
def made(name: str, **arguments: Any) -> Iterator[UIEnv]:
    """An env of a task."""
    with contextlib.closing(UIEnv(name, **arguments)) as env:
        yield env


def play(env: UIEnv, seed: int, oracle: Any = True, *, without: str = "") -> dict[str, Any]:
    """An episode of the oracle, which may make mistakes (name -> rate): the last info.

    `without` is an action that it leaves out.
    """
    _, info = env.reset(seed=seed, options={"oracle": oracle})
    assert not info["success"]
    while True:
        answer = info["oracle"]["action_text"]
        done = "wait(0.1)" if without and without in answer else answer
        observation, _, terminated, truncated, info = env.step(done)
        assert info["failure"] is None, info["failure"]
        assert info["action_error"] is None, f"{done!r}: {observation['feedback']}"
        if terminated or truncated:
            return info


def assert_solved(env: UIEnv, seed: int) -> None:
    """The oracle reaches the goal within the steps that there are."""
    info = play(env, seed)
    assert info["success"], f"seed {seed}: {info['notes']} after {info['step']} steps"


def assert_near_miss(env: UIEnv, mistake: str, episodes: int = 1) -> None:
    """The oracle that makes the mistake does not reach the goal, on the first seeds where that
    changes what it believes."""
    played = 0
    for seed in range(50):
        params = env.task.draw(seed, env.split)
        believed = env.task.misunderstand(params, {mistake: 1.0}, seed)
        if params_json(believed) == params_json(params):
            continue
        info = play(env, seed, {mistake: 1.0})
        assert not info["success"], f"{mistake}, seed {seed}: {info['notes']}"
        played += 1
        if played == episodes:
            return
    raise AssertionError(f"{mistake} changes nothing in 50 seeds")
