"""wm: the window manager's display (AOSP ``WindowManagerShellCommand``)."""

from __future__ import annotations

from ui_gym_phone.shell.machine import phone_of, refused, subcommand
from ui_gym_phone.shell.registry import Context, command
from ui_gym_phone.state import switches

USAGE = """Window manager (window) commands:
  help
      Print this help text.
  size [reset|WxH|WdpxHdp] [-d DISPLAY_ID]
      Return or override display size.
  density [reset|DENSITY] [-d DISPLAY_ID]
      Return or override display density.
  user-rotation [-d DISPLAY_ID] [free|lock] [rotation]
      Print or set user rotation mode and user rotation.
  dismiss-keyguard
      Dismiss the keyguard.
"""


@command("wm")
def wm(ctx: Context, argv: list[str]) -> int:
    table = {
        "size": _size, "density": _density, "user-rotation": _rotation,
        "dismiss-keyguard": _nothing, "fixed-to-user-rotation": _nothing, "scaling": _nothing,
    }  # fmt: skip
    return subcommand(ctx, argv, table, USAGE)


def _size(ctx: Context, argv: list[str]) -> int:
    phone = phone_of(ctx)
    size = f"{phone.width}x{phone.height}"
    if len(argv) < 2:
        ctx.out(f"Physical size: {size}\n")
    elif argv[1] not in ("reset", size):  # the picture's size is settled when a phone is made
        return refused(ctx, f"Error: this display is always {size}")
    return 0


def _density(ctx: Context, argv: list[str]) -> int:
    density = phone_of(ctx).properties.get("ro.sf.lcd_density", "480")
    if len(argv) < 2:
        ctx.out(f"Physical density: {density}\n")
    elif argv[1] not in ("reset", density):
        return refused(ctx, f"Error: the density of this display is always {density}")
    return 0


def _rotation(ctx: Context, argv: list[str]) -> int:
    phone, words = phone_of(ctx), argv[1:]
    if not words:
        free = phone.is_on("system", "accelerometer_rotation")
        turned = phone.setting("system", "user_rotation")
        ctx.out("free\n" if free else f"lock {turned}\n")
    elif words[0] == "free":
        switches.set_auto_rotate(phone, True)
    elif words[0] == "lock" and (words[1:] or ["0"])[0] in ("0", "1", "2", "3"):
        switches.set_auto_rotate(phone, False)
        phone.put("system", "user_rotation", (words[1:] or ["0"])[0])
    else:
        return refused(ctx, "Error: argument should be 'free' or 'lock [0-3]'")
    return 0


def _nothing(ctx: Context, argv: list[str]) -> int:
    """What changes nothing here: the phone is never locked."""
    return 0
