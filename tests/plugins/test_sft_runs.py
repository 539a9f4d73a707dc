"""Rejection sampling and recorded runs in the host, on a shipped model and real Chromium."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from train_helpers import metrics, spawn, train, wait_until
from waiting import eventually

from ui_gym_agents.store import EpisodeStore

pytestmark = pytest.mark.nightly

SMALL = (
    "--plugin", "sft", "--policy.model", "tiny-eyes", "--policy.threads", "1",
    "--env.num_envs", "4", "--run.eval_every", "0", "--evaluation.episodes", "0",
    "--trainer.epochs", "1", "--trainer.tries", "2", "--run.steps", "1", "--run.directory",
)  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No process of a run survives a test, however the run ended."""
    monkeypatch.chdir(tmp_path)
    yield
    assert eventually(lambda: not started_in(tmp_path)), started_in(tmp_path)


def started_in(folder: Path) -> list[str]:
    """The processes whose current folder this is, as a browser's is that of its run."""
    found = psutil.process_iter(["pid", "name", "cwd"])
    others = (p for p in found if p.info["cwd"] == str(folder) and p.pid != os.getpid())
    return [p.info["name"] for p in others]


def test_iterated_rounds_resume_to_the_bit_after_a_kill() -> None:
    flags = (
        "--trainer.source", "policy", "--trainer.strategy", "n_successes", "--trainer.keep", "1",
        "--trainer.episodes", "8", "--trainer.data_rounds", "0", "--run.steps", "6",
        "--run.save_every", "3", "--run.keep_pictures", "0",
    )  # fmt: skip
    assert train(*SMALL, "whole", *flags) == 0
    rows = metrics("whole")
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows[-1]["data_episodes"] == sum(row["kept"] for row in rows) >= 6

    process = spawn(*SMALL, "torn", *flags)
    wait_until(lambda: len(metrics("torn")) >= 4, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (Path("torn") / "result.json").exists()
    assert train("--resume", "torn") == 0

    for name in ("adapter_model.safetensors", "optimizer.safetensors", "rounds.jsonl.gz"):
        parts = [Path(run) / "checkpoints" / "step_000006" / name for run in ("whole", "torn")]
        assert parts[0].read_bytes() == parts[1].read_bytes()
    assert metrics("torn") == rows


def test_sampling_until_there_are_successes_asks_for_no_more_than_that() -> None:
    flags = ("--trainer.source", "policy", "--trainer.strategy", "n_successes")
    more = ("--trainer.per", "task", "--trainer.keep", "5", "--trainer.episodes", "40")
    assert train(*SMALL, "run", *flags, *more) == 0
    played = list(EpisodeStore(Path("run/episodes")))
    assert sum(e.success for e in played) == 5
    assert len({e.seed for e in played}) == len(played) <= 12


def test_a_recorded_run_is_learned_from_and_one_of_another_model_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert train(*SMALL, "first", "--trainer.source", "policy", "--trainer.episodes", "8") == 0
    wins = {e.id for e in EpisodeStore(Path("first/episodes")) if e.success}
    source = ("--trainer.source", "run:first", "--trainer.dedupe", "false")
    assert train(*SMALL, "second", *source) == 0
    assert metrics("second")[0]["kept"] == len(wins) > 0
    capsys.readouterr()
    other = ("--policy.model", "tiny-clerk")
    assert train(*SMALL, "third", *source, *other) == 2
    assert "its policy.model is 'tiny-eyes' instead of 'tiny-clerk'" in capsys.readouterr().err
    assert train(*SMALL, "fourth", *source, *other, "--trainer.reencode") == 0
    assert metrics("fourth")[0]["kept"] == len(wins)
