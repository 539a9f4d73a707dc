"""The compact board is one that a tiny model can learn: it succeeds now and then."""

from __future__ import annotations

from typing import Any

import pytest

from ui_gym.multiagent.vector import TeamVectorEnv
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest


@pytest.mark.nightly
def test_a_tiny_model_succeeds_now_and_then() -> None:
    pytest.importorskip("ui_gym_tiny")
    from ui_gym_agents.policy import load_policy

    policy: Any = load_policy("tiny-hands", max_new_tokens=48, threads=1)
    envs = TeamVectorEnv(2, "kanban", compact=True, dialect="cells")
    asked = [
        EpisodeRequest(seed=seed, group=f"g{seed}", member=member)
        for seed in range(100)
        for member in range(2)
    ]
    try:
        episodes = Collector(envs, policy, run_seed=1, schedule="cohorts").collect(asked)
    finally:
        envs.close()
    solved = sum(episode.success for episode in episodes[::2])
    assert 2 <= solved <= 60
