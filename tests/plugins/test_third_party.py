"""A distribution of a third party: a reward, a loss and a trainer, from the wheel to two steps."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import spots  # noqa: F401 - registers its tasks
from safetensors.torch import load_file
from train_helpers import metrics, train

pytestmark = pytest.mark.nightly

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "their-parts"
version = "0.3"
dependencies = ["ui-gym", "ui-gym-grpo"]

[project.entry-points."ui_gym.trainers"]
theirs = "their_parts.trainer:Theirs"

[project.entry-points."ui_gym_grpo.losses"]
their_smooth = "their_parts.losses:smooth"
"""

REWARDS = """
def letters(episode, modulus=5):
    said = sum(ord(letter) for turn in episode.turns for letter in turn.action_text)
    return said % modulus / modulus
"""

LOSSES = """
from ui_gym_grpo import register_loss

@register_loss("their_smooth", clips=(0.1, 0.1))
def smooth(tokens):
    return -tokens.ratio.tanh() * tokens.advantage
"""

TRAINER = """
import torch
from pydantic import BaseModel, ConfigDict
from ui_gym_agents.training.tensors import load_optimizer, save_optimizer

class Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    reward: str = "their_parts.rewards:letters"

class Theirs:
    api_version = 1
    several_processes = True
    Config = Config

    def __init__(self, config, context):
        self.context, self.policy = context, context.policy
        self.reward = context.reward(config.reward)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=1e-2)

    def step(self):
        episodes = self.context.from_main(self.play, records_of)
        turns = [(t.tokens, self.reward(e) - 0.5) for e in episodes for t in e.turns]

        def backward(part):
            tokens, worth = zip(*(turns[i] for i in part), strict=True)
            scored = self.policy.logprobs(tokens, self.context.screenshots)
            loss = sum(-w * s.sum() for w, s in zip(worth, scored, strict=True)) / len(turns)
            loss.backward()
            return loss.item()

        self.optimizer.zero_grad()
        losses = self.policy.accumulate(records_of(episodes), backward)
        self.optimizer.step()
        self.policy.version += 1
        self.context.screenshots.clear()
        return {"loss": sum(losses), "episodes": len(episodes)}

    def play(self):
        played = self.context.collector.collect(self.context.requests(self.context.step, 8))
        return [episode for episode in played if episode.failure is None]

    def save(self, directory):
        self.policy.save(directory)
        save_optimizer(self.optimizer, directory / "optimizer.safetensors")

    def load(self, directory):
        self.policy.load(directory)
        load_optimizer(self.optimizer, directory / "optimizer.safetensors")

def records_of(episodes):
    return [turn.tokens for episode in episodes for turn in episode.turns]
"""

RUN = (
    "--tasks.ids", '["PaintSpot"]', "--env.num_envs", "4", "--run.steps", "2",
    "--run.eval_every", "0", "--run.save_every", "1", "--evaluation.episodes", "0",
    "--policy.lora_rank", "4", "--policy.max_new_tokens", "6",
)  # fmt: skip
GRPO = (
    "--plugin", "grpo", "--trainer.groups", "2", "--trainer.group_size", "4",
    "--trainer.reward", "their_parts.rewards:letters", "--trainer.loss", "their_smooth",
    "--trainer.reward_parameters.modulus", "7",
)  # fmt: skip
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the distribution's wheel is installed."""
    pytest.importorskip("hatchling")
    source = tmp_path_factory.mktemp("their-parts")
    package = source / "their_parts"
    package.mkdir()
    (source / "pyproject.toml").write_text(PROJECT)
    parts = {"__init__": "", "rewards": REWARDS, "losses": LOSSES, "trainer": TRAINER}
    for name, text in parts.items():
        (package / f"{name}.py").write_text(text)
    folder = tmp_path_factory.mktemp("site")
    build = [*PIP, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", source, source]
    subprocess.run(build, check=True, timeout=200)
    (wheel,) = source.glob("their_parts-0.3-*.whl")
    install = [*PIP, "install", "-q", "--no-deps", "--no-index", "--target", folder, wheel]
    subprocess.run(install, check=True, timeout=200)
    return folder


@pytest.fixture
def model(
    installed: Path, clicker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, str]]:
    monkeypatch.syspath_prepend(str(installed))
    monkeypatch.chdir(tmp_path)
    yield "--policy.model", str(clicker)
    for name in [name for name in sys.modules if name.startswith("their_parts")]:
        assert str(sys.modules[name].__file__).startswith(str(installed))
        del sys.modules[name]


@pytest.mark.parametrize("plugin", [GRPO, ("--plugin", "theirs")], ids=["grpo", "theirs"])
def test_two_steps_with_the_parts_of_a_third_party(
    plugin: tuple[str, ...], model: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(*plugin, *RUN, *model, "--run.directory", "run") == 0
    rows = metrics("run")
    assert [row["step"] for row in rows] == [1, 2]
    assert all("loss" in row for row in rows)
    first, last = (
        load_file(f"run/checkpoints/step_00000{step}/adapter_model.safetensors") for step in (1, 2)
    )
    assert any(not first[name].equal(last[name]) for name in first)
    assert "warning" not in capsys.readouterr().out


ENVS = """
import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Text

class Flat(gymnasium.Env):
    observation_space = Dict({"goal": Text(9), "screenshot": Box(0, 255, (64, 96, 3), np.uint8)})
    action_space = Text(200)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.look(), {}

    def look(self):
        return {"goal": "Click", "screenshot": np.zeros((64, 96, 3), np.uint8)}

    def step(self, action):
        return self.look(), float(self.np_random.integers(2)), True, False, {}

gymnasium.register("Theirs/Flat-v0", entry_point=Flat)
"""


def test_a_step_on_an_env_of_a_third_party(
    clicker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "their_flat.py").write_text(ENVS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    asked = [*RUN, "--run.steps", "1", "--tasks.ids", "their_flat:Theirs/Flat-v0"]
    status = train(*GRPO[:6], *asked, "--policy.model", str(clicker), "--run.directory", "run")
    assert status == 0
    (row,) = metrics("run")
    assert row["episodes"] >= 8
