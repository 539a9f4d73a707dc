"""cmd: the shell commands of system services, and svc, its forerunner."""

from __future__ import annotations

from collections.abc import Mapping

from ui_gym_phone.shell.commands.dumpsys.radios import SSID
from ui_gym_phone.shell.commands.dumpsys.services import names as service_names
from ui_gym_phone.shell.commands.notifications import notification
from ui_gym_phone.shell.commands.volume import media_session, set_stream
from ui_gym_phone.shell.machine import (
    FAILED,
    boolean,
    phone_of,
    refused,
    subcommand,
    switch,
)
from ui_gym_phone.shell.registry import Command, Context, command
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone

NO_SERVICE = 20
"""What `cmd` exits with where there is no such service."""


@command("cmd")
def cmd(ctx: Context, argv: list[str]) -> int:
    words = argv[2:] if argv[1:2] == ["-w"] else argv[1:]
    if words[:1] == ["-l"]:
        ctx.out("Currently running services:\n" + "".join(f"  {n}\n" for n in service_names()))
        return 0
    if not words:
        ctx.err("cmd: No service specified; use -l to list all running services.\n")
        return NO_SERVICE
    name = words[0]
    if name in _SAME:
        return ctx.run([_SAME[name], *words[1:]])
    found = _SERVICES.get(name)
    if found is not None:
        return found(ctx, words)
    if name in service_names():
        ctx.out("No shell command implementation.\n")
        return FAILED
    ctx.err(f"cmd: Can't find service: {name}\n")
    return NO_SERVICE


def _battery(ctx: Context, argv: list[str]) -> int:
    return ctx.run(["dumpsys", "battery", *(argv[1:] or ["help"])])


def _statusbar(ctx: Context, argv: list[str]) -> int:
    def show(what: str) -> Command:
        def run(ctx: Context, argv: list[str]) -> int:
            phone = phone_of(ctx)
            phone.recents = False
            phone.shade = what
            return 0

        return run

    table: dict[str, Command] = {
        "expand-notifications": show("notifications"), "expand-settings": show("settings"),
        "collapse": show(""), "get-status-icons": _nothing,
    }  # fmt: skip
    return subcommand(ctx, argv, table, _usage("Status bar", "statusbar", table))


def _uimode(ctx: Context, argv: list[str]) -> int:
    table = {"night": _night, "car": _nothing, "time": _nothing}
    return subcommand(ctx, argv, table, _usage("UiModeManager service", "uimode", table))


def _night(ctx: Context, argv: list[str]) -> int:
    """``night [yes|no]``: tells, and sets, the dark theme."""
    phone = phone_of(ctx)
    if len(argv) > 1:
        if argv[1] not in ("yes", "no"):
            return refused(ctx, "Error: mode must be 'yes' or 'no'")
        switches.set_dark(phone, argv[1] == "yes")
    ctx.out(f"Night mode: {'yes' if phone.dark else 'no'}\n")
    return 0


def _bluetooth(ctx: Context, argv: list[str]) -> int:
    def set_to(on: bool) -> Command:
        def run(ctx: Context, argv: list[str]) -> int:
            switches.set_bluetooth(phone_of(ctx), on)
            return 0

        return run

    table = {"enable": set_to(True), "disable": set_to(False)}
    waits = argv[1] if len(argv) > 1 else ""
    if waits.startswith("wait-for-state:STATE_"):
        wanted = waits.endswith("_ON")
        done = switches.bluetooth_on(phone_of(ctx)) == wanted
        ctx.out(f"{waits}: {'Success' if done else 'Failed'}\n")
        return 0 if done else FAILED
    return subcommand(ctx, argv, table, _usage("Bluetooth Manager", "bluetooth_manager", table))


def _connectivity(ctx: Context, argv: list[str]) -> int:
    table = {"airplane-mode": _airplane}
    return subcommand(ctx, argv, table, _usage("Connectivity service", "connectivity", table))


def _airplane(ctx: Context, argv: list[str]) -> int:
    phone = phone_of(ctx)
    if len(argv) < 2:
        ctx.out("enabled\n" if switches.airplane(phone) else "disabled\n")
        return 0
    if argv[1] not in ("enable", "disable"):
        return refused(ctx, "Error: airplane-mode takes 'enable' or 'disable'")
    switches.set_airplane(phone, argv[1] == "enable")
    return 0


def _wifi(ctx: Context, argv: list[str]) -> int:
    table = {
        "status": _wifi_status, "set-wifi-enabled": switch(switches.set_wifi),
        "list-networks": _wifi_networks, "list-scan-results": _wifi_networks,
        "start-scan": _nothing, "connect-network": _nothing, "force-country-code": _nothing,
    }  # fmt: skip
    return subcommand(ctx, argv, table, _usage("Wi-Fi", "wifi", table))


def _wifi_status(ctx: Context, argv: list[str]) -> int:
    if not switches.wifi_on(phone_of(ctx)):
        ctx.out("Wifi is disabled\nWifi scanning is only available when wifi is enabled\n")
        return 0
    ctx.out(
        "Wifi is enabled\nWifi scanning is only available when wifi is enabled\n"
        "==== Primary ClientModeManager instance ====\n"
        f'Wifi is connected to "{SSID}"\n'
    )
    return 0


def _wifi_networks(ctx: Context, argv: list[str]) -> int:
    ctx.out("Network Id      SSID                         Security type\n")
    if switches.wifi_on(phone_of(ctx)):
        ctx.out(f"0            {SSID:<32} open\n")
    return 0


def _power(ctx: Context, argv: list[str]) -> int:
    def mode(ctx: Context, argv: list[str]) -> int:
        on = boolean(argv[1]) if len(argv) > 1 else None
        if on is None:
            return refused(ctx, "Error: set-mode takes 0 or 1")
        switches.set_battery_saver(phone_of(ctx), on)
        return 0

    table = {"set-mode": mode, "set-adaptive-power-saver-enabled": _nothing}
    return subcommand(ctx, argv, table, _usage("Power manager", "power", table))


def _location(ctx: Context, argv: list[str]) -> int:
    def told(ctx: Context, argv: list[str]) -> int:
        on = phone_of(ctx).is_on("secure", "location_mode")
        ctx.out(f"{str(on).lower()}\n")
        return 0

    table = {
        "is-location-enabled": told, "set-location-enabled": switch(switches.set_location),
        "providers": _nothing,
    }  # fmt: skip
    return subcommand(ctx, argv, table, _usage("Location service", "location", table))


def _display(ctx: Context, argv: list[str]) -> int:
    def set_to(ctx: Context, argv: list[str]) -> int:
        try:
            share = float(argv[1])
        except (IndexError, ValueError):
            return refused(ctx, "Error: brightness should be a number between 0 and 1")
        if not 0 <= share <= 1:
            return refused(ctx, "Error: brightness should be a number between 0 and 1")
        switches.set_brightness(phone_of(ctx), round(share * switches.MAX_BRIGHTNESS))
        return 0

    def told(ctx: Context, argv: list[str]) -> int:
        ctx.out(f"{switches.brightness(phone_of(ctx)) / switches.MAX_BRIGHTNESS:.7g}\n")
        return 0

    table = {
        "set-brightness": set_to,
        "get-brightness": told,
        "reset-brightness-configuration": _nothing,
    }
    return subcommand(ctx, argv, table, _usage("Display manager", "display", table))


def _audio(ctx: Context, argv: list[str]) -> int:
    def ringer(ctx: Context, argv: list[str]) -> int:
        modes = {"NORMAL": switches.NORMAL, "SILENT": switches.SILENT, "VIBRATE": switches.VIBRATE}
        mode = modes.get(argv[1].upper()) if len(argv) > 1 else None
        if mode is None:
            return refused(ctx, "Error: the ringer mode is NORMAL, SILENT or VIBRATE")
        switches.set_ringer(phone_of(ctx), mode)
        return 0

    def volume(ctx: Context, argv: list[str]) -> int:
        if len(argv) != 3:
            return refused(ctx, "Error: set-volume takes a stream and an index")
        return set_stream(ctx, argv[1], argv[2])

    table = {"set-ringer-mode": ringer, "set-volume": volume}
    return subcommand(ctx, argv, table, _usage("Audio service", "audio", table))


def _alarm(ctx: Context, argv: list[str]) -> int:
    def zone(ctx: Context, argv: list[str]) -> int:
        if len(argv) < 2 or not switches.set_time_zone(phone_of(ctx), argv[1]):
            return refused(ctx, f"Error: no such time zone: {' '.join(argv[1:])}")
        return 0

    def time(ctx: Context, argv: list[str]) -> int:
        if len(argv) < 2 or not argv[1].isdecimal() or len(argv[1]) > 13:
            return refused(ctx, "Error: set-time takes milliseconds since 1970")
        phone_of(ctx).clock.set(int(argv[1]))
        return 0

    table = {"set-timezone": zone, "set-time": time}
    return subcommand(ctx, argv, table, _usage("Alarm manager service", "alarm", table))


def _time_detector(setting: str) -> Command:
    def run(ctx: Context, argv: list[str]) -> int:
        def set_to(phone: Phone, on: bool) -> None:
            phone.put("global", setting, int(on))

        def told(ctx: Context, argv: list[str]) -> int:
            ctx.out(f"{str(phone_of(ctx).is_on('global', setting)).lower()}\n")
            return 0

        table = {
            "set_auto_detection_enabled": switch(set_to), "is_auto_detection_enabled": told,
        }  # fmt: skip
        return subcommand(ctx, argv, table, _usage("Time detector", argv[0], table))

    return run


def _nothing(ctx: Context, argv: list[str]) -> int:
    """What has no effect that could be seen."""
    return 0


def _usage(title: str, name: str, table: Mapping[str, Command]) -> str:
    lines = "".join(f"  {verb}\n" for verb in table)
    return f"{title} ({name}) commands:\n  help\n    Print this help text.\n{lines}"


_SAME = {
    "package": "pm", "activity": "am", "activity_task": "am", "settings": "settings",
    "window": "wm", "input": "input", "input_method": "ime",
}  # fmt: skip
_SERVICES: dict[str, Command] = {
    "battery": _battery, "statusbar": _statusbar, "uimode": _uimode,
    "bluetooth_manager": _bluetooth, "connectivity": _connectivity, "wifi": _wifi,
    "power": _power, "location": _location, "display": _display, "audio": _audio,
    "alarm": _alarm, "notification": notification, "media_session": media_session,
    "time_detector": _time_detector("auto_time"),
    "time_zone_detector": _time_detector("auto_time_zone"), "jobscheduler": _nothing,
}  # fmt: skip


@command("svc")
def svc(ctx: Context, argv: list[str]) -> int:
    def set_nfc(phone: Phone, on: bool) -> None:
        phone.put("global", "nfc_on", int(on))

    radios = {
        "wifi": switch(switches.set_wifi), "data": switch(switches.set_mobile_data),
        "bluetooth": switch(switches.set_bluetooth), "nfc": switch(set_nfc),
    }  # fmt: skip
    table: dict[str, Command] = {**radios, "power": _svc_power, "usb": _nothing}
    if len(argv) > 1 and argv[1] in radios and argv[2:] not in (["enable"], ["disable"]):
        ctx.err(f"Control the {argv[1]} manager\n\nusage: svc {argv[1]} [enable|disable]\n")
        return 0
    lines = "".join(f"    {name}\n" for name in table)
    return subcommand(ctx, argv, table, f"Available commands:\n    help\n{lines}")


def _svc_power(ctx: Context, argv: list[str]) -> int:
    kinds = {"true": 7, "false": 0, "ac": 1, "usb": 2, "wireless": 4}
    if argv[1:2] == ["reboot"]:
        return ctx.run(["reboot"])
    if argv[1:2] == ["stayon"] and len(argv) == 3 and argv[2] in kinds:
        phone_of(ctx).put("global", "stay_on_while_plugged_in", kinds[argv[2]])
    elif argv[1:2] != ["shutdown"]:
        ctx.err(
            "Control the power manager\n\nusage: svc power stayon [true|false|usb|ac|wireless]\n"
        )
    return 0
