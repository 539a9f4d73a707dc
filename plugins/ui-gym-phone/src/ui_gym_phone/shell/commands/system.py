"""service, ime, logcat, reboot and such: commands about the system itself."""

from __future__ import annotations

from ui_gym_phone.shell.commands.dumpsys.services import names
from ui_gym_phone.shell.machine import options, phone_of, refused, subcommand
from ui_gym_phone.shell.registry import Context, command
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone

LATIN = "com.android.inputmethod.latin/.LatinIME"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
"""The keyboard that takes broadcasts; the phone's own takes them, too."""

SERVICE_USAGE = """Usage: service [-h|-?]
       service list
       service check SERVICE
       service call SERVICE CODE [i32 N | i64 N | f N | d N | s16 STR ] ...
"""

IME_USAGE = """ime <command>:
  list [-a] [-s]
  enable [--user <USER_ID>] <ID>
  disable [--user <USER_ID>] <ID>
  set [--user <USER_ID>] <ID>
  reset [--user <USER_ID>]
"""


@command("service")
def service(ctx: Context, argv: list[str]) -> int:
    """``list``, ``check NAME``, and ``call NAME CODE``, of which a few do what Android does."""
    verb, words = (argv[1] if len(argv) > 1 else ""), argv[2:]
    known = names()
    if verb == "list":
        ctx.out(f"Found {len(known)} services:\n")
        ctx.out("".join(f"{i}\t{name}: []\n" for i, name in enumerate(known)))
    elif verb == "check" and words:
        ctx.out(f"Service {words[0]}: {'found' if words[0] in known else 'not found'}\n")
    elif verb == "call" and len(words) > 1:
        if words[0] not in known:
            ctx.err(f"service: Service {words[0]} does not exist\n")
            return 10
        _call(phone_of(ctx), words[0], words[1], words[2:])
        ctx.out("Result: Parcel(00000000    '....')\n")
    else:
        ctx.err(SERVICE_USAGE)
        return 10
    return 0


def _call(phone: Phone, name: str, code: str, arguments: list[str]) -> None:
    """The calls that scripts are known to make; others do nothing."""
    if (name, code) == ("notification", "1"):
        phone.clear_notifications()
    elif name == "statusbar" and code in ("1", "2"):
        phone.shade = "notifications" if code == "1" else ""
    elif (name, code) == ("alarm", "3") and arguments[:1] == ["s16"]:
        switches.set_time_zone(phone, " ".join(arguments[1:]))
    elif (name, code) == ("alarm", "2"):
        ms = arguments[-1] if arguments[:-1] == ["i64"] else ""
        if ms.isdecimal() and len(ms) < 14:
            phone.clock.set(int(ms))


@command("ime")
def ime(ctx: Context, argv: list[str]) -> int:
    table = {
        "list": _ime_list, "set": _ime_set, "enable": _ime_enable, "disable": _ime_enable,
        "reset": _ime_reset,
    }  # fmt: skip
    return subcommand(ctx, argv, table, IME_USAGE)


def _enabled(phone: Phone) -> list[str]:
    return [i for i in phone.setting("secure", "enabled_input_methods", "").split(":") if i]


def _ime_list(ctx: Context, argv: list[str]) -> int:
    found, _, _ = options(argv[1:], "-a -s", "--user")
    for method in [LATIN, ADB_KEYBOARD] if "-a" in found else _enabled(phone_of(ctx)):
        if "-s" in found:
            ctx.out(f"{method}\n")
        else:
            package = method.partition("/")[0]
            ctx.out(f"mId={method} mSettingsActivityName=null\n  packageName={package}\n")
    return 0


def _ime_set(ctx: Context, argv: list[str]) -> int:
    phone, method = phone_of(ctx), argv[-1]
    if method not in _enabled(phone):
        return refused(ctx, f"Unknown input method {method} cannot be selected for user #0")
    phone.put("secure", "default_input_method", method)
    ctx.out(f"Input method {method} selected for user #0\n")
    return 0


def _ime_enable(ctx: Context, argv: list[str]) -> int:
    phone, method, verb = phone_of(ctx), argv[-1], argv[0]
    if method not in (LATIN, ADB_KEYBOARD):
        return refused(ctx, f"Unknown input method {method} cannot be {verb}d for user #0")
    before = _enabled(phone)
    there = method in before
    after = [i for i in before if i != method] + ([method] if verb == "enable" else [])
    phone.put("secure", "enabled_input_methods", ":".join(after))
    when = "already" if there == (verb == "enable") else "now"
    ctx.out(f"Input method {method}: {when} {verb}d for user #0\n")
    return 0


def _ime_reset(ctx: Context, argv: list[str]) -> int:
    phone = phone_of(ctx)
    phone.put("secure", "enabled_input_methods", LATIN)
    phone.put("secure", "default_input_method", LATIN)
    ctx.out(f"Reset current and enabled IMEs for user #0\n  Newly selected IME: {LATIN}\n")
    return 0


@command("logcat")
def logcat(ctx: Context, argv: list[str]) -> int:
    """The log has one line: what is seen. Without ``-d``, too, it ends after that."""
    if {"-c", "-S", "-g", "-G", "-p"}.intersection(argv):
        return 0
    phone = phone_of(ctx)
    line = (
        f"{phone.clock.local:%m-%d %H:%M:%S}.000   600   612 I ActivityTaskManager: Displayed "
        f"{phone.activity.package}/{phone.activity.cls}"
    )
    ctx.out(f"--------- beginning of main\n{line}\n")
    return 0


@command("reboot")
def reboot(ctx: Context, argv: list[str]) -> int:
    switches.reboot(phone_of(ctx))
    return 0


@command("stop", "start")
def stop(ctx: Context, argv: list[str]) -> int:
    """Services of the system are neither stopped nor started here."""
    return 0


@command("bugreport", "bugreportz", "screenrecord")
def bugreport(ctx: Context, argv: list[str]) -> int:
    ctx.err(f"{argv[0].rpartition('/')[2]}: not available on this device\n")
    return 1


@command("dmesg")
def dmesg(ctx: Context, argv: list[str]) -> int:
    return ctx.fail("klogctl: Permission denied")


@command("locale")
def locale(ctx: Context, argv: list[str]) -> int:
    tag = phone_of(ctx).properties.get("persist.sys.locale", "en-US")
    ctx.out(f"{tag}\n")
    return 0
