"""The launcher: a home screen with a dock, and a drawer of all apps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from PIL import Image

from ui_gym_phone.apps.phone_app import app_of
from ui_gym_phone.state.display import ROW
from ui_gym_phone.state.packages import Package
from ui_gym_phone.state.phone import LAUNCHER
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import (
    Expand,
    Fitting,
    GridLayout,
    HStack,
    Size,
    Space,
    Tap,
    VStack,
    Widget,
    ZStack,
)
from ui_gym_phone.ui.page import AppPage, Menu, MenuItem, ScrollView, confirm
from ui_gym_phone.ui.scene import Handler, PhoneScene
from ui_gym_phone.ui.textfield import TextField
from ui_gym_phone.ui.theme import Theme
from ui_gym_phone.ui.widgets import Disc, Text

APP = app_of(LAUNCHER)

HOME = (
    "com.android.settings", "com.android.calendar", "com.google.android.deskclock",
    "com.android.documentsui", "org.uigym.notes", "com.android.calculator2",
    "com.android.vending", "com.android.contacts",
)  # fmt: skip
FEW = (
    "com.android.settings", "com.google.android.deskclock", "com.android.messaging",
    "com.android.contacts", "org.uigym.notes", "com.android.calendar", "com.android.dialer",
    "com.android.camera2",
)  # fmt: skip
"""All that the home screen has of a phone that shows few things."""
DOCK = ("com.android.dialer", "com.android.messaging", "com.android.browser", "com.android.camera2")

LIGHT_SKY = ((205, 222, 246), (246, 233, 226))
DARK_SKY = ((22, 28, 46), (46, 36, 50))


@lru_cache(maxsize=16)
def _sky(dark: bool, width: int, height: int) -> Image.Image:
    top, bottom = DARK_SKY if dark else LIGHT_SKY
    share = np.linspace(0, 1, height)[:, None, None]
    column = np.asarray(top) * (1 - share) + np.asarray(bottom) * share
    return Image.fromarray(np.broadcast_to(column, (height, width, 3)).round().astype(np.uint8))


@dataclass(frozen=True)
class Sky:
    """The wallpaper."""

    dark: bool

    def __call__(self, width: int, height: int) -> Image.Image:
        return _sky(self.dark, width, height)


class Wallpaper(Widget):
    """The wallpaper behind all of the screen; a swipe up opens the drawer."""

    def __init__(self, ui: Ui) -> None:
        self.ui = ui

    def measure(self, theme: Theme, width: int) -> Size:
        return width, 0

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        whole = (0, 0, scene.width, scene.height)
        scene.image(whole, Sky(scene.theme.dark))

        def swipe(dx: int, dy: int) -> bool:
            if dy < 0:
                self.ui.state["overlay"] = "drawer"
            return dy < 0

        scene.touch(whole, swipe=swipe)


@APP.screen(".Launcher")
def launcher(ui: Ui) -> AppPage:
    """The home screen, or the drawer."""
    if ui.state.get("overlay") == "drawer":
        return _drawer(ui)
    if ui.grid:
        few = VStack(Space(2 * ROW), GridLayout(*_icons(ui, FEW), columns=2))
        return _held(ui, AppPage(ZStack(Wallpaper(ui), few), fullscreen=True))
    now = ui.phone.clock.local
    date = VStack(
        Text(f"{now:%A}", "headline"), Text(f"{now:%B} {now.day}", "body", "dim"),
        pad=(24, 36, 24, 0), gap=2,
    )  # fmt: skip
    body = VStack(
        date,
        Space(weight=1),
        GridLayout(*_icons(ui, HOME), columns=4, pad=(8, 0, 8, 8), gap=8),
        Space(24),
        GridLayout(*_icons(ui, DOCK, labels=False), columns=4, pad=(8, 8, 8, 12)),
    )
    return _held(ui, AppPage(ZStack(Wallpaper(ui), body), fullscreen=True))


class _AppIcon(Tap):
    """An app's icon: held, it shows what can be done with the app, beside where it lies."""

    def __init__(self, ui: Ui, package: Package, face: Widget, on_tap: Handler, text: str) -> None:
        super().__init__(face, on_tap, cls="android.widget.TextView", text=text,
                         desc=package.label)  # fmt: skip
        self.ui, self.package = ui, package

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        box = (x, y, x + width, y + height)
        self.on_long_press = partial(self.ui.ask, "icon", package=self.package.name, box=box)
        super().place(scene, x, y, width, height)


def _held(ui: Ui, page: AppPage) -> AppPage:
    """The page with what is open over it: the menu of an icon that was held, or a question."""
    package = ui.phone.packages.get(str(ui.state.get("package", "")))
    if package is None:
        return page
    if ui.dialog == "icon":
        items = [MenuItem("App info", ui.then(partial(_info, ui, package.name)),
                          "information-outline")]  # fmt: skip
        if not package.system:
            items.append(
                MenuItem("Uninstall", ui.then(partial(ui.ask, "uninstall")), "delete-outline")
            )
        page.menu = Menu(items, ui.dismiss, beside=ui.state["box"])
    elif ui.dialog == "uninstall":
        page.dialog = confirm(ui, package.label, "Do you want to uninstall this app?", "OK",
                              partial(_uninstall, ui, package))  # fmt: skip
    return page


def _info(ui: Ui, package: str) -> None:
    ui.phone.start("com.android.settings", ".Settings$AppInfoActivity", {"package": package})


def _uninstall(ui: Ui, package: Package) -> None:
    if ui.phone.uninstall(package.name):
        ui.say(f"Uninstalled {package.label}")


def _drawer(ui: Ui) -> AppPage:
    wanted = ui.text("search").strip().lower()
    found = [p for p in ui.phone.packages.launchable if wanted in p.label.lower()]

    def first() -> None:
        if found:
            _open(ui, found[0].name)

    search = TextField(ui, "search", "Search apps", on_enter=first)
    icons = [_icon(ui, p, partial(_open, ui, p.name)) for p in found]
    apps = GridLayout(*icons, columns=4, pad=(8, 8, 8, 24), gap=12)
    if ui.grid:
        apps = GridLayout(*icons, columns=2)
    body = VStack(
        HStack(VStack(search, weight=1), pad=(16, 12, 16, 12)), ScrollView(ui, "drawer", apps)
    )
    return _held(ui, AppPage(body))


def _open(ui: Ui, package: str) -> None:
    ui.state.clear()
    ui.activity.fields.clear()
    ui.activity.focus = ""
    ui.phone.launch(package)


def _icons(ui: Ui, packages: tuple[str, ...], *, labels: bool = True) -> list[Widget]:
    shown = [found for name in packages if (found := ui.phone.packages.get(name)) is not None]
    return [_icon(ui, p, partial(_launch, ui, p.name), label=labels) for p in shown]


def _launch(ui: Ui, package: str) -> None:
    ui.phone.launch(package)


def _icon(ui: Ui, package: Package, on_tap: Handler, *, label: bool = True) -> Widget:
    disc = Disc(package.colour, 52, icon=package.icon)
    name = Text(package.label, "caption", lines=1, align="center", tell=False) if label else None
    face = VStack(disc, name, gap=6, pad=(2, 6, 2, 6))
    line = HStack(
        Disc(package.colour, 40, icon=package.icon),
        Expand(Text(package.label, "body", lines=1, tell=False)), gap=16, pad=(16, 0, 4, 0),
    )  # fmt: skip
    return _AppIcon(ui, package, Fitting(face, line), on_tap, package.label if label else "")
