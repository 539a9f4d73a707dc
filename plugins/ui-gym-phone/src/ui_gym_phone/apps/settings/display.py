"""Display: brightness, the theme, the timeout, sizes, Night Light."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.parts import (
    link,
    listed,
    main_switch,
    note,
    number,
    page,
    pick,
    radio,
    slider,
    switch,
    toggle,
)
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Column, Expand, Row, Widget
from ui_gym_phone.ui.page import AppPage
from ui_gym_phone.ui.widgets import (
    Card,
    Header,
    Icon,
    IconButton,
    Item,
    SeekBar,
    Text,
)

TIMEOUT = PREFIX + "ScreenTimeoutActivity"
TEXT_SIZE = PREFIX + "TextReadingSettingsActivity"
NIGHT = PREFIX + "NightDisplaySettingsActivity"
DARK = PREFIX + "DarkThemeSettingsActivity"

TIMEOUTS = (
    ("15 seconds", 15_000), ("30 seconds", 30_000), ("1 minute", 60_000), ("2 minutes", 120_000),
    ("5 minutes", 300_000), ("10 minutes", 600_000), ("30 minutes", 1_800_000),
)  # fmt: skip
"""(text, milliseconds)."""

FONT_SCALES = (("Small", 0.85), ("Default", 1.0), ("Large", 1.15), ("Largest", 1.3))

COLOURS = (("Natural", "0"), ("Boosted", "1"), ("Adaptive", "3"))


def set_font_scale(phone: Phone, scale: float) -> None:
    phone.put("system", "font_scale", str(scale))


def _font_step(phone: Phone) -> int:
    """Which of the font sizes is nearest."""
    return min(range(len(FONT_SCALES)), key=lambda i: abs(FONT_SCALES[i][1] - phone.font_scale))


def timeout_text(phone: Phone) -> str:
    """After what time the screen goes off."""
    value = phone.setting("system", "screen_off_timeout", "60000")
    ms = number(value, 60_000)
    if ms >= 2**31 - 1:
        return "Never"
    return listed(TIMEOUTS, ms, f"{ms // 1000} seconds")


@APP.screen(PREFIX + "DisplaySettingsActivity")
def display(ui: Ui) -> AppPage:
    """Display."""
    phone = ui.phone
    colours = phone.setting("system", "display_color_mode", "3")
    dialog = None
    if ui.dialog == "colours":
        keep = partial(phone.put, "system", "display_color_mode")
        dialog = pick(ui, "Colors", COLOURS, colours, keep)
    night = phone.is_on("secure", "night_display_activated")
    return page(
        ui, "Display",
        Header("Brightness"),
        _brightness(phone),
        toggle("Adaptive brightness", phone.is_on("system", "screen_brightness_mode"),
               partial(switches.set_adaptive_brightness, phone),
               "Adjusts brightness to your environment"),
        Header("Lock display"),
        link(ui, "Screen timeout", f"After {timeout_text(phone)} of inactivity", TIMEOUT),
        Header("Appearance"),
        toggle("Dark theme", phone.dark, partial(switches.set_dark, phone)),
        link(ui, "Display size and text", FONT_SCALES[_font_step(phone)][0], TEXT_SIZE),
        Header("Color"),
        link(ui, "Night Light", "On" if night else "Off", NIGHT),
        Item("Colors", listed(COLOURS, colours, "Adaptive"), partial(ui.ask, "colours")),
        Header("Other display controls"),
        toggle("Auto-rotate screen", phone.is_on("system", "accelerometer_rotation"),
               partial(switches.set_auto_rotate, phone)),
        link(ui, "Wallpaper & style", "Morning sky", PREFIX + "WallpaperSettingsActivity"),
        dialog=dialog,
    )  # fmt: skip


def _brightness(phone: Phone) -> Widget:
    """The slider, whose ends are exactly the least and the most that there is."""
    percent = f"{switches.brightness_percent(phone)}%"
    level = max(switches.MIN_BRIGHTNESS, switches.brightness(phone))
    mark = slider(
        "Brightness level", "brightness-6", level,
        (switches.MIN_BRIGHTNESS, switches.MAX_BRIGHTNESS), partial(switches.set_brightness, phone),
        told=percent,
    )  # fmt: skip
    return Row(Expand(mark), Column(Text(percent, "label"), pad=(0, 30, 16, 0)))


@APP.screen(TIMEOUT)
def screen_timeout(ui: Ui) -> AppPage:
    """Screen timeout."""
    phone = ui.phone
    now = phone.setting("system", "screen_off_timeout", "60000")
    rows = [
        radio(text, now == str(ms), partial(switches.set_screen_timeout, phone, ms))
        for text, ms in TIMEOUTS
    ]
    return page(ui, "Screen timeout", *rows)


@APP.screen(DARK)
def dark_theme(ui: Ui) -> AppPage:
    """Dark theme."""
    return page(
        ui, "Dark theme",
        main_switch("Use Dark theme", ui.phone.dark, partial(switches.set_dark, ui.phone)),
        note("Dark theme uses a black background to help keep your battery alive longer."),
    )  # fmt: skip


@APP.screen(TEXT_SIZE)
def text_size(ui: Ui) -> AppPage:
    """Display size and text: how large texts are, with a sample."""
    phone = ui.phone
    step = _font_step(phone)
    last = len(FONT_SCALES) - 1

    def turn(to: int) -> None:
        set_font_scale(phone, FONT_SCALES[min(last, max(0, to))][1])

    mark = SeekBar(step / last, lambda share: turn(round(share * last)), desc="Font size",
                   told=FONT_SCALES[step][0])  # fmt: skip
    sample = Card(
        Text("Sample text", "subtitle"),
        Text("The quick brown fox jumps over the lazy dog, and reads about it later.", "body"),
        pad=20,
    )
    return page(
        ui, "Display size and text", sample,
        Column(Text("Font size", "body"), Text(FONT_SCALES[step][0], "small", "dim"),
               pad=(16, 12, 16, 0)),
        Row(IconButton("minus", "Make smaller", partial(turn, step - 1), enabled=step > 0),
            Expand(mark),
            IconButton("plus", "Make larger", partial(turn, step + 1), enabled=step < last),
            gap=4, pad=(8, 0, 8, 8)),
        switch(ui, "Bold text", "", "secure", "bold_text_enabled"),
        switch(ui, "High contrast text", "Change text color to black or white", "secure",
               "high_text_contrast_enabled"),
        Item("Reset settings", "", partial(_reset, phone), icon="refresh"),
    )  # fmt: skip


def _reset(phone: Phone) -> None:
    set_font_scale(phone, 1.0)
    for key in ("bold_text_enabled", "high_text_contrast_enabled"):
        phone.put("secure", key, 0)


@APP.screen(NIGHT)
def night_light(ui: Ui) -> AppPage:
    """Night Light."""
    phone = ui.phone
    on = phone.is_on("secure", "night_display_activated")
    value = phone.setting("secure", "night_display_color_temperature", "2850")
    warmest, coolest = 2596, 4082
    kelvin = min(coolest, max(warmest, number(value, 2850)))
    keep = partial(phone.put, "secure", "night_display_color_temperature")
    strength = slider("Intensity", "lightbulb", warmest + coolest - kelvin, (warmest, coolest),
                      lambda level: keep(warmest + coolest - level))  # fmt: skip
    return page(
        ui, "Night Light",
        main_switch("Use Night Light", on, partial(switches.set_night_light, phone)),
        strength if on else None,
        note("Night Light tints your screen amber. This makes it easier to look at your screen "
             "or read in dim light, and may help you fall asleep more easily."),
    )  # fmt: skip


@APP.screen(PREFIX + "WallpaperSettingsActivity")
def wallpaper(ui: Ui) -> AppPage:
    """Wallpaper & style."""
    phone = ui.phone
    texts = Column(Text("Morning sky", "subtitle"), Text("Home and lock screen", "small", "dim"))
    return page(
        ui, "Wallpaper & style",
        Card(Row(Icon("wallpaper", 40, "primary"), Expand(texts), gap=16)),
        toggle("Dark theme", phone.dark, partial(switches.set_dark, phone)),
        switch(ui, "Themed icons", "", "secure", "themed_icons"),
    )  # fmt: skip
