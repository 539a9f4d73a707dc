"""dumpsys: what the system services tell of themselves.

The words are templates in ``data/dumpsys.toml`` and ``dumpsys_services.toml``; here is what they
are filled in with, in `dumpsys_screen` what fills those of windows and tasks, and in
`dumpsys_services` those of services that are seldom asked.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from string import Template

from ui_gym_phone.data import table
from ui_gym_phone.shell.commands.packages import apk_path, version_code
from ui_gym_phone.shell.framework import usage
from ui_gym_phone.shell.registry import CommandContext, command
from ui_gym_phone.state import alarms, calling, hardware, switches
from ui_gym_phone.state.activities import Activity, Notification
from ui_gym_phone.state.display import display, dots, natural, panel_dots
from ui_gym_phone.state.hardware import STORAGE_BYTES, SYSTEM_BYTES
from ui_gym_phone.state.packages import Package
from ui_gym_phone.state.phone import Phone

ServiceDump = Callable[[Phone, list[str]], str]
"""What a service tells of the phone, given the words after its name."""

SERVICES: dict[str, ServiceDump] = {}

_LINE = "-" * 79


def service(name: str) -> Callable[[ServiceDump], ServiceDump]:
    """Registers a function as what a service tells."""

    def register(function: ServiceDump) -> ServiceDump:
        SERVICES[name] = function
        return function

    return register


def service_names() -> list[str]:
    """All services, sorted."""
    return sorted({*SERVICES, *table("shell_names")["mute"]})


def filled(template: str, /, **values: object) -> str:
    """A template with its fields; truth as Java writes it."""
    shown = {k: str(v).lower() if isinstance(v, bool) else v for k, v in values.items()}
    words = table("dumpsys").get(template) or table("dumpsys_services")[template]
    return Template(words).substitute(shown)


def mark(text: str) -> str:
    """The number that Android prints of an object: here, of what it is about."""
    return f"{zlib.crc32(text.encode('utf-8', 'replace')) & 0xFFFFFFF:x}"


@command("dumpsys")
def dumpsys(ctx: CommandContext) -> None:
    """Prints the dump of one service, of all, or (``-l``) the services' names."""
    words, skipped = ctx.words, list[str]()
    while words and words[0].startswith("-") and words[0] != "-l":
        if words[0] == "--skip" and len(words) > 1:
            skipped = words[1].split(",")
        words = words[2:] if words[0] in ("-t", "-T", "--skip", "--priority") else words[1:]
    if not words or words[0] == "-l":
        listed = "".join(f"  {name}\n" for name in service_names())
        ctx.out(f"Currently running services:\n{listed}")
        for name in sorted(SERVICES) if not words else ():
            if name not in skipped:
                ctx.out(f"{_LINE}\nDUMP OF SERVICE {name}:\n{SERVICES[name](ctx.phone, [])}")
    elif words[0] in SERVICES:
        ctx.out(SERVICES[words[0]](ctx.phone, words[1:]))
    elif words[0] not in service_names():
        ctx.err(f"Can't find service: {words[0]}\n")


def component(phone: Phone, activity: Activity, *, short: bool = False) -> str:
    """``package/class`` of an activity; `short` leaves the package out of the class."""
    package = phone.packages.get(activity.package)
    cls = activity.cls if package is None or short else package.component(activity.cls)
    return f"{activity.package}/{cls}"


def record(phone: Phone, activity: Activity, task: int) -> str:
    """How an activity of a task is named among others."""
    name = component(phone, activity, short=True)
    return f"ActivityRecord{{{mark(f'{name} {task}')} u0 {name} t{task}}}"


def seen_record(phone: Phone) -> str:
    """The record of the activity that is seen."""
    return record(phone, phone.activity, phone.front.id if phone.front else 1)


def uid_of(phone: Phone, package: str, default: int) -> int:
    """The user's number of a package; `default` where it is not installed."""
    found = phone.packages.get(package)
    return found.uid if found else default


# -- services whose dump is a template and no more --


def facts(phone: Phone) -> dict[str, object]:
    """What such a template may name."""
    battery, over_wifi = switches.battery(phone), switches.wifi_on(phone)
    airplane, bluetooth = switches.airplane(phone), switches.bluetooth_on(phone)
    shown, call, ssid = display(phone), calling.state(phone), hardware.ssid(phone)
    width, height = natural(phone)
    wifi, memory = hardware.part("wifi"), hardware.part("memory")
    joined = f'"{ssid}", BSSID: {wifi["bssid"]}, MAC: {wifi["mac"]}, RSSI: {wifi["rssi"]}'
    return {
        "wakefulness": "Awake" if phone.awake else "Asleep", "awake": phone.awake,
        "on": "ON" if phone.awake else "OFF", "power": "On" if phone.awake else "Off",
        "interactive": "AWAKE" if phone.awake else "SLEEP",
        "plugged": battery.plugged, "level": battery.level,
        "stay_on": phone.is_on("global", "stay_on_while_plugged_in") and battery.plugged,
        "timeout": phone.setting("system", "screen_off_timeout", "60000"),
        "saver": phone.is_on("global", "low_power"), "dark": phone.dark,
        "night": "2 (yes)" if phone.dark else "1 (no)", "uptime": phone.clock.uptime_ms,
        "bluetooth": bluetooth, "bluetooth_state": "ON" if bluetooth else "OFF",
        "bluetooth_address": hardware.BLUETOOTH_MAC.upper(),
        "device_name": phone.setting("global", "device_name", "Pixel"),
        "enabled": "enabled" if over_wifi else "disabled",
        "ssid": joined if ssid else "<unknown ssid>, BSSID: <none>",
        "supplicant": "COMPLETED" if ssid else "DISCONNECTED" if over_wifi else "UNINITIALIZED",
        "call": call, "ringing": int(call == calling.RINGING_STATE),
        "foreground": int(call == calling.OFFHOOK_STATE), "caller": calling.caller(phone),
        "service": 3 if airplane else 0, "operator": phone.properties.get("gsm.operator.alpha", ""),
        "data": 2 if hardware.cell_link(phone) else 0,
        "location": phone.is_on("secure", "location_mode"),
        "auto_rotate": phone.is_on("system", "accelerometer_rotation"),
        "panel_width": phone.width, "panel_height": phone.height,
        "panel_density": panel_dots(phone), "density": dots(phone),
        "natural_width": width, "natural_height": height,
        "width": shown.width, "height": shown.height,
        "rotation": shown.rotation, "degrees": 90 * shown.rotation,
        "brightness": f"{switches.brightness(phone) / switches.MAX_BRIGHTNESS:.6f}",
        "seen": seen_record(phone), "shown": bool(phone.awake and phone.activity.focus),
        "method": phone.setting("secure", "default_input_method", "null"),
        "memory_total": f"{memory['total']:,}", "memory_available": f"{memory['available']:,}",
        "memory_cached": f"{memory['cached']:,}",
        "memory_used": f"{memory['total'] - memory['available']:,}",
    }  # fmt: skip


def _plain(name: str) -> ServiceDump:
    return lambda phone, words: filled(name, **facts(phone))


for _name in (
    "power", "uimode", "meminfo", "cpuinfo", "bluetooth_manager", "location", "input",
    "input_method", "display", "wifi", "telephony.registry",
):  # fmt: skip
    SERVICES[_name] = _plain(_name)


# -- the phone itself --


@service("battery")
def _battery(phone: Phone, words: list[str]) -> str:
    words = [w for w in words if w != "-f"]
    if words and words[0] != "-a":
        return _battery_command(phone, words)
    now = switches.battery(phone)
    stopped = "  (UPDATES STOPPED -- use 'reset' to restart)\n" if switches.pretends(phone) else ""
    return filled(
        "battery", stopped=stopped, ac=bool(now.ac), usb=bool(now.usb),
        wireless=bool(now.wireless), status=now.status, health=now.health, level=now.level,
        voltage=now.voltage, temperature=now.temperature,
    )  # fmt: skip


def _battery_command(phone: Phone, words: list[str]) -> str:
    verb, name = words[0], table("shell_names")["battery"].get([*words, ""][1], "")
    if verb == "reset":
        switches.reset_battery(phone)
    elif verb == "unplug":
        switches.set_battery(phone, ac=0, usb=0, wireless=0, status=3)
    elif verb == "get" and name:
        return f"{int(getattr(switches.battery(phone), name))}\n"
    elif verb == "set" and len(words) == 3:
        if not name:
            return f"Unknown set option: {words[1]}\n"
        if not words[2].lstrip("-").isdecimal() or len(words[2]) > 9:
            return f"Bad value: {words[2]}\n"
        switches.set_battery(phone, **{name: int(words[2])})
    else:
        known = verb in ("help", "-h")
        return ("" if known else f"Unknown command: {verb}\n") + usage("battery")
    return ""


@service("alarm")
def _alarm(phone: Phone, words: list[str]) -> str:
    times = sorted(w for a in alarms.all(phone) if (w := alarms.next_ms(phone, a)) is not None)
    clock, form = phone.clock, "%Y-%m-%d %H:%M:%S"
    rows = [filled("alarm_row", when=w, shown=f"{clock.of(w):{form}}") for w in times[:1]]
    shown = f"{clock.local:{form}}"
    return filled("alarm", now=clock.ms, shown=shown, uptime=clock.uptime_ms, next="".join(rows))


@service("audio")
def _audio(phone: Phone, words: list[str]) -> str:
    levels = [(s, switches.volume(phone, index)) for index, s in switches.STREAMS.items()]
    rows = [
        filled("audio_row", name=s.name, muted=not level, low=s.low, high=s.high, level=level)
        for s, level in levels
    ]
    modes = {switches.SILENT: "SILENT", switches.VIBRATE: "VIBRATE", switches.NORMAL: "NORMAL"}
    return filled("audio", streams="".join(rows), mode=modes[switches.ringer(phone)])


@service("connectivity")
def _connectivity(phone: Phone, words: list[str]) -> str:
    links = hardware.links(phone)
    if not links:
        return filled("connectivity_none")
    mode = phone.setting("global", "private_dns_mode", "off")
    return filled("connectivity", number=links[0].number, kind=links[0].kind, mode=mode)


# -- notifications, packages, storage --

_ZEN = {
    "0": "ZEN_MODE_OFF",
    "1": "ZEN_MODE_IMPORTANT_INTERRUPTIONS",
    "2": "ZEN_MODE_NO_INTERRUPTIONS",
    "3": "ZEN_MODE_ALARMS",
}


@service("notification")
def _notification(phone: Phone, words: list[str]) -> str:
    """What is written is only told with ``--noredact``, as on Android."""
    mode = phone.setting("global", "zen_mode")
    rows = [_posted(phone, each, "--noredact" in words) for each in phone.notifications]
    zen = _ZEN.get(mode, mode)
    return filled("notification", posted="".join(rows), filter=1 if mode == "0" else 2, zen=zen)


def notification_key(phone: Phone, posted: Notification) -> str:
    """The whole key of a notification, with its user's number at the end."""
    return f"{posted.key}|{uid_of(phone, posted.package, 2000)}"


def _posted(phone: Phone, posted: Notification, plain: bool) -> str:
    key = notification_key(phone, posted)
    title, text = (f"({t})" if plain else f"[length={len(t)}]" for t in (posted.title, posted.text))
    return filled(
        "notification_row", mark=mark(key).rjust(8, "0"), package=posted.package, id=posted.id,
        tag=posted.tag or "null", key=key, channel=posted.channel, title=title, text=text,
        flags=2 if posted.ongoing else 10, uid=key.rpartition("|")[2], when=posted.when_ms,
    )  # fmt: skip


@service("package")
def _package(phone: Phone, words: list[str]) -> str:
    wanted = next((w for w in words if not w.startswith("-")), "packages")
    if wanted in ("p", "packages"):
        return "Packages:\n" + "".join(_package_row(phone, each) for each in phone.packages)
    found = phone.packages.get(wanted)
    if found is None:
        return f"Unable to find package: {wanted}\n"
    main = f"{found.name}/{found.main}"
    resolver = filled("package_table", mark=mark(main), main=main, filter=mark("filter " + main))
    return (resolver if found.launchable else "") + "Packages:\n" + _package_row(phone, found)


def _package_row(phone: Phone, found: Package) -> str:
    permissions = {
        name if "." in name else f"android.permission.{name}": str(on).lower()
        for name, on in found.permissions.items()
    }
    requested = "".join(f"      {name}\n" for name in permissions)
    granted = "".join(
        f"        {name}: granted={on}, flags=[ USER_SET]\n" for name, on in permissions.items()
    )
    return filled(
        "package_row", name=found.name, mark=mark(found.name), uid=found.uid,
        pkg=mark("pkg " + found.name), folder=apk_path(found).rpartition("/")[0],
        code=version_code(found), version=found.version,
        abi=phone.properties["ro.product.cpu.abi"],
        flags=f"[ {'SYSTEM ' * found.system}HAS_CODE ALLOW_CLEAR_USER_DATA ]",
        requested=f"    requested permissions:\n{requested}" if requested else "",
        stopped=found.stopped, enabled=0 if found.enabled else 3,
        granted=f"      runtime permissions:\n{granted}" if granted else "",
    )  # fmt: skip


_MEDIA = {"photos": (".jpg", ".jpeg", ".png"), "videos": (".mp4",), "audio": (".mp3", ".ogg")}


@service("diskstats")
def _diskstats(phone: Phone, words: list[str]) -> str:
    """How much room what takes, in bytes."""
    packages = list(phone.packages)
    apps, data, caches = (
        [getattr(p, f"{kind}_size") for p in packages] for kind in ("app", "data", "cache")
    )
    free = hardware.free_bytes(phone)
    sizes = dict.fromkeys([*_MEDIA, "downloads"], 0)
    for path in phone.files.walk("/sdcard"):
        if phone.files.is_file(path):
            size = phone.files.stat(path).size
            sizes["downloads"] += size * path.startswith("/sdcard/Download/")
            for kind, endings in _MEDIA.items():
                sizes[kind] += size * path.lower().endswith(endings)
    arrays = {"names": [p.name for p in packages], "apps": apps, "datas": data, "caches": caches}
    return filled(
        "diskstats", free=free // 1024, total=STORAGE_BYTES // 1024,
        percent=free * 100 // STORAGE_BYTES,
        app=sum(apps), data=sum(data), cache=sum(caches), **sizes, system=SYSTEM_BYTES,
        other=phone.files.used,
        **{name: json.dumps(array, separators=(",", ":")) for name, array in arrays.items()},
    )  # fmt: skip
