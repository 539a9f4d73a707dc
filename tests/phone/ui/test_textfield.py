"""Typing: where the caret stands, and what keys do to a text."""

from __future__ import annotations

import pytest

from ui_gym.dialects.keycodes import KEYS, MODIFIERS
from ui_gym_phone.state.activities import Activity
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui import keys
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import VStack
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.textfield import TextField, Typing
from ui_gym_phone.ui.theme import Theme

WIDTH, HEIGHT = 600, 900
CTRL = MODIFIERS["ctrl"]


def typing(text: str = "", **options: object) -> tuple[Phone, Typing]:
    phone = Phone()
    activity = Activity("p", ".A", fields={"f": text}, focus="f", caret=len(text))
    return phone, Typing(activity, TextField(Ui(phone, activity), "f", "Hint", **options))


def press(phone: Phone, to: Typing, name: str, *held: int) -> None:
    keys.press(phone, to, KEYS[name], held)


def test_text_goes_to_the_caret():
    phone, to = typing("held")
    press(phone, to, "left")
    to.insert("p the wor")
    assert to.text == "help the word"
    assert to.activity.caret == len("help the wor")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["backspace"], "one tw"),
        (["move_home", "delete"], "ne two"),
        (["left", "backspace"], "one to"),
        (["move_home", "backspace"], "one two"),
        (["end", "delete"], "one two"),
        (["left"] * 20 + ["a"], "aone two"),
        (["space", "3"], "one two 3"),
    ],
)
def test_keys_edit(names, text):
    phone, to = typing("one two")
    for name in names:
        press(phone, to, name)
    assert to.text == text


def test_shift_writes_capitals_and_signs():
    phone, to = typing()
    for name in ("h", "1", "/"):
        press(phone, to, name, MODIFIERS["shift"])
    assert to.text == "H!?"


def test_select_cut_copy_paste():
    phone, to = typing("one")
    press(phone, to, "a", CTRL)
    press(phone, to, "c", CTRL)
    assert phone.clipboard == "one"
    press(phone, to, "x", CTRL)
    assert to.text == ""
    press(phone, to, "v", CTRL)
    press(phone, to, "paste")
    assert to.text == "oneone"


def test_what_is_typed_replaces_what_is_selected():
    phone, to = typing("old")
    press(phone, to, "a", CTRL)
    to.insert("new")
    assert to.text == "new"


def test_number_and_phone_fields_take_no_letters():
    _, number = typing(kind="number")
    number.insert("a1b2.5-")
    assert number.text == "12.5-"
    _, dialled = typing(kind="phone")
    dialled.insert("+1 (555) call")
    assert dialled.text == "+1 (555) "


def test_enter_is_a_new_line_only_where_there_are_several():
    phone, to = typing("a", lines=3)
    press(phone, to, "enter")
    assert to.text == "a\n"
    done = []
    phone, to = typing("a", on_enter=lambda: done.append(True))
    press(phone, to, "enter")
    assert (to.text, done) == ("a", [True])


def test_changes_are_told():
    told = []
    _, to = typing(on_change=told.append)
    to.insert("ab")
    to.delete()
    assert told == ["ab", "a"]


@pytest.mark.parametrize(
    "text", ["w" * 90, "some words that wrap over lines", "a\n\nb", "x" * 90 + " y"]
)
def test_the_caret_stands_after_each_sign_in_turn(text):
    _, to = typing(text, lines=6)
    field = to.field
    seen = []
    for caret in range(len(text) + 1):
        to.activity.caret = caret
        scene = PhoneScene(Theme(), WIDTH, HEIGHT)
        with scene.window("p", "w"):
            VStack(field).place(scene, 0, 0, WIDTH, HEIGHT)
        left, top, _, _ = scene.ops[-1].box
        seen.append((top, left))
    assert seen == sorted(seen)
    # One place a sign, but that a line's end and the next one's begin may be the same caret.
    assert len(set(seen)) >= len(text) + 1 - text.count(" ") - text.count("\n")
