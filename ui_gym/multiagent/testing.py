"""`check_team_env`: whether what a team is to do is sound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ui_gym.contract.task import SPLITS, params_json
from ui_gym.errors import TaskError

DRAWS = 100
"""How many params of each split are compared."""


def check_team_env(make: Callable[[], Any], seeds: Sequence[int] = (0, 1, 2)) -> None:
    """Check an env of several agents.

    - The same seed gives every agent the same first picture, to the byte, and the same goal.
    - The goal is not reached at the start, and is reached by the team's oracle.
    - Each of the task's mistakes ends with a score below 1.
    - Goals vary with the seed, and differ between agents where each is told its own.
    - No params are in two splits.

    Args:
        make: Makes the env: a `SharedBoard`, or a `SharedInbox` as a parallel env.
        seeds: Of the episodes that are played.

    Raises:
        TaskError: something is not so; the message says what.
    """
    env, other = make(), make()
    try:
        task = env.unwrapped.task
        goals = set()
        for seed in seeds:
            goals.add(_check_start(task.name, env, other, seed))
            _check(task.name, _play(env, seed, True) >= 1.0, f"seed {seed}: its oracle fails")
            for mistake in task.mistakes:
                score = _play(env, seed, {mistake: 1.0})
                _check(task.name, score < 1.0, f"seed {seed}: the mistake {mistake!r} succeeds")
        _check(task.name, len(goals) > 1 or len(seeds) < 2, "all seeds have the same goals")
        _check_splits(task)
    finally:
        env.close()
        other.close()


def _check_start(name: str, env: Any, other: Any, seed: int) -> tuple[str, ...]:
    """The goals of a seed, which two envs begin alike."""
    seen, infos = env.reset(seed=seed)
    again, _ = other.reset(seed=seed)
    for agent, one in seen.items():
        same = np.array_equal(one["screenshot"], again[agent]["screenshot"])
        _check(name, same, f"seed {seed}: {agent} has another first picture each time")
        _check(name, one["goal"] == again[agent]["goal"], f"seed {seed}: another goal each time")
        _check(name, not infos[agent]["success"], f"seed {seed}: the goal is reached at the start")
    return tuple(one["goal"] for one in seen.values())


def _play(env: Any, seed: int, oracle: Any) -> float:
    """The score of the oracle's team."""
    _, infos = env.reset(seed=seed, options={"oracle": oracle})
    while env.agents:
        texts = {agent: infos[agent]["oracle"]["action_text"] for agent in env.agents}
        *_, infos = env.step(texts)
    (score,) = {info["score"] for info in infos.values()}
    return float(score)


def _check_splits(task: Any) -> None:
    drawn = [{params_json(task.draw(seed, split)) for seed in range(DRAWS)} for split in SPLITS]
    _check(task.name, not set.intersection(*drawn), "params are in two splits")
    _check(task.name, all(len(one) > DRAWS // 2 for one in drawn), "params hardly vary")


def _check(name: str, holds: bool, what: str) -> None:
    if not holds:
        raise TaskError(f"{name}: {what}")
