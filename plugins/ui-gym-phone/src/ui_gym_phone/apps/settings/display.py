"""Display and sound: brightness, the timeout, sizes of texts, Night Light; volumes and tones."""

from __future__ import annotations

from functools import partial

from ui_gym_phone import data
from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.declared import ACTIONS, LINES, PARTS
from ui_gym_phone.apps.settings.parts import listed, number, page, radio, slider
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, VStack, Widget
from ui_gym_phone.ui.page import AppPage
from ui_gym_phone.ui.widgets import Card, Icon, IconButton, SeekBar, Text

TIMEOUT = PREFIX + "ScreenTimeoutActivity"

TIMEOUTS = [(text, int(ms)) for text, ms in data.table("settings_pages")["options"]["timeouts"]]
"""(text, milliseconds)."""

FONT_SCALES = (("Small", 0.85), ("Default", 1.0), ("Large", 1.15), ("Largest", 1.3))


def set_font_scale(phone: Phone, scale: float) -> None:
    phone.put("system", "font_scale", str(scale))


def _font_step(phone: Phone) -> int:
    """Which of the font sizes is nearest."""
    return min(range(len(FONT_SCALES)), key=lambda i: abs(FONT_SCALES[i][1] - phone.font_scale))


def _timeout(ui: Ui) -> str:
    """After what time the screen goes off."""
    value = ui.phone.setting("system", "screen_off_timeout", "60000")
    ms = number(value, 60_000)
    if ms >= 2**31 - 1:
        return "After Never of inactivity"
    return f"After {listed(TIMEOUTS, ms, f'{ms // 1000} seconds')} of inactivity"


def _brightness(ui: Ui) -> list[Widget]:
    """The slider, whose ends are exactly the least and the most that there is."""
    phone = ui.phone
    percent = f"{switches.brightness_percent(phone)}%"
    level = max(switches.MIN_BRIGHTNESS, switches.brightness(phone))
    mark = slider(
        "Brightness level", "brightness-6", level,
        (switches.MIN_BRIGHTNESS, switches.MAX_BRIGHTNESS), partial(switches.set_brightness, phone),
        told=percent,
    )  # fmt: skip
    return [HStack(Expand(mark), VStack(Text(percent, "label"), pad=(0, 30, 16, 0)))]


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


def _font_sizes(ui: Ui) -> list[Widget]:
    """How large texts are, with a sample."""
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
    return [
        sample,
        VStack(Text("Font size", "body"), Text(FONT_SCALES[step][0], "small", "dim"),
               pad=(16, 12, 16, 0)),
        HStack(IconButton("minus", "Make smaller", partial(turn, step - 1), enabled=step > 0),
               Expand(mark),
               IconButton("plus", "Make larger", partial(turn, step + 1), enabled=step < last),
               gap=4, pad=(8, 0, 8, 8)),
    ]  # fmt: skip


def _reset_texts(ui: Ui) -> None:
    set_font_scale(ui.phone, 1.0)
    for key in ("bold_text_enabled", "high_text_contrast_enabled"):
        ui.phone.put("secure", key, 0)


def _night_light_strength(ui: Ui) -> list[Widget]:
    value = ui.phone.setting("secure", "night_display_color_temperature", "2850")
    warmest, coolest = 2596, 4082
    kelvin = min(coolest, max(warmest, number(value, 2850)))
    keep = partial(ui.phone.put, "secure", "night_display_color_temperature")
    strength = slider("Intensity", "lightbulb", warmest + coolest - kelvin, (warmest, coolest),
                      lambda level: keep(warmest + coolest - level))  # fmt: skip
    return [strength]


def _wallpaper(ui: Ui) -> list[Widget]:
    texts = VStack(Text("Morning sky", "subtitle"), Text("Home and lock screen", "small", "dim"))
    return [Card(HStack(Icon("wallpaper", 40, "primary"), Expand(texts), gap=16))]


LINES["screen_timeout"] = _timeout
LINES["font_size"] = lambda ui: FONT_SCALES[_font_step(ui.phone)][0]
ACTIONS["reset_texts"] = _reset_texts
PARTS.update(
    brightness=_brightness,
    font_size=_font_sizes,
    night_light_strength=_night_light_strength,
    wallpaper=_wallpaper,
)


# -- sound --


SLIDERS = {
    switches.MUSIC: "music-note",
    switches.CALL: "phone",
    switches.RING: "bell-ring",
    switches.NOTIFICATION: "bell-outline",
    switches.ALARM: "alarm",
}
"""The streams that have a slider, in this order, and its icon."""


def _volumes(ui: Ui) -> list[Widget]:
    phone = ui.phone
    sliders = []
    for stream, icon in SLIDERS.items():
        kind = switches.STREAMS[stream]
        level, ends = switches.volume(phone, stream), (kind.low, kind.high)
        change = partial(switches.set_volume, phone, stream)
        sliders.append(slider(kind.label, icon, level, ends, change))
    return sliders


PARTS["volumes"] = _volumes
