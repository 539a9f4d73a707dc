"""Notices: notifications as the shade lists them, and those that come up over what is open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ui_gym_phone.state.activities import Notification
from ui_gym_phone.ui import navigation
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import ScrollView
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.widgets import Button, Disc, Text

if TYPE_CHECKING:
    from ui_gym_phone.state.phone import Phone

NoticeButtons = Callable[["Phone", Notification], list[tuple[str, Callable[[], None]]]]
"""The buttons of a notification: (text, what it does) each."""

URGENT: dict[tuple[str, str], NoticeButtons] = {}
"""(package, channel) of notifications that come up over what is open, and their buttons."""

HUSHED = "hushed"
"""The key of the system's state that lists those that were swiped off what is open."""

WIDEST = 420.0
"""Of a notification that comes up: its width in dp."""


def listed(phone: Phone, manage: Widget) -> Widget:
    """All notifications, the newest first, over the buttons below them."""
    if not phone.notifications:
        return HStack(Text("No notifications", "body", "dim"), pad=(8, 16, 8, 16))
    cards: list[Widget] = [_notification(phone, one) for one in phone.notifications]
    clear = Button("Clear all", phone.clear_notifications, style="text", id="dismiss_text")
    rows = VStack(*cards, HStack(manage, Space(weight=1), clear), gap=8)
    return ScrollView(Ui(phone, phone.system), "notifications", rows)


def place_urgent(phone: Phone, scene: PhoneScene) -> None:
    """The newest notification that cannot wait, below the status bar; swiped up, it waits in the
    shade. The app that it is of shows it itself."""
    hushed = phone.system.state.get(HUSHED, ())
    seen = phone.activity.package
    waiting = [
        one for one in phone.notifications
        if (one.package, one.channel) in URGENT and one.key not in hushed and one.package != seen
    ]  # fmt: skip
    if not waiting:
        return
    one, px = waiting[0], scene.theme.px

    def hush(dx: int, dy: int) -> bool:
        if dy < 0:
            phone.system.state[HUSHED] = [*hushed, one.key]
        return dy < 0

    card = Surface(_notification(phone, one, on_swipe=hush), "surface", radius=20, border="divider")
    left, top, right, _ = navigation.room(phone, scene)
    width = min(right - left - px(16), px(WIDEST))
    x, y = left + (right - left - width) // 2, top + px(32)
    height = card.size(scene.theme, width)[1]
    scene.touch((x, y, x + width, y + height), modal=True)
    with scene.above():
        card.place(scene, x, y, width, height)


def _notification(
    phone: Phone, one: Notification, on_swipe: Callable[[int, int], bool] | None = None
) -> Widget:
    package = phone.packages.get(one.package)
    label, icon, colour = (
        (package.label, package.icon, package.colour) if package else ("Android", "bell", "#5f6368")
    )
    when = phone.clock.of(one.when_ms)
    head = HStack(Expand(Text(label, "caption", "dim", lines=1)),
               Text(f"{when:%H:%M}", "caption", "dim"), gap=8)  # fmt: skip
    texts = VStack(head, Text(one.title, "label", lines=1), Text(one.text, "small", "dim", lines=2))
    row: Widget = HStack(Disc(colour, 32, icon=icon), Expand(texts), gap=12)
    buttons = URGENT.get((one.package, one.channel))
    if buttons is not None:
        cells = [Button(text, act, style="text") for text, act in buttons(phone, one)]
        row = VStack(row, HStack(Space(width=32), *cells, gap=4))
    face = Surface(row, "surface", radius=18, pad=(12, 9, 14, 9))
    return Tap(face, partial(_open, phone, one), on_swipe=on_swipe or partial(_dismiss, phone, one),
               id="expandableNotificationRow", cls="android.widget.FrameLayout")  # fmt: skip


def _open(phone: Phone, one: Notification) -> None:
    if not one.ongoing:
        phone.cancel(one.key)
    phone.shade = ""
    if one.target is None:
        phone.launch(one.package)
    else:
        phone.start(one.package, one.target[0], one.target[1])


def _dismiss(phone: Phone, one: Notification, dx: int, dy: int) -> bool:
    aside = abs(dx) > abs(dy) and not one.ongoing
    if aside:
        phone.cancel(one.key)
    return aside
