"""Sound & vibration: volumes, tones, vibration."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings.app import APP, PREFIX
from ui_gym_phone.apps.settings.notifications import ZEN, dnd_line
from ui_gym_phone.apps.settings.parts import link, main_switch, page, pick, slider, switch
from ui_gym_phone.state import switches
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Widget
from ui_gym_phone.ui.page import AppPage, Dialog
from ui_gym_phone.ui.widgets import Header, Item

SLIDERS = {
    switches.MUSIC: "music-note",
    switches.CALL: "phone",
    switches.RING: "bell-ring",
    switches.NOTIFICATION: "bell-outline",
    switches.ALARM: "alarm",
}
"""The streams that have a slider, in this order, and its icon."""

TONES = {
    "ringtone": ("Phone ringtone", ("Flutey Phone", "Zen", "Bright Morning", "Hotline")),
    "notification_sound": ("Default notification sound", ("Popcorn", "Chime", "Ping", "Clink")),
    "alarm_alert": ("Default alarm sound", ("Fresh Start", "Sunrise", "Bell", "Rooster")),
}
"""Key of the namespace ``system`` -> title, and the tones: the first one is the factory's."""

_URI = "content://media/internal/audio/media/"


@APP.screen(PREFIX + "SoundSettingsActivity")
def sound(ui: Ui) -> AppPage:
    """Sound & vibration."""
    phone = ui.phone
    sliders = []
    for stream, icon in SLIDERS.items():
        kind = switches.STREAMS[stream]
        level, ends = switches.volume(phone, stream), (kind.low, kind.high)
        change = partial(switches.set_volume, phone, stream)
        sliders.append(slider(kind.label, icon, level, ends, change))
    vibrates = phone.is_on("system", "vibrate_when_ringing")
    return page(
        ui, "Sound & vibration", *sliders,
        link(ui, "Do Not Disturb", dnd_line(ui), ZEN, icon="minus-circle-outline"),
        _tone(ui, "ringtone"),
        link(ui, "Vibration & haptics", "Vibrates for calls" if vibrates else "On",
             PREFIX + "VibrationSettingsActivity"),
        _tone(ui, "notification_sound"),
        _tone(ui, "alarm_alert"),
        Header("System sounds"),
        switch(ui, "Dial pad tones", "", "system", "dtmf_tone", default="1"),
        switch(ui, "Screen locking sound", "", "system", "lockscreen_sounds_enabled", default="1"),
        switch(ui, "Charging sounds and vibration", "", "secure", "charging_sounds_enabled",
               default="1"),
        switch(ui, "Touch sounds", "", "system", "sound_effects_enabled", default="1"),
        dialog=_tone_dialog(ui),
    )  # fmt: skip


def _chosen(ui: Ui, key: str) -> str:
    """The tone of a setting; what the factory wrote there names no file."""
    name = ui.phone.setting("system", key, "").rpartition("/")[2]
    tones = TONES[key][1]
    return name if name in tones else tones[0]


def _tone(ui: Ui, key: str) -> Widget:
    return Item(TONES[key][0], _chosen(ui, key), partial(ui.ask, key))


def _tone_dialog(ui: Ui) -> Dialog | None:
    if ui.dialog not in TONES:
        return None
    key = ui.dialog
    title, tones = TONES[key]

    def choose(tone: str) -> None:
        ui.phone.put("system", key, _URI + tone)

    return pick(ui, title, [(tone, tone) for tone in tones], _chosen(ui, key), choose)


@APP.screen(PREFIX + "VibrationSettingsActivity")
def vibration(ui: Ui) -> AppPage:
    """Vibration & haptics."""
    phone = ui.phone
    on = phone.setting("system", "vibrate_on", "1") != "0"
    rows: list[Widget] = [
        Header("Calls"),
        switch(ui, "Vibrate for calls", "", "system", "vibrate_when_ringing", enabled=on),
        Header("Interactive haptics"),
        switch(ui, "Touch feedback", "Vibrate when you tap buttons and the keyboard", "system",
               "haptic_feedback_enabled", default="1", enabled=on),
    ]  # fmt: skip
    change = partial(phone.put, "system", "vibrate_on")
    return page(
        ui, "Vibration & haptics",
        main_switch("Use vibration & haptics", on, lambda on: change(int(on))), *rows,
    )  # fmt: skip
