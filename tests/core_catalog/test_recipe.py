"""The CUA-RL recipe's task ids are known here, and choose our tasks."""

from __future__ import annotations

import ui_gym  # noqa: F401  registers them
from ui_gym.android.recipe import COLLECTION, ENTRIES, VALIDATORS
from ui_gym.catalog import TaskSource
from ui_gym.contract import registry


def test_the_recipes_ids_choose_tasks_in_their_order() -> None:
    ids = ["train_05_disable_wifi", "eval_16_create_downloads_folder_xyz"]
    source = TaskSource.from_recipe({"source_type": "ids", "task_ids": ids})
    assert [task.name for task in source.select()] == ids


def test_all_of_the_recipes_tasks_are_there_with_its_numbers() -> None:
    assert len(TaskSource(tags=(COLLECTION, "demo_training")).select()) == 23
    assert len(TaskSource(tags=(COLLECTION, "demo_eval")).select()) == 9
    for entry in ENTRIES.values():
        spec = registry.spec(entry.id)
        assert (spec.max_steps, spec.suite) == (entry.steps, "android")
        assert entry.query in VALIDATORS


def test_they_are_chosen_together_by_the_collection() -> None:
    chosen = TaskSource(tags=(COLLECTION, "demo_eval"), difficulty="hard").select()
    assert [task.name for task in chosen] == ["eval_10_download_gbox_logo"]


def test_they_are_no_part_of_the_suite_unless_asked_for() -> None:
    names = {task.name for task in TaskSource.from_recipe({"source_type": "demo_all"}).select()}
    assert "AndroidWifi" in names
    assert not names.intersection(ENTRIES)
