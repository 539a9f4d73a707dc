"""`ui-gym-tasks` as a person uses it: filtering by what an agent solves, and checking files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paint  # noqa: F401 - registers its tasks
import pytest

from ui_gym_agents.tasks import cli as tasks_cli
from ui_gym_agents.tasks import filter as task_filter
from ui_gym_agents.tasks.sources import read_task_file

Command = Callable[..., tuple[int, str, str]]

FILTER = (
    "filter", "--tasks.ids", "PaintClick", "--tasks.arguments", '{"viewport": [32, 32]}',
    "--env.dialect", "canonical", "--env.num_envs", "3", "--agent", "random", "--instances", "9",
    "--episodes", "5",
)  # fmt: skip


@pytest.fixture
def tasks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """`ui-gym-tasks` in this process: (exit status, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["ui-gym-tasks", *arguments])
        status = tasks_cli.main()
        output, errors = capsys.readouterr()
        return status, output, errors

    return run


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_instances_that_are_solved_sometimes_are_kept(tasks: Command, tmp_path: Path) -> None:
    status, output, _ = tasks(*FILTER, "--out", "kept.jsonl")
    assert status == 0
    counts = {
        " ".join(words[:-1]): int(words[-1]) for words in map(str.split, output.splitlines()[:3])
    }
    found = lines(tmp_path / "kept.jsonl")
    assert counts.pop("solved sometimes: kept") == len(found) > 0
    assert sum(counts.values()) == 9 - len(found)
    assert all(0 < line["success"] < 1 and line["episodes"] == 5 for line in found)
    assert len({tuple(line["seeds"]) for line in found}) == len(found)
    assert [p.name for p in tmp_path.iterdir()] == ["kept.jsonl"]
    assert tasks(*FILTER, "--out", "kept.jsonl")[0] == 2
    assert tasks(*FILTER, "--seed", "1", "--out", "kept.jsonl", "--force")[0] == 0
    assert lines(tmp_path / "kept.jsonl") != found


def test_a_filter_that_was_stopped_goes_on(
    tasks: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tasks(*FILTER, "--out", "whole.jsonl")[0] == 0
    measure = task_filter.measure

    def stopped(*arguments: Any) -> Iterator[str]:
        for number, unit in enumerate(measure(*arguments), start=1):
            if number == 4:
                raise KeyboardInterrupt
            yield unit

    monkeypatch.setattr(task_filter, "measure", stopped)
    status, _, errors = tasks(*FILTER, "--out", "part.jsonl")
    assert (status, errors.strip()) == (
        130, "error: interrupted: 4 of 9 are measured; the same command goes on"
    )  # fmt: skip
    assert not (tmp_path / "part.jsonl").exists()
    progress = tmp_path / "part.jsonl.progress"
    with progress.open("a") as file:
        file.write('{"unit": "to')  # as a kill leaves it

    status, _, errors = tasks(*FILTER, "--episodes", "6", "--out", "part.jsonl")
    assert status == 2
    assert "was measured with other settings (episodes=5); give those again" in errors

    asked: list[int] = []

    def counted(*arguments: Any) -> Iterator[str]:
        for unit in measure(*arguments):
            asked.append(1)
            yield unit

    monkeypatch.setattr(task_filter, "measure", counted)
    assert tasks(*FILTER, "--out", "part.jsonl")[0] == 0
    assert len(asked) == 5
    assert lines(tmp_path / "part.jsonl") == lines(tmp_path / "whole.jsonl")
    assert not progress.exists()


def test_a_damaged_progress_is_named_and_kept(tasks: Command, tmp_path: Path) -> None:
    progress = tmp_path / "out.jsonl.progress"
    progress.write_text("what?\n")
    status, _, errors = tasks(*FILTER, "--out", "out.jsonl")
    assert status == 2
    assert "out.jsonl.progress:1 is damaged" in errors
    assert progress.read_text() == "what?\n"


def test_whole_tasks_are_kept_with_the_arguments_they_were_given(
    tasks: Command, tmp_path: Path
) -> None:
    asked = list(FILTER)
    asked[asked.index("--instances") + 1] = "0"
    asked[asked.index("--tasks.arguments") + 1] = '{"viewport": [32, 32], "boxes": 2}'
    assert tasks(*asked, "--episodes", "40", "--out", "kept.jsonl")[0] == 0
    (entry,) = read_task_file(tmp_path / "kept.jsonl")
    assert (entry.arguments, entry.seeds, entry.episodes) == ({"boxes": 2}, (), 40)


@pytest.mark.parametrize(("agent", "name"), [("oracle", "always solved"), ("random", "never")])
def test_nothing_is_written_where_nothing_is_left(
    tasks: Command, tmp_path: Path, agent: str, name: str
) -> None:
    asked = ("filter", "--tasks.ids", "PaintText", "--env.num_envs", "2", "--episodes", "2")
    status, output, errors = tasks(*asked, "--agent", agent, "--out", "out.jsonl")
    assert status == 1
    assert name in output
    assert "none of 1 is solved sometimes but not always" in errors
    assert not (tmp_path / "out.jsonl").exists()


def test_the_settings_of_a_run_are_taken_from_its_file(tasks: Command, tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(
        "plugin: grpo\ntasks: {ids: [PaintClick], arguments: {viewport: [32, 32]}}\n"
        "env: {num_envs: 2, dialect: canonical}\ntrainer: {groups: 2}\n"
    )
    asked = ("filter", "--config", "run.yaml", "--agent", "random", "--out", "out.jsonl")
    assert tasks(*asked, "--episodes", "30")[0] == 0
    assert lines(tmp_path / "out.jsonl")[0]["episodes"] == 30


def test_mistakes_are_told_before_anything_is_played(tasks: Command) -> None:
    status, _, errors = tasks("filter", "--tasks.idz", "X", "--run.steps", "a", "--out", "o.jsonl")
    assert status == 2
    assert errors.splitlines()[0].startswith("error: flag --tasks.idz: unknown key; did you mean")
    assert "--run.steps" in errors.splitlines()[1]
    status, _, errors = tasks("filter", "--agent", "orakle", "--out", "o.jsonl")
    assert (status, "Did you mean 'oracle'" in errors) == (2, True)
    assert tasks("filter")[0] == 2


def test_a_file_is_shown(tasks: Command, tmp_path: Path) -> None:
    kept = {
        "id": "UI/PaintText-v0", "arguments": {"boxes": 2}, "split": "train", "seeds": [7],
        "success": 0.25, "episodes": 8,
    }  # fmt: skip
    (tmp_path / "tasks.jsonl").write_text(f"PaintClick\n{json.dumps(kept)}\n")
    status, output, _ = tasks("show", "tasks.jsonl")
    assert status == 0
    assert output.splitlines()[1].split("\t") == [
        "UI/PaintText-v0", '{"boxes": 2}', "train", "7", "input", "1", "25 % of 8"
    ]  # fmt: skip
    status, output, _ = tasks("show", "tasks.jsonl", "--json")
    assert [json.loads(line) for line in output.splitlines()][1] == kept


def test_a_damaged_file_is_shown_line_by_line(tasks: Command, tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text("PaintClik\nPaintClick\n{\n")
    status, output, errors = tasks("show", "tasks.jsonl")
    assert (status, output) == (2, "")
    first, second = errors.splitlines()
    assert first.startswith("error: tasks.jsonl:1: there is no task 'PaintClik'")
    assert second.startswith("error: tasks.jsonl:3: this is not JSON")
