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
from ui_gym.desktop.device import Session
from ui_gym.desktop.x11.device import X11Device
from ui_gym.errors import ActionError

LATIN = "".join(chr(n) for n in range(0xA1, 0x100) if n != 0xAD)
MANY = "αβγδεζηθικλμνξοπρστυφχψω АБВГДЕЖЗИЙКЛМН 世界你好 ąćęłńóśźż → ≤ € ☃ 🙂"


@pytest.mark.parametrize(
    "text",
    [string.printable[:95], LATIN, MANY, "<tag attr='x'> & \"q\"; rm -rf $HOME `id`", "a\tb\nc\n"],
    ids=["ascii", "latin", "many scripts", "signs", "lines"],
)
def test_every_character_arrives(desk: X11Device, text: str) -> None:
    desk.renew(NOTES)
    desk.perform(Type(text, clear=True))
    assert saved(desk).rstrip("\n") == text.rstrip("\n")


def test_more_characters_than_there_are_keys_to_lend(desk: X11Device) -> None:
    desk.renew(NOTES)
    for text in (
        "".join(chr(0x410 + n) for n in range(30)),
        "\u4e00\u0416",
        "\u0416\u4e00\u0417" * 9,
    ):
        desk.perform(Type(text, clear=True))
        assert saved(desk).strip() == text


def test_typing_enters_after_and_clears_before(desk: X11Device) -> None:
    desk.renew(NOTES)
    desk.perform(Type("one", clear=True, enter=True))
    desk.perform(Type("two"))
    assert saved(desk).splitlines() == ["one", "two"]


def test_keys_and_chords(desk: X11Device) -> None:
    desk.renew(NOTES)
    for keys in ("ctrl+end", "backspace", "shift+home", "delete", "End", "X", "!", "ctrl+Home"):
        desk.perform(Press(keys))
    desk.perform(Press("space"))
    assert saved(desk).startswith(" alpha\n")
    assert saved(desk).rstrip("\n").endswith("X!")


def test_a_click_puts_the_caret_there_and_two_take_a_word(desk: X11Device) -> None:
    desk.renew(NOTES)
    desk.perform(Click(*text_point(desk, 2, 1), count=2))
    desk.perform(Type("word"))
    assert saved(desk).splitlines() == ["alpha", "word"]


def test_a_drag_selects(desk: X11Device) -> None:
    desk.renew(NOTES)
    (x1, y1), (x2, y2) = text_point(desk, 0, 0), text_point(desk, 60, 0)
    desk.perform(Drag(x1 - 3, y1, x2, y2))
    desk.perform(Type("new"))
    assert saved(desk).splitlines() == ["new", "beta"]


def test_a_click_with_shift_extends_the_selection(desk: X11Device) -> None:
    desk.renew(NOTES)
    desk.perform(Press("ctrl+home"))
    desk.perform(Click(*text_point(desk, 60, 1), keys="shift"))
    desk.perform(Type("all"))
    assert saved(desk).rstrip("\n") == "all"


def test_a_right_click_opens_a_menu_that_escape_closes(desk: X11Device) -> None:
    desk.renew(NOTES)
    before = desk.capture().image
    desk.perform(Click(*text_point(desk, 5, 5), button="right"))
    shown = desk.capture().image
    assert (before != shown).any(axis=2).sum() > 5000
    desk.perform(Press("escape"))
    assert (desk.capture().image != shown).any()


def test_scrolling_shows_what_is_below(desk: X11Device) -> None:
    lines = "\n".join(f"line {n}" for n in range(300)).encode()
    desk.renew(Session(files={"notes.txt": lines}, launch=[["mousepad", "notes.txt"]]))
    x, y = text_point(desk, 10, 10)
    first = desk.capture().image.copy()
    desk.perform(Scroll(x, y, dy=300))
    below = desk.capture().image.copy()
    assert (first != below).any(axis=2).sum() > 1000
    desk.perform(Scroll(x, y, dy=-300))
    pointer = np.s_[y - 30 : y + 30, x - 30 : x + 30]
    above = desk.capture().image.copy()
    above[pointer] = first[pointer] = 0
    outside = np.s_[: SIZE[1] - 40, : SIZE[0] - 40]  # the pointer was in the corner before
    assert np.array_equal(above[outside], first[outside])


def test_the_pointer_is_in_the_picture(desk: X11Device) -> None:
    desk.renew(Session())
    desk.perform(Move(100, 100))
    first = desk.capture().image.copy()
    desk.perform(Move(300, 300))
    second = desk.capture().image
    changed = np.argwhere((first != second).any(axis=2))
    assert {tuple(point // 100) for point in changed} >= {(1, 1), (3, 3)}


def test_nothing_stays_held(desk: X11Device) -> None:
    desk.renew(NOTES)
    with pytest.raises(ActionError, match="no key 'nonsense'"):
        desk.perform(Press("ctrl+shift+nonsense"))
    desk.perform(LongPress(*text_point(desk, 1, 0), seconds=0.1))
    desk.perform(Wait(0.05))
    desk.perform(Type("s"))
    assert "s" in saved(desk)


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
    desk: X11Device, action: Action, message: str
) -> None:
    desk.renew(NOTES)
    before = desk.capture().image.copy()
    with pytest.raises(ActionError, match=message):
        desk.perform(action)
    assert np.array_equal(desk.capture().image, before)


def test_applications_are_opened_by_their_names(desk: X11Device) -> None:
    desk.renew(NOTES)
    desk.perform(Open("galculator"))
    assert [window.app for window in desk.windows()] == ["Mousepad", "Galculator"]
    desk.perform(Open("File Manager PCManFM"))
    assert desk.windows()[-1].app == "Pcmanfm"


def test_files_and_folders_are_opened_by_what_the_desktop_has_for_them(desk: X11Device) -> None:
    desk.renew(Session(files={"other/file.txt": b"x"}))
    desk.perform(Open("other/file.txt"))
    assert "file.txt" in desk.windows()[-1].title
    desk.open_file(f"{desk.home}/other")
    assert (desk.windows()[-1].app, desk.windows()[-1].title) == ("Pcmanfm", "other")
