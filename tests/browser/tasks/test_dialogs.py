"""The kit's dialogs take the focus, keep it, and give it back, as those of real apps do."""

from __future__ import annotations

from typing import Any

import pytest

from ui_gym.browser.tasks.table_sort_filter import TableSortFilter
from ui_gym.contract.action import Click, Press
from ui_gym.contract.device import Element

OPENER = "#row-0 button"


@pytest.fixture
def listings(show: Any) -> Any:
    """A list whose rows open a dialog with the buttons "Close" and, in focus, another one."""
    return show(TableSortFilter(level="easy"))


def elements(device: Any) -> tuple[Element, ...]:
    found: tuple[Element, ...] = device.capture(elements=True).elements
    return found


def focused(device: Any) -> str | None:
    """The name of what has the focus."""
    return next((one.name for one in elements(device) if "focused" in one.states), None)


def test_tab_goes_round_in_a_dialog(listings: Any) -> None:
    listings.perform(Click(*listings.center(OPENER)))
    act = focused(listings)
    assert act not in (None, "Close")
    for keys, name in (("tab", "Close"), ("tab", act), ("shift+tab", "Close"), ("shift+tab", act)):
        listings.perform(Press(keys))
        assert focused(listings) == name


def test_tab_finds_back_into_a_dialog(listings: Any) -> None:
    listings.perform(Click(*listings.center(OPENER)))
    act = focused(listings)
    for keys, name in (("tab", "Close"), ("shift+tab", act)):
        listings.perform(Click(5, 5))
        listings.perform(Press(keys))
        assert focused(listings) == name


def test_nothing_behind_a_dialog_is_reached_until_it_closes(listings: Any) -> None:
    before = {(one.role, one.name) for one in elements(listings)}
    listings.perform(Click(*listings.center(OPENER)))
    during = {(one.role, one.name) for one in elements(listings)}
    assert ("button", "Close") in during
    assert not {one for one in before & during if one[0] == "button"}
    listings.perform(Press("escape"))
    assert {(one.role, one.name) for one in elements(listings)} == before


@pytest.mark.parametrize("leave", ["escape", "shift+tab enter"])
def test_a_dialog_gives_the_focus_back(listings: Any, leave: str) -> None:
    opener = next(one for one in elements(listings) if one.center == listings.center(OPENER))
    listings.perform(Click(*opener.center))
    assert focused(listings) != opener.name
    for action in [Press(keys) for keys in leave.split()]:
        listings.perform(action)
    assert focused(listings) == opener.name
