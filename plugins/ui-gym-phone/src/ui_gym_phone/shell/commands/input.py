"""input: taps, swipes, keys and text (AOSP ``InputShellCommand``)."""

from __future__ import annotations

from ui_gym_phone.shell.keycodes import code_of
from ui_gym_phone.shell.machine import FAILED, Machine, machine_of, refused, thrown
from ui_gym_phone.shell.registry import Context, command
from ui_gym_phone.state.phone import Phone

USAGE = """Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]

The sources are: 
      touchnavigation
      touchscreen
      joystick
      stylus
      touchpad
      gamepad
      dpad
      mouse
      keyboard
      trackball
      rotaryencoder

The commands and default sources are:
      text <string> (Default: touchscreen)
      keyevent [--longpress|--doubletap] <key code number or name> ... (Default: keyboard)
      tap <x> <y> (Default: touchscreen)
      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      draganddrop <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      press (Default: trackball)
      roll <dx> <dy> (Default: trackball)
      motionevent <DOWN|UP|MOVE|CANCEL> <x> <y> (Default: touchscreen)
      keycombination [-t duration(ms)] <key code 1> <key code 2> ... (Default: keyboard)
"""  # noqa: W291 - the blank is Android's

_SOURCES = (
    "touchnavigation", "touchscreen", "joystick", "stylus", "touchpad", "gamepad", "dpad",
    "mouse", "keyboard", "trackball", "rotaryencoder",
)  # fmt: skip
_MODIFIERS = frozenset({57, 58, 59, 60, 113, 114, 117, 118})
_SWIPE_MS = 300
_MAX_MS = 60_000


@command("input")
def input_(ctx: Context, argv: list[str]) -> int:
    words = argv[1:]
    if words and words[0] in _SOURCES:
        words = words[1:]
    if words[:1] == ["-d"]:
        words = words[2:]
    if not words:
        ctx.out(USAGE)
        return FAILED
    name, arguments = words[0], words[1:]
    machine = machine_of(ctx)
    try:
        done = _perform(machine, name, arguments)
    except _NotTyped as error:
        ctx.spend()
        return thrown(ctx, name, "NullPointerException", str(error))
    except (ValueError, OverflowError):
        done = None
    if done is None:
        return refused(ctx, f"Error: Invalid arguments for command: {name}\n{USAGE}")
    if not done:
        return refused(ctx, f"Unknown command: {name}\n{USAGE}")
    return 0


class _NotTyped(Exception):
    """Text that no key types."""


def _perform(machine: Machine, name: str, arguments: list[str]) -> bool | None:
    """Do it. None for wrong arguments, False for an unknown command."""
    if name == "text":
        return _text(machine, arguments)
    if name == "keyevent":
        return _keys(machine, arguments)
    if name == "keycombination":
        return _combination(machine, arguments)
    if name == "press":
        return True  # a trackball's button, of which phones have none
    if name == "roll":
        return True if len(arguments) == 2 and _points(arguments) else None
    if name == "motionevent":
        return _motion(machine, arguments)
    if name == "tap":
        if len(arguments) != 2:
            return None
        machine.tap(*_points(arguments))
        return True
    if name in ("swipe", "draganddrop"):
        if len(arguments) not in (4, 5):
            return None
        x1, y1, x2, y2 = _points(arguments[:4])
        ms = int(arguments[4]) if len(arguments) == 5 else _SWIPE_MS
        machine.swipe(x1, y1, x2, y2, min(_MAX_MS, ms if ms >= 0 else _SWIPE_MS))
        return True
    return False


def _points(words: list[str]) -> list[int]:
    """Coordinates, which may have a fraction."""
    return [int(float(word)) for word in words]


def _text(machine: Machine, arguments: list[str]) -> bool | None:
    if len(arguments) != 1:
        return None
    text = arguments[0].replace("%s", " ")
    if not text.isascii():  # keys type ASCII alone; Android stumbles over the rest
        raise _NotTyped("Attempt to get length of null array")
    machine.text("".join(c for c in text if c == "\n" or c >= " "))
    return True


def _keys(machine: Machine, arguments: list[str]) -> bool | None:
    codes = [code_of(w) for w in arguments if w not in ("--longpress", "--doubletap", "--async")]
    if not codes:
        return None
    for code in codes * (2 if "--doubletap" in arguments else 1):
        machine.key(code)
    return True


def _combination(machine: Machine, arguments: list[str]) -> bool | None:
    if arguments[:1] == ["-t"]:
        arguments = arguments[2:]
    codes = [code_of(word) for word in arguments]
    if len(codes) < 2:
        return None
    held = [code for code in codes if code in _MODIFIERS]
    others = [code for code in codes if code not in _MODIFIERS]
    for code in others or codes[-1:]:
        machine.key(code, *held)
    return True


def _motion(machine: Machine, arguments: list[str]) -> bool | None:
    """A finger that goes down, moves and goes up in commands of their own."""
    kind = arguments[0].upper() if arguments else ""
    if kind not in ("DOWN", "UP", "MOVE", "CANCEL"):
        return None
    down = _finger(machine.phone)
    if kind == "CANCEL":
        down.clear()
        return True
    if len(arguments) != 3:
        return None
    x, y = _points(arguments[1:])
    if kind == "DOWN":
        down.update(x=str(x), y=str(y), ms=str(machine.clock.ms))
    elif kind == "UP" and down:
        ms = machine.clock.ms - int(down["ms"])
        from_x, from_y = int(down["x"]), int(down["y"])
        down.clear()
        machine.swipe(from_x, from_y, x, y, ms)
    return True


def _finger(phone: Phone) -> dict[str, str]:
    """Where a finger went down, beside the namespaces of settings and out of their reach."""
    return phone.settings.setdefault("finger", {})
