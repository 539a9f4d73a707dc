"""cmd, svc, service, media, ime: the shell commands of system services."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ui_gym_phone.shell.commands.dumpsys import SSID, notification_key, service_names
from ui_gym_phone.shell.framework import (
    FAILED,
    boolean,
    options,
    quiet,
    refused,
    says,
    subcommand,
    switch,
    usage,
)
from ui_gym_phone.shell.registry import Command, CommandContext, command
from ui_gym_phone.state import switches
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.state.phone import Phone

NO_SERVICE = 20
"""What `cmd` exits with where there is no such service."""

LATIN = "com.android.inputmethod.latin/.LatinIME"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
"""The keyboard that takes broadcasts; the phone's own takes them, too."""


@command("cmd")
def cmd(ctx: CommandContext, argv: list[str]) -> int:
    words = argv[2:] if argv[1:2] == ["-w"] else argv[1:]
    if words[:1] == ["-l"]:
        listed = "".join(f"  {name}\n" for name in service_names())
        ctx.out(f"Currently running services:\n{listed}")
        return 0
    if not words:
        ctx.err("cmd: No service specified; use -l to list all running services.\n")
        return NO_SERVICE
    name = words[0]
    if name in _SAME:
        return ctx.run([_SAME[name], *words[1:]])
    if name == "battery":
        return ctx.run(["dumpsys", "battery", *(words[1:] or ["help"])])
    if name in _SERVICES:
        title, commands = _SERVICES[name]
        listed = "".join(f"  {verb}\n" for verb in commands)
        help_text = f"{title} ({name}) commands:\n  help\n    Print this help text.\n{listed}"
        return subcommand(ctx, words, commands, help_text)
    if name in _WORDED:
        return subcommand(ctx, words, _WORDED[name], usage(name))
    if name in service_names():
        ctx.out("No shell command implementation.\n")
        return FAILED
    ctx.err(f"cmd: Can't find service: {name}\n")
    return NO_SERVICE


def _sets(set_: Callable[[Phone], None]) -> Command:
    """A command that changes the phone, whatever follows."""

    def run(ctx: CommandContext, argv: list[str]) -> int:
        set_(ctx.phone)
        return 0

    return run


def _tells(told: Callable[[Phone], object]) -> Command:
    """A command that tells something of the phone; truth as Java writes it."""

    def run(ctx: CommandContext, argv: list[str]) -> int:
        value = told(ctx.phone)
        ctx.out(f"{str(value).lower() if isinstance(value, bool) else value}\n")
        return 0

    return run


def _shade(what: str) -> Command:
    def show(phone: Phone) -> None:
        phone.recents, phone.shade = False, what

    return _sets(show)


def _night(ctx: CommandContext, argv: list[str]) -> int:
    """``night [yes|no]``: tells, and sets, the dark theme."""
    if len(argv) > 1:
        if argv[1] not in ("yes", "no"):
            return refused(ctx, "Error: mode must be 'yes' or 'no'")
        switches.set_dark(ctx.phone, argv[1] == "yes")
    ctx.out(f"Night mode: {'yes' if ctx.phone.dark else 'no'}\n")
    return 0


def _awaited(on: bool) -> Command:
    """``wait-for-state:STATE_ON`` and ``..._OFF`` of Bluetooth."""

    def run(ctx: CommandContext, argv: list[str]) -> int:
        done = switches.bluetooth_on(ctx.phone) == on
        ctx.out(f"{argv[0]}: {'Success' if done else 'Failed'}\n")
        return 0 if done else FAILED

    return run


def _airplane(ctx: CommandContext, argv: list[str]) -> int:
    if len(argv) < 2:
        ctx.out("enabled\n" if switches.airplane(ctx.phone) else "disabled\n")
        return 0
    if argv[1] not in ("enable", "disable"):
        return refused(ctx, "Error: airplane-mode takes 'enable' or 'disable'")
    switches.set_airplane(ctx.phone, argv[1] == "enable")
    return 0


def _wifi_status(ctx: CommandContext, argv: list[str]) -> int:
    on = switches.wifi_on(ctx.phone)
    ctx.out(f"Wifi is {'enabled' if on else 'disabled'}\n")
    ctx.out("Wifi scanning is only available when wifi is enabled\n")
    if on:
        ctx.out(f'==== Primary ClientModeManager instance ====\nWifi is connected to "{SSID}"\n')
    return 0


def _power_mode(ctx: CommandContext, argv: list[str]) -> int:
    on = boolean(argv[1]) if len(argv) > 1 else None
    if on is None:
        return refused(ctx, "Error: set-mode takes 0 or 1")
    switches.set_battery_saver(ctx.phone, on)
    return 0


def _zone(ctx: CommandContext, argv: list[str]) -> int:
    if len(argv) < 2 or not switches.set_time_zone(ctx.phone, argv[1]):
        return refused(ctx, f"Error: no such time zone: {' '.join(argv[1:])}")
    return 0


def _time(ctx: CommandContext, argv: list[str]) -> int:
    if len(argv) < 2 or not argv[1].isdecimal() or len(argv[1]) > 13:
        return refused(ctx, "Error: set-time takes milliseconds since 1970")
    ctx.phone.clock.set(int(argv[1]))
    return 0


# -- notifications --

_DND = {
    "on": switches.DND_TOTAL, "none": switches.DND_TOTAL, "priority": switches.DND_PRIORITY,
    "alarms": switches.DND_ALARMS, "all": switches.DND_OFF, "off": switches.DND_OFF,
}  # fmt: skip


def _post(ctx: CommandContext, argv: list[str]) -> int:
    valued = "-t --title -S --style -I --largeIcon -i --icon -c --content-intent -l --line"
    found, words, unknown = options(argv[1:], "-v --verbose -L", f"{valued} -m --message")
    if unknown or len(words) < 2:
        ctx.out("Usage: cmd notification post [flags] TAG TEXT\n" + f"{unknown}\n" * bool(unknown))
        return 0 if "--help" in argv else FAILED
    title = found.get("-t", found.get("--title", "Shell"))
    text, now = " ".join(words[1:]), ctx.phone.clock.ms
    ctx.phone.notify(
        Notification("com.android.shell", 2020, title, text, now, words[0], "shell_cmd")
    )
    ctx.out(
        "posting:\n  Notification(channel=shell_cmd shortcut=null contentView=null vibrate=null"
        " sound=null defaults=0x0 flags=0x0 color=0x00000000 vis=PRIVATE)\n"
    )
    return 0


def _list_posted(ctx: CommandContext, argv: list[str]) -> int:
    phone = ctx.phone
    ctx.out("".join(f"{notification_key(phone, n)}\n" for n in phone.notifications))
    return 0


def _dnd(ctx: CommandContext, argv: list[str]) -> int:
    mode = _DND.get(argv[1]) if len(argv) > 1 else None
    if mode is None:
        return refused(ctx, "Error: set_dnd takes on, none, priority, alarms, all or off")
    switches.set_dnd(ctx.phone, mode != switches.DND_OFF, mode)
    return 0


# -- volumes and media keys --

_KEYS = {
    "play": 126, "pause": 127, "play-pause": 85, "mute": 91, "stop": 86, "next": 87,
    "previous": 88,
}  # fmt: skip


def _stream(word: str) -> switches.VolumeStream | None:
    return switches.STREAMS.get(int(word)) if word.isdecimal() and len(word) < 3 else None


def _set_stream(ctx: CommandContext, word: str, level: str) -> int:
    stream = _stream(word)
    if stream is None:
        return refused(ctx, f"Error: invalid stream: {word}")
    if not level.isdecimal() or not stream.low <= int(level[:9]) <= stream.high:
        return refused(ctx, f"Error: invalid volume index: {level}")
    switches.set_volume(ctx.phone, stream.index, int(level))
    return 0


def _volume(ctx: CommandContext, argv: list[str]) -> int:
    found, rest, unknown = options(argv[1:], "--get --show", "--stream --set --adj")
    if unknown or rest:
        return refused(ctx, f"Error: Unknown option: {unknown or rest[0]}")
    stream = _stream(found.get("--stream", str(switches.MUSIC)))
    if stream is None:
        return refused(ctx, f"Error: invalid stream: {found['--stream']}")
    phone = ctx.phone
    said = [f"will control stream={stream.index} ({stream.name})"]
    said += ["will get volume"] * ("--get" in found) + ["Connecting to AudioService"]
    if "--set" in found:
        said.append(f"will set volume to index={found['--set']}")
    ctx.out("".join(f"[V] {line}\n" for line in said))
    if "--set" in found and (code := _set_stream(ctx, str(stream.index), found["--set"])):
        return code
    if "--adj" in found:
        step = {"raise": 1, "lower": -1, "same": 0}.get(found["--adj"])
        if step is None:
            return refused(ctx, "Error: no valid volume adjustment was given")
        ctx.out(f"[V] will adjust volume {found['--adj']}\n")
        switches.set_volume(phone, stream.index, switches.volume(phone, stream.index) + step)
    if "--get" in found:
        level = switches.volume(phone, stream.index)
        ctx.out(f"[V] volume is {level} in range [{stream.low}..{stream.high}]\n")
    return 0


def _dispatch(ctx: CommandContext, argv: list[str]) -> int:
    code = _KEYS.get(argv[1]) if len(argv) > 1 else None
    if code is None:
        return refused(ctx, f"Error: unknown dispatch code '{' '.join(argv[1:])}'")
    ctx.machine.key(code)
    return 0


_SAME = {
    "package": "pm", "activity": "am", "activity_task": "am", "settings": "settings",
    "window": "wm", "input": "input", "input_method": "ime",
}  # fmt: skip
"""Services whose shell commands have names of their own."""

_SERVICES: dict[str, tuple[str, Mapping[str, Command]]] = {
    "statusbar": ("Status bar", {
        "expand-notifications": _shade("notifications"), "expand-settings": _shade("settings"),
        "collapse": _shade(""), "get-status-icons": quiet,
    }),
    "uimode": ("UiModeManager service", {"night": _night, "car": quiet, "time": quiet}),
    "bluetooth_manager": ("Bluetooth Manager", {
        "enable": _sets(lambda phone: switches.set_bluetooth(phone, True)),
        "disable": _sets(lambda phone: switches.set_bluetooth(phone, False)),
        "wait-for-state:STATE_ON": _awaited(True), "wait-for-state:STATE_OFF": _awaited(False),
    }),
    "connectivity": ("Connectivity service", {"airplane-mode": _airplane}),
    "wifi": ("Wi-Fi", {
        "status": _wifi_status, "set-wifi-enabled": switch(switches.set_wifi),
    }),
    "power": ("Power manager", {"set-mode": _power_mode}),
    "location": ("Location service", {
        "is-location-enabled": _tells(lambda phone: phone.is_on("secure", "location_mode")),
        "set-location-enabled": switch(switches.set_location), "providers": quiet,
    }),
    "alarm": ("Alarm manager service", {"set-timezone": _zone, "set-time": _time}),
}  # fmt: skip
"""Services by name, with their titles and subcommands."""

_WORDED: dict[str, Mapping[str, Command]] = {
    "notification": {
        "post": _post, "notify": _post, "list": _list_posted, "set_dnd": _dnd,
    },
    "media_session": {
        "volume": _volume, "dispatch": _dispatch, "list-sessions": says("Sessions:\n"),
    },
}  # fmt: skip
"""Services whose help is Android's, to the letter."""


# -- svc --


@command("svc")
def svc(ctx: CommandContext, argv: list[str]) -> int:
    radios: dict[str, Command] = {
        "wifi": switch(switches.set_wifi), "data": switch(switches.set_mobile_data),
        "bluetooth": switch(switches.set_bluetooth),
        "nfc": switch(lambda phone, on: phone.put("global", "nfc_on", int(on))),
    }  # fmt: skip
    commands = {**radios, "power": _svc_power, "usb": quiet}
    if len(argv) > 1 and argv[1] in radios and argv[2:] not in (["enable"], ["disable"]):
        ctx.err(f"Control the {argv[1]} manager\n\nusage: svc {argv[1]} [enable|disable]\n")
        return 0
    lines = "".join(f"    {name}\n" for name in commands)
    return subcommand(ctx, argv, commands, f"Available commands:\n    help\n{lines}")


def _svc_power(ctx: CommandContext, argv: list[str]) -> int:
    kinds = {"true": 7, "false": 0, "ac": 1, "usb": 2, "wireless": 4}
    if argv[1:2] == ["reboot"]:
        return ctx.run(["reboot"])
    if argv[1:2] == ["stayon"] and len(argv) == 3 and argv[2] in kinds:
        ctx.phone.put("global", "stay_on_while_plugged_in", kinds[argv[2]])
    elif argv[1:2] != ["shutdown"]:
        kinds_text = "[true|false|usb|ac|wireless]"
        ctx.err(f"Control the power manager\n\nusage: svc power stayon {kinds_text}\n")
    return 0


# -- service --


@command("service")
def service(ctx: CommandContext, argv: list[str]) -> int:
    """``list``, ``check NAME``, and ``call NAME CODE``, of which a few do what Android does."""
    verb, words = (argv[1] if len(argv) > 1 else ""), argv[2:]
    known = service_names()
    if verb == "list":
        ctx.out(f"Found {len(known)} services:\n")
        ctx.out("".join(f"{i}\t{name}: []\n" for i, name in enumerate(known)))
    elif verb == "check" and words:
        ctx.out(f"Service {words[0]}: {'found' if words[0] in known else 'not found'}\n")
    elif verb == "call" and len(words) > 1:
        if words[0] not in known:
            ctx.err(f"service: Service {words[0]} does not exist\n")
            return 10
        _call(ctx.phone, words[0], words[1], words[2:])
        ctx.out("Result: Parcel(00000000    '....')\n")
    else:
        ctx.err(usage("service"))
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


# -- ime --


@command("ime")
def ime(ctx: CommandContext, argv: list[str]) -> int:
    commands = {
        "list": _ime_list, "set": _ime_set, "enable": _ime_enable, "disable": _ime_enable,
        "reset": _ime_reset,
    }  # fmt: skip
    return subcommand(ctx, argv, commands, usage("ime"))


def _enabled(phone: Phone) -> list[str]:
    return [i for i in phone.setting("secure", "enabled_input_methods", "").split(":") if i]


def _ime_list(ctx: CommandContext, argv: list[str]) -> int:
    found, _, _ = options(argv[1:], "-a -s", "--user")
    for method in [LATIN, ADB_KEYBOARD] if "-a" in found else _enabled(ctx.phone):
        package = method.partition("/")[0]
        long = f"mId={method} mSettingsActivityName=null\n  packageName={package}\n"
        ctx.out(f"{method}\n" if "-s" in found else long)
    return 0


def _ime_set(ctx: CommandContext, argv: list[str]) -> int:
    method = argv[-1]
    if method not in _enabled(ctx.phone):
        return refused(ctx, f"Unknown input method {method} cannot be selected for user #0")
    ctx.phone.put("secure", "default_input_method", method)
    ctx.out(f"Input method {method} selected for user #0\n")
    return 0


def _ime_enable(ctx: CommandContext, argv: list[str]) -> int:
    method, verb, before = argv[-1], argv[0], _enabled(ctx.phone)
    if method not in (LATIN, ADB_KEYBOARD):
        return refused(ctx, f"Unknown input method {method} cannot be {verb}d for user #0")
    after = [i for i in before if i != method] + [method] * (verb == "enable")
    ctx.phone.put("secure", "enabled_input_methods", ":".join(after))
    when = "already" if (method in before) == (verb == "enable") else "now"
    ctx.out(f"Input method {method}: {when} {verb}d for user #0\n")
    return 0


def _ime_reset(ctx: CommandContext, argv: list[str]) -> int:
    ctx.phone.put("secure", "enabled_input_methods", LATIN)
    ctx.phone.put("secure", "default_input_method", LATIN)
    ctx.out(f"Reset current and enabled IMEs for user #0\n  Newly selected IME: {LATIN}\n")
    return 0
