"""A user's own rewards in whole runs: functions of an episode, several, and those that fail."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import spots  # noqa: F401 - registers its tasks
from train_helpers import metrics, train

OWN = '''
"""Rewards of a user's own, as a module of the current folder."""

import math
import os

def letters(episode, weight=1.0):
    """Differs from episode to episode, however bad the policy is."""
    said = sum(ord(letter) for turn in episode.turns for letter in turn.action_text)
    return weight * (said % 5) / 4

def by_turn(episode):
    return [letters(episode)] * len(episode.turns)

def brightness(episode, screenshots):
    return screenshots.get(episode.turns[0].screenshot_id).mean() / 255

def sometimes(episode):
    """Fails for the first member of the first group, in its own way."""
    if episode.id.endswith("-0.0"):
        if os.environ["OWN_FAULT"] == "raise":
            raise KeyError("button")
        return math.nan if os.environ["OWN_FAULT"] == "nan" else [1.0] * 7
    return letters(episode)

def never(episode):
    raise ValueError("no such log")
'''

RUN = (
    "--plugin", "grpo", "--tasks.ids", '["PaintSpot"]', "--env.num_envs", "4",
    "--run.directory", "run", "--run.steps", "2", "--run.eval_every", "0",
    "--evaluation.episodes", "0", "--policy.lora_rank", "4", "--policy.max_new_tokens", "6",
    "--trainer.groups", "2", "--trainer.group_size", "4", "--trainer.refill", "1",
)  # fmt: skip
SFT = (
    "--plugin", "sft", *RUN[2:16], "--policy.max_new_tokens", "6", "--trainer.source", "policy",
    "--trainer.episodes", "8", "--trainer.success_only", "false", "--trainer.reward_above", "0.2",
)  # fmt: skip


@pytest.fixture
def model(
    clicker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, str]]:
    """The flags that name the model; the current folder has the user's module."""
    (tmp_path / "own_rewards_here.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "300")
    importlib.invalidate_caches()
    yield ("--policy.model", str(clicker))
    sys.modules.pop("own_rewards_here", None)


@pytest.mark.parametrize("name", ["letters", "by_turn", "brightness"])
def test_a_function_of_the_episode_is_the_reward(model: tuple[str, str], name: str) -> None:
    assert train(*RUN, *model, "--trainer.reward", f"own_rewards_here:{name}") == 0
    rows = metrics("run")
    assert [row["unrewarded_episodes"] for row in rows] == [0, 0]
    informed = any("loss" in row for row in rows)
    assert informed == (name != "brightness")  # of one group, all pictures are alike


def test_several_are_added_with_their_weights(model: tuple[str, str]) -> None:
    both = '{"success": 1, "own_rewards_here:letters": 0.5}'
    assert (
        train(*RUN, *model, "--trainer.reward", both, "--trainer.reward_parameters.weight", "2")
        == 0
    )
    assert any("loss" in row for row in metrics("run"))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("raise", "'own_rewards_here:sometimes' raised KeyError: 'button'"),
        ("nan", "'own_rewards_here:sometimes' gave nan, and no finite number"),
        ("many", "'own_rewards_here:sometimes' gave 7 numbers for the 1 turns of the episode"),
    ],
)
def test_an_episode_whose_reward_fails_is_named_and_the_run_goes_on_without(
    model: tuple[str, str],
    fault: str,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OWN_FAULT", fault)
    assert train(*RUN, *model, "--trainer.reward", "own_rewards_here:sometimes") == 0
    assert [row["unrewarded_episodes"] for row in metrics("run")] == [1, 1]
    log = Path("run/log.txt").read_text()
    assert f"episode 1-0.0 of UI/PaintSpot-v0 is left out: the reward {told}" in log
    assert "episode 2-0.0 of UI/PaintSpot-v0 is left out" in log


def test_above_a_share_the_run_stops(
    model: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    reward = ("--trainer.reward", "own_rewards_here:never")
    assert train(*RUN, *model, *reward) == 1
    said = capsys.readouterr().err
    assert (
        "8 of the 8 episodes of step 1 have no reward, and more than 20 % (reward_failures) is too "
        "much to go on without; the last: the reward 'own_rewards_here:never' raised ValueError: "
        "no such log"
    ) in said
    log = Path("run/log.txt").read_text()
    assert log.count(" is left out: ") == 3
    assert "and 5 more episodes of step 1 were left out" in log


def test_rejection_sampling_sees_the_same_rewards(
    model: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_FAULT", "raise")
    assert train(*SFT, *model, "--trainer.reward", "own_rewards_here:sometimes") == 0
    rows = metrics("run")
    assert [row["dropped_unrewarded"] for row in rows] == [1, 1]
    assert all(row["kept"] for row in rows)


@pytest.mark.parametrize(
    ("reward", "told"),
    [
        ("own_rewards_here:leters", "has no 'leters'. Did you mean 'letters'"),
        ("own_rewards_her:letters", "Did you mean 'own_rewards_here'"),
        ("own_rewards_here:math", ", and no function of an episode (got 'own_rewards_here:math')"),
        ("sucess", "there is no reward 'sucess'. Did you mean 'success'?"),
        ('{"success": 1, "shapd": 1}', "there is no reward 'shapd'. Did you mean 'shaped'?"),
        ("{}", "no reward is named."),
    ],
)
def test_a_reward_that_is_not_there_is_one_sentence(
    model: tuple[str, str], reward: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(*RUN, *model, "--trainer.reward", reward) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "trainer.reward" in line
    assert told in line
