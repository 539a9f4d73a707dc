"""settings, getprop, wm, input, uiautomator, screencap, su, run-as, ime and the rest."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
from PIL import Image

from ui_gym.android.adb import screencap
from ui_gym_phone.state import switches


def test_settings_are_read_written_listed_and_deleted(sh):
    assert sh("settings get global wifi_on") == "1\n"
    assert sh("settings get global no_such_key") == "null\n"
    assert sh("settings put --user 0 secure my_key -5") == ""
    assert sh.phone.settings["secure"]["my_key"] == "-5"
    assert "my_key=-5\n" in sh("settings list secure")
    assert sh("settings list secure") == "".join(
        f"{k}={v}\n" for k, v in sorted(sh.phone.settings["secure"].items())
    )
    assert sh("settings delete secure my_key; settings delete secure my_key") == (
        "Deleted 1 rows\nDeleted 0 rows\n"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("settings get nowhere x", "Error: Invalid namespace 'nowhere'\n"),
        ("settings put global x", "Bad arguments\n"),
        ("settings get global", "Bad arguments\n"),
        (
            "settings put system screen_brightness 256",
            "\nException occurred while executing 'put':\njava.lang.IllegalArgumentException: "
            "Invalid value: 256 for setting: screen_brightness\n",
        ),
    ],
)
def test_settings_says_what_is_wrong(sh, line, message):
    assert sh(line) == ""
    assert (sh.code, sh.err) == (255, message)


def test_properties(sh):
    assert sh("getprop ro.product.model") == "ui-gym phone\n"
    assert sh("getprop no.such; getprop no.such default") == "\ndefault\n"
    assert "[ro.product.model]: [ui-gym phone]\n" in sh("getprop")
    assert sh("setprop debug.x 'a b'; getprop debug.x") == "a b\n"
    sh("setprop ro.serialno other")
    assert sh.code == 1
    assert sh("getprop ro.serialno") == "UIGYM0001\n"


def test_a_time_zone_moves_what_the_clock_shows(sh):
    sh("service call alarm 3 s16 Asia/Tokyo")
    assert sh.phone.clock.local.strftime("%H:%M") == "00:34"
    sh("setprop persist.sys.timezone UTC")
    assert sh.phone.clock.local.strftime("%H:%M") == "15:34"
    assert sh("cmd alarm set-timezone Nowhere/Land; getprop persist.sys.timezone") == "UTC\n"


def test_the_displays_size_is_told_and_fixed(sh):
    assert sh("wm size; wm density") == "Physical size: 1080x2400\nPhysical density: 480\n"
    assert sh("wm size reset && wm size 1080x2400") == ""
    assert sh.code == 0
    sh("wm size 720x1280")
    assert (sh.code, sh.err) == (255, "Error: this display is always 1080x2400\n")


def test_rotation_is_locked_and_freed(sh):
    assert sh("wm user-rotation; wm user-rotation free; wm user-rotation") == "lock 0\nfree\n"
    assert sh("settings get system accelerometer_rotation") == "1\n"


def test_input_touches_the_screen(sh):
    sh("input tap 10 20.7; input touchscreen -d 0 swipe 1 2 3 4; input swipe 5 5 5 5 900")
    assert sh.done == [
        ("tap", 10, 20, 1), ("swipe", 1, 2, 3, 4, 300), ("swipe", 5, 5, 5, 5, 900),
    ]  # fmt: skip


def test_input_types_and_presses(sh):
    sh("input text 'a%sb' && input keyevent KEYCODE_BACK home 66 && input keycombination 113 29")
    assert sh.done == [
        ("text", "a b"), ("key", 4), ("key", 3), ("key", 66), ("key", 29, 113),
    ]  # fmt: skip


def test_a_finger_goes_down_and_up_in_lines_of_their_own(sh):
    sh("input motionevent DOWN 5 6")
    sh("input motionevent MOVE 7 8; sleep 1")
    sh("input motionevent UP 9 10")
    assert sh.done == [("swipe", 5, 6, 9, 10, 1000)]


@pytest.mark.parametrize("words", ["tap 1", "tap a b", "swipe 1 2 3", "text", "keyevent", "tap"])
def test_input_refuses_wrong_words(sh, words):
    sh(f"input {words}")
    assert sh.code == 255
    assert sh.err.startswith(f"Error: Invalid arguments for command: {words.split()[0]}\nUsage: ")
    assert sh.done == []


def test_text_beyond_ascii_needs_a_keyboard_that_takes_broadcasts(sh):
    sh("input text 'héllo'")
    assert "java.lang.NullPointerException: Attempt to get length of null array" in sh.err
    out = sh("am broadcast -a ADB_INPUT_B64 --es msg aMOpbGxv")
    assert out.splitlines()[1] == "Broadcast completed: result=0"
    sh("am broadcast -a ADB_CLEAR_TEXT")
    assert sh.done == [("text", "héllo"), ("key", 29, 113), ("key", 67)]


def test_uiautomator_writes_the_tree_and_says_where(sh):
    tree = '<hierarchy rotation="0"></hierarchy>'
    assert sh("uiautomator dump") == "UI hierchary dumped to: /sdcard/window_dump.xml\n"
    assert sh("cat /sdcard/window_dump.xml") == tree
    assert sh("uiautomator dump /dev/tty") == f"{tree}UI hierchary dumped to: /dev/tty\n"
    sh("uiautomator dump /system/x.xml")
    assert (sh.code, sh.err) == (1, "ERROR: could not write to /system/x.xml\n")


def test_screencap_gives_pixels_that_a_client_reads(sh):
    raw = sh.raw("screencap")
    assert struct.unpack("<4I", raw[:16]) == (3, 2, 1, 1)
    assert raw[16:] == bytes(range(24))
    png = Image.open(io.BytesIO(sh.raw("screencap -p")))
    assert (png.mode, png.size, png.tobytes()) == ("RGBA", (3, 2), bytes(range(24)))
    sh("screencap /sdcard/a.png; screencap -p /sdcard/b")
    assert sh.files.read("/sdcard/a.png") == sh.files.read("/sdcard/b") == sh.raw("screencap -p")
    picture, size = screencap.decode(raw, (3, 2))
    assert size == (3, 2)
    assert np.array_equal(picture, np.array(png)[..., :3])


def test_commands_run_as_other_users(sh):
    for line in (
        "su -c 'echo hi; echo ho'",
        "su root sh -c 'echo hi; echo ho'",
        "su 0 -c 'echo hi; echo ho'",
    ):
        assert sh(line) == "hi\nho\n"
    assert sh("echo 'echo piped' | su") == "piped\n"
    assert sh("run-as com.example.chess sh -c 'pwd; echo $1' x 'a b'") == (
        "/data/data/com.example.chess\na b\n"
    )
    sh("run-as no.such ls")
    assert (sh.code, sh.err) == (1, "run-as: unknown package: no.such\n")
    sh("run-as com.android.settings ls")
    assert sh.err == "run-as: package not debuggable: com.android.settings\n"


def test_keyboards(sh):
    latin, adb = "com.android.inputmethod.latin/.LatinIME", "com.android.adbkeyboard/.AdbIME"
    sh(f"ime enable {latin}; ime enable {adb}")
    assert sh(f"ime set {adb}") == f"Input method {adb} selected for user #0\n"
    assert sh("settings get secure default_input_method") == f"{adb}\n"
    assert set(sh("ime list -s").split()) == {latin, adb}
    sh("ime set no/.Such")
    assert sh.err == "Unknown input method no/.Such cannot be selected for user #0\n"


def test_a_restart_closes_everything_and_forgets_nothing_stored(sh):
    sh("am start -n com.android.settings/.Settings; cmd notification post t x; touch /sdcard/kept")
    sh("reboot")
    assert sh("am stack list | grep -c RootTask") == "1\n"
    assert sh("dumpsys notification | grep -c NotificationRecord") == "0\n"
    assert sh("ls /sdcard/kept") == "/sdcard/kept\n"
    assert switches.wifi_on(sh.phone)
