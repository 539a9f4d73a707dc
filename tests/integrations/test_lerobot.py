"""``deploy/lerobot/env.py`` as LeRobot loads and plays it, its download of the file left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("lerobot", reason="tox -e lerobot")

import torch
from lerobot.envs import factory
from lerobot.envs.utils import close_envs
from lerobot.scripts.lerobot_eval import rollout

from ui_gym import UIEnv

FILE = Path(__file__).resolve().parents[2] / "deploy" / "lerobot" / "env.py"
SEEDS = [1, 2]


@pytest.fixture
def envs(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, dict[int, Any]]]:
    """What LeRobot makes of the file, as if it had come from the Hub."""
    downloaded = ("org/repo", "env.py", str(FILE), "main")
    monkeypatch.setattr(factory, "_download_hub_file", lambda *asked: downloaded)
    found = factory.make_env("org/repo@main:env.py", n_envs=2, trust_remote_code=True)
    yield found
    close_envs(found)


class ClickPolicy(torch.nn.Module):
    """Clicks at one point in each slot, and notes what it is shown."""

    def __init__(self, points: Sequence[list[float]]) -> None:
        super().__init__()
        self.points = points
        self.shown: list[dict[str, Any]] = []

    def reset(self) -> None:
        self.shown.clear()

    def select_action(self, observation: dict[str, Any]) -> torch.Tensor:
        self.shown.append(observation)
        return torch.tensor([[*point, 1.0] for point in self.points])


def oracle_point(seed: int) -> tuple[str, list[float]]:
    """The goal, and where the oracle clicks, as the env's actions say it."""
    env = UIEnv("UI/ClickButton-v0", compact=True)
    seen, info = env.reset(seed=seed, options={"oracle": True})
    (action,) = env.dialect.parse(info["oracle"]["action_text"], env.size)
    width, height = env.size
    env.close()
    ((x, y),) = action.points()
    return seen["goal"], [2 * x / (width - 1) - 1, 2 * y / (height - 1) - 1]


def played(env: Any, policy: ClickPolicy) -> dict[str, Any]:
    """An episode in each slot, by LeRobot's own loop; what lies between them changes nothing."""

    def same(value: Any) -> Any:
        return value

    return rollout(env, policy, same, same, same, same, seeds=SEEDS)


def test_clicks_at_the_right_places_are_successes_to_its_evaluation(envs: Any) -> None:
    goals, points = zip(*map(oracle_point, SEEDS), strict=True)
    policy = ClickPolicy(points)
    result = played(envs["ui_gym"][0], policy)
    assert result["success"].any(dim=1).tolist() == [True, True]
    assert result["reward"].sum(dim=1).tolist() == [1.0, 1.0]
    shown = policy.shown[0]
    assert shown["observation.image"].shape == (2, 3, 256, 320)
    assert shown["observation.state"].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert shown["task"] == list(goals)


def test_clicks_at_nothing_fail_after_the_last_step(envs: Any) -> None:
    env = envs["ui_gym"][1]
    result = played(env, ClickPolicy([[1.0, 1.0], [-1.0, -1.0]]))
    assert not result["success"].any()
    assert result["done"].shape[1] == env.call("_max_episode_steps")[0]


def test_both_tasks_are_there_and_their_pictures_can_be_filmed(envs: Any) -> None:
    assert list(envs) == ["ui_gym"]
    assert [env.call("task")[0] for env in envs["ui_gym"].values()] == [
        "UI/ClickButton-v0",
        "UI/CheckboxSet-v0",
    ]
    env = envs["ui_gym"][0]
    seen, _ = env.reset(seed=SEEDS)
    np.testing.assert_array_equal(env.envs[0].render(), seen["pixels"][0])
    assert env.unwrapped.metadata["render_fps"] == 2
