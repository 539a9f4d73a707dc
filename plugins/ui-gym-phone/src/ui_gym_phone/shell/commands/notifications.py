"""cmd notification: posts and lists notifications (AOSP ``NotificationShellCmd``)."""

from __future__ import annotations

from ui_gym_phone.shell.commands.dumpsys.notification import key
from ui_gym_phone.shell.machine import options, phone_of, refused, subcommand
from ui_gym_phone.shell.registry import Context
from ui_gym_phone.state import switches
from ui_gym_phone.state.activities import Notification

USAGE = """usage: cmd notification SUBCMD [args]

SUBCMDs:
  set_dnd [on|none (same as on)|priority|alarms|all|off (same as all)]
  list
  get <notification-key>
  snooze --for <msec> <notification-key>
  unsnooze <notification-key>
  post [--help | flags] TAG TEXT
"""

SHELL = "com.android.shell"
POSTED = 2020
"""The id of what the shell posts."""

_FLAGS = "-v --verbose -L"
_VALUED = (
    "-t --title -S --style -I --largeIcon -i --icon -c --content-intent -l --line -m --message"
)
_DND = {
    "on": switches.DND_TOTAL, "none": switches.DND_TOTAL, "priority": switches.DND_PRIORITY,
    "alarms": switches.DND_ALARMS, "all": switches.DND_OFF, "off": switches.DND_OFF,
}  # fmt: skip


def notification(ctx: Context, argv: list[str]) -> int:
    table = {
        "post": _post, "notify": _post, "list": _list, "get": _get, "set_dnd": _dnd,
        "snooze": _snooze, "unsnooze": _quiet, "allow_listener": _quiet, "allow_dnd": _quiet,
    }  # fmt: skip
    return subcommand(ctx, argv, table, USAGE)


def _post(ctx: Context, argv: list[str]) -> int:
    found, words, unknown = options(argv[1:], _FLAGS, _VALUED)
    if unknown or len(words) < 2:
        ctx.out(f"Usage: cmd notification post [flags] TAG TEXT\n{unknown}\n".replace("\n\n", "\n"))
        return 0 if "--help" in argv else 255
    title = found.get("-t", found.get("--title", "Shell"))
    phone = phone_of(ctx)
    posted = Notification(
        SHELL, POSTED, title, " ".join(words[1:]), phone.clock.ms, words[0], "shell_cmd"
    )
    phone.notify(posted)
    ctx.out(
        "posting:\n  Notification(channel=shell_cmd shortcut=null contentView=null vibrate=null"
        " sound=null defaults=0x0 flags=0x0 color=0x00000000 vis=PRIVATE)\n"
    )
    return 0


def _list(ctx: Context, argv: list[str]) -> int:
    phone = phone_of(ctx)
    ctx.out("".join(f"{key(phone, n)}\n" for n in phone.notifications))
    return 0


def _get(ctx: Context, argv: list[str]) -> int:
    phone, wanted = phone_of(ctx), " ".join(argv[1:])
    found = next((n for n in phone.notifications if key(phone, n) == wanted), None)
    if found is None:
        return refused(ctx, f"No active notification found matching key: {wanted}")
    ctx.out(
        f"NotificationRecord(pkg={found.package} id={found.id} tag={found.tag or 'null'}"
        f" key={wanted}: title={found.title} text={found.text})\n"
    )
    return 0


def _snooze(ctx: Context, argv: list[str]) -> int:
    phone, wanted = phone_of(ctx), argv[-1]
    found = next((n for n in phone.notifications if key(phone, n) == wanted), None)
    if found is not None:
        phone.cancel(found.key)
        ctx.out(f"snoozing <{wanted}>\n")
    return 0


def _dnd(ctx: Context, argv: list[str]) -> int:
    mode = _DND.get(argv[1]) if len(argv) > 1 else None
    if mode is None:
        return refused(ctx, "Error: set_dnd takes on, none, priority, alarms, all or off")
    switches.set_dnd(phone_of(ctx), mode != switches.DND_OFF, mode)
    return 0


def _quiet(ctx: Context, argv: list[str]) -> int:
    return 0
