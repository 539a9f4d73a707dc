"""cmd, svc, service, ime: the shell commands of system services."""

from __future__ import annotations

from collections.abc import Callable

from ui_gym_phone.data import table
from ui_gym_phone.shell.commands.dumpsys import notification_key, service_names
from ui_gym_phone.shell.framework import (
    FAILED,
    Subcommands,
    framework_command,
    quiet,
    refused,
    says,
    switch,
    thrown,
    usage,
)
from ui_gym_phone.shell.registry import Command, CommandContext, command
from ui_gym_phone.state import hardware, kept, switches
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.state.phone import Phone

NO_SERVICE = 20
"""What `cmd` exits with where there is no such service."""

LATIN = "com.android.inputmethod.latin/.LatinIME"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
"""The keyboard that takes broadcasts; the phone's own takes them, too."""

_SERVICES: dict[str, Subcommands] = {}


def _service(name: str, title: str = "") -> Subcommands:
    """The subcommands of a service; without a title, its help is Android's to the letter."""
    told = f"{title} ({name}) commands:\n  help\n    Print this help text.\n" if title else None
    return _SERVICES.setdefault(name, Subcommands(name, told))


@command("cmd")
def _cmd(ctx: CommandContext) -> None:
    words = ctx.words[1:] if ctx.words[:1] == ["-w"] else ctx.words
    if words[:1] == ["-l"]:
        listed = "".join(f"  {name}\n" for name in service_names())
        ctx.out(f"Currently running services:\n{listed}")
        return
    name, *ctx.words = words or [""]
    same = table("shell_names")["commands"]
    if name in same:
        ctx.code = ctx.run([same[name], *ctx.words])
    elif name == "battery":
        ctx.code = ctx.run(["dumpsys", "battery", *(ctx.words or ["help"])])
    elif name in _SERVICES:
        _SERVICES[name].run(ctx)
    elif name in service_names():
        ctx.out("No shell command implementation.\n")
        ctx.code = FAILED
    else:
        none = "No service specified; use -l to list all running services."
        ctx.fail(f"Can't find service: {name}" if name else none, NO_SERVICE)


def _sets(set_: Callable[[Phone], None]) -> Command:
    """A command that changes the phone, whatever follows."""
    return lambda ctx: set_(ctx.phone)


# -- the screen --


def _shade(what: str) -> Command:
    def show(phone: Phone) -> None:
        phone.recents, phone.shade = False, what

    return _sets(show)


_service("statusbar", "Status bar").add(
    expand_notifications=_shade("notifications"), expand_settings=_shade("settings"),
    collapse=_shade(""), get_status_icons=quiet,
)  # fmt: skip

uimode = _service("uimode", "UiModeManager service")


@uimode("night")
def _night(ctx: CommandContext) -> None:
    """``night [yes|no]``: tells, and sets, the dark theme."""
    if ctx.words:
        if ctx.words[0] not in ("yes", "no"):
            raise refused(ctx, "Error: mode must be 'yes' or 'no'")
        switches.set_dark(ctx.phone, ctx.words[0] == "yes")
    ctx.out(f"Night mode: {'yes' if ctx.phone.dark else 'no'}\n")


uimode.add(car=quiet, time=quiet)

# -- radios, power, place, time --

bluetooth = _service("bluetooth_manager", "Bluetooth Manager")
bluetooth.add(
    enable=_sets(lambda phone: switches.set_bluetooth(phone, True)),
    disable=_sets(lambda phone: switches.set_bluetooth(phone, False)),
)


@bluetooth("wait-for-state:STATE_ON", "wait-for-state:STATE_OFF")
def _awaited(ctx: CommandContext) -> None:
    done = switches.bluetooth_on(ctx.phone) == ctx.verb.endswith("ON")
    ctx.out(f"{ctx.verb}: {'Success' if done else 'Failed'}\n")
    ctx.code = 0 if done else FAILED


@_service("connectivity", "Connectivity service")("airplane-mode")
def _airplane(ctx: CommandContext) -> None:
    if not ctx.words:
        ctx.out("enabled\n" if switches.airplane(ctx.phone) else "disabled\n")
    elif ctx.words[0] not in ("enable", "disable"):
        raise refused(ctx, "Error: airplane-mode takes 'enable' or 'disable'")
    else:
        switches.set_airplane(ctx.phone, ctx.words[0] == "enable")


wifi = _service("wifi", "Wi-Fi")


@wifi("status")
def _wifi_status(ctx: CommandContext) -> None:
    on = switches.wifi_on(ctx.phone)
    ctx.out(f"Wifi is {'enabled' if on else 'disabled'}\n")
    ctx.out("Wifi scanning is only available when wifi is enabled\n")
    ssid = hardware.ssid(ctx.phone)
    if on:
        ctx.out("==== Primary ClientModeManager instance ====\n")
        ctx.out(f'Wifi is connected to "{ssid}"\n' if ssid else "Wifi is not connected\n")


wifi.add(set_wifi_enabled=switch(switches.set_wifi))


@wifi("list-networks")
def _wifi_networks(ctx: CommandContext) -> None:
    saved, known = kept.saved_networks(ctx.phone), kept.networks(ctx.phone)
    secured = {network.ssid: network.secured for network in known}
    head = "Network Id      SSID                         Security type\n"
    ctx.out(head if saved else "No networks\n")
    for number, ssid in enumerate(saved):
        kind = "wpa2-psk" if secured.get(ssid, True) else "open"
        ctx.out(f"{number:<12} {ssid:<32} {kind:<4}\n")


@wifi("forget-network")
def _wifi_forget(ctx: CommandContext) -> None:
    saved, number = kept.saved_networks(ctx.phone), [*ctx.words, ""][0]
    if not number.isdecimal():
        why = f'For input string: "{number}"'
        raise thrown(ctx, ctx.verb, "NumberFormatException", why)
    if int(number[:9]) >= len(saved):
        ctx.out("Forget failed with reason: 0\n")
        return
    kept.forget(ctx.phone, saved[int(number)])
    ctx.out("Forget successful\n")


_service("power", "Power manager").add(
    set_mode=switch(switches.set_battery_saver, "Error: set-mode takes 0 or 1")
)


def _location_on(ctx: CommandContext) -> None:
    ctx.out("true\n" if ctx.phone.is_on("secure", "location_mode") else "false\n")


_service("location", "Location service").add(
    is_location_enabled=_location_on, set_location_enabled=switch(switches.set_location),
    providers=quiet,
)  # fmt: skip

alarm = _service("alarm", "Alarm manager service")


@alarm("set-timezone")
def _zone(ctx: CommandContext) -> None:
    if not ctx.words or not switches.set_time_zone(ctx.phone, ctx.words[0]):
        raise refused(ctx, f"Error: no such time zone: {' '.join(ctx.words)}")


@alarm("set-time")
def _time(ctx: CommandContext) -> None:
    if not _set_clock(ctx.phone, [*ctx.words, ""][0]):
        raise refused(ctx, "Error: set-time takes milliseconds since 1970")


def _set_clock(phone: Phone, ms: str) -> bool:
    if good := ms.isdecimal() and len(ms) < 14:
        phone.clock.set(int(ms))
    return good


# -- notifications --

notification = _service("notification")


_POST = "-t --title -S --style -I --largeIcon -i --icon -c --content-intent -l --line -m --message"


@notification("post", "notify", flags="-v --verbose -L", valued=_POST)
def _post(ctx: CommandContext) -> None:
    if ctx.unknown or len(ctx.words) < 2:
        unknown = f"{ctx.unknown}\n" * bool(ctx.unknown)
        ctx.out(f"Usage: cmd notification post [flags] TAG TEXT\n{unknown}")
        ctx.code = 0 if "--help" in ctx.argv else FAILED
        return
    title, (tag, *text) = ctx.text("-t", ctx.text("--title", "Shell")), ctx.words
    posted = Notification(
        "com.android.shell", 2020, title, " ".join(text), ctx.phone.clock.ms, tag, "shell_cmd"
    )
    ctx.phone.notify(posted)
    ctx.out(
        "posting:\n  Notification(channel=shell_cmd shortcut=null contentView=null vibrate=null"
        " sound=null defaults=0x0 flags=0x0 color=0x00000000 vis=PRIVATE)\n"
    )


@notification("list")
def _list_posted(ctx: CommandContext) -> None:
    for each in ctx.phone.notifications:
        ctx.out(f"{notification_key(ctx.phone, each)}\n")


_DND = {
    "on": switches.DND_TOTAL, "none": switches.DND_TOTAL, "priority": switches.DND_PRIORITY,
    "alarms": switches.DND_ALARMS, "all": switches.DND_OFF, "off": switches.DND_OFF,
}  # fmt: skip


@notification("set_dnd")
def _dnd(ctx: CommandContext) -> None:
    mode = _DND.get([*ctx.words, ""][0])
    if mode is None:
        raise refused(ctx, "Error: set_dnd takes on, none, priority, alarms, all or off")
    switches.set_dnd(ctx.phone, mode != switches.DND_OFF, mode)


# -- volumes and media keys --

media = _service("media_session")
media.add(list_sessions=says("Sessions:\n"))
_STEPS = {"raise": 1, "lower": -1, "same": 0}


@media("volume", flags="--get --show", valued="--stream --set --adj")
def _volume(ctx: CommandContext) -> None:
    if ctx.unknown or ctx.words:
        raise refused(ctx, f"Error: Unknown option: {ctx.unknown or ctx.words[0]}")
    word = ctx.text("--stream", str(switches.MUSIC))
    stream = switches.STREAMS.get(int(word)) if word.isdecimal() and len(word) < 3 else None
    if stream is None:
        raise refused(ctx, f"Error: invalid stream: {word}")
    phone, level, adjusted = ctx.phone, ctx.text("--set"), ctx.text("--adj")
    said = [f"will control stream={stream.index} ({stream.name})"]
    said += ["will get volume"] * ("--get" in ctx.options) + ["Connecting to AudioService"]
    said += [f"will set volume to index={level}"] * ("--set" in ctx.options)
    ctx.out("".join(f"[V] {line}\n" for line in said))
    if "--set" in ctx.options:
        if not level.isdecimal() or not stream.low <= int(level[:9]) <= stream.high:
            raise refused(ctx, f"Error: invalid volume index: {level}")
        switches.set_volume(phone, stream.index, int(level))
    if "--adj" in ctx.options:
        if adjusted not in _STEPS:
            raise refused(ctx, "Error: no valid volume adjustment was given")
        ctx.out(f"[V] will adjust volume {adjusted}\n")
        now = switches.volume(phone, stream.index)
        switches.set_volume(phone, stream.index, now + _STEPS[adjusted])
    if "--get" in ctx.options:
        now = switches.volume(phone, stream.index)
        ctx.out(f"[V] volume is {now} in range [{stream.low}..{stream.high}]\n")


@media("dispatch")
def _dispatch(ctx: CommandContext) -> None:
    code = table("shell_names")["media_keys"].get([*ctx.words, ""][0])
    if code is None:
        raise refused(ctx, f"Error: unknown dispatch code '{' '.join(ctx.words)}'")
    ctx.machine.key(code)


# -- svc --

_RADIOS: dict[str, Command] = {
    "wifi": switch(switches.set_wifi), "data": switch(switches.set_mobile_data),
    "bluetooth": switch(switches.set_bluetooth),
    "nfc": switch(lambda phone, on: phone.put("global", "nfc_on", int(on))),
}  # fmt: skip
svc = Subcommands("svc", "Available commands:\n    help\n", indent="    ")
command("svc")(svc.run)


@svc(*_RADIOS)
def _radio(ctx: CommandContext) -> None:
    if ctx.words in (["enable"], ["disable"]):
        _RADIOS[ctx.verb](ctx)
    else:
        ctx.err(f"Control the {ctx.verb} manager\n\nusage: svc {ctx.verb} [enable|disable]\n")


@svc("power")
def _power(ctx: CommandContext) -> None:
    kinds = {"true": 7, "false": 0, "ac": 1, "usb": 2, "wireless": 4}
    verb, kind = [*ctx.words, "", ""][:2]
    if verb == "reboot":
        switches.reboot(ctx.phone)
    elif verb == "stayon" and len(ctx.words) == 2 and kind in kinds:
        ctx.phone.put("global", "stay_on_while_plugged_in", kinds[kind])
    elif verb != "shutdown":
        kinds_text = "[true|false|usb|ac|wireless]"
        ctx.err(f"Control the power manager\n\nusage: svc power stayon {kinds_text}\n")


svc.add(usb=quiet)

# -- service --


@command("service")
def _service_command(ctx: CommandContext) -> None:
    """``list``, ``check NAME``, and ``call NAME CODE``, of which a few do what Android does."""
    verb, *words = ctx.words or [""]
    known = service_names()
    if verb == "list":
        ctx.out(f"Found {len(known)} services:\n")
        ctx.out("".join(f"{i}\t{name}: []\n" for i, name in enumerate(known)))
    elif verb == "check" and words:
        ctx.out(f"Service {words[0]}: {'found' if words[0] in known else 'not found'}\n")
    elif verb == "call" and len(words) > 1:
        if words[0] not in known:
            raise ctx.fault(f"Service {words[0]} does not exist", 10)
        _call(ctx.phone, words[0], words[1], words[2:])
        ctx.out("Result: Parcel(00000000    '....')\n")
    else:
        raise ctx.ended(usage("service"), 10)


def _call(phone: Phone, name: str, code: str, arguments: list[str]) -> None:
    """The calls that scripts are known to make; others do nothing."""
    if (name, code) == ("notification", "1"):
        phone.clear_notifications()
    elif name == "statusbar" and code in ("1", "2"):
        phone.shade = "notifications" if code == "1" else ""
    elif (name, code) == ("alarm", "3") and arguments[:1] == ["s16"]:
        switches.set_time_zone(phone, " ".join(arguments[1:]))
    elif (name, code) == ("alarm", "2") and arguments[:-1] == ["i64"]:
        _set_clock(phone, arguments[-1])


# -- ime --

ime = framework_command("ime")


def _enabled(phone: Phone) -> list[str]:
    return [i for i in phone.setting("secure", "enabled_input_methods", "").split(":") if i]


@ime("list", flags="-a -s", valued="--user")
def _ime_list(ctx: CommandContext) -> None:
    for method in [LATIN, ADB_KEYBOARD] if "-a" in ctx.options else _enabled(ctx.phone):
        package = method.partition("/")[0]
        long = (
            f"{method}:\n  mId={method} mSettingsActivityName=null mIsVrOnly=false"
            " mSupportsSwitchingToNextInputMethod=false\n  mIsDefaultResId=0x0\n"
            f"  Service:\n    packageName={package}\n"
        )
        ctx.out(f"{method}\n" if "-s" in ctx.options else long)


@ime("set")
def _ime_set(ctx: CommandContext) -> None:
    method = [ctx.verb, *ctx.words][-1]
    if method not in _enabled(ctx.phone):
        raise refused(ctx, f"Unknown input method {method} cannot be selected for user #0")
    ctx.phone.put("secure", "default_input_method", method)
    ctx.out(f"Input method {method} selected for user #0\n")


@ime("enable", "disable")
def _ime_enable(ctx: CommandContext) -> None:
    verb, before = ctx.verb, _enabled(ctx.phone)
    method = [verb, *ctx.words][-1]
    if method not in (LATIN, ADB_KEYBOARD):
        raise refused(ctx, f"Unknown input method {method} cannot be {verb}d for user #0")
    after = [i for i in before if i != method] + [method] * (verb == "enable")
    ctx.phone.put("secure", "enabled_input_methods", ":".join(after))
    when = "already" if (method in before) == (verb == "enable") else "now"
    ctx.out(f"Input method {method}: {when} {verb}d for user #0\n")


@ime("reset")
def _ime_reset(ctx: CommandContext) -> None:
    ctx.phone.put("secure", "enabled_input_methods", LATIN)
    ctx.phone.put("secure", "default_input_method", LATIN)
    ctx.out(f"Reset current and enabled IMEs for user #0\n  Newly selected IME: {LATIN}\n")
