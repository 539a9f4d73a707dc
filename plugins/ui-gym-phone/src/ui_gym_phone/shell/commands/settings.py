"""settings: reads and writes the settings provider (AOSP ``SettingsService``)."""

from __future__ import annotations

import re

from ui_gym_phone.shell.machine import FAILED, options, phone_of, refused, subcommand, thrown
from ui_gym_phone.shell.registry import Context, command
from ui_gym_phone.state.settings import factory_settings

USAGE = """Settings provider (settings) commands:
  help
      Print this help text.
  get [--user <USER_ID> | current] NAMESPACE KEY
      Retrieve the current value of KEY.
  put [--user <USER_ID> | current] NAMESPACE KEY VALUE [TAG] [default]
      Change the contents of KEY to VALUE.
  delete [--user <USER_ID> | current] NAMESPACE KEY
      Delete the entry for KEY.
  reset [--user <USER_ID> | current] NAMESPACE {PACKAGE_NAME | RESET_MODE}
      Reset the global/secure table for a package with mode.
  list [--user <USER_ID> | current] NAMESPACE
      Print all defined keys.
      NAMESPACE is one of {system, secure, global}, case-insensitive
"""

MAX_VALUE = 20_000
"""Characters of a value that Android's provider takes at most."""

_WHOLE = re.compile(r"-?\d{1,9}")
_VALID = {
    "screen_brightness": r"\d|\d\d|1\d\d|2[0-4]\d|25[0-5]",
    "screen_brightness_mode": "[01]",
    "screen_off_timeout": r"\d{1,10}",
    "accelerometer_rotation": "[01]",
    "user_rotation": "[0-3]",
    "font_scale": r"\d*\.?\d+",
    "time_12_24": "12|24|",
    "show_battery_percent": "[01]",
    "haptic_feedback_enabled": "[01]",
    "sound_effects_enabled": "[01]",
    "dtmf_tone": "[01]",
    "vibrate_when_ringing": "[01]",
}
"""Keys of ``system`` that Android validates, and what they may hold."""


@command("settings")
def settings(ctx: Context, argv: list[str]) -> int:
    table = {"get": _get, "put": _put, "delete": _delete, "list": _list, "reset": _reset}
    return subcommand(ctx, argv, table, USAGE)


def _words(ctx: Context, argv: list[str], least: int) -> list[str]:
    """The namespace and what follows; nothing where that is wrong, which is said."""
    found, words, unknown = options(argv[1:], values="--user")
    if argv[0] == "put" and unknown:  # a value may look like an option
        words = [w for w in argv[1:] if w != "--user"]
        words = words[1:] if "--user" in found else words
    if words and words[0].lower() not in factory_settings():
        refused(ctx, f"Error: Invalid namespace '{words[0]}'")
        return []
    if len(words) < least:
        refused(ctx, "Bad arguments")
        return []
    return [words[0].lower(), *words[1:]]


def _get(ctx: Context, argv: list[str]) -> int:
    words = _words(ctx, argv, 2)
    if not words:
        return FAILED
    ctx.out(phone_of(ctx).settings[words[0]].get(words[1], "null") + "\n")
    return 0


def _put(ctx: Context, argv: list[str]) -> int:
    words = _words(ctx, argv, 3)
    if not words:
        return FAILED
    namespace, key, value = words[:3]
    valid = _VALID.get(key) if namespace == "system" else None
    if key.startswith("volume_") and namespace == "system":
        valid = _WHOLE.pattern
    if (valid is not None and not re.fullmatch(valid, value)) or len(value) > MAX_VALUE:
        return thrown(
            ctx, "put", "IllegalArgumentException", f"Invalid value: {value} for setting: {key}"
        )
    phone_of(ctx).put(namespace, key, value)
    return 0


def _delete(ctx: Context, argv: list[str]) -> int:
    words = _words(ctx, argv, 2)
    if not words:
        return FAILED
    there = phone_of(ctx).settings[words[0]].pop(words[1], None)
    ctx.out(f"Deleted {int(there is not None)} rows\n")
    return 0


def _list(ctx: Context, argv: list[str]) -> int:
    words = _words(ctx, argv, 1)
    if not words:
        return FAILED
    ctx.out("".join(f"{k}={v}\n" for k, v in sorted(phone_of(ctx).settings[words[0]].items())))
    return 0


def _reset(ctx: Context, argv: list[str]) -> int:
    words = _words(ctx, argv, 2)
    if not words:
        return FAILED
    if words[0] == "system":
        return refused(ctx, "Error: cannot reset the system table")
    if words[1] == "trusted_defaults":
        phone_of(ctx).settings[words[0]].update(factory_settings()[words[0]])
    return 0
