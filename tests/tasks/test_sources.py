"""Task sources: files of tasks, the recipe's fields, filters, and what is said of a wrong one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import paint  # noqa: F401 - registers its tasks
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_gym.catalog import TaskSource
from ui_gym.contract import registry
from ui_gym.errors import UserError
from ui_gym_agents.tasks.sources import (
    TaskEntry,
    TaskFileError,
    entries_of,
    read_task_file,
    write_task_file,
)
from ui_gym_agents.training.config import ConfigError, ConfigLoader
from ui_gym_agents.training.settings import RunConfig, TaskSettings


def write(folder: Path, *lines: str | dict[str, Any]) -> Path:
    path = folder / "tasks.jsonl"
    path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines) + "\n")
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(TaskFileError) as caught:
        read_task_file(path)
    assert str(caught.value) == "\n".join(caught.value.problems)
    return [problem.removeprefix(f"{path}:") for problem in caught.value.problems]


def test_a_file_names_tasks_by_id_name_or_object(tmp_path: Path) -> None:
    whole = {
        "id": "PaintText", "arguments": {"boxes": 2}, "split": "heldout", "seeds": [3, 4],
        "weight": 2, "category": "writing", "max_steps": 9, "success": 0.25, "episodes": 8,
    }  # fmt: skip
    path = write(tmp_path, "# mine", "PaintClick", "", '"UI/PaintText-v0"', whole)
    click, text, fixed = read_task_file(path)
    assert (click.spec.name, click.category, click.split) == ("PaintClick", "click", "train")
    assert text == TaskEntry(registry.spec("PaintText"))
    assert fixed == TaskEntry(
        registry.spec("PaintText"), {"boxes": 2}, "heldout", (3, 4), 2.0, "writing", 9
    )
    assert (fixed.success, fixed.episodes, fixed.origin) == (0.25, 8, f"{path}:5")
    assert fixed.name == 'UI/PaintText-v0{"boxes":2,"max_steps":9} heldout @3,4'


def test_the_recipe_names_of_fields_are_read(tmp_path: Path) -> None:
    line = {
        "task_id": "PaintClick", "seed": 5, "max_turns": 3, "name": "Click", "difficulty": "easy",
        "description": "Click the red box.", "tags": ["short"], "category": "navigation",
    }  # fmt: skip
    (entry,) = read_task_file(write(tmp_path, line))
    assert (entry.seeds, entry.max_steps, entry.category) == ((5,), 3, "navigation")


def test_every_wrong_line_is_named_at_once(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "PaintClik",
        "PaintClick",
        {"id": "PaintClick", "wieght": 2, "seeds": [-1]},
        '{"id": "PaintClick"',
        {"weight": 2},
        "[1]",
        {"id": "PaintClick", "arguments": {"box": 2}},
        {"id": "PaintClick", "arguments": {"boxes": 7}},
        {"id": "PaintClick", "task": "PaintText"},
        {"id": "sms_reply", "description": "Answer Bob."},
    )
    found = problems(path)
    assert [line.partition(":")[0] for line in found] == [*"133456789", "10"]
    expected = (
        "no task 'PaintClik'. Did you mean 'UI/PaintClick-v0'",
        "seeds.0: Input should be greater than or equal to 0 (got -1)",
        "a line has no key 'wieght'. Did you mean 'weight'",
        "this is not JSON (Expecting ',' delimiter at column 20)",
        "id is missing",
        "a line holds a task id, or an object",
        "UI/PaintClick-v0 takes no argument 'box'. Did you mean 'boxes'",
        "boxes is 2 or 3, not 7",
        "id is given twice",
        "nothing could judge it; write a Task class",
    )
    for line, words in zip(found, expected, strict=True):
        assert words in line


def test_a_damaged_file_is_not_read_in_part(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b"PaintClick\n\xff\xfe\n")
    with pytest.raises(UserError, match=r"tasks.jsonl cannot be read: .*invalid start byte"):
        read_task_file(path)
    with pytest.raises(UserError, match=r"missing.jsonl cannot be read"):
        read_task_file(tmp_path / "missing.jsonl")
    with pytest.raises(UserError, match=r"names no task; write one id a line"):
        read_task_file(write(tmp_path, "# nothing"))


def test_lines_count_once_and_may_not_contradict(tmp_path: Path) -> None:
    seeded = {"id": "PaintClick", "seeds": [1]}
    assert len(read_task_file(write(tmp_path, "PaintClick", "UI/PaintClick-v0", seeded))) == 2
    path = write(tmp_path, "PaintClick", {"id": "PaintClick", "weight": 2})
    (problem,) = problems(path)
    assert "2: UI/PaintClick-v0 is given twice with different weight" in problem
    assert f"(first at {path}:1)" in problem


@given(
    arguments=st.sampled_from([{}, {"boxes": 2}]),
    split=st.sampled_from(["train", "heldout", None]),
    seeds=st.lists(st.integers(0, 2**31), max_size=8),
    weight=st.floats(0.001, 1e6),
    category=st.text(max_size=8),
    max_steps=st.none() | st.integers(1, 99),
    success=st.none() | st.floats(0, 1),
)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, seeds: list[int], **fields: Any
) -> None:
    entry = TaskEntry(registry.spec("PaintText"), seeds=tuple(seeds), **fields)
    path = tmp_path_factory.mktemp("file") / "deep" / "tasks.jsonl"
    write_task_file(path, [entry])
    (read,) = read_task_file(path, split="train")
    assert (read, read.success, read.name) == (entry, entry.success, entry.name)
    assert [p.name for p in path.parent.iterdir()] == ["tasks.jsonl"]


def test_filters_and_the_limit_hold_for_a_file_too(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "PaintClick",
        *(
            {"id": "PaintText", "seeds": [n], "category": "odd" if n % 2 else "even"}
            for n in range(9)
        ),
    )

    def seeds(**fields: Any) -> list[int]:
        source = TaskSource(file=path, **fields)
        return [seed for entry in entries_of(source) for seed in entry.seeds]

    assert seeds(difficulty="medium") == list(range(9))
    assert seeds(category="odd") == [1, 3, 5, 7]
    assert seeds(category="odd", limit=2) == [1, 3]
    drawn = seeds(category="even", limit=3, seed=1)
    assert len(drawn) == 3
    assert drawn == seeds(category="even", limit=3, seed=1)
    with pytest.raises(UserError, match=r"no task has the category 'ood'. Did you mean 'odd'"):
        seeds(category="ood")


def test_a_suite_stands_for_its_tasks(tmp_path: Path) -> None:
    whole = entries_of(TaskSource(suite="browser"))
    assert len(whole) >= 30
    assert entries_of(TaskSource(ids=("Browser",))) == whole
    row = {"id": "Browser", "arguments": {"category": "choice", "level": "easy"}, "weight": 2}
    chosen = entries_of(TaskSource(file=write(tmp_path, row)))
    assert {entry.category for entry in chosen} == {"choice"}
    assert all(entry.weight == 2 for entry in chosen)
    assert {"level": "easy"} in [entry.arguments for entry in chosen]


def test_the_settings_of_a_run_join_their_sources(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "PaintText", "seeds": [1]})
    recipe = {"source_type": "file", "file_path": str(path)}
    tasks = TaskSettings(
        ids=("PaintClick",), split="heldout", more=[recipe, {"ids": ["PaintClick"]}]
    )  # type: ignore[arg-type]
    assert [entry.name for entry in tasks.entries()] == [
        "UI/PaintClick-v0 heldout",
        "UI/PaintText-v0 heldout @1",
    ]
    assert [spec.name for spec in tasks.chosen()] == ["PaintClick", "PaintText"]
    own = TaskSettings(ids=("PaintClick",), more=[{"ids": ["PaintText"], "split": "heldout"}])  # type: ignore[arg-type]
    assert [entry.split for entry in own.entries()] == ["train", "heldout"]


def test_arguments_of_all_tasks_count_when_a_line_is_checked(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "DataEntry", "arguments": {"length": 2}})
    assert problems(path) == ["1: DataEntry: rows must be 1 to 2, not 3"]
    shared = {"compact": True, "viewport": [320, 256]}
    (entry,) = read_task_file(path, arguments=shared)
    assert entry.arguments == {"length": 2}
    assert TaskSettings(file=path, arguments=shared).entries() == [entry]


def test_a_wrong_source_of_the_recipe_is_named_with_its_flag() -> None:
    loader = ConfigLoader(RunConfig)
    loader.add_flags(["--tasks.more", '[{"source_type": "demo_trainig"}]', "--run.steps", "x"])
    with pytest.raises(ConfigError) as caught:
        loader.load()
    first, second = caught.value.problems
    assert first.startswith("flag --tasks.more: ")
    assert "there is no source_type 'demo_trainig'. Did you mean 'demo_training'" in first
    assert second.startswith("flag --run.steps")
