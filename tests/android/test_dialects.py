"""Whatever dialect a model writes in, it can play a phone."""

from __future__ import annotations

import pytest

from ui_gym.dialects import DIALECTS
from ui_gym.playing.env import UIEnv

SEEDS = range(3)


def played(task: str, dialect: str, seed: int) -> dict:
    env = UIEnv(task, dialect=dialect)
    try:
        _, info = env.reset(seed=seed, options={"oracle": True})
        while True:
            observation, _, terminated, truncated, info = env.step(info["oracle"]["action_text"])
            assert info["action_error"] is None, observation["feedback"]
            if terminated or truncated:
                return info
    finally:
        env.close()


@pytest.mark.parametrize("dialect", [d for d in DIALECTS if not d.startswith("grid")])
def test_an_oracle_turns_tiles_in_any_dialect(dialect):
    for seed in SEEDS:
        info = played("AndroidQuickSettings", dialect, seed)
        assert info["success"], info["notes"]
