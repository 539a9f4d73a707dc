"""dumpsys battery, power, alarm, uimode, cpuinfo, meminfo: the phone itself."""

from __future__ import annotations

from ui_gym_phone.shell.commands.dumpsys.services import service, word
from ui_gym_phone.state import alarms, switches
from ui_gym_phone.state.phone import Phone

_SETTABLE = {
    "level": "level", "ac": "ac", "usb": "usb", "wireless": "wireless", "status": "status",
    "temp": "temperature", "voltage": "voltage", "health": "health",
}  # fmt: skip

_BATTERY_HELP = """Battery service (battery) commands:
  help
    Print this help text.
  get [-f] [ac|usb|wireless|dock|status|level|temp|present|counter|invalid]
  set [-f] [ac|usb|wireless|dock|status|level|temp|present|counter|invalid] <value>
    Force a battery property value, freezing battery state.
  unplug [-f]
    Force battery unplugged, freezing battery state.
  reset [-f]
    Unfreeze battery state, returning to current hardware values.
"""


@service("battery")
def battery(phone: Phone, words: list[str]) -> str:
    words = [w for w in words if w != "-f"]
    if words and words[0] not in ("-a",):
        return _battery_command(phone, words)
    now = switches.battery(phone)
    stopped = "  (UPDATES STOPPED -- use 'reset' to restart)\n" if switches.pretends(phone) else ""
    return (
        f"Current Battery Service state:\n{stopped}"
        f"  AC powered: {word(now.ac)}\n"
        f"  USB powered: {word(now.usb)}\n"
        f"  Wireless powered: {word(now.wireless)}\n"
        "  Dock powered: false\n"
        "  Max charging current: 0\n"
        "  Max charging voltage: 0\n"
        "  Charge counter: 3654000\n"
        f"  status: {now.status}\n"
        f"  health: {now.health}\n"
        "  present: true\n"
        f"  level: {now.level}\n"
        "  scale: 100\n"
        f"  voltage: {now.voltage}\n"
        f"  temperature: {now.temperature}\n"
        "  technology: Li-ion\n"
    )


def _battery_command(phone: Phone, words: list[str]) -> str:
    verb = words[0]
    if verb == "reset":
        switches.reset_battery(phone)
        return ""
    if verb == "unplug":
        switches.set_battery(phone, ac=0, usb=0, wireless=0, status=3)
        return ""
    name = _SETTABLE.get(words[1], "") if len(words) > 1 else ""
    if verb == "get" and name:
        return f"{int(getattr(switches.battery(phone), name))}\n"
    if verb == "set" and len(words) == 3:
        if not name:
            return f"Unknown set option: {words[1]}\n"
        if not words[2].lstrip("-").isdecimal() or len(words[2]) > 9:
            return f"Bad value: {words[2]}\n"
        switches.set_battery(phone, **{name: int(words[2])})
        return ""
    return _BATTERY_HELP if verb in ("help", "-h") else f"Unknown command: {verb}\n{_BATTERY_HELP}"


@service("power")
def power(phone: Phone, words: list[str]) -> str:
    plugged = switches.battery(phone).plugged
    timeout = phone.setting("system", "screen_off_timeout", "60000")
    return (
        "POWER MANAGER (dumpsys power)\n\nPower Manager State:\n"
        f"  mWakefulness={'Awake' if phone.awake else 'Asleep'}\n"
        f"  mIsPowered={word(plugged)}\n"
        f"  mBatteryLevel={switches.battery(phone).level}\n"
        f"  mStayOn={word(phone.is_on('global', 'stay_on_while_plugged_in') and plugged)}\n"
        f"  mHoldingDisplaySuspendBlocker={word(phone.awake)}\n\n"
        f"Settings and Configuration:\n  mScreenOffTimeoutSetting={timeout} ms\n\n"
        f"Display Power: state={'ON' if phone.awake else 'OFF'}\n\n"
        "Battery Saver\n"
        f"  mIsEnabled={word(phone.is_on('global', 'low_power'))}\n"
    )


@service("alarm")
def alarm(phone: Phone, words: list[str]) -> str:
    ringing = [(alarms.next_ms(phone, a), a) for a in alarms.all(phone)]
    times = sorted(when for when, _ in ringing if when is not None)
    parts = [
        "Current Alarm Manager state:\n"
        f"  nowRTC={phone.clock.ms}={phone.clock.local:%Y-%m-%d %H:%M:%S}"
        f" nowELAPSED={phone.clock.uptime_ms}\n"
        "  Next alarm clock information:\n"
    ]
    for when in times[:1]:
        parts.append(
            f"    user:0 pendingSend:false time:{when} = {phone.clock.of(when):%Y-%m-%d %H:%M:%S}\n"
        )
    return "".join(parts)


@service("uimode")
def uimode(phone: Phone, words: list[str]) -> str:
    night = "2 (yes)" if phone.dark else "1 (no)"
    return (
        "Current UI Mode Service state:\n"
        f"  mDockState=0 mLastBroadcastState=0\n"
        f"  mNightMode={night} mNightModeOverride={night}\n"
        f"  mComputedNightMode={word(phone.dark)}\n"
    )


@service("meminfo")
def meminfo(phone: Phone, words: list[str]) -> str:
    return (
        "Applications Memory Usage (in Kilobytes):\n"
        f"Uptime: {phone.clock.uptime_ms} Realtime: {phone.clock.uptime_ms}\n\n"
        "Total RAM: 3,977,224K (status normal)\n"
        " Free RAM: 2,411,012K (  512,400K cached pss + 1,206,508K cached kernel)\n"
        " Used RAM: 1,566,212K\n"
    )


@service("cpuinfo")
def cpuinfo(phone: Phone, words: list[str]) -> str:
    return (
        "Load: 0.12 / 0.10 / 0.08\n"
        "CPU usage from 60000ms to 0ms ago:\n"
        "  1% 600/system_server: 1% user + 0% kernel\n"
        "2% TOTAL: 1% user + 1% kernel\n"
    )
