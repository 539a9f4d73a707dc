"""Loggers: what TensorBoard, trackio and wandb get of a run."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ui_gym.errors import UserError
from ui_gym_agents.episode import Purpose
from ui_gym_agents.training.listeners import RunInfo, RunListener
from ui_gym_agents.training.loggers import make_loggers
from ui_gym_agents.training.settings import RunConfig

Train = Callable[..., tuple[int, str, str]]


def tell(logger: RunListener, run: RunInfo, last: int) -> None:
    """A small run, from where it is resumed to the step `last`."""
    logger.begun(run)
    for step in range((run.resumed or 0) + 1, last + 1):
        metrics = {"loss": 1 / step, "time_learn": 0.5, "odd": float("nan")}
        logger.step_finished(step, metrics, float(step))
    report = SimpleNamespace(success=0.5, n=4, interval=(0.25, 0.75))
    logger.evaluation_finished(Purpose("evaluation", last, "greedy"), report, 3.0)
    logger.ended("finished", last)


@pytest.fixture
def run(tmp_path: Path) -> RunInfo:
    return RunInfo(tmp_path, RunConfig(run={"project": "p"}))


def curves(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard reads back."""
    module = "tensorboard.backend.event_processing.event_accumulator"
    accumulator = pytest.importorskip(module).EventAccumulator(str(folder))
    accumulator.Reload()
    return {
        tag: [(event.step, round(event.value, 6)) for event in accumulator.Scalars(tag)]
        for tag in accumulator.Tags()["scalars"]
    } | {tag: accumulator.Tensors(tag) for tag in accumulator.Tags()["tensors"]}


def test_tensorboard_reads_the_curves_back(run: RunInfo) -> None:
    (logger,) = make_loggers(["tensorboard", "tensorboard"])
    tell(logger, run, 2)
    found = curves(run.directory / "tensorboard")
    assert found["train/loss"] == [(1, 1.0), (2, 0.5)]
    assert found["time/learn"] == [(1, 0.5), (2, 0.5)]
    assert found["evaluation/greedy/success"] == [(2, 0.5)]
    assert found["evaluation/greedy/high"] == [(2, 0.75)]
    assert "train/odd" not in found
    assert b'"project": "p"' in found["config"][0].tensor_proto.string_val[0]


def test_a_resumed_run_takes_back_what_was_written_of_later_steps(run: RunInfo) -> None:
    tell(make_loggers(["tensorboard"])[0], run, 4)
    tell(make_loggers(["tensorboard"])[0], RunInfo(run.directory, run.config, resumed=2), 3)
    found = curves(run.directory / "tensorboard")
    assert [step for step, _ in found["train/loss"]] == [1, 2, 3]
    assert found["evaluation/greedy/success"] == [(3, 0.5)]


def test_a_training_run_writes_events(train: Train, work: Path) -> None:
    pytest.importorskip("tensorboard")
    asked = ("--plugin", "toy", "--run.directory", "run", "--run.loggers", "tensorboard")
    status, _, errors = train(*asked)
    assert status == 0, errors
    found = curves(work / "run" / "tensorboard")
    assert [step for step, _ in found["train/success"]] == [1, 2, 3, 4, 5, 6]
    assert [step for step, _ in found["evaluation/greedy/success"]] == [0, 2, 4, 6]


def test_another_logger_may_be_chosen_when_a_run_is_resumed() -> None:
    other = RunConfig(run={"loggers": ["tensorboard"], "project": "p"})
    assert RunConfig().changes(other) == {}
    assert RunConfig().digest() == other.digest()


def test_a_missing_package_names_its_extra_before_anything_starts(
    train: Train, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui_gym_agents.training.loggers.find_spec", lambda name: None)
    asked = ("--plugin", "toy", "--run.directory", "run", "--run.loggers", "tensorboard,wandb")
    status, _, errors = train(*asked)
    assert status == 2
    assert "pip install 'ui-gym[tensorboard,wandb]'" in errors
    assert not (work / "run").exists()


def test_an_unknown_logger_is_answered_with_the_nearest(train: Train) -> None:
    with pytest.raises(UserError, match="Did you mean 'tensorboard'"):
        make_loggers(["tensorbord"])
    status, _, errors = train("--plugin", "toy", "--run.loggers", "tensorbord")
    assert status == 2
    assert "'tensorboard', 'trackio' or 'wandb'" in errors


def test_a_logger_that_never_began_writes_nothing(run: RunInfo) -> None:
    for logger in make_loggers(["tensorboard"]):
        logger.step_finished(1, {"loss": 1.0}, 1.0)
        logger.ended("failed", 0, "no config")
    assert list(run.directory.iterdir()) == []


# -- trackio and wandb: the packages themselves where they are installed, else their calls --


def test_trackio_keeps_the_curves_in_its_database(
    run: RunInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    pytest.importorskip("trackio")
    tell(make_loggers(["trackio"])[0], run, 2)
    (file,) = (tmp_path / "trackio").glob("*.db")
    with sqlite3.connect(file) as database:
        rows = database.execute("select step, metrics from metrics order by id").fetchall()
    assert [step for step, _ in rows] == [1, 2, 2]
    assert b'"train/loss":0.5' in rows[1][1]


def test_wandb_keeps_an_offline_run(run: RunInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    pytest.importorskip("wandb")
    tell(make_loggers(["wandb"])[0], run, 2)
    (file,) = (run.directory / "wandb").glob("offline-run-*/*.wandb")
    assert b"train/loss" in file.read_bytes()


class Double(ModuleType):
    """A stand-in for trackio and wandb: notes what is called."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*given: Any, **named: Any) -> Double:
            self.calls.append((name, given, named))
            return self

        return call


@pytest.mark.parametrize("name", ["trackio", "wandb"])
def test_trackio_and_wandb_are_called_as_they_want_it(
    run: RunInfo, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    double = Double(name)
    monkeypatch.setitem(sys.modules, name, double)
    monkeypatch.setattr("ui_gym_agents.training.loggers.find_spec", lambda name: True)
    tell(make_loggers([name])[0], run, 2)
    (_, _, init), *_ = double.calls
    assert (init["project"], init["name"]) == ("p", run.directory.name)
    assert init["config"]["run"]["project"] == "p"
    lines = [(given[0], named) for called, given, named in double.calls if called == "log"]
    assert [values.get("step", named.get("step")) for values, named in lines] == [1, 2, 2]
    assert lines[1][0]["train/loss"] == 0.5
    assert lines[2][0]["evaluation/greedy/low"] == 0.25
    assert double.calls[-1][0] == "finish"
