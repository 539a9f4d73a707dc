"""Scenes of what the system draws itself: launcher, shade, recents."""

from __future__ import annotations

from driving import Scene, holding, scene, typing

from ui_gym_phone.state import alarms, messages
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.screen import PhoneScreen

HOUR = 3_600_000


def posted(phone: Phone) -> None:
    """Some notifications, one of which stays."""
    now = phone.clock.ms
    for i, (package, title, text) in enumerate(
        (
            ("com.example.tunebox", "Night Train", "Playing on this phone"),
            ("com.example.stride", "Half way there", "5,120 of 10,000 steps"),
            (
                "com.example.skycast",
                "Rain in the evening",
                "Take a coat: 11 °C, west wind",
            ),
        )
    ):
        phone.notify(
            Notification(package, i, title, text, now - i * HOUR, ongoing=package.endswith("box"))
        )
    messages.receive(phone, "+15550142", "Are we still on for Thursday? I can bring the maps.")


def home(phone: Phone, screen: PhoneScreen) -> None:
    """Where a new phone is."""


drawer = scene(home, lambda screen: screen.swipe(500, 1500, 500, 600))


def shade(phone: Phone, screen: PhoneScreen) -> None:
    posted(phone)
    phone.shade = "notifications"


def recents(phone: Phone, screen: PhoneScreen) -> None:
    for package in ("com.android.settings", "com.example.chess", "com.android.browser"):
        phone.launch(package)
    phone.toggle_recents()


def turned(start: Scene | str) -> Scene:
    """A scene on a screen that lies on its side."""

    def bring(phone: Phone, screen: PhoneScreen) -> None:
        phone.put("system", "user_rotation", 1)
        scene(start)(phone, screen)

    return bring


def gestures(start: Scene | str) -> Scene:
    """A scene with gestures instead of three buttons."""

    def bring(phone: Phone, screen: PhoneScreen) -> None:
        phone.put("secure", "navigation_mode", 2)
        scene(start)(phone, screen)

    return bring


def ringing(phone: Phone, screen: PhoneScreen) -> None:
    """An alarm over Settings."""
    alarms.add(phone, 15, 35, "Tea with Anna and the whole family of hers")
    phone.launch("com.android.settings")
    phone.clock.advance(90)
    screen.refresh()


def asking(package: str, permission: str) -> Scene:
    """An app that has lost a permission."""

    def bring(phone: Phone, screen: PhoneScreen) -> None:
        phone.packages[package].permissions[permission] = False
        phone.launch(package)

    return bring


CAMERA, CONTACTS = "com.android.camera2", "com.android.contacts"

SCENES: dict[str, Scene] = {
    "home": home,
    "all apps": drawer,
    "searching apps": scene(drawer, lambda screen: screen.tap(500, 160), typing("c")),
    "notifications": shade,
    "nothing posted": lambda phone, screen: setattr(phone, "shade", "notifications"),
    "quick settings": lambda phone, screen: setattr(phone, "shade", "settings"),
    "recents": recents,
    "recents, the one before": scene(recents, lambda screen: screen.swipe(300, 1200, 900, 1200)),
    "recents by gestures": gestures(recents),
    "home by gestures": gestures(home),
    "an icon's menu": scene(drawer, holding("Chess")),
    "uninstalling": scene(drawer, holding("Chess"), "Uninstall"),
    "an alarm in the shade": scene(ringing, lambda s: setattr(s.phone, "shade", "notifications")),
    "an alarm on its side": turned(ringing),
    "asking for the camera": asking(CAMERA, "CAMERA"),
    "asking on its side": turned(asking(CAMERA, "CAMERA")),
    "asking for contacts": asking(CONTACTS, "READ_CONTACTS"),
    "without contacts": scene(asking(CONTACTS, "READ_CONTACTS"), "Don't allow"),
    "Settings on its side": turned("com.android.settings"),
    "quick settings on their side": turned(
        scene("com.android.settings", lambda s: setattr(s.phone, "shade", "settings"))
    ),
    "no recents": lambda phone, screen: phone.toggle_recents(),
    "an installed app, a toast": scene(
        "com.example.chess", lambda screen: screen.phone.say("Saved")
    ),
}
