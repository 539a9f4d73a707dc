"""SettingsTree's logic."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
from task_helpers import goals, verdicts

from ui_gym.browser.content.settings import (
    APPS,
    Setting,
    SettingsGroup,
    SettingsPage,
    places,
    read,
)
from ui_gym.browser.tasks.settings_tree import SettingsTree, SettingsTreeParams
from ui_gym.errors import UserError

# Sound (5 settings) and Energy (5 settings) of the house.
STARTS = (0, 1, 2, 0, 1, 0, 0, 0, 1, 2)
HOUSE = SettingsTreeParams(
    app="home", shown=(3, 4), deep=True, starts=STARTS, asked=((1, 0), (5, 1)), told=True,
    saving=False, theme=0, phrasing=0,
)  # fmt: skip
SAVED = dataclasses.replace(HOUSE, saving=True)


def commit(**changes: int) -> Any:
    """All values, with changes such as ``s1=0``."""
    values = list(STARTS)
    for name, value in changes.items():
        values[int(name[1:])] = value
    return ("commit", {"values": values})


test_settings_tree_scores = verdicts(
    SettingsTree(),
    HOUSE,
    {
        "one": (commit(s1=0), 0.5, False),
        "both": (commit(s1=0), commit(s1=0, s5=1), 1.0, True),
        "another": (commit(s1=0, s5=1, s4=0), 0.5, False),
        "taken back": (commit(s4=0), commit(), commit(s5=1), commit(s1=0, s5=1), 1.0, True),
        "wrong option": (commit(s1=2, s5=1), 0.5, False),
        "only another": (commit(s4=0), 0.0, False),
        "notes": (commit(s5=1), 0.5, False, "not as asked: Sound, Chime: Birds"),
    },
)

test_settings_tree_scores_what_is_saved = verdicts(
    SettingsTree(),
    SAVED,
    {
        "none": (0.0, False),
        "both": (commit(s1=0, s5=1), 1.0, True),
        "one": (commit(s1=0), 0.5, True),
        "saved again": (commit(s1=0), commit(s1=0, s5=1), 0.5, True),
        "another": (commit(s1=0, s5=1, s9=0), 0.5, True),
    },
)


def test_settings_tree_says_what_to_change() -> None:
    task = SettingsTree()
    assert task.goal(SAVED) == (
        'In the settings, set "Chime" to "Classic" under Sound and turn on "Charge the car at '
        'night" under Energy. Leave everything else as it is. Save the changes.'
    )
    assert task.goal(HOUSE).endswith("Leave everything else as it is.")


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_settings_tree_goals_mean_one_setting_each(level: Any) -> None:
    task, untold = SettingsTree(level=level), 0
    for params, goal in goals(task):
        assert bool(re.search(r"Save (the|when)|Then save", goal)) == params.saving
        for i, value in params.asked:
            setting = params.places[i][2]
            assert value != params.starts[i]
            if setting.options:
                said = f'"{setting.label}" to "{setting.options[value]}"'
            else:
                said = f'turn {("off", "on")[value]} "{setting.label}"'
            assert said in goal
            # Of several settings of that name the goal says which by its path.
            alike = [j for j, place in enumerate(params.places) if place[2].label == setting.label]
            where = f"{re.escape(said)} under {re.escape(params.path(i))}(?! >)"
            told = re.search(where, goal) is not None
            assert told or alike == [i]
            assert told == params.told or len(alike) > 1
            assert [params.path(j) for j in alike].count(params.path(i)) == 1
            untold += not told
    assert (untold > 0) == (level == "hard")


def test_settings_of_apps() -> None:
    for app in APPS.values():
        assert len(app.sections) == 7
        for section in app.sections:
            assert len(section.settings) >= 4
            for settings in [section.settings, *(page.settings for page in section.pages)]:
                assert len(settings) >= 3
                assert len({setting.label for setting in settings}) == len(settings)
                for setting in settings:
                    assert len(setting.options) != 1
                    assert len(set(setting.options)) == len(setting.options)
        alike = [setting for _, _, setting in places(app.sections)]
        assert len(set(alike)) < len(alike), "nothing looks alike"


def test_a_tree_of_settings_is_read() -> None:
    text = "Sound | bell\n  Chime = One, Two | At the door\n  > Night | Late\n    Mute"
    chime = Setting("Chime", "At the door", ("One", "Two"))
    night = SettingsPage("Night", "Late", (Setting("Mute", "", ()),))
    assert read(text) == (SettingsGroup("Sound", "bell", (chime,), (night,)),)
    assert [place[:2] for place in places(read(text))] == [(0, -1), (0, 0)]


def test_settings_tree_page_numbers_are_the_places() -> None:
    task = SettingsTree(level="hard")
    params = task.draw(0)
    shown = task.page_params(params)["sections"]
    for i, (section, page, setting) in enumerate(params.places):
        found = shown[section] if page < 0 else shown[section]["pages"][page]
        assert {"number": i, "label": setting.label}.items() <= {
            key: value for one in found["settings"] if one["number"] == i
            for key, value in one.items()
        }.items()  # fmt: skip


def test_settings_tree_mistakes() -> None:
    task, rng = SettingsTree(), np.random.default_rng(0)
    near = {task.misread(HOUSE, "neighbour", rng).asked for _ in range(40)}
    assert {asked[0][0] for asked in near if asked[1] == (5, 1)} == {2}
    assert {asked[1][0] for asked in near if asked[0] == (1, 0)} == {6}
    for _ in range(20):
        away = task.misread(HOUSE, "elsewhere", rng).asked
        assert sum(HOUSE.path(i) != HOUSE.path(j) for (i, _), (j, _) in
                   zip(away, HOUSE.asked, strict=True)) == 1  # fmt: skip
    lights = SettingsTreeParams(
        app="home", shown=(0,), deep=True, starts=(0,) * 13, asked=((4, 1),), told=True,
        saving=False, theme=0, phrasing=0,
    )  # fmt: skip
    assert {task.misread(lights, "elsewhere", rng).asked for _ in range(20)} == {
        ((7, 1),), ((10, 1),)
    }  # fmt: skip


def test_settings_tree_compact_goals_say_where_and_whether_to_save() -> None:
    task = SettingsTree(compact=True)
    for params, goal in goals(task):
        ((i, value),) = params.asked
        setting = params.places[i][2]
        said = f"{setting.label} to {setting.options[value]}" if setting.options else setting.label
        assert said in goal
        assert params.path(i).replace(" > ", " ") in goal
        assert ("Save" in goal) == params.saving
        labels = [place[2].label for place in params.places]
        assert len(set(labels)) == 4
        assert len(labels) == 18


def test_settings_tree_compact_goals_name_two_changes_at_most() -> None:
    assert SettingsTree(compact=True, changes=2).changes == 2
    with pytest.raises(UserError, match="changes must be 1 to 2, not 4"):
        SettingsTree(compact=True, level="hard")
