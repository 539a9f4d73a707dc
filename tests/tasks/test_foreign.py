"""Envs that others registered with Gymnasium, played by our commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import pytest

from ui_gym.contract import registry
from ui_gym.errors import UserError
from ui_gym_agents.evaluation.cli import app
from ui_gym_agents.tasks.mix import make_envs, screen_size, turn_limits
from ui_gym_agents.tasks.sources import TaskEntry

THEIRS = """
import string
import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Text

class Halves(gymnasium.Env):
    observation_space = Dict({
        "goal": Text(40, charset=string.printable),
        "screenshot": Box(0, 255, (64, 96, 3), np.uint8),
    })
    action_space = Text(200, charset=string.printable)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        assert not options, options
        self.left = bool(self.np_random.integers(2))
        return self.look(), {}

    def look(self):
        picture = np.full((64, 96, 3), 255, np.uint8)
        picture[:, :48 if self.left else None] = (255, 0, 0)
        return {"goal": "Click the red half", "screenshot": picture}

    def step(self, action):
        return self.look(), 1.0 if "click" in action else 0.0, True, False, {}

gymnasium.register("Theirs/Halves-v3", entry_point=Halves, max_episode_steps=7)
"""
NAME = "their_halves:Theirs/Halves-v3"


@pytest.fixture(autouse=True)
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "their_halves.py").write_text(THEIRS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("their_halves", None)
    gymnasium.registry.pop("Theirs/Halves-v3", None)


def test_it_is_known_by_its_id_and_stays_out_of_our_lists() -> None:
    spec = registry.spec(NAME)
    assert (spec.id, spec.suite, spec.max_steps) == (NAME, "gymnasium", 7)
    assert NAME not in {known.id for known in registry.specs()}
    with pytest.raises(UserError, match="is no task of ui-gym but an env of others"):
        spec.load()


def test_it_is_made_as_it_is() -> None:
    entry = TaskEntry(registry.spec(NAME))
    assert turn_limits([entry]) == {entry.variant: 7}
    envs = make_envs([entry], 2, device="auto", dialect="cells")
    assert screen_size(envs) == (96, 64)
    envs.close()
    with pytest.raises(UserError, match="an env of others is played alone, and these are 2"):
        make_envs([entry, TaskEntry(registry.spec("ClickButton"))], 2)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("CartPole-v1", "is no env for agents that look at screens"),
        ("not_there:Theirs/Halves-v3", "the module of not_there:Theirs/Halves-v3 cannot be"),
        ("their_halves:Theirs/Halfs-v3", "there is no task 'their_halves:Theirs/Halfs-v3'"),
    ],
)
def test_what_cannot_be_played_says_why(name: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        make_envs([TaskEntry(registry.spec(name))], 2)


def test_an_evaluation_plays_it(capsys: pytest.CaptureFixture[str]) -> None:
    app(
        ["--task", NAME, "--agent", "random", "--episodes", "3", "--out", "out"],
        standalone_mode=False,
    )
    assert "valid actions" in capsys.readouterr().out
    episodes = [json.loads(line) for line in Path("out/episodes.jsonl").read_text().splitlines()]
    assert [(e["task"], e["goal"]) for e in episodes] == [(NAME, "Click the red half")] * 3
