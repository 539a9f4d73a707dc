"""Runs that are killed for good while they save, or measure: what they go on from is whole."""

from __future__ import annotations

import json
import multiprocessing
import random
import signal
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import histories
import pytest
from waiting import eventually

from ui_gym_agents.training import checkpoint, cli

pytest.importorskip("sqlalchemy")
pytest.importorskip("jinja2")

Train = Callable[..., tuple[int, str, str]]

PLAYER = ("--plugin", "toy-player", "--run.directory")
SAVING = (
    "--trainer.groups", "0", "--run.save_every", "1", "--run.keep", "2", "--run.eval_every", "0",
    "--evaluation.episodes", "0", "--run.steps",
)  # fmt: skip
"""A run that does little but save."""
STEPS = {"baseline": 0, "evaluation": 2, "final": 4}
"""After which step each evaluation of the toy is."""
LONGEST = 0.1
"""Seconds from a checkpoint to the kill, at most."""


@pytest.fixture
def fork(work: Path) -> Iterator[Callable[..., BaseProcess]]:
    """`ui-gym-train` as a process of its own, from one that has imported it: so it begins soon."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["paint", "ui_gym_agents.training.host", "ui_gym_agents.store"])
    started: list[BaseProcess] = []

    def run(*arguments: str) -> BaseProcess:
        process = context.Process(target=cli.main, args=(arguments,), daemon=True)
        process.start()
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.join()


@pytest.mark.parametrize("kills", [pytest.param(200, marks=pytest.mark.nightly), 10])
def test_a_run_killed_wherever_it_saves_has_a_whole_checkpoint_and_ends_the_same(
    kills: int, fork: Callable[..., BaseProcess], train: Train, work: Path
) -> None:
    chance, run, arguments = random.Random(kills), work / "run", (*PLAYER, "run", *SAVING, "100000")
    in_a_save, steps, number = 0, 0, 0
    # At the end of a save as it is: what that has left must be swept without saving anything.
    while number < kills or not left_behind(run):
        number += 1
        assert number < 10 * kills
        process = fork(*arguments)
        assert eventually(partial(has_saved, run, steps), 120)
        process.join(chance.uniform(0, LONGEST))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        in_a_save += bool(left_behind(run))
        newest = checkpoint.latest(run / "checkpoints")
        assert newest is not None
        found = checkpoint.load(newest)
        assert found.step >= steps + 1, "what was saved is there"
        steps = found.step
        arguments = ("--resume", "run")
    assert in_a_save >= kills / 10, "most of its time goes into saving"

    status, output, errors = train("--resume", "run", "--run.steps", str(steps))
    assert status == 0, errors
    assert f"resumed after step {steps} from run/checkpoints/step_{steps:06d}" in output
    assert sorted(path.name for path in (run / "checkpoints").iterdir()) == [
        f"step_{step:06d}" for step in (steps - 1, steps)
    ]  # fmt: skip
    assert train("--resume", "run", "--run.steps", str(steps + 2))[0] == 0
    assert train(*PLAYER, "whole", *SAVING, str(steps + 2))[0] == 0
    assert histories.history(run) == histories.history(work / "whole")


def saved(run: Path) -> int:
    """The step of a run's newest checkpoint."""
    newest = checkpoint.latest(run / "checkpoints")
    return 0 if newest is None else int(newest.name[5:])


def has_saved(run: Path, steps: int) -> bool:
    """Whether there is a checkpoint of more than so many steps."""
    return saved(run) > steps


def left_behind(run: Path) -> list[Path]:
    """What a kill left of checkpoints that were being written or deleted."""
    return [path for path in run.glob("checkpoints/*") if path.suffix]


@pytest.mark.parametrize(
    ("kind", "turn"),
    [
        ("baseline", 5),
        ("evaluation", 3),
        ("final", 5),
        *(pytest.param(kind, turn, marks=pytest.mark.nightly)
          for kind in ("baseline", "evaluation", "final") for turn in (1, 2, 4)),
    ],
)  # fmt: skip
def test_an_evaluation_that_is_killed_is_done_again_and_counts_once(
    kind: str, turn: int, fork: Callable[..., BaseProcess], train: Train, work: Path
) -> None:
    process = fork(
        *PLAYER, "run", "--trainer.event", "kill", "--trainer.when", kind, "--trainer.at", str(turn)
    )
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    torn = work / "run" / "evaluations" / f"step_{STEPS[kind]:06d}-greedy"
    begun = torn.exists()  # nothing was told before the first turn is over
    assert begun == (turn > 1)
    assert not (torn / "report.json").exists()
    status, _, errors = train("--resume", "run", "--trainer.event", "", "--override-config")
    assert status == 0, errors
    assert train(*PLAYER, "whole")[0] == 0
    assert histories.history(work / "run") == histories.history(work / "whole")
    again = torn.with_name(f"{torn.name}-2") if begun else torn
    assert json.loads((again / "report.json").read_text())["n"] == (
        4 if kind == "evaluation" else 6
    )
