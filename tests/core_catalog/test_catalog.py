"""TaskSource: which tasks, and what is said when there are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from ui_gym.catalog import TaskSource, select
from ui_gym.contract import registry
from ui_gym.contract.spec import TaskSpec
from ui_gym.errors import UserError


@pytest.fixture(autouse=True)
def few_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry of five known tasks."""
    tasks = [
        TaskSpec("Alarm", "android", "m:A", "clock", "easy", tags=("time", "short")),
        TaskSpec("Form", "browser", "m:F", "input", "easy", tags=("short",)),
        TaskSpec("Grid", "browser", "m:G", "input", "hard"),
        TaskSpec("Menu", "browser", "m:M", "navigation", "medium", tags=("short", "time")),
        TaskSpec("Wifi", "android", "m:W", "settings", "medium"),
    ]
    monkeypatch.setattr(registry, "_SPECS", {task.id: task for task in tasks})


def names(source: TaskSource) -> list[str]:
    return [task.name for task in source.select()]


def test_filters_narrow_down_and_combine() -> None:
    assert names(TaskSource()) == ["Alarm", "Form", "Grid", "Menu", "Wifi"]
    assert names(TaskSource(suite="browser")) == ["Form", "Grid", "Menu"]
    assert names(TaskSource(suite="browser", category="input", difficulty="hard")) == ["Grid"]
    assert names(TaskSource(tags=("time", "short"))) == ["Alarm", "Menu"]


def test_a_collection_is_chosen_by_its_tag_or_by_name() -> None:
    taken = TaskSpec(
        "Taken", "browser", "m:T", "input", tags=("fifty", "short"), collection="fifty"
    )
    registry._SPECS[taken.id] = taken
    assert "Taken" not in names(TaskSource(suite="browser"))
    assert "Taken" not in names(TaskSource(tags=("short",)))
    assert names(TaskSource(tags=("fifty",))) == ["Taken"]
    assert names(TaskSource(ids=("Taken", "Form"))) == ["Taken", "Form"]


def test_ids_and_names_keep_their_order_and_count_once() -> None:
    assert names(TaskSource(ids=("Wifi", "UI/Form-v0", "Wifi"))) == ["Wifi", "Form"]


def test_a_limit_takes_the_first_or_draws_by_the_seed() -> None:
    assert names(TaskSource(limit=2)) == ["Alarm", "Form"]
    drawn = {tuple(names(TaskSource(limit=2, seed=seed))) for seed in range(20)}
    assert len(drawn) > 5
    assert names(TaskSource(limit=2, seed=3)) == names(TaskSource(limit=2, seed=3))
    assert len(names(TaskSource(limit=9, seed=3))) == 5


def test_sources_concatenate() -> None:
    found = select([TaskSource(ids=("Wifi",)), TaskSource(suite="browser"), TaskSource(limit=2)])
    assert [task.name for task in found] == ["Wifi", "Form", "Grid", "Menu", "Alarm"]


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"there is no task 'UI/Wify-v0'. Did you mean 'UI/Wifi-v0"):
        TaskSource(ids=("UI/Wify-v0",)).select()
    with pytest.raises(UserError, match=r"no task has the suite 'browsers'. Did you mean 'browser"):
        TaskSource(suite="browsers").select()
    with pytest.raises(UserError, match=r"no task has the category 'setings'. Did you mean 'sett"):
        TaskSource(category="setings").select()
    with pytest.raises(UserError, match=r"no task has the tag 'shor'. Did you mean 'short'"):
        TaskSource(tags=("shor",)).select()


def test_nothing_left_says_by_which_filters() -> None:
    with pytest.raises(UserError, match="no task is left by suite='android', category='input'"):
        TaskSource(suite="android", category="input").select()


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValidationError, match="extra"):
        TaskSource(categry="input")  # type: ignore[call-arg]


def test_a_file_names_tasks_by_id_or_json(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    lines = ["# a comment", "UI/Menu-v0", "", '{"id": "Form", "note": 1}', '"Grid"']
    file.write_text("\n".join(lines))
    assert names(TaskSource(file=file)) == ["Menu", "Form", "Grid"]
    assert names(TaskSource(file=file, category="input")) == ["Form", "Grid"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"id": "For', r"tasks.txt:2: this is not JSON \(Unterminated string"),
        ('{"name": "Form"}', "tasks.txt:2: a line holds a task id, or an object such as"),
        ("UI/Fork-v0", "tasks.txt:2: there is no task 'UI/Fork-v0'. Did you mean 'UI/Form-v0'"),
    ],
)
def test_a_damaged_line_is_named_with_its_number(tmp_path: Path, line: str, told: str) -> None:
    (tmp_path / "tasks.txt").write_text(f"Form\n{line}\nGrid\n")
    with pytest.raises(UserError, match=told):
        TaskSource(file=tmp_path / "tasks.txt").select()


def test_a_file_that_is_missing_or_empty_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"the task file .*none.txt cannot be read"):
        TaskSource(file=tmp_path / "none.txt").select()
    (tmp_path / "empty.txt").touch()
    with pytest.raises(UserError, match=r"empty.txt names no task; write one id a line"):
        TaskSource(file=tmp_path / "empty.txt").select()


def test_a_class_of_ones_own_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_catalog_tasks.py").write_text(
        "from ui_gym.contract.registry import register\n"
        "from ui_gym.contract.task import Task\n"
        "@register('OwnCatalogTask', suite='own')\n"
        "class Own(Task): 'Mine.'\n"
        "class Plain(Task): 'Not registered.'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert names(TaskSource(custom=("own_catalog_tasks:Own",))) == ["OwnCatalogTask"]
    with pytest.raises(UserError, match=r"Plain' is no registered task; decorate the class with"):
        TaskSource(custom=("own_catalog_tasks:Plain",)).select()
    with pytest.raises(UserError, match=r"'nowhere:Own' cannot be imported: ModuleNotFoundError"):
        TaskSource(custom=("nowhere:Own",)).select()
    (tmp_path / "leaving_tasks.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(UserError, match=r"'leaving_tasks:Own' cannot be imported: SystemExit: 3$"):
        TaskSource(custom=("leaving_tasks:Own",)).select()


def test_the_recipes_fields_are_understood() -> None:
    training = TaskSource.from_recipe({"source_type": "demo_training", "category": "settings"})
    assert (training.suite, training.split) == ("android", "train")
    assert names(training) == ["Wifi"]
    assert TaskSource.from_recipe({"source_type": "demo_eval"}).split == "heldout"
    assert TaskSource.from_recipe({"source_type": "demo_all", "limit": 1, "seed": 4}).split is None
    chosen = TaskSource.from_recipe({"source_type": "ids", "task_ids": ["Wifi", "Alarm"]})
    assert names(chosen) == ["Wifi", "Alarm"]
    filed = TaskSource.from_recipe({"source_type": "file", "file_path": "x.txt"})
    assert filed.file == Path("x.txt")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "there is no source_type None"),
        ({"source_type": "demo_train"}, "there is no source_type 'demo_train'. Did you mean 'demo"),
        ({"source_type": "ids"}, "source_type 'ids' needs task_ids"),
        ({"source_type": "file"}, "source_type 'file' needs file_path"),
        (
            {"source_type": "demo_all", "categry": "x"},
            "no field 'categry'. Did you mean 'category'",
        ),
        ({"source_type": "demo_all", "limit": 0}, r"limit: Input should be .* 1 \(got 0\)"),
        (
            {"source_type": "custom", "custom_tasks": ["Open the settings"]},
            "the custom task 'Open the settings' is a sentence, and nothing could judge it",
        ),
    ],
)
def test_mistakes_in_the_recipes_fields_are_told(fields: dict[str, object], told: str) -> None:
    with pytest.raises(UserError, match=told):
        TaskSource.from_recipe(fields)


def test_a_source_survives_json() -> None:
    source = TaskSource(ids=("Wifi",), file=Path("a"), limit=3)
    assert TaskSource(**json.loads(source.model_dump_json())) == source
