"""Sound & vibration: volumes and tones."""

from __future__ import annotations

from functools import partial

from ui_gym_phone.apps.settings.declared import DIALOGS, PARTS
from ui_gym_phone.apps.settings.parts import pick, slider
from ui_gym_phone.state import switches
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Widget
from ui_gym_phone.ui.page import Dialog
from ui_gym_phone.ui.widgets import Item

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


def _volumes(ui: Ui) -> list[Widget]:
    phone = ui.phone
    sliders = []
    for stream, icon in SLIDERS.items():
        kind = switches.STREAMS[stream]
        level, ends = switches.volume(phone, stream), (kind.low, kind.high)
        change = partial(switches.set_volume, phone, stream)
        sliders.append(slider(kind.label, icon, level, ends, change))
    return sliders


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


PARTS["volumes"] = _volumes
PARTS["ringtone"] = lambda ui: [_tone(ui, "ringtone")]
PARTS["other_tones"] = lambda ui: [_tone(ui, "notification_sound"), _tone(ui, "alarm_alert")]
DIALOGS["tone"] = _tone_dialog
