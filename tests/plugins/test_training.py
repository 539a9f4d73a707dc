"""The plugins in the host, on the shipped model and real Chromium."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from train_helpers import metrics, spawn, train, wait_until
from waiting import eventually

from ui_gym_agents.store import EpisodeStore

MARK = "TEST_OF_TRAINING"

SMALL = (
    "--env.num_envs", "4", "--run.steps", "4", "--run.save_every", "2", "--run.eval_every", "0",
    "--evaluation.episodes", "0", "--policy.threads", "1",
)  # fmt: skip
GRPO = ("--plugin", "grpo", "--trainer.groups", "2", "--trainer.group_size", "4", *SMALL)
SFT = ("--plugin", "sft", "--trainer.episodes", "8", *SMALL)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No browser survives a test, however its run ended."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(MARK, str(tmp_path))
    yield
    assert eventually(lambda: not browsers(str(tmp_path)))


def browsers(mark: str) -> list[int]:
    """The browsers whose environment, which they have from a test, bears its mark."""
    found = []
    for process in psutil.process_iter(["name"]):
        with contextlib.suppress(psutil.Error):
            if "headless" in (process.info["name"] or "") and process.environ().get(MARK) == mark:
                found.append(process.pid)
    return found


@pytest.mark.nightly
def test_grpo_learns_from_what_was_sampled() -> None:
    assert train(*GRPO, "--run.directory", "whole") == 0
    rows = metrics("whole")
    assert [row["step"] for row in rows] == [1, 2, 3, 4]
    informed = [row for row in rows if "logprob_gap" in row]
    assert informed
    assert all(row["logprob_gap"] < 1e-4 and row["grad_norm"] > 0 for row in informed)
    times = {"time_env", "time_generate", "time_learn"}
    written = map(json.loads, Path("whole/metrics.jsonl").read_text().splitlines())
    assert all(times <= row.keys() for row in written if row["kind"] == "train")
    assert all(row["valid_actions"] > 0.9 for row in rows)


@pytest.mark.nightly
@pytest.mark.parametrize("ahead", [1, 2])
def test_playing_ahead_is_never_staler_than_allowed(ahead: int) -> None:
    flags = ("--trainer.max_steps_off_policy", str(ahead), "--env.schedule", "free")
    evaluations = ("--run.eval_every", "2", "--evaluation.quick_episodes", "4")
    assert train(*GRPO, *flags, *evaluations, "--run.directory", "ahead") == 0
    rows = metrics("ahead")
    assert [row["step"] for row in rows] == [1, 2, 3, 4]
    behind = [row["steps_off_policy"] for row in rows]
    assert max(behind) <= ahead
    assert behind[0] == 0
    assert max(behind) > 0  # it did play ahead
    assert any(row.get("stale_turns", 0) > 0 for row in rows)


def test_every_training_episode_is_recorded_once_and_can_be_replayed() -> None:
    assert train(*GRPO, "--run.directory", "run", "--run.steps", "1") == 0
    store = EpisodeStore(Path("run/episodes"))
    episodes = list(store)
    assert len(episodes) == metrics("run")[0]["episodes"]
    assert len({e.id for e in episodes}) == len(episodes)
    events = [json.loads(line) for line in Path("run/events.jsonl").read_text().splitlines()]
    (learned,) = (event for event in events if event["event"] == "learned")
    assert learned["episodes"].keys() == {e.id for e in episodes}
    for group in {e.group for e in episodes}:
        told = [learned["episodes"][e.id] for e in episodes if e.group == group]
        assert sum(advantage for _, advantage in told) == pytest.approx(0, abs=1e-6)
        assert (len({reward for reward, _ in told}) == 1) == all(a == 0 for _, a in told)
    for episode in episodes:
        for turn in episode.turns:
            assert turn.tokens is not None
            assert turn.tokens.images == (turn.screenshot_id,)
            assert store.screenshots.get(turn.screenshot_id).shape == (256, 320, 3)


@pytest.mark.nightly
def test_one_interrupt_finishes_the_step_saves_and_says_how_to_resume() -> None:
    process = spawn(*GRPO, "--run.directory", "run", "--run.steps", "50")
    wait_until(lambda: len(metrics("run")) >= 1, process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "ui-gym-train --resume run" in output
    done = len(metrics("run"))
    assert (Path("run/checkpoints") / f"step_{done:06}").is_dir()


@pytest.mark.nightly
def test_rejection_sampling_keeps_successes_and_at_most_so_many_of_each_task() -> None:
    flags = ("--trainer.source", "policy", "--trainer.tries", "4", "--trainer.keep", "1")
    assert (
        train(*SFT, *flags, "--trainer.lr", "1e-4", "--run.steps", "2", "--run.directory", "r") == 0
    )
    rows = metrics("r")
    wins = [e for e in EpisodeStore(Path("r/episodes")) if e.success]
    assert sum(row["kept"] for row in rows) == len({(e.group) for e in wins})
    assert all(row["records"] >= 5 * row["kept"] for row in rows)


@pytest.mark.nightly
def test_demonstrations_of_an_oracle_lower_the_loss() -> None:
    assert (
        train(*SFT, "--policy.model", "tiny-clerk", "--trainer.warmup", "2", "--run.directory", "r")
        == 0
    )
    losses = [row["loss"] for row in metrics("r")]
    assert [row["source_success"] for row in metrics("r")] == [1.0] * 4
    assert losses[-1] < losses[0]


def test_careless_demonstrations_are_kept_right_or_wrong() -> None:
    mistakes = json.dumps({"row": 1.0})
    assert (
        train(*SFT, "--trainer.mistakes", mistakes, "--run.steps", "1", "--run.directory", "r") == 0
    )
    (row,) = metrics("r")
    assert (row["source_success"], row["kept"]) == (0.0, 8)
    assert "success" not in row, "which is the policy's"


def test_a_mistake_that_the_task_does_not_know_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    status = train(*SFT, "--trainer.mistakes", '{"rows": 1.0}', "--run.directory", "r")
    assert status == 2
    assert "Did you mean 'row'" in capsys.readouterr().err
