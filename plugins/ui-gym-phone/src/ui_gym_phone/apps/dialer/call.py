"""The screen of a call that goes on."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.calling import IN_CALL, RINGING_MS, current_call, end_call
from ui_gym_phone.apps.dialer.main import APP
from ui_gym_phone.apps.faces import face, name_of
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import AppPage, ScrollView
from ui_gym_phone.ui.widgets import Button, Icon, Text

RED = "#d93025"
SWITCHES = (
    ("microphone-off", "Mute"), ("volume-high", "Speaker"), ("pause", "Hold"),
)  # fmt: skip


@APP.screen(IN_CALL)
def in_call(ui: Ui) -> AppPage:
    """The call of the extra `call`, until it is hung up."""
    number = ui.extra("number")
    name = name_of(ui.phone, number)
    going = ui.extra_number("call") and ui.extra_number("call") == current_call(ui.phone)
    head = VStack(
        Text(_status(ui) if going else "Call ended", "body", "dim", align="center", id="status"),
        Text(name, "headline", align="center", lines=2, id="contact_name"),
        Text(number, "body", "dim", align="center", lines=1) if name != number else None,
        gap=6, pad=(16, 16, 16, 16),
    )  # fmt: skip
    body = ScrollView(ui, "call", VStack(head, face(name, 96), Space(24)))
    if not going:
        return AppPage(
            body,
            bottom=HStack(
                Space(weight=1), Button("Close", ui.close), Space(weight=1), pad=(16, 12, 16, 16)
            ),
        )
    toggles: list[Widget] = [_toggle(ui, icon, name) for icon, name in SWITCHES]
    red = Tap(
        Surface(Icon("phone-hangup", 30, "#ffffff"), RED, radius=32, pad=(34, 14, 34, 14)),
        partial(_hang_up, ui), cls="android.widget.Button", desc="End call", id="end_call",
    )  # fmt: skip
    bottom = VStack(HStack(*toggles, align="start"), HStack(Space(weight=1), red, Space(weight=1)),
                    gap=20, pad=(16, 12, 16, 20))  # fmt: skip
    return AppPage(body, bottom=bottom)


def _status(ui: Ui) -> str:
    passed = ui.phone.clock.ms - ui.extra_number("ms")
    if passed < RINGING_MS:
        return "Calling…"
    seconds = (passed - RINGING_MS) // 1000
    if ui.state.get("Hold"):
        return "On hold"
    return f"{seconds // 60:02d}:{seconds % 60:02d}"


def _toggle(ui: Ui, icon: str, name: str) -> Widget:
    on = bool(ui.state.get(name))
    mark = Surface(Icon(icon, 24, "on_primary" if on else "text"), "primary" if on else "container",
                 radius=26, pad=14)  # fmt: skip
    label = Text(name, "small", "dim", lines=1, tell=False)
    return Tap(
        VStack(mark, label, gap=6, align="center"), ui.setter(name, not on), text=name, weight=1,
        cls="android.widget.ToggleButton", checkable=True, checked=on,
    )  # fmt: skip


def _hang_up(ui: Ui) -> None:
    end_call(ui.phone)
    while ui.phone.front is not None and ui.phone.activity.cls == IN_CALL:
        ui.close()  # each time that it was opened from the shade
    before = ui.extra("from")
    if ui.phone.at_home and before:  # the call was begun in another app: back to it
        ui.phone.launch(before)
