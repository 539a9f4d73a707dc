"""Answers that were cut at the limit of new tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from grpo_helpers import make_learner, make_policy, play, weights
from train_helpers import metrics, train

from ui_gym_agents.episode import Episode
from ui_gym_agents.groups.gathering import samples_of
from ui_gym_grpo import GRPOConfig

RUN = (
    "--plugin", "grpo", "--tasks.ids", '["PaintClick"]', "--env.num_envs", "2",
    "--env.dialect", "canonical", "--env.max_steps", "2", "--policy.threads", "1",
    "--policy.prompt", "bare", "--evaluation.episodes", "0", "--run.eval_every", "0",
    "--trainer.groups", "2", "--trainer.group_size", "2", "--run.directory", "run",
)  # fmt: skip


@pytest.mark.parametrize("algorithm", ["grpo", "ppo"])
def test_a_run_whose_every_turn_is_cut_says_so_and_ends_well(
    algorithm: str, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    short = ("--policy.model", str(tiny), "--policy.max_new_tokens", "1", "--run.steps", "2")
    asked = ("--trainer.algorithm", algorithm, "--trainer.mask_truncated", "true")
    assert train(*RUN, *short, *asked) == 0
    assert [row["truncated_turns"] for row in metrics("run")] == [1.0, 1.0]
    assert [row["informative_groups"] for row in metrics("run")] == [0, 0]
    output = capsys.readouterr().out
    assert output.count("100 % of the turns were cut at --policy.max_new_tokens 1") == 1
    assert "(--trainer.mask_truncated)" in output


def test_a_critic_learns_from_cut_turns_and_cut_episodes(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    short = ("--policy.model", str(tiny), "--policy.max_new_tokens", "2", "--run.steps", "1")
    asked = ("--trainer.algorithm", "ppo", "--env.reward", "progress")
    assert train(*RUN, *short, *asked) == 0
    (row,) = metrics("run")
    assert (row["truncated_turns"], row["informative_groups"]) == (1, 2)
    assert "value_loss" in row


@pytest.mark.parametrize("algorithm", ["grpo", "ppo"])
def test_episodes_without_a_turn_to_learn_from_change_nothing(
    algorithm: str, tiny: Path, tmp_path: Path
) -> None:
    learner = make_learner(
        make_policy(tiny, threads=1), tmp_path, algorithm=algorithm, minibatches=4,
        critic={"warmup": 0},
    )  # fmt: skip
    played = play(learner)
    before = weights(learner)
    assert learner.learn([replace(t, samples=[]) for t in played]) == {}
    assert (learner.policy.version, torch.equal(weights(learner), before)) == (0, True)
    # Beside others they are a minibatch without a gradient step.
    metrics = learner.learn([replace(played[0], samples=[]), *played[1:]])
    assert metrics["updates"] == 3


def cut(episode: Episode, turns: Sequence[int]) -> Episode:
    """As if the answers of some turns had been cut."""
    said = [
        replace(turn, tokens=replace(turn.tokens, truncated=index in turns))
        for index, turn in enumerate(episode.turns)
        if turn.tokens is not None
    ]
    return replace(episode, turns=said)


def test_cut_answers_get_rarer_where_they_fail_unless_they_are_masked(
    tiny: Path, tmp_path: Path
) -> None:
    assert not GRPOConfig().mask_truncated
    learner = make_learner(make_policy(tiny, threads=1), tmp_path)
    played = play(learner, count=1)[0]
    assert not played.episode.score
    episode = cut(played.episode, turns=[1])
    records = [turn.tokens for turn in episode.turns if turn.tokens is not None]
    masked = samples_of(episode, -1.0, mask_truncated=True)
    assert [sample.record for sample in masked] == records[:1]
    samples = samples_of(episode, -1.0)
    assert [sample.record for sample in samples] == records
    learner.learn([replace(played, episode=episode, samples=samples[1:])])
    (now,) = learner.policy.logprobs(records[1:], learner._screenshots)
    assert now.sum() < sum(records[1].logprobs)
