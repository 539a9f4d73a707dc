"""The dial pad."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.faces import CONTACTS, EDITOR, face, matching
from ui_gym_phone.apps.support import write_to
from ui_gym_phone.state.calling import dial
from ui_gym_phone.state.contacts import Contact, digits
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import (
    Center,
    Expand,
    GridLayout,
    HStack,
    Space,
    Surface,
    Tap,
    VStack,
    Widget,
)
from ui_gym_phone.ui.page import AppPage, Box, ScrollView
from ui_gym_phone.ui.widgets import Icon, IconButton, Item, Text

LETTERS = {
    "1": "", "2": "ABC", "3": "DEF", "4": "GHI", "5": "JKL", "6": "MNO", "7": "PQRS",
    "8": "TUV", "9": "WXYZ", "*": "", "0": "+", "#": "",
}  # fmt: skip

AROUND = 28 + 44 + 52 + 72
"""dp of the screen's height that the keys have not, beside what is suggested."""

GREEN = "#188038"


def dialpad(ui: Ui) -> AppPage:
    """The pad, with the contacts that what was dialled may mean."""
    number = ui.text("digits")
    room = ui.high - AROUND
    key = min(64.0, room / 4)
    people = matching(ui.phone, number) if digits(number) else []
    rows: list[Widget] = [_suggestion(ui, person) for person in people[:20]]
    if number and not people:
        rows = [
            Item("Create new contact", "", partial(ui.start, CONTACTS, EDITOR, phone=number),
                 icon="account-plus"),
            Item("Send a message", "", partial(write_to, ui, number), icon="message-text"),
        ]  # fmt: skip
    keys = GridLayout(
        *(_key(ui, sign, letters, key) for sign, letters in LETTERS.items()),
        columns=3,
        cell=key,
        pad=(24, 0, 24, 0),
    )
    body = VStack(
        ScrollView(ui, "suggestions", VStack(*rows)),
        Surface(VStack(_shown(ui, number), keys, _call_row(ui, number)), "container"),
    )
    return AppPage(body)


def _shown(ui: Ui, number: str) -> Widget:
    def back() -> None:
        ui.fill("digits", number[:-1])

    def clear() -> None:
        ui.fill("digits", "")

    erase: Widget = Space(width=48)
    if number:
        erase = Tap(
            Surface(Icon("backspace-outline", 22, "dim"), "", pad=13), back, on_long_press=clear,
            cls="android.widget.ImageButton", desc="Backspace",
        )  # fmt: skip
    style = "headline" if len(number) < 15 else "subtitle"
    text = Text(number, style, align="center", lines=1, id="digits")
    return Box(HStack(Space(width=48), Expand(text), erase, pad=(4, 2, 4, 2)), 52)


def _key(ui: Ui, sign: str, letters: str, height: float) -> Widget:
    def press(what: str) -> None:
        ui.fill("digits", ui.text("digits") + what)

    below = height >= 48
    face_ = VStack(
        Text(sign, "title", align="center", lines=1, tell=False),
        Text(letters, "tiny", "dim", align="center", lines=1, tell=False) if below else None,
    )
    touch = Center(face_)
    return Tap(
        touch, partial(press, sign), on_long_press=partial(press, "+") if sign == "0" else None,
        cls="android.widget.Button", text=sign, desc=f"{sign} {letters}".strip(),
    )  # fmt: skip


def _call_row(ui: Ui, number: str) -> Widget:
    def call() -> None:
        if digits(number):
            ui.close_overlay()
            ui.fill("digits", "")
            dial(ui.phone, number)

    green = Tap(
        Surface(HStack(Icon("phone", 24, "#ffffff"), Text("Call", "label", "#ffffff", tell=False),
                  gap=8), GREEN, radius=26, pad=(28, 12, 32, 12)),
        call, cls="android.widget.Button", text="Call", desc="Dial", id="dialpad_voice_call",
    )  # fmt: skip
    hidden = IconButton("chevron-down", "Hide key pad", ui.close_overlay)
    return HStack(
        hidden, Space(weight=1), green, Space(weight=1), Space(width=48), pad=(8, 8, 8, 12)
    )


def _suggestion(ui: Ui, person: Contact) -> Widget:
    return Item(person.name, person.number, partial(dial, ui.phone, person.number), lines=1,
                lead=face(person.name))  # fmt: skip
