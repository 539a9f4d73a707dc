"""The host: evaluations, stopping, failures, interruptions, and resuming to the bit."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from room import room_for
from waiting import eventually

from ui_gym.errors import UserError
from ui_gym_agents.training.parts import run_processes
from ui_gym_agents.training.settings import RunConfig

Train = Callable[..., tuple[int, str, str]]
Spawn = Callable[..., subprocess.Popen[str]]

TOY = ("--plugin", "toy", "--run.directory")
ALTERED = ("--run.steps", "3")


@pytest.fixture(autouse=True)
def ends_with_its_terminal() -> Iterator[None]:
    """Who started the tests may have been told to outlive theirs (`nohup`), which runs inherit."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def metrics(run: Path) -> list[dict[str, Any]]:
    """The lines of metrics without what the clock says."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in r.items() if not k.startswith("time_")} for r in lines]


def state(run: Path, step: int) -> tuple[Any, ...]:
    """What a checkpoint holds, without what the clock says."""
    folder = run / "checkpoints" / f"step_{step:06d}"
    kept = json.loads((folder / "state.json").read_text())
    del kept["elapsed"]
    return (folder / "x.json").read_text(), kept


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"{text!r} never came: {process.stderr.read()}")  # type: ignore[union-attr]


def test_a_run_measures_saves_and_tells_what_it_did(train: Train, work: Path) -> None:
    status, output, _ = train(*TOY, "run")
    assert status == 0
    kinds = [(r["kind"], r["step"]) for r in metrics(work / "run")]
    assert kinds == [
        ("evaluation", 0), ("train", 1), ("train", 2), ("evaluation", 2), ("train", 3),
        ("train", 4), ("evaluation", 4), ("train", 5), ("train", 6), ("final", 6),
    ]  # fmt: skip
    assert [p.name for p in sorted((work / "run" / "checkpoints").iterdir())] == [
        "step_000002", "step_000004", "step_000006",
    ]  # fmt: skip
    first, second, *_ = output.splitlines()
    assert first.startswith("toy on ")
    assert first.endswith("all of it: run")
    assert second == "should it stop, go on with: ui-gym-train --resume run"
    assert "step 1/6\tsuccess 31" in output
    assert "greedy   before training: 0.0 % (0.0 to 0.0 %, 20 episodes)" in output
    assert "the result is in run/checkpoints/step_000006" in output
    assert "saved step_000006" in (work / "run" / "log.txt").read_text()
    assert "steps: 6" in (work / "run" / "config.yaml").read_text()


def test_the_settings_of_a_resumed_run_still_say_where_they_came_from(
    train: Train, work: Path
) -> None:
    assert train(*TOY, "run", "--trainer.lr", "0.2")[0] == 0
    written = work / "run" / "config.yaml"
    before = written.read_text()
    assert "flag" in next(line for line in before.splitlines() if "lr:" in line)
    assert train("--resume", "run")[0] == 0
    assert written.read_text() == before
    assert train("--resume", "run", "--run.steps", "7")[0] == 0
    assert "steps: 7" in written.read_text()


def test_reaching_the_target_ends_the_run(train: Train, work: Path) -> None:
    status, output, _ = train(*TOY, "run", "--evaluation.target", "0.3")
    assert status == 0
    assert "4 steps in 0:00, ended by reaching the target of 30 %" in output
    assert json.loads((work / "run" / "result.json").read_text())["steps"] == 4


def test_the_time_limit_ends_the_run(train: Train) -> None:
    status, output, _ = train(*TOY, "run", "--run.time_limit", "1e-9")
    assert status == 0
    assert "0 steps in 0:00, ended by the time limit of 1e-09 s" in output


def test_a_loss_that_is_no_number_stops_the_run(train: Train, work: Path) -> None:
    status, _, errors = train(*TOY, "run", "--trainer.event", "nan", "--trainer.at", "3")
    assert status == 1
    assert "step 3: loss is nan, so training cannot go on" in errors
    assert "to continue after step 2: ui-gym-train --resume run" in errors
    assert metrics(work / "run")[-1]["loss"] is None
    assert not (work / "run" / "checkpoints" / "step_000003").exists()
    assert (work / "run" / "closed").exists()


def test_a_gradient_that_is_no_number_stops_the_run_too(train: Train) -> None:
    status, _, errors = train(*TOY, "run", "--trainer.event", "nan:grad_norm", "--trainer.at", "3")
    assert status == 1
    assert "step 3: grad_norm is nan, so training cannot go on" in errors


def test_a_trainer_that_fails_is_named_and_its_traceback_kept(train: Train, work: Path) -> None:
    status, _, errors = train(*TOY, "run", "--trainer.event", "raise", "--trainer.at", "3")
    assert status == 1
    assert "the trainer 'toy' failed in step 3: ZeroDivisionError: one too many" in errors
    assert "Traceback (most recent call last)" in (work / "run" / "log.txt").read_text()
    assert (work / "run" / "closed").exists()


def test_a_run_killed_in_the_middle_resumes_to_the_bit(
    spawn: Spawn, train: Train, work: Path
) -> None:
    event = ("--trainer.at", "4")
    assert train(*TOY, "whole", *event)[0] == 0
    killed = spawn(*TOY, "killed", *event, "--trainer.event", "kill")
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert metrics(work / "killed")[-1]["step"] == 3
    # A half-written line and a half-written checkpoint, as a crash of the machine would leave.
    with (work / "killed" / "metrics.jsonl").open("a") as file:
        file.write('{"kind": "tr')
    (work / "killed" / "checkpoints" / "step_000004.tmp").mkdir()

    again = (*event, "--trainer.event", "", "--override-config")
    status, output, errors = train("--resume", "killed", *again)
    assert status == 0, errors
    assert "resumed after step 2 from killed/checkpoints/step_000002" in output
    assert metrics(work / "killed") == metrics(work / "whole")
    assert state(work / "killed", 6)[0] == state(work / "whole", 6)[0]
    assert state(work / "killed", 6)[1]["rng"] == state(work / "whole", 6)[1]["rng"]


def test_two_halves_equal_the_whole(train: Train, work: Path) -> None:
    train(*TOY, "whole", "--evaluation.episodes", "0")
    train(*TOY, "halves", "--evaluation.episodes", "0", "--run.steps", "3")
    status, _, errors = train("--resume", "halves", "--run.steps", "6")
    assert status == 0, errors
    assert metrics(work / "halves") == metrics(work / "whole")
    assert state(work / "halves", 6) == state(work / "whole", 6)


@pytest.mark.parametrize(
    ("size", "name", "save_every"), [(14_000, "run", "10"), (24_000, "run/metrics.jsonl", "1000")]
)
def test_a_run_on_a_full_disk_says_so_and_goes_on_once_there_is_room(
    size: int, name: str, save_every: str, train: Train, work: Path
) -> None:
    """It ends in a checkpoint, or in a line of metrics."""
    asked = ("--run.steps", "250", "--run.save_every", save_every, "--run.eval_every", "0")
    with room_for(size):
        status, _, errors = train(*TOY, "run", *asked, "--run.records", "off")
    assert status == 1
    assert f"there is no room for {name} (File too large); make room and continue" in (
        " ".join(errors.split())
    )
    before = metrics(work / "run")
    assert len(before) < 251
    assert train("--resume", "run")[0] == 0
    after = metrics(work / "run")
    assert [(r["kind"], r["step"]) for r in after[:-1]] == [
        ("evaluation", 0), *(("train", step) for step in range(1, 251))
    ]  # fmt: skip
    assert before == after[: len(before)]


def test_a_run_that_never_saved_starts_over(train: Train, spawn: Spawn, work: Path) -> None:
    killed = spawn(*TOY, "run", "--trainer.at", "1", "--trainer.event", "kill")
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    status, _, _ = train("--resume", "run", "--trainer.event", "", "--override-config")
    assert status == 0
    assert [r["step"] for r in metrics(work / "run") if r["kind"] == "train"] == [1, 2, 3, 4, 5, 6]


def test_other_settings_are_refused_on_resume(train: Train, work: Path) -> None:
    train(*TOY, "run", *ALTERED)
    status, _, errors = train("--resume", "run", "--trainer.lr", "0.2", "--run.seed", "5")
    assert status == 2
    assert "the run in run was started with other settings" in errors
    assert "trainer.lr: 0.2 instead of 0.1 (flag --trainer.lr)" in errors
    assert "run.seed: 5 instead of 0 (flag --run.seed)" in errors
    status, _, errors = train("--resume", "run", "--evaluation.episodes", "7", "--run.steps", "4")
    assert status == 0, errors
    status, _, errors = train("--resume", "run", "--trainer.lr", "0.2", "--override-config")
    assert status == 0, errors
    assert "lr: 0.2" in (work / "run" / "config.yaml").read_text()
    status, _, errors = train("--resume", "run", "--run.directory", "elsewhere")
    assert status == 2
    assert "leave --run.directory out" in errors


def test_an_edited_configuration_is_noticed(train: Train, work: Path) -> None:
    train(*TOY, "run", *ALTERED)
    path = work / "run" / "config.yaml"
    path.write_text(path.read_text().replace("seed: 0", "seed: 9"))
    status, _, errors = train("--resume", "run")
    assert status == 2
    assert "config.yaml is not the one that the checkpoint was made with" in errors


def test_a_damaged_checkpoint_is_refused_or_fallen_back_from(train: Train, work: Path) -> None:
    train(*TOY, "run", *ALTERED)
    train(*TOY, "whole", *ALTERED)
    (work / "run" / "checkpoints" / "step_000003" / "x.json").write_text("[0, 0, 0]")
    status, _, errors = train("--resume", "run")
    assert status == 2
    assert "x.json has 9 bytes instead of" in errors
    assert "add --fall-back" in errors
    status, output, _ = train("--resume", "run", "--fall-back")
    assert status == 0
    assert "falling back to the one before it" in output
    assert "resumed after step 2" in output
    assert state(work / "run", 3) == state(work / "whole", 3)
    assert "fall_back: false" in (work / "run" / "config.yaml").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_finishes_the_step_and_saves(
    spawn: Spawn, train: Train, work: Path, number: signal.Signals
) -> None:
    process = spawn(*TOY, "run", "--trainer.at", "3", "--trainer.event", "wait")
    wait_for(process, "waiting")
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopping after this step; press Ctrl-C again to leave at once" in errors
    assert "error:" not in errors
    assert "step 3/6" in output
    assert "interrupted after step 3; to continue after step 3: ui-gym-train --resume run" in output
    assert (work / "run" / "closed").exists()
    assert not (work / "run" / "result.json").exists()
    status, output, _ = train("--resume", "run")
    assert status == 0
    assert train(*TOY, "whole", "--trainer.at", "3")[0] == 0
    assert metrics(work / "run") == metrics(work / "whole")


def test_a_terminal_that_is_closed_ends_the_run_as_ctrl_c_does(
    site: Path, train: Train, work: Path
) -> None:
    """As when an ssh breaks off: SIGHUP, and whatever is printed from then on is an error."""
    event = ("--trainer.at", "3", "--trainer.event", "wait")
    child, terminal = pty.fork()
    if not child:
        try:
            environment = {**os.environ, "PYTHONPATH": str(site)}
            words = [sys.executable, "-m", "ui_gym_agents.training.cli", *TOY, "run", *event]
            os.execve(sys.executable, words, environment)
        finally:
            os._exit(127)
    try:
        shown = b""
        while b"waiting" not in shown:
            shown += os.read(terminal, 4096)
    finally:
        os.close(terminal)
    assert eventually(lambda: os.waitpid(child, os.WNOHANG) != (0, 0), 60)
    assert "interrupted after step 3; to continue after step 3" in (
        (work / "run" / "log.txt").read_text()
    )
    assert (work / "run" / "closed").exists()
    assert train("--resume", "run")[0] == 0
    assert train(*TOY, "whole", *event[:2])[0] == 0
    assert metrics(work / "run") == metrics(work / "whole")


def test_a_run_that_was_told_to_outlive_its_terminal_does(spawn: Spawn, work: Path) -> None:
    """`nohup` has SIGHUP ignored before the run begins."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = spawn(*TOY, "run", "--trainer.at", "3", "--trainer.event", "wait")
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_for(process, "waiting")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.count("stopping after this step") == 1
    assert "interrupted after step 3" in output


def test_a_signal_in_an_evaluation_leaves_at_once_and_loses_nothing(
    spawn: Spawn, train: Train, work: Path
) -> None:
    process = spawn(*TOY, "run", "--trainer.at", "2", "--trainer.event", "evaluate")
    wait_for(process, "waiting")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted after step 2; to continue after step 2" in output
    again = ("--trainer.event", "", "--override-config")
    assert train("--resume", "run", *again)[0] == 0
    assert train(*TOY, "whole", "--trainer.at", "2")[0] == 0
    assert metrics(work / "run") == metrics(work / "whole")


def test_the_second_signal_leaves_at_once_and_still_cleanly(spawn: Spawn, work: Path) -> None:
    process = spawn(*TOY, "run", "--trainer.at", "4", "--trainer.event", "hang")
    wait_for(process, "waiting")
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert any("press Ctrl-C again" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "left in the middle of step 4, which is lost" in output
    assert "to continue after step 2: ui-gym-train --resume run" in output
    assert (work / "run" / "closed").exists()
    assert [p.name for p in (work / "run" / "checkpoints").iterdir()] == ["step_000002"]


def test_several_processes_need_a_trainer_that_knows_how(
    train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    status, _, errors = train(*TOY, "run")
    assert status == 2
    assert "the trainer 'toy' learns in one process: start it without accelerate launch" in errors
    monkeypatch.setenv("RANK", "1")
    assert train(*TOY, "run") == (2, "", ""), "the main process alone says it"


def test_each_process_takes_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")

    class Several:
        several_processes = True

    config = RunConfig.model_validate({"plugin": "several", "policy": {"device": "cuda:1"}})
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="cuda:1 is one GPU, and each process takes its own"):
        run_processes(config, Several)  # type: ignore[arg-type]
