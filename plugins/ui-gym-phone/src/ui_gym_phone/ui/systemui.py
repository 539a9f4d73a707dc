"""What the system draws around apps: status bar, navigation bar, shade, recents, toasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ui_gym_phone.state import switches
from ui_gym_phone.state.activities import Notification, TaskStack
from ui_gym_phone.state.phone import DENSITY, Phone
from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, GridLayout, HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.page import ScrollView
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.theme import LOW, NARROW
from ui_gym_phone.ui.widgets import Button, Disc, Icon, IconButton, SeekBar, Text

PACKAGE = "com.android.systemui"

STATUS = 28.0
NAVIGATION = 44.0
"""Heights in dp."""


def place_bars(phone: Phone, scene: PhoneScene) -> None:
    """The status bar and the navigation bar: in no app's window."""
    with scene.window(PACKAGE, "StatusBar", listed=False):
        _place_status(phone, scene)
        _place_navigation(phone, scene)


def _place_status(phone: Phone, scene: PhoneScene) -> None:
    px = scene.theme.px
    height = px(STATUS)

    def pull(dx: int, dy: int) -> bool:
        if dy > 0:
            phone.shade = "notifications"
        return dy > 0

    scene.touch((0, 0, phone.width, height), swipe=pull)
    size = px(13)
    time = clock_text(phone)
    top = (height - fonts.line_height(size)) // 2
    width = fonts.text_width(time, "medium", size)
    scene.text(px(14), top, time, "medium", size, "text", width)
    x = px(22) + width
    for package in list(dict.fromkeys(n.package for n in phone.notifications))[:4]:
        found = phone.packages.get(package)
        scene.icon(x, (height - px(15)) // 2, px(15), found.icon if found else "bell", "text")
        x += px(20)
    x = phone.width - px(14)
    level = switches.battery(phone).level
    if phone.is_on("system", "show_battery_percent"):
        told = f"{level}%"
        width = fonts.text_width(told, "medium", size)
        x -= width
        scene.text(x, top, told, "medium", size, "text", width)
        x -= px(2)
    for name in reversed(_status_icons(phone)):
        x -= px(16)
        scene.icon(x, (height - px(16)) // 2, px(16), name, "text")
        x -= px(3)


def clock_text(phone: Phone) -> str:
    """The time of day as the phone writes it."""
    now = phone.clock.local
    if phone.setting("system", "time_12_24", "24") == "12":
        return f"{(now.hour - 1) % 12 + 1}:{now.minute:02d}"
    return f"{now.hour:02d}:{now.minute:02d}"


def _status_icons(phone: Phone) -> list[str]:
    icons = []
    if switches.dnd(phone):
        icons.append("minus-circle-outline")
    if switches.bluetooth_on(phone):
        icons.append("bluetooth")
    if switches.wifi_on(phone):
        icons.append("wifi")
    icons.append("airplane" if switches.airplane(phone) else "network-strength-4")
    icons.append("battery-heart-variant" if phone.is_on("global", "low_power") else "battery-80")
    return icons


def _place_navigation(phone: Phone, scene: PhoneScene) -> None:
    px = scene.theme.px
    top, third = phone.height - px(NAVIGATION), phone.width // 3
    ground = "keyboard" if phone.activity.focus in scene.fields else "background"
    scene.rect((0, top, phone.width, phone.height), ground)
    buttons = (("triangle-outline", phone.back, 270), ("circle", phone.home, 0),
               ("square-outline", phone.toggle_recents, 0))  # fmt: skip
    middle = top + px(NAVIGATION) // 2
    for i, (shape, press, _) in enumerate(buttons):
        box = (i * third, top, (i + 1) * third, phone.height)
        x = i * third + third // 2
        if shape == "circle":
            r, edge = px(9), px(2)
            scene.rect((x - r, middle - r, x + r, middle + r), "dim", r)
            r -= edge
            scene.rect((x - r, middle - r, x + r, middle + r), ground, r)
        else:
            icon = "chevron-left" if shape == "triangle-outline" else "square-outline"
            half = px(13) if icon == "chevron-left" else px(10)
            scene.icon(x - half, middle - half, 2 * half, icon, "dim")
        scene.touch(box, tap=press, modal=True)


# -- the shade --


def place_shade(phone: Phone, scene: PhoneScene) -> None:
    """Notifications and quick settings, over whatever is open."""
    bottom = phone.height - scene.theme.px(NAVIGATION)
    box = (0, 0, phone.width, bottom)
    scene.rect(box, "container")

    def push(dx: int, dy: int) -> bool:
        if dy < 0:
            phone.shade = ""
        elif dy > 0:
            phone.shade = "settings"
        return dy != 0

    scene.touch(box, swipe=push, modal=True)
    with scene.window(PACKAGE, "NotificationShade"):
        now = phone.clock.local
        narrow = _is_narrow(phone)
        date = Text(f"{now:%a, %b} {now.day}", "label")
        content = VStack(
            HStack(
                Text(clock_text(phone), "headline"), date, Space(weight=1), _gear(phone), gap=12
            ),
            _tiles(phone, whole=phone.shade == "settings"),
            _brightness(phone) if phone.height >= LOW * DENSITY else None,
            None if phone.shade == "settings" else _notifications(phone),
            gap=8,
            pad=(10, 32, 10, 8) if narrow else (16, 32, 16, 8),
        )
        with scene.clipped(box):
            content.place(scene, 0, 0, phone.width, bottom)


def _is_narrow(phone: Phone) -> bool:
    return phone.width < NARROW * DENSITY


def _gear(phone: Phone) -> Widget:
    def settings() -> None:
        phone.launch("com.android.settings")

    return IconButton("cog", "Open settings", settings)


@dataclass(frozen=True)
class Tile:
    """A quick setting: its name, its icon, whether it is on, and what turns it."""

    label: str
    icon: str
    is_on: Callable[[Phone], bool]
    turn: switches.Turn


TILES = {
    "wifi": Tile("Wi-Fi", "wifi", switches.wifi_on, switches.set_wifi),
    "bt": Tile("Bluetooth", "bluetooth", switches.bluetooth_on, switches.set_bluetooth),
    "dnd": Tile("Do Not Disturb", "minus-circle-outline", switches.dnd, switches.set_dnd),
    "airplane": Tile("Airplane mode", "airplane", switches.airplane, switches.set_airplane),
    "rotation": Tile(
        "Auto-rotate", "screen-rotation", switches.auto_rotate, switches.set_auto_rotate
    ),
    "battery": Tile(
        "Battery Saver", "battery-heart-variant", switches.battery_saver, switches.set_battery_saver
    ),
    "dark": Tile("Dark theme", "theme-light-dark", lambda phone: phone.dark, switches.set_dark),
    "cell": Tile("Mobile data", "swap-vertical", switches.mobile_data, switches.set_mobile_data),
    "location": Tile("Location", "map-marker", switches.location, switches.set_location),
    "night": Tile("Night Light", "weather-night", switches.night_light, switches.set_night_light),
}
"""By the names that Android's setting ``sysui_qs_tiles`` lists them with."""

FIRST_TILES = "wifi,bt,dnd,airplane,rotation,battery,dark,cell,location,night"


def _tiles(phone: Phone, *, whole: bool) -> Widget:
    listed = phone.setting("secure", "sysui_qs_tiles", FIRST_TILES).split(",")
    shown = [TILES[name] for name in listed if name in TILES]
    return GridLayout(
        *(_tile(phone, tile) for tile in (shown if whole else shown[:4])), columns=2, gap=8
    )


def _tile(phone: Phone, tile: Tile) -> Widget:
    on = tile.is_on(phone)
    ground, ink = ("primary", "on_primary") if on else ("surface", "text")
    state = "On" if on else "Off"
    narrow = _is_narrow(phone)
    label = Text(tile.label, "caption" if narrow else "label", ink, lines=1, tell=False)
    texts = label if narrow else VStack(label, Text(state, "caption", ink, tell=False))
    pad = (7.0, 10.0, 2.0, 10.0) if narrow else (14.0, 10.0, 8.0, 10.0)
    face = Surface(
        HStack(Icon(tile.icon, 18 if narrow else 22, ink), Expand(texts), gap=4 if narrow else 10),
        ground, radius=20, pad=pad,
    )  # fmt: skip
    return Tap(
        face, partial(tile.turn, phone, not on), cls="android.widget.Switch", desc=tile.label,
        text=state, checkable=True, checked=on,
    )  # fmt: skip


def _brightness(phone: Phone) -> Widget:
    level = switches.brightness(phone)

    def change(share: float) -> None:
        switches.set_brightness(phone, round(1 + share * 254))

    told = f"{switches.brightness_percent(phone)}%"
    slider = SeekBar((level - 1) / 254, change, desc="Display brightness", told=told)
    return HStack(Icon("brightness-6", 22, "dim"), Expand(slider), gap=8)


def _notifications(phone: Phone) -> Widget:
    if not phone.notifications:
        return HStack(Text("No notifications", "body", "dim"), pad=(8, 16, 8, 16))
    cards: list[Widget] = [_notification(phone, one) for one in phone.notifications]
    clear = Button("Clear all", phone.clear_notifications, style="text", id="dismiss_text")
    manage = Button("Manage", partial(_manage, phone), style="text")
    listed = VStack(*cards, HStack(manage, Space(weight=1), clear), gap=8)
    return ScrollView(Ui(phone, phone.system), "notifications", listed)


def _manage(phone: Phone) -> None:
    phone.start("com.android.settings", ".Settings$ConfigureNotificationSettingsActivity")


def _notification(phone: Phone, one: Notification) -> Widget:
    package = phone.packages.get(one.package)
    label, icon, colour = (
        (package.label, package.icon, package.colour) if package else ("Android", "bell", "#5f6368")
    )
    when = phone.clock.of(one.when_ms)
    head = HStack(Expand(Text(label, "caption", "dim", lines=1)),
               Text(f"{when:%H:%M}", "caption", "dim"), gap=8)  # fmt: skip
    texts = VStack(head, Text(one.title, "label", lines=1), Text(one.text, "small", "dim", lines=2))
    face = Surface(HStack(Disc(colour, 32, icon=icon), Expand(texts), gap=12), "surface", radius=18,
                 pad=(12, 9, 14, 9))  # fmt: skip

    def open_() -> None:
        if not one.ongoing:
            phone.cancel(one.key)
        phone.shade = ""
        if one.target is None:
            phone.launch(one.package)
        else:
            phone.start(one.package, one.target[0], one.target[1])

    def dismiss(dx: int, dy: int) -> bool:
        aside = abs(dx) > abs(dy) and not one.ongoing
        if aside:
            phone.cancel(one.key)
        return aside

    return Tap(face, open_, on_swipe=dismiss, id="expandableNotificationRow",
               cls="android.widget.FrameLayout")  # fmt: skip


# -- recents and toasts --


def place_recents(phone: Phone, scene: PhoneScene) -> None:
    """The overview of tasks: touch one to open it, swipe it up to close it."""
    px = scene.theme.px
    bottom = phone.height - px(NAVIGATION)
    scene.rect((0, 0, phone.width, phone.height), "container")
    with scene.window("com.android.launcher3", "RecentsActivity"):
        if not phone.tasks:
            empty = Text("No recent items", "body", "dim", align="center")
            empty.place(scene, 0, bottom // 2, phone.width, px(24))
            return
        cards: list[Widget] = [_task_card(phone, task) for task in reversed(phone.tasks[-5:])]
        clear = Button("Clear all", partial(_close_all, phone), style="tonal")
        content = VStack(*cards, HStack(Space(weight=1), clear, Space(weight=1)), gap=12,
                         pad=(32, 48, 32, 8))  # fmt: skip
        content.place(scene, 0, 0, phone.width, bottom)


def _task_card(phone: Phone, task: TaskStack) -> Widget:
    package = phone.packages[task.package]

    def open_() -> None:
        phone.launch(task.package)

    def close(dx: int, dy: int) -> bool:
        phone.close_task(task)
        return True

    face = Surface(
        HStack(Disc(package.colour, 40, icon=package.icon), Expand(Text(package.label, "subtitle")),
            IconButton("close", f"Close {package.label}", partial(phone.close_task, task)), gap=14),
        "surface", radius=20, pad=(16, 14, 8, 14),
    )  # fmt: skip
    return Tap(face, open_, on_swipe=close, desc=package.label, cls="android.widget.FrameLayout")


def _close_all(phone: Phone) -> None:
    phone.tasks.clear()
    phone.home()


def place_toast(phone: Phone, scene: PhoneScene) -> None:
    """A short message near the bottom, which nothing can touch."""
    text = phone.toasting
    if not text:
        return
    px = scene.theme.px
    panel = Surface(Text(text, "small", "on_toast", lines=3, tell=False), "toast", radius=20,
                  pad=(18, 10, 18, 10))  # fmt: skip
    width, height = panel.size(scene.theme, phone.width - px(64))
    x, y = (phone.width - width) // 2, phone.height - px(NAVIGATION + 84) - height
    panel.place(scene, x, y, width, height)
