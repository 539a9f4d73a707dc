"""Which tasks of AndroidWorld are known, with its package and without it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import gymnasium
import pytest

from ui_gym.android.androidworld import catalogue, loading
from ui_gym.catalog import TaskSource
from ui_gym.contract import registry
from ui_gym.errors import UserError

ENTRIES = catalogue.ENTRIES
IS_THERE = importlib.util.find_spec(catalogue.COLLECTION) is not None

WITHOUT = """
import importlib.util, json
find = importlib.util.find_spec
def without(name, *args):
    return None if name == "android_world" else find(name, *args)
importlib.util.find_spec = without
import gymnasium, ui_gym
from ui_gym import registry
said = []
for make in (
    lambda: gymnasium.make("UI/AndroidWorld-SystemWifiTurnOn-v0"),
    lambda: gymnasium.make_vec("UI/AndroidWorld-SystemWifiTurnOn-v0", num_envs=2),
    lambda: registry.spec("AndroidWorld-SystemWifiTurnOn"),
):
    try:
        make()
    except Exception as error:
        said.append([type(error).__name__, str(error)])
known = [spec.id for spec in registry.specs(collections=True) if "AndroidWorld" in spec.id]
print(json.dumps([known, said]))
"""


def test_all_of_androidworlds_classes_have_an_id() -> None:
    assert len(ENTRIES) == 116
    missing = [e.spec.id for e in ENTRIES.values() if e.spec.id not in gymnasium.registry]
    assert missing == []
    assert all(entry.steps >= 10 for entry in ENTRIES.values())


def test_without_the_package_an_id_says_how_to_get_it() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    known, said = json.loads(run.stdout)
    assert known == []
    told = f"UI/AndroidWorld-SystemWifiTurnOn-v0 is not installed: {catalogue.REMEDY}"
    assert said == [["UserError", told]] * 3


@pytest.mark.skipif(IS_THERE, reason="android_world is installed")
def test_its_classes_are_asked_for_by_name() -> None:
    with pytest.raises(UserError, match=r"android_world cannot be imported\. .*androidworld\.md"):
        loading.task_classes()


@pytest.mark.skipif(not IS_THERE, reason=catalogue.REMEDY)
def test_with_the_package_they_are_chosen_by_their_tag() -> None:
    names = [spec.name for spec in TaskSource(tags=(catalogue.COLLECTION,)).select()]
    assert len(names) == 116
    assert registry.spec("AndroidWorld-ClockTimerEntry").difficulty == "easy"


@pytest.mark.skipif(not IS_THERE, reason=catalogue.REMEDY)
def test_the_catalogue_has_the_classes_that_the_package_has() -> None:
    assert sorted(ENTRIES) == sorted(loading.task_classes())
