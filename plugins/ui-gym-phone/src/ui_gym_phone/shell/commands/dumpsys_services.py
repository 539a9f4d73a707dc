"""dumpsys of services that are seldom asked: those whose dump is a template and little more."""

from __future__ import annotations

import json
from datetime import timedelta

from ui_gym_phone.shell.commands.dumpsys import (
    SERVICES,
    ServiceDump,
    component,
    facts,
    filled,
    service,
    uid_of,
)
from ui_gym_phone.shell.commands.dumpsys_screen import pid_of, processes
from ui_gym_phone.shell.commands.packages import version_code
from ui_gym_phone.state import hardware, switches
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.state.settings import NAMESPACES, factory_settings

STORE = "com.android.vending"


def _plain(name: str) -> ServiceDump:
    return lambda phone, words: filled(name, **facts(phone), **_more(phone))


def _more(phone: Phone) -> dict[str, object]:
    """What these templates may name beside what all others may."""
    seconds = phone.clock.uptime_ms // 1000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return {
        "uptime_text": f"{hours}h{minutes}m{seconds % 60}s0ms",
        "connected": bool(hardware.links(phone)),
        "storage_free": hardware.free_bytes(phone), "storage_total": hardware.STORAGE_BYTES,
        "storage_gigabytes": hardware.STORAGE_BYTES // 10**9,
        "haptics": phone.is_on("system", "haptic_feedback_enabled"),
        "ringer": switches.ringer(phone),
    }  # fmt: skip


for _name in (
    "content", "device_policy", "devicestoragemonitor", "jobscheduler", "media_session",
    "media.camera", "mount", "statusbar", "user", "vibrator_manager", "wallpaper",
):  # fmt: skip
    SERVICES[_name] = _plain(_name)


@service("accessibility")
def _accessibility(phone: Phone, words: list[str]) -> str:
    told = phone.setting("secure", "enabled_accessibility_services", "")
    enabled = [each for each in told.split(":") if each not in ("", "null")]
    return filled(
        "accessibility", accessibility_count=len(enabled),
        accessibility_services="{" + "}, {".join(enabled) + "}" if enabled else "",
    )  # fmt: skip


@service("account")
def _account(phone: Phone, words: list[str]) -> str:
    names = accounts(phone)
    rows = [filled("account_row", name=name) for name in names]
    return filled(
        "account", account_count=len(names), accounts="".join(rows),
        store_uid=uid_of(phone, STORE, 10000),
    )  # fmt: skip


def accounts(phone: Phone) -> list[str]:
    """The accounts on the phone, as Settings keeps them."""
    kept = phone.settings.get("known", {}).get("accounts")
    return [str(name) for name in json.loads(kept)] if kept else [hardware.OWNER]


@service("appops")
def _appops(phone: Phone, words: list[str]) -> str:
    rows = []
    seen = processes(phone)
    for package in phone.packages:
        ops = "".join(
            f"      {name} ({'allow' if on else 'ignore'}):\n"
            for name, on in package.permissions.items()
        )
        state = "top" if package.name == phone.activity.package else "cch"
        state = state if package.name in seen else "non"
        if ops:
            rows.append(
                filled("appops_row", uid=package.user, state=state, package=package.name, ops=ops)
            )
    return filled("appops", appops="".join(rows))


@service("gfxinfo")
def _gfxinfo(phone: Phone, words: list[str]) -> str:
    wanted = next((word for word in words if not word.startswith("-")), "")
    names = [name for name in processes(phone) if wanted in ("", name)]
    if not names:
        return f"No process found for: {wanted}\n"
    rows = [filled("gfxinfo_row", pid=pid_of(name), package=name) for name in names]
    return filled("gfxinfo", uptime=phone.clock.uptime_ms, graphics="".join(rows))


@service("netstats")
def _netstats(phone: Phone, words: list[str]) -> str:
    rows = []
    for number, link in enumerate(hardware.links(phone)):
        over_wifi = link.kind == "WIFI"
        identity = (
            f'wifiNetworkKey="{hardware.ssid(phone)}"WPA_PSK'
            if over_wifi
            else "subId=1, ratType=COMBINED"
        )
        rows.append(filled(
            "netstats_row", interface=link.interface, type=int(over_wifi), identity=identity,
            metered=not over_wifi, default=not number,
        ))  # fmt: skip
    return filled("netstats", interfaces="".join(rows))


@service("procstats")
def _procstats(phone: Phone, words: list[str]) -> str:
    rows = []
    for name, uid in processes(phone).items():
        package = phone.packages.get(name)
        code = version_code(package) if package is not None else 34
        rows.append(filled("procstats_row", package=name, user=uid % 10000, code=code))
    start = phone.clock.local - timedelta(milliseconds=phone.clock.uptime_ms)
    return filled(
        "procstats", processes="".join(rows), start=f"{start:%Y-%m-%d %H:%M:%S}", **_more(phone)
    )


@service("settings")
def _settings(phone: Phone, words: list[str]) -> str:
    """A table for each namespace, and what was done to it, as a debuggable phone remembers it."""
    return filled("settings", tables="".join(_settings_table(phone, n) for n in NAMESPACES))


def _settings_table(phone: Phone, namespace: str) -> str:
    first, rows = factory_settings()[namespace], []
    for number, (key, value) in enumerate(sorted(phone.settings[namespace].items()), 1):
        default = f" default:{first[key]} defaultSystemSet:true" if key in first else ""
        rows.append(filled("settings_row", id=number, key=key, value=value, default=default))
    operations = [
        filled(
            "settings_operation", key=change.key, operation=change.operation,
            when=f"{phone.clock.of(change.ms):%Y-%m-%d %H:%M:%S}",
        )
        for change in reversed(phone.settings_log) if change.namespace == namespace
    ]  # fmt: skip
    return filled(
        "settings_table", namespace=namespace.upper(), rows="".join(rows),
        operations="".join(operations),
    )  # fmt: skip


@service("usagestats")
def _usagestats(phone: Phone, words: list[str]) -> str:
    now, before = phone.clock.local, phone.clock.local - timedelta(days=1)
    rows = []
    for number, task in enumerate(phone.tasks):
        name = component(phone, task.top)
        package, _, cls = name.partition("/")
        rows.append(filled(
            "usagestats_row", now=f"{now:%Y-%m-%d %H:%M:%S}", package=package, cls=cls,
            instance=number,
        ))  # fmt: skip
    return filled(
        "usagestats", now=f"{now:%m/%d/%Y, %H:%M}", day_ago=f"{before:%m/%d/%Y, %H:%M}",
        events="".join(rows),
    )  # fmt: skip
