"""The question whether an app may do something: Android's runtime permissions.

A screen says what it needs; it is asked for when the screen is opened, and what comes of it is what
`pm` grants and revokes, in the package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ui_gym_phone import data
from ui_gym_phone.ui.layout import HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.scene import Box, PhoneScene
from ui_gym_phone.ui.widgets import Icon, Text

if TYPE_CHECKING:
    from ui_gym_phone.state.activities import Activity
    from ui_gym_phone.state.packages import Package
    from ui_gym_phone.state.phone import Phone

CONTROLLER = "com.google.android.permissioncontroller"
ACTIVITY = "com.android.permissioncontroller.permission.ui.GrantPermissionsActivity"
_ID = "com.android.permissioncontroller:id/"

ONCE_MS = 60_000
"""How long an app may be out of sight and keep what it was granted only this time."""

WIDEST = 312.0
"""Of the question: its width in dp at most."""


def asked(phone: Phone, activity: Activity, needs: Sequence[str]) -> str:
    """The permission that the screen asks for now, if it asks for one."""
    package = phone.packages.get(activity.package)
    if package is None:
        return ""
    wanted = [*needs, *filter(None, [activity.state.get("asking")])]
    answered = activity.state.get("answered", ())
    return next((name for name in wanted if name not in answered and package.may_ask(name)), "")


def answer(phone: Phone, permission: str, reply: str) -> None:
    """What a button does: ``always``, ``once`` or ``never``; an empty reply, of who goes back,
    leaves it open."""
    activity = phone.activity
    package = phone.packages[activity.package]
    if reply == "never":
        package.refuse(permission)
    elif reply:
        package.grant(permission, True, once_ms=phone.clock.uptime_ms if reply == "once" else None)
    activity.state["answered"] = [*activity.state.get("answered", ()), permission]
    activity.state.pop("asking", None)


def expire(phone: Phone) -> None:
    """Take away what was granted only this time to apps that have ended, or that were not seen for
    a minute."""
    now, seen = phone.clock.uptime_ms, phone.front.package if phone.front else ""
    open_now = {task.package for task in phone.tasks}
    for package in [package for package in phone.packages if package.once]:
        for permission, last in [*package.once.items()]:
            if package.name == seen:
                package.once[permission] = now
            elif package.name not in open_now or now - last > ONCE_MS:
                package.grant(permission, False)


def place_prompt(
    scene: PhoneScene, package: Package, permission: str, room: Box, reply: Callable[[str], None]
) -> None:
    """The question, in the middle of the room; nothing beside it can be touched."""
    px = scene.theme.px
    scene.rect(scene.screen, "scrim", opacity=102)
    scene.touch(scene.screen, modal=True)
    width = min(px(WIDEST), room[2] - room[0] - 2 * px(16))
    panel = _panel(package, permission, reply)
    if panel.size(scene.theme, width)[1] > room[3] - room[1]:
        panel = _panel(package, permission, reply, low=True)
    height = panel.size(scene.theme, width)[1]
    x = room[0] + (room[2] - room[0] - width) // 2
    y = max(room[1], room[1] + (room[3] - room[1] - height) // 2)
    with scene.window(CONTROLLER, ACTIVITY):
        panel.place(scene, x, y, width, height)


def _panel(
    package: Package, permission: str, reply: Callable[[str], None], *, low: bool = False
) -> Widget:
    """The question over its answers; `low` leaves out what it can do without."""
    about = data.table("permission_prompts").get(permission, {})
    _, icon = data.table("permissions").get(permission, (permission, "shield-check"))
    to = about.get("to", f"use {permission}")
    question = Text(f"Allow {package.label} to {to}?", "label" if low else "prompt",
                    align="center", id=_ID + "permission_message")  # fmt: skip
    if about.get("used"):
        buttons = [
            ("While using the app", "permission_allow_foreground_only_button", "always"),
            ("Only this time", "permission_allow_one_time_button", "once"),
        ]
    else:
        buttons = [("Allow", "permission_allow_button", "always")]
    buttons.append(("Don't allow", "permission_deny_button", "never"))
    pad = 7.0 if low else 16.0
    cells = [_button(text, id, partial(reply, word), pad) for text, id, word in buttons]
    if low:
        return Surface(VStack(question, *cells, gap=4, pad=(16, 10, 16, 10)), "surface", radius=20)
    head = HStack(Space(weight=1), Icon(icon, 28, "primary"), Space(weight=1))
    body = VStack(head, question, Space(4), VStack(*cells, gap=4), gap=12, pad=(20, 24, 20, 20))
    return Surface(body, "surface", radius=28)


def _button(text: str, id: str, on_tap: Callable[[], None], pad: float) -> Tap:
    label = Text(text, "label", "on_tonal", lines=1, align="center", tell=False)
    face = Surface(label, "tonal", radius=12, pad=(12, pad, 12, pad))
    return Tap(face, on_tap, cls="android.widget.Button", text=text, id=_ID + id)
