"""What the system draws around apps: status bar, navigation bar, shade, toasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ui_gym_phone.state import switches
from ui_gym_phone.state.display import display
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui import fonts, navigation, notices
from ui_gym_phone.ui.layout import Expand, GridLayout, HStack, Space, Surface, Tap, VStack, Widget
from ui_gym_phone.ui.scene import Handler, PhoneScene
from ui_gym_phone.ui.theme import LOW, NARROW, Theme
from ui_gym_phone.ui.widgets import Button, Icon, IconButton, SeekBar, Text

PACKAGE = "com.android.systemui"

STATUS = 28.0
"""Of the status bar: its height in dp."""


def status(theme: Theme) -> int:
    """How high the status bar is, in device pixels."""
    return theme.cells(theme.px(STATUS))


def place_bars(phone: Phone, scene: PhoneScene, back: Handler) -> None:
    """The status bar and the navigation bar: in no app's window. `back` goes back."""
    with scene.window(PACKAGE, "StatusBar", listed=False):
        _place_status(phone, scene)
        navigation.place_bar(phone, scene, back)


def _place_status(phone: Phone, scene: PhoneScene) -> None:
    px = scene.theme.px
    height = status(scene.theme)

    def pull(dx: int, dy: int) -> bool:
        if dy > 0:
            phone.shade = "notifications"
        return dy > 0

    left, _, right, _ = navigation.room(phone, scene)
    scene.touch((left, 0, right, height), swipe=pull)
    size = scene.theme.font("label")[1] if scene.theme.grid else px(13)
    time = clock_text(phone)
    top = (height - fonts.line_height(size)) // 2
    width = fonts.text_width(time, "medium", size)
    scene.text(left + px(14), top, time, "medium", size, "text", width)
    x = left + px(22) + width
    for package in list(dict.fromkeys(n.package for n in phone.notifications))[:4]:
        found = phone.packages.get(package)
        scene.icon(x, (height - px(15)) // 2, px(15), found.icon if found else "bell", "text")
        x += px(20)
    x = right - px(14)
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


# -- the shade --


def place_shade(phone: Phone, scene: PhoneScene) -> None:
    """Notifications and quick settings, over whatever is open."""
    box = left, _, right, bottom = navigation.room(phone, scene)
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
            _brightness(phone) if display(phone).dp[1] >= LOW else None,
            None if phone.shade == "settings" else notices.listed(phone, _manage(phone)),
            gap=8,
            pad=(10, 32, 10, 8) if narrow else (16, 32, 16, 8),
        )
        with scene.clipped(box):
            content.place(scene, left, 0, right - left, bottom)


def _is_narrow(phone: Phone) -> bool:
    return display(phone).dp[0] < NARROW


def _gear(phone: Phone) -> Widget:
    def settings() -> None:
        phone.launch("com.android.settings")

    return IconButton("cog", "Open settings", settings)


@dataclass(frozen=True)
class Tile:
    """A quick setting: its name, its icon, whether it is on, what turns it, and the page of
    Settings that it leads to when it is held."""

    label: str
    icon: str
    is_on: Callable[[Phone], bool]
    turn: switches.Turn
    page: str


TILES = {
    "wifi": Tile("Wi-Fi", "wifi", switches.wifi_on, switches.set_wifi, "WifiSettings"),
    "bt": Tile(
        "Bluetooth", "bluetooth", switches.bluetooth_on, switches.set_bluetooth, "BluetoothSettings"
    ),
    "dnd": Tile(
        "Do Not Disturb", "minus-circle-outline", switches.dnd, switches.set_dnd, "ZenModeSettings"
    ),
    "airplane": Tile(
        "Airplane mode", "airplane", switches.airplane, switches.set_airplane, "NetworkDashboard"
    ),
    "rotation": Tile(
        "Auto-rotate", "screen-rotation", switches.auto_rotate, switches.set_auto_rotate,
        "DisplaySettings",
    ),
    "battery": Tile(
        "Battery Saver", "battery-heart-variant", switches.battery_saver,
        switches.set_battery_saver, "BatterySaverSettings",
    ),
    "dark": Tile(
        "Dark theme", "theme-light-dark", lambda phone: phone.dark, switches.set_dark,
        "DarkThemeSettings",
    ),
    "cell": Tile(
        "Mobile data", "swap-vertical", switches.mobile_data, switches.set_mobile_data,
        "MobileNetwork",
    ),
    "location": Tile(
        "Location", "map-marker", switches.location, switches.set_location, "LocationSettings"
    ),
    "night": Tile(
        "Night Light", "weather-night", switches.night_light, switches.set_night_light,
        "NightDisplaySettings",
    ),
}  # fmt: skip
"""By the names that Android's setting ``sysui_qs_tiles`` lists them with."""

_CONFIGURE = ".Settings$ConfigureNotificationSettingsActivity"

FIRST_TILES = "wifi,bt,dnd,airplane,rotation,battery,dark,cell,location,night"


def _tiles(phone: Phone, *, whole: bool) -> Widget:
    listed = phone.setting("secure", "sysui_qs_tiles", FIRST_TILES).split(",")
    shown = [TILES[name] for name in listed if name in TILES]
    columns = 4 if display(phone).wide else 2
    tiles = shown if whole else shown[:4]
    return GridLayout(*(_tile(phone, tile) for tile in tiles), columns=columns, gap=8)


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
        face, partial(tile.turn, phone, not on),
        on_long_press=partial(_page, phone, f".Settings${tile.page}Activity"),
        cls="android.widget.Switch", desc=tile.label,
        text=state, checkable=True, checked=on,
    )  # fmt: skip


def _brightness(phone: Phone) -> Widget:
    level = switches.brightness(phone)

    def change(share: float) -> None:
        switches.set_brightness(phone, round(1 + share * 254))

    told = f"{switches.brightness_percent(phone)}%"
    slider = SeekBar((level - 1) / 254, change, desc="Display brightness", told=told)
    return HStack(Icon("brightness-6", 22, "dim"), Expand(slider), gap=8)


def _manage(phone: Phone) -> Widget:
    return Button("Manage", partial(_page, phone, _CONFIGURE), style="text")


def _page(phone: Phone, cls: str) -> None:
    """Open a page of Settings."""
    phone.start("com.android.settings", cls)


# -- toasts --


def place_toast(phone: Phone, scene: PhoneScene) -> None:
    """A short message near the bottom, which nothing can touch; none where all lies on a grid, as
    it would cover what is to be read."""
    text = phone.toasting
    if not text or scene.theme.grid:
        return
    px = scene.theme.px
    panel = Surface(Text(text, "small", "on_toast", lines=3, tell=False), "toast", radius=20,
                  pad=(18, 10, 18, 10))  # fmt: skip
    width, height = panel.size(scene.theme, scene.width - px(64))
    bottom = navigation.room(phone, scene)[3]
    x, y = (scene.width - width) // 2, bottom - px(84) - height
    panel.place(scene, x, y, width, height)
