"""How oracles find their way, without a desktop."""

from __future__ import annotations

from collections.abc import Generator
from typing import cast

import pytest

from ui_gym.contract.action import Action, Click, Press
from ui_gym.desktop import navigation
from ui_gym.desktop.device import DesktopDevice, Window
from ui_gym.errors import TaskError

EDITOR = Window(1, "notes.txt - Mousepad", "Mousepad", (100, 50, 640, 480))
DIALOG = Window(2, "Find", "Mousepad", (200, 90, 300, 200), active=True)


class Screen:
    """A desktop of which only the windows are there, the lowest first."""

    def __init__(self, *windows: Window) -> None:
        self.shown = windows

    def windows(self) -> tuple[Window, ...]:
        return self.shown


def desktop(*windows: Window) -> DesktopDevice:
    return cast(DesktopDevice, Screen(*windows))


def run(steps: Generator[Action, None, bool]) -> tuple[list[Action], bool]:
    """The actions of some moves, and what they came to."""
    done: list[Action] = []
    while True:
        try:
            done.append(next(steps))
        except StopIteration as end:
            return done, end.value


def test_a_window_goes_by_its_class_or_a_part_of_its_title_the_uppermost_first() -> None:
    device = desktop(EDITOR, DIALOG)
    assert navigation.window(device, "mousepad") == DIALOG
    assert navigation.window(device, "notes.txt") == EDITOR
    with pytest.raises(TaskError, match=r"no window 'Save As' .*'notes.txt - Mousepad', 'Find'"):
        navigation.window(device, "Save As")


def test_places_count_from_the_nearest_corner() -> None:
    assert navigation.at(EDITOR, (10, 20)) == Click(110, 70)
    assert navigation.at(EDITOR, (-10, -20), count=2) == Click(730, 510, count=2)


def test_a_window_that_has_the_keyboard_is_not_clicked_for_it() -> None:
    device = desktop(EDITOR, DIALOG)
    assert list(navigation.focus(device, "Find")) == []
    (click,) = navigation.focus(device, "notes.txt")
    assert isinstance(click, Click)
    assert click.y < EDITOR.box[1]


def test_waits_take_no_step_and_end() -> None:
    assert run(navigation.until(lambda: True)) == ([], True)
    assert run(navigation.until(lambda: False, 0.0)) == ([], False)
    assert run(navigation.opened(desktop(EDITOR, DIALOG), "Find")) == ([], True)
    assert run(navigation.closed(desktop(DIALOG), "Save As")) == ([], True)


def test_an_action_that_was_lost_is_done_again_but_not_for_ever() -> None:
    answers = iter([False, True])
    press = Press("f2")
    assert run(navigation.insist(press, lambda: next(answers), 0.0)) == ([press, press], True)
    assert run(navigation.insist(press, lambda: False, 0.0)) == ([press] * navigation.TRIES, False)
