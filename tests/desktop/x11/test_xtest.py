"""Mouse and keyboard: what an action does to a real application."""

from __future__ import annotations

import string

import numpy as np
import pytest
from x11_helpers import NOTES, SIZE, saved, text_point

from ui_gym.contract.action import (
    Action,
    Answer,
    Click,
    Drag,
    LongPress,
    Move,
    Open,
    Press,
    Scroll,
    Type,
    Wait,
)
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.x11.device import X11Device
from ui_gym.errors import ActionError

LATIN = "".join(chr(n) for n in range(0xA1, 0x100) if n != 0xAD)
MANY = "αβγδεζηθικλμνξοπρστυφχψω АБВГДЕЖЗИЙКЛМН 世界你好 ąćęłńóśźż → ≤ € ☃ 🙂"


@pytest.mark.parametrize(
    "text",
    [string.printable[:95], LATIN, MANY, "<tag attr='x'> & \"q\"; rm -rf $HOME `id`", "a\tb\nc\n"],
    ids=["ascii", "latin", "many scripts", "signs", "lines"],
)
def test_every_character_arrives(desktop: X11Device, text: str) -> None:
    desktop.renew(NOTES)
    desktop.perform(Type(text, clear=True))
    assert saved(desktop).rstrip("\n") == text.rstrip("\n")


def test_more_characters_than_there_are_keys_to_lend(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    for text in (
        "".join(chr(0x410 + n) for n in range(30)),
        "\u4e00\u0416",
        "\u0416\u4e00\u0417" * 9,
    ):
        desktop.perform(Type(text, clear=True))
        assert saved(desktop).strip() == text


@pytest.mark.parametrize(("looked", "left"), [(False, "X"), (True, "alXpha")])
def test_two_clicks_are_a_double_one_within_a_step_alone(
    desktop: X11Device, looked: bool, left: str
) -> None:
    """However fast or slow the machine is."""
    desktop.renew(NOTES)
    for _ in range(2):
        desktop.perform(Click(*text_point(desktop, column=2)))
        if looked:
            desktop.capture()
    desktop.perform(Type("X"))
    assert saved(desktop).splitlines() == [left, "beta"]


def test_a_drag_from_where_was_clicked_selects_letters(desktop: X11Device) -> None:
    """Were its press the second one of a double click, whole words would be taken."""
    desktop.renew(NOTES)
    x, y = text_point(desktop, column=2)
    desktop.perform(Click(x, y))
    desktop.capture()
    desktop.perform(Drag(x, y, *text_point(desktop, 60, 0)))
    desktop.perform(Type("X"))
    assert saved(desktop).splitlines() == ["alX", "beta"]


def test_typing_enters_after_and_clears_before(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    desktop.perform(Type("one", clear=True, enter=True))
    desktop.perform(Type("two"))
    assert saved(desktop).splitlines() == ["one", "two"]


def test_keys_and_chords(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    for keys in ("ctrl+end", "backspace", "shift+home", "delete", "End", "X", "!", "ctrl+Home"):
        desktop.perform(Press(keys))
    desktop.perform(Press("space"))
    assert saved(desktop).startswith(" alpha\n")
    assert saved(desktop).rstrip("\n").endswith("X!")


def test_a_click_puts_the_caret_there_and_two_take_a_word(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    desktop.perform(Click(*text_point(desktop, 2, 1), count=2))
    desktop.perform(Type("word"))
    assert saved(desktop).splitlines() == ["alpha", "word"]


def test_a_drag_selects(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    (x1, y1), (x2, y2) = text_point(desktop, 0, 0), text_point(desktop, 60, 0)
    desktop.perform(Drag(x1 - 3, y1, x2, y2))
    desktop.perform(Type("new"))
    assert saved(desktop).splitlines() == ["new", "beta"]


def test_a_click_with_shift_extends_the_selection(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    desktop.perform(Press("ctrl+home"))
    desktop.perform(Click(*text_point(desktop, 60, 1), keys="shift"))
    desktop.perform(Type("all"))
    assert saved(desktop).rstrip("\n") == "all"


def test_a_right_click_opens_a_menu_that_escape_closes(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    before = desktop.capture().image
    desktop.perform(Click(*text_point(desktop, 5, 5), button="right"))
    shown = desktop.capture().image
    assert (before != shown).any(axis=2).sum() > 5000
    desktop.perform(Press("escape"))
    assert (desktop.capture().image != shown).any()


def test_scrolling_shows_what_is_below(desktop: X11Device) -> None:
    lines = "\n".join(f"line {n}" for n in range(300)).encode()
    desktop.renew(SessionSpec(files={"notes.txt": lines}, launch=[["mousepad", "notes.txt"]]))
    x, y = text_point(desktop, 10, 10)
    first = desktop.capture().image.copy()
    desktop.perform(Scroll(x, y, dy=300))
    below = desktop.capture().image.copy()
    assert (first != below).any(axis=2).sum() > 1000
    desktop.perform(Scroll(x, y, dy=-300))
    pointer = np.s_[y - 30 : y + 30, x - 30 : x + 30]
    above = desktop.capture().image.copy()
    above[pointer] = first[pointer] = 0
    outside = np.s_[: SIZE[1] - 40, : SIZE[0] - 40]  # the pointer was in the corner before
    assert np.array_equal(above[outside], first[outside])


def test_the_pointer_is_in_the_picture(desktop: X11Device) -> None:
    desktop.renew(SessionSpec())
    desktop.perform(Move(100, 100))
    first = desktop.capture().image.copy()
    desktop.perform(Move(300, 300))
    second = desktop.capture().image
    changed = np.argwhere((first != second).any(axis=2))
    assert {tuple(point // 100) for point in changed} >= {(1, 1), (3, 3)}


def test_nothing_stays_held(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    with pytest.raises(ActionError, match="no key 'nonsense'"):
        desktop.perform(Press("ctrl+shift+nonsense"))
    desktop.perform(LongPress(*text_point(desktop, 1, 0), seconds=0.1))
    desktop.perform(Wait(0.05))
    desktop.perform(Type("s"))
    assert "s" in saved(desktop)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (Press("volume_up"), "there is no key 'volume_up'"),
        (Open("Photoshop"), "no application 'Photoshop'"),
        (Click(5, 5, keys="a"), "'a' cannot be held"),
        (Answer("x"), "cannot answer"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, Action) else "",
)
def test_what_cannot_be_done_is_said_and_nothing_is_done(
    desktop: X11Device, action: Action, message: str
) -> None:
    desktop.renew(NOTES)
    before = desktop.capture().image.copy()
    with pytest.raises(ActionError, match=message):
        desktop.perform(action)
    assert np.array_equal(desktop.capture().image, before)


def test_applications_are_opened_by_their_names(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    desktop.perform(Open("galculator"))
    assert [window.app for window in desktop.windows()] == ["Mousepad", "Galculator"]
    desktop.perform(Open("File Manager PCManFM"))
    assert desktop.windows()[-1].app == "Pcmanfm"


def test_files_and_folders_are_opened_by_what_the_desktop_has_for_them(desktop: X11Device) -> None:
    desktop.renew(SessionSpec(files={"other/file.txt": b"x"}))
    desktop.perform(Open("other/file.txt"))
    assert "file.txt" in desktop.windows()[-1].title
    desktop.open_file(f"{desktop.home}/other")
    assert (desktop.windows()[-1].app, desktop.windows()[-1].title) == ("Pcmanfm", "other")
