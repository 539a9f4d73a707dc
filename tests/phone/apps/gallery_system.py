"""Scenes of what the system draws itself: launcher, shade, recents."""

from __future__ import annotations

from driving import Scene, scene, typing

from ui_gym_phone.state import messages
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


SCENES: dict[str, Scene] = {
    "home": home,
    "all apps": drawer,
    "searching apps": scene(drawer, lambda screen: screen.tap(500, 160), typing("c")),
    "notifications": shade,
    "nothing posted": lambda phone, screen: setattr(phone, "shade", "notifications"),
    "quick settings": lambda phone, screen: setattr(phone, "shade", "settings"),
    "recents": recents,
    "no recents": lambda phone, screen: phone.toggle_recents(),
    "an installed app, a toast": scene(
        "com.example.chess", lambda screen: screen.phone.say("Saved")
    ),
}
