"""A phone with a few apps, whose shell is asked; what the screen is told to do is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ui_gym_phone.shell import run
from ui_gym_phone.state.packages import Package
from ui_gym_phone.state.phone import Phone

PAGES = (
    ".Settings$WifiSettingsActivity", ".Settings$DisplaySettingsActivity",
    ".Settings$AppInfoActivity",
)  # fmt: skip


def _installed() -> list[Package]:
    camera = {"CAMERA": True, "READ_CONTACTS": False}
    return [
        Package("com.android.systemui", "System UI", launchable=False),
        Package("com.android.launcher3", "Launcher", ".Launcher", launchable=False),
        Package("com.android.settings", "Settings", ".Settings", PAGES),
        Package("com.android.contacts", "Contacts", ".activities.PeopleActivity"),
        Package("com.android.messaging", "Messages", ".ui.Main", (".ConversationActivity",)),
        Package("com.android.dialer", "Phone", ".main.impl.MainActivity"),
        Package("com.google.android.deskclock", "Clock", "com.android.deskclock.DeskClock"),
        Package("com.android.browser", "Browser", ".BrowserActivity"),
        Package("com.android.providers.telephony", "Phone storage", launchable=False),
        Package(
            "com.example.chess", "Chess", system=False, permissions=camera, version="2.4.1",
            app_size=19_000_000, data_size=1_000_000, cache_size=2_000_000,
        ),
        Package("com.example.podium", "Podium", system=False, launchable=True),
    ]  # fmt: skip


@dataclass
class Bench:
    """A machine without a picture: it writes down what it is told to do."""

    phone: Phone
    done: list[tuple[Any, ...]] = field(default_factory=list)
    code: int = 0
    err: str = ""

    @property
    def files(self) -> Any:
        return self.phone.files

    @property
    def clock(self) -> Any:
        return self.phone.clock

    def tap(self, x: int, y: int, count: int = 1) -> None:
        self.done.append(("tap", x, y, count))

    def swipe(self, x1: int, y1: int, x2: int, y2: int, ms: int = 300) -> None:
        self.done.append(("swipe", x1, y1, x2, y2, ms))

    def text(self, text: str) -> None:
        self.done.append(("text", text))

    def key(self, code: int, *held: int) -> None:
        self.done.append(("key", code, *held))

    def pixels(self) -> tuple[int, int, bytes]:
        return 3, 2, bytes(range(24))

    def ui_tree(self) -> str:
        return '<hierarchy rotation="0"></hierarchy>'

    def raw(self, line: str, stdin: bytes = b"") -> bytes:
        """The standard output of a line; `code` and `err` are the rest of what came of it."""
        result = run(self, line, stdin=stdin).result()
        self.code, self.err = result.code, result.stderr.decode()
        return result.stdout

    def __call__(self, line: str, stdin: bytes = b"") -> str:
        return self.raw(line, stdin).decode()


def phone_with_apps() -> Phone:
    phone = Phone()
    for package in _installed():
        phone.packages.add(package)
    return phone
