"""What the phone makes of a broadcast that `am broadcast` sends."""

from __future__ import annotations

import base64
import binascii

from ui_gym_phone.shell.machine import Machine
from ui_gym_phone.state import switches
from ui_gym_phone.state.intents import ACTION, Intent

MAX_TEXT = 20_000
"""Characters that one broadcast may type."""

_A, _DEL, _CTRL = 29, 67, 113
_OK = -1
"""`Activity.RESULT_OK`."""

Answer = tuple[int, str | None]
"""A broadcast's result: (code, data)."""


def deliver(machine: Machine, intent: Intent) -> Answer:
    """Hand a broadcast to what listens: the keyboard for typing (ADBKeyBoard's actions) and the
    clipboard (Clipper's). (0, None) where nothing does."""
    action, phone = intent.action, machine.phone
    text = str(intent.extras.get("msg") or "")
    if action == "clipper.get":
        return (_OK, phone.clipboard) if phone.clipboard else (0, None)
    if action == "clipper.set":
        phone.clipboard = str(intent.extras.get("text") or "")
        return _OK, "Text is copied into clipboard."
    if action == "ADB_INPUT_B64":
        try:
            text = base64.b64decode(text, validate=True).decode()
        except (binascii.Error, ValueError):
            return 0, None
        machine.text(text[:MAX_TEXT])
    elif action == "ADB_INPUT_TEXT":
        machine.text(text[:MAX_TEXT])
    elif action == "ADB_INPUT_CHARS":
        codes = intent.extras.get("chars")
        if isinstance(codes, list):
            machine.text("".join(chr(c) for c in codes[:MAX_TEXT] if 0 < c < 0xD800))
    elif action in ("ADB_INPUT_CODE", "ADB_EDITOR_CODE"):
        code = intent.extras.get("code")
        if isinstance(code, int):
            machine.key(66 if action == "ADB_EDITOR_CODE" else code)
    elif action == "ADB_CLEAR_TEXT":
        machine.key(_A, _CTRL)
        machine.key(_DEL)
    elif action == ACTION + "AIRPLANE_MODE":
        switches.set_airplane(phone, switches.airplane(phone))
    elif action == ACTION + "CLOSE_SYSTEM_DIALOGS":
        phone.shade = ""
    return 0, None
