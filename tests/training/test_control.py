"""What a run is asked while it goes on: to stop, to evaluate, to save."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ui_gym.errors import UserError
from ui_gym_agents.training import control
from ui_gym_agents.training.control import RunControl, ask

Train = Callable[..., tuple[int, str, str]]

SELDOM = ("--run.save_every", "0", "--run.eval_every", "0")
TOY = ("--plugin", "toy", "--run.directory", "run", *SELDOM)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder that somebody takes for a run's."""
    (tmp_path / "config.yaml").touch()
    return tmp_path


def kinds(run: Path) -> list[tuple[str, int]]:
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [(line["kind"], line["step"]) for line in lines]


def checkpoints(run: Path) -> list[str]:
    return sorted(path.name for path in (run / "checkpoints").iterdir())


def asking(what: str) -> tuple[str, ...]:
    """Flags by which the toy asks for something itself, in its third step."""
    return ("--trainer.at", "3", "--trainer.event", f"ask:{what}")


def test_what_is_asked_is_read_once_and_only_if_it_is_new(run: Path) -> None:
    ask(run, "stop")
    reader = RunControl(run)
    assert reader.asked() == []
    for what in ("save", "evaluate", "save"):
        ask(run, what)
    assert reader.asked() == ["save", "evaluate"]
    assert reader.asked() == []
    with (run / control.FILE).open("a") as file:
        file.write('{"what": "fly"}\nno json\n[]\n{"what": "st')
    assert reader.asked() == []
    with (run / control.FILE).open("a") as file:
        file.write('op"}\n')
    assert reader.asked() == ["stop"]


def test_what_no_run_can_do_is_refused_by_name(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be asked to 'sotp'.*stop"):
        ask(run, "sotp")
    with pytest.raises(UserError, match="holds no run"):
        ask(tmp_path / "nothing", "stop")
    assert not (run / control.FILE).exists()


def test_to_stop_finishes_the_step_saves_and_loses_nothing(train: Train, work: Path) -> None:
    status, output, _ = train(*TOY, *asking("stop"))
    assert status == 130
    assert "asked to stop, by a line in run/control.jsonl" in output
    assert "interrupted after step 3; to continue after step 3" in output
    assert "asked to stop" in (work / "run" / "log.txt").read_text()
    assert checkpoints(work / "run") == ["step_000003"]
    ended = json.loads((work / "run" / "events.jsonl").read_text().splitlines()[-1])
    assert (ended["event"], ended["status"], ended["step"]) == ("ended", "interrupted", 3)
    status, _, errors = train("--resume", "run")  # what was asked of the last process is done
    assert status == 0, errors
    assert kinds(work / "run")[-1] == ("final", 6)


def test_to_evaluate_measures_now_and_changes_nothing_else(train: Train, work: Path) -> None:
    assert train(*TOY, *asking("evaluate"))[0] == 0
    assert ("evaluation", 3) in kinds(work / "run")
    assert checkpoints(work / "run") == ["step_000006"]
    learned = trained(work / "run")
    assert train("--plugin", "toy", "--run.directory", "plain", *SELDOM)[0] == 0
    assert ("evaluation", 3) not in kinds(work / "plain")
    assert learned == trained(work / "plain")


def test_what_was_measured_already_is_not_measured_again(train: Train, work: Path) -> None:
    assert train(*TOY, *asking("evaluate"), "--run.eval_every", "3")[0] == 0
    assert kinds(work / "run").count(("evaluation", 3)) == 1


def test_to_save_writes_a_checkpoint_now(train: Train, work: Path) -> None:
    assert train(*TOY, *asking("save"))[0] == 0
    assert checkpoints(work / "run") == ["step_000003", "step_000006"]


def trained(run: Path) -> list[dict[str, Any]]:
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [
        {k: v for k, v in line.items() if not k.startswith("time_")}
        for line in lines
        if line["kind"] == "train"
    ]
