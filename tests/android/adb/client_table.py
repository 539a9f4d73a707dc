"""Calls of other people's ADB clients, and what the built-in phone answers them with.

Each is made by the client's own code in ``test_clients.py``, where that is installed. The table of
``docs/android.md`` is written from here:

    python tests/android/adb/client_table.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

APP = "com.android.settings"
CHESS = "com.example.chess"
DOCS = Path(__file__).parents[3] / "docs" / "android.md"
BEGIN, END = (
    "<!-- clients: written by tests/android/adb/client_table.py -->",
    "<!-- end of clients -->",
)


class ClientCall(NamedTuple):
    """One call of a client: `ask` makes it with the client's device, and gives what is `told`. One
    that is refused gives a `reason`, which the error's text has."""

    name: str
    ask: Callable[[Any], object]
    told: object = True
    reason: str = ""


def _opened(device: Any) -> object:
    device.app_start(APP)
    return device.app_current()


# -- adbutils: the device of ``AdbClient.device(serial)`` --

ADBUTILS = (
    ClientCall("shell()", lambda d: d.shell("echo hi"), "hi"),
    ClientCall("shell2(v2=True)", lambda d: d.shell2("exit 3", v2=True).returncode, 3),
    ClientCall("window_size()", lambda d: tuple(d.window_size()), (1080, 2400)),
    ClientCall("rotation()", lambda d: d.rotation(), 0),
    ClientCall("prop.model", lambda d: d.prop.model, "ui-gym phone"),
    ClientCall("screenshot()", lambda d: d.screenshot(error_ok=False).size, (1080, 2400)),
    ClientCall("app_start(); app_current()", lambda d: _opened(d).package, APP),
    ClientCall("app_info()", lambda d: d.app_info(CHESS).version_name, "2.4.1"),
    ClientCall("list_packages()", lambda d: CHESS in d.list_packages()),
    ClientCall("dump_hierarchy()", lambda d: d.dump_hierarchy().startswith("<?xml")),
    ClientCall("battery()", lambda d: d.battery().level, 87),
    ClientCall("is_screen_on()", lambda d: d.is_screen_on()),
    ClientCall("wlan_ip()", lambda d: d.wlan_ip(), "192.168.1.23"),
    ClientCall("click(), swipe(), keyevent()", lambda d: [
        d.click(5, 900), d.swipe(500, 1800, 500, 600), d.keyevent("HOME")], [None] * 3),
    ClientCall("send_keys()", lambda d: d.send_keys("hello"), ""),
    ClientCall("switch_wifi(False)", lambda d: [
        d.switch_wifi(False), d.shell("settings get global wifi_on")][1], "0"),
    ClientCall("sync.push(), read_bytes()", lambda d: [
        d.sync.push(b"x", "/sdcard/x"), d.sync.read_bytes("/sdcard/x")][1], b"x"),
    ClientCall("sync.list()", lambda d: "Download" in [f.path for f in d.sync.list("/sdcard")]),
    ClientCall("reverse(), reverse_list()", lambda d: [
        d.reverse("tcp:9", "tcp:9"), [r.remote for r in d.reverse_list()]][1], ["tcp:9"]),
    ClientCall("logcat()", lambda d: "Displayed" in d.shell("logcat -d")),
    ClientCall("framebuffer()", lambda d: d.framebuffer(), reason="closed"),
    ClientCall("root()", lambda d: "restarting adbd as root" in d.root()),
)  # fmt: skip

# -- pure-python-adb: the device of ``Client().device(serial)`` --

PPADB = (
    ClientCall("shell()", lambda d: d.shell("echo hi"), "hi\n"),
    ClientCall("get_serial_no()", lambda d: d.get_serial_no().startswith("127.0.0.1")),
    ClientCall("get_properties()", lambda d: d.get_properties()["ro.product.model"],
               "ui-gym phone"),
    ClientCall("list_packages(), is_installed()", lambda d: [
        CHESS in d.list_packages(), d.is_installed(CHESS), d.is_installed("no.such")],
        [True, True, False]),
    ClientCall("wm_size(), wm_density()", lambda d: (tuple(d.wm_size()), d.wm_density()),
               ((1080, 2400), 3)),
    ClientCall("screencap()", lambda d: bytes(d.screencap()[:4]), b"\x89PNG"),
    ClientCall("input_tap(), input_swipe(), input_keyevent()", lambda d: [
        d.input_tap(5, 900), d.input_swipe(500, 1800, 500, 600, 300), d.input_keyevent(3)],
        [""] * 3),
    ClientCall("get_battery_level()", lambda d: d.get_battery_level(), 87),
    ClientCall("get_top_activity()", lambda d: [
        d.shell(f"am start -n {APP}/.Settings"), d.get_top_activity().package][1], APP),
    ClientCall("get_uid()", lambda d: int(d.get_uid(CHESS)) > 10_000),
    ClientCall("reverse()", lambda d: d.reverse("tcp:9", "tcp:9"), reason="bad forward"),
    ClientCall("root()", lambda d: d.root()),
)  # fmt: skip

# -- uiautomator2: what is asked of the module --

UIAUTOMATOR2 = (
    ClientCall("connect()", lambda u2: u2.connect(), reason="app_process: inaccessible"),
)  # fmt: skip

# -- appium-adb, by ``appium.mjs`` --

APPIUM: dict[str, object] = {
    "getApiLevel()": 34,
    "getModel()": "ui-gym phone",
    "getManufacturer()": "ui-gym",
    "getScreenSize()": "1080x2400",
    "getScreenDensity()": 480,
    "getDeviceProperty()": "en-US",
    "getTimeZone()": "UTC",
    "shell()": "2023",
    "isAppInstalled()": True,
    "resolveLaunchableActivity()": f"{APP}/.Settings",
    "startApp()": True,
    "getFocusedPackageAndActivity()": {"appPackage": APP, "appActivity": ".Settings"},
    "processExists()": True,
    "getPackageInfo()": "14",
    "forceStop()": True,
    "isScreenLocked()": False,
    "isSoftKeyboardPresent()": False,
    "availableIMEs()": [
        "com.android.inputmethod.latin/.LatinIME",
        "com.android.adbkeyboard/.AdbIME",
    ],
    "setWifiState(false); isWifiOn()": False,
    "setAirplaneMode(); isAirplaneModeOn()": True,
    "grantPermission()": True,
    "fileExists(); ls()": [True, True],
    "reversePort(); getReverseList()": 1,
    "isRoot()": False,
}

TESTED: dict[str, tuple[ClientCall, ...]] = {
    "adbutils": ADBUTILS,
    "pure-python-adb": PPADB,
    "uiautomator2": UIAUTOMATOR2,
}

REFUSED = {
    "adbutils": "`framebuffer()` (the service is not there)",
    "pure-python-adb": "`reverse()` (its request is not what adbd takes, on any phone)",
    "uiautomator2": "`connect()`: it starts a Java program that it pushes to the phone; "
    "`uiautomator dump` and `input` are there instead, and adbutils beneath it works",
    "appium-adb": "nothing that was tried; Appium's UiAutomator2 driver wants its own Java program",
    "scrcpy": "its server is a Java program, and there is no `screenrecord`; `adb exec-out "
    "screencap` gives raw RGBA after a header of 16 bytes, with `-p` a PNG",
}


def table() -> str:
    """The rows of the documentation."""
    rows = ["| client | answered | not |", "|---|---|---|"]
    names = {client: [c.name for c in calls if not c.reason] for client, calls in TESTED.items()}
    for client, calls in {**names, "appium-adb": [*APPIUM], "scrcpy": []}.items():
        answered = ", ".join(f"`{name}`" for name in calls) or "-"
        rows.append(f"| {client} | {answered} | {REFUSED[client]} |")
    return "\n".join(rows) + "\n"


def written(text: str) -> str:
    """A page with the table in its place."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    DOCS.write_text(written(DOCS.read_text("utf-8")), "utf-8")
