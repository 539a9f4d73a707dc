"""dumpsys wifi, bluetooth_manager, connectivity, telephony.registry, location: the radios."""

from __future__ import annotations

from ui_gym_phone.shell.commands.dumpsys.services import service, word
from ui_gym_phone.state import switches
from ui_gym_phone.state.phone import Phone

SSID = "AndroidWifi"
IN_CALL = "InCallActivity"
"""How the class of the dialer's screen of a call ends."""


@service("wifi")
def wifi(phone: Phone, words: list[str]) -> str:
    on = switches.wifi_on(phone)
    told = (
        f'"{SSID}", BSSID: 00:13:10:85:fe:01, RSSI: -50' if on else "<unknown ssid>, BSSID: <none>"
    )
    state = "COMPLETED" if on else "UNINITIALIZED"
    return (
        f"Wi-Fi is {'enabled' if on else 'disabled'}\n"
        "Verbose logging is off\n"
        "mInIdleMode false\nmScanPending false\n"
        f"mWifiInfo SSID: {told}, Supplicant state: {state}\n"
    )


@service("bluetooth_manager")
def bluetooth(phone: Phone, words: list[str]) -> str:
    on = switches.bluetooth_on(phone)
    return (
        "Bluetooth Status\n"
        f"  enabled: {word(on)}\n"
        f"  state: {'ON' if on else 'OFF'}\n"
        "  address: 22:22:4D:4A:11:03\n"
        f"  name: {phone.setting('global', 'device_name', 'Pixel')}\n"
    )


@service("connectivity")
def connectivity(phone: Phone, words: list[str]) -> str:
    over_wifi = switches.wifi_on(phone)
    over_cell = switches.mobile_data(phone) and not switches.airplane(phone)
    if not over_wifi and not over_cell:
        return "NetworkProviders for:\n\nActive default network: none\n\nCurrent Networks:\n"
    kind, number = ("WIFI", 101) if over_wifi else ("CELLULAR", 100)
    mode = phone.setting("global", "private_dns_mode", "off")
    return (
        f"NetworkProviders for:\n\nActive default network: {number}\n\nCurrent Networks:\n"
        f"  NetworkAgentInfo{{network{{{number}}} Transports: {kind}"
        f" Capabilities: INTERNET&VALIDATED state: CONNECTED/CONNECTED}}\n"
        f"    Private DNS mode: {mode}\n"
    )


@service("telephony.registry")
def telephony(phone: Phone, words: list[str]) -> str:
    calls = any(
        a.package == "com.android.dialer" and a.cls.endswith(IN_CALL)
        for task in phone.tasks
        for a in task.activities
    )
    service_state = 3 if switches.airplane(phone) else 0
    data = 2 if switches.mobile_data(phone) and not service_state else 0
    return (
        "last known state:\n  Phone Id=0\n"
        f"    mCallState={2 if calls else 0}\n"
        "    mRingingCallState=0\n"
        f"    mForegroundCallState={1 if calls else 0}\n"
        "    mBackgroundCallState=0\n"
        f"    mServiceState={{mVoiceRegState={service_state}, mDataRegState={service_state}}}\n"
        f"    mDataConnectionState={data}\n"
    )


@service("location")
def location(phone: Phone, words: list[str]) -> str:
    on = phone.is_on("secure", "location_mode")
    return f"Location Manager State:\n  Location Setting: {word(on)}\n"
