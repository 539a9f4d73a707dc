"""dumpsys audio: the streams' volumes and the ringer."""

from __future__ import annotations

from ui_gym_phone.shell.commands.dumpsys.services import service, word
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone

_RINGER = {switches.SILENT: "SILENT", switches.VIBRATE: "VIBRATE", switches.NORMAL: "NORMAL"}


@service("audio")
def audio(phone: Phone, words: list[str]) -> str:
    parts = ["Stream volumes (device: index)\n"]
    for index, stream in switches.STREAMS.items():
        level = switches.volume(phone, index)
        parts.append(
            f"- {stream.name}:\n"
            f"   Muted: {word(level == 0)}\n"
            f"   Min: {stream.low}\n"
            f"   Max: {stream.high}\n"
            f"   streamVolume:{level}\n"
            f"   Current: 2 (speaker): {level}\n"
            "   Devices: speaker\n\n"
        )
    mode = _RINGER[switches.ringer(phone)]
    parts.append(f"Ringer mode: \n- mode (internal) = {mode}\n- mode (external) = {mode}\n")
    return "".join(parts)
