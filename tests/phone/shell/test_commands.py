"""What a line of the table cannot show: what commands do to the phone, bytes, and sessions."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from typing import Any

import numpy as np
import pytest
from PIL import Image
from table_phone import fresh_handset

from ui_gym.android.adb import screencap
from ui_gym_phone.handset import Handset
from ui_gym_phone.shell import ShellSession, run
from ui_gym_phone.shell.commands.sqlite import statements
from ui_gym_phone.state import switches
from ui_gym_phone.state.activities import Notification

MMSSMS = "/data/data/com.android.providers.telephony/databases/mmssms.db"


@pytest.fixture
def phone() -> Handset:
    return fresh_handset()


def says(phone: Handset, line: str, stdin: bytes = b"") -> str:
    return run(phone, line, stdin=stdin).result().stdout.decode("utf-8", "replace")


# -- streams and sessions --


def test_the_two_outputs_keep_their_order_in_time(phone: Handset) -> None:
    output = run(phone, "echo a; echo b >&2; echo c; nosuch; echo d")
    assert [fd for fd, _ in output.chunks] == [1, 2, 1, 2, 1]
    assert b"".join(data for _, data in output.chunks).startswith(b"a\nb\nc\n/system/bin/sh: ")


def test_bytes_that_are_no_text_pass_through(phone: Handset) -> None:
    data = bytes(range(256)) * 3
    assert run(phone, "cat | tee /sdcard/x | cat", stdin=data).result().stdout == data
    assert phone.files.read("/sdcard/x") == data


def test_a_session_that_is_kept_goes_on_and_others_start_afresh(phone: Handset) -> None:
    session = ShellSession()
    run(phone, "cd /sdcard/Download; x=1; false", session=session)
    told = run(phone, "echo $? $x; pwd", session=session).result().stdout
    assert told == b"1 1\n/sdcard/Download\n"
    assert says(phone, "pwd; echo ${x-unset}") == "/\nunset\n"


def test_the_input_is_asked_for_when_it_is_read(phone: Handset) -> None:
    waiting = [b"x\ny", b"\nz\n"]

    def typed() -> bytes:
        return waiting.pop(0) if waiting else b""

    run(phone, "echo no need | cat", stdin=typed)
    assert len(waiting) == 2
    assert run(phone, "read a; echo $a", stdin=typed).result().stdout == b"x\n"
    assert waiting == [b"\nz\n"]
    waiting[:0] = [b"x\ny"]
    assert run(phone, "read a; echo $a; cat", stdin=typed).result().stdout == b"x\ny\nz\n"


def test_a_script_runs_when_it_may(phone: Handset) -> None:
    phone.files.write("/data/local/tmp/run.sh", b"#!/system/bin/sh\necho got $1 $#\nexit 5\n")
    assert says(phone, "sh /data/local/tmp/run.sh a b; echo $?") == "got a 2\n5\n"
    line = "cd /data/local/tmp; chmod +x run.sh; ./run.sh c; echo $?"
    assert says(phone, line) == "got c 1\n5\n"


def test_the_shared_storage_has_its_other_names(phone: Handset) -> None:
    for alias in ("/storage/emulated/0", "/storage/self/primary", "/mnt/sdcard"):
        assert says(phone, f"find {alias} -name todo.md") == f"{alias}/Documents/todo.md\n"
        assert says(phone, f"cd {alias}/Music; touch here; ls /sdcard/Music") == "here\n"


def test_sleep_and_date_move_only_the_phones_clock(phone: Handset) -> None:
    before = phone.clock.ms
    phone.shell("sleep 1.5; sleep 1m")
    assert phone.clock.ms - before == 61_500
    phone.shell("date 1231235924.59")
    assert phone.clock.ms == 1735689599 * 1000
    phone.shell("service call alarm 3 s16 Asia/Tokyo")
    assert says(phone, "date +%z") == "+0900\n"


# -- the screen --


class TouchedHandset(Handset):
    """A phone that only writes down what is done to its screen."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[tuple[Any, ...]] = []

    def tap(self, x: int, y: int, count: int = 1) -> None:
        self.done.append(("tap", x, y, count))

    def swipe(self, x1: int, y1: int, x2: int, y2: int, ms: int = 300) -> None:
        self.done.append(("swipe", x1, y1, x2, y2, ms))

    def text(self, text: str) -> None:
        self.done.append(("text", text))

    def key(self, code: int, *held: int) -> None:
        self.done.append(("key", code, *held))


@pytest.mark.parametrize(
    ("line", "done"),
    [
        ("input tap 10 20.7", [("tap", 10, 20, 1)]),
        ("input touchscreen -d 0 swipe 1 2 3 4", [("swipe", 1, 2, 3, 4, 300)]),
        ("input swipe 5 5 5 5 900", [("swipe", 5, 5, 5, 5, 900)]),
        ("input text 'a%sb'", [("text", "a b")]),
        ("input keyevent KEYCODE_BACK home 66", [("key", 4), ("key", 3), ("key", 66)]),
        ("input keyevent VOLUME_UP APP_SWITCH ZOOM_OUT", [("key", 24), ("key", 187), ("key", 169)]),
        ("input keycombination 113 29", [("key", 29, 113)]),
        ("input motionevent DOWN 5 6; sleep 1; input motionevent UP 9 10",
         [("swipe", 5, 6, 9, 10, 1000)]),
        ("am broadcast -a ADB_INPUT_B64 --es msg aMOpbGxv", [("text", "héllo")]),
        ("am broadcast -a ADB_CLEAR_TEXT", [("key", 29, 113), ("key", 67)]),
        ("cmd media_session dispatch play", [("key", 126)]),
        ("input tap 1", []),
        ("input text 'é'", []),
    ],
)  # fmt: skip
def test_input_touches_the_screen(line: str, done: list[tuple[Any, ...]]) -> None:
    phone = TouchedHandset()
    run(phone, line)
    assert phone.done == done


def test_screencap_gives_pixels_that_a_client_reads(phone: Handset) -> None:
    raw = phone.shell("screencap").stdout
    width, height = struct.unpack("<4I", raw[:16])[:2]
    png = Image.open(io.BytesIO(phone.shell("screencap -p").stdout))
    assert (png.mode, png.size) == ("RGBA", (width, height))
    assert png.tobytes() == raw[16:]
    phone.shell("screencap /sdcard/a.png; screencap -p /sdcard/b")
    assert phone.files.read("/sdcard/a.png") == phone.files.read("/sdcard/b")
    picture, size = screencap.decode(raw, (width, height))
    assert size == (width, height)
    assert np.array_equal(picture, np.array(png)[..., :3])


# -- apps --


@pytest.mark.parametrize(
    ("words", "package", "extras"),
    [
        ("-a android.settings.APPLICATION_DETAILS_SETTINGS -d package:com.example.chess",
         "com.android.settings", {"package": "com.example.chess"}),
        ("-a android.intent.action.SENDTO -d sms:5551234 --es sms_body 'a b'",
         "com.android.messaging", {"number": "5551234", "body": "a b"}),
        ("-a android.intent.action.SENDTO -d smsto:555%201234?body=x", "com.android.messaging",
         {"number": "555 1234", "body": "x"}),
        ("-a android.intent.action.DIAL -d tel:5551234", "com.android.dialer",
         {"number": "5551234"}),
        ("-c android.intent.category.APP_BROWSER", "com.android.browser", {}),
        ("https://x.example", "com.android.browser", {"url": "https://x.example"}),
        ("-n com.example.chess/.MainActivity --es s 'x y' --ei i 7 --ez b true --ef f 1.5 --esa l"
         " a,b --esn n", "com.example.chess",
         {"s": "x y", "i": 7, "b": True, "f": 1.5, "l": ["a", "b"], "n": None}),
    ],
)  # fmt: skip
def test_intents_find_who_answers_them(
    phone: Handset, words: str, package: str, extras: dict[str, Any]
) -> None:
    result = phone.shell(f"am start {words}")
    assert (result.code, result.stderr) == (0, b"")
    assert phone.phone.activity.package == package
    assert extras.items() <= phone.phone.activity.extras.items()


MINE = {"package": "org.example.new", "label": "New", "version": "3.1", "permissions": ["CAMERA"]}
MALFORMED = "PARSE_FAILED_MANIFEST_MALFORMED: Failed to parse /sdcard/x.apk"


def apk(manifest: object, name: str = "ui-gym.json") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, manifest if isinstance(manifest, str) else json.dumps(manifest))
    return data.getvalue()


def test_an_apk_with_our_manifest_is_installed_and_removed(phone: Handset) -> None:
    phone.files.write("/data/local/tmp/new.apk", apk(MINE))
    assert says(phone, 'pm install -r -t "/data/local/tmp/new.apk"') == "Success\n"
    assert says(phone, "pm list packages -3 --show-versioncode new") == (
        "package:org.example.new versionCode:30100\n"
    )
    assert "CAMERA: granted=false" in says(phone, "dumpsys package org.example.new")
    assert says(phone, f"pm install -S {len(apk(MINE))}", stdin=apk(MINE) + b"more") == "Success\n"
    phone.shell("mkdir -p /data/data/org.example.new/files; pm uninstall org.example.new")
    assert says(phone, "pm path org.example.new; ls /data/data | grep example.new") == ""


def test_what_cannot_be_installed(phone: Handset) -> None:
    before = says(phone, "pm list packages")
    for data, why in (
        (b"not a zip", "PARSE_FAILED_NOT_APK: Failed to parse /sdcard/x.apk"),
        (apk(MINE)[:60], MALFORMED),
        (apk(MINE, "x"), "PARSE_FAILED_UNEXPECTED_EXCEPTION: Failed to parse /sdcard/x.apk"),
        (apk("[]"), MALFORMED),
        (apk("{" * 90_000), MALFORMED),
        (apk(MINE | {"package": "../evil"}), MALFORMED),
        (apk(MINE | {"package": "com.android.settings"}),
         "FAILED_UPDATE_INCOMPATIBLE: com.android.settings"),
    ):  # fmt: skip
        phone.files.write("/sdcard/x.apk", data)
        assert says(phone, "pm install /sdcard/x.apk") == f"Failure [INSTALL_{why}]\n"
    assert says(phone, "pm list packages") == before


# -- services --

RADIOS = "settings get global wifi_on; settings get global bluetooth_on"
ON, OFF = ("cmd connectivity airplane-mode enable", "cmd connectivity airplane-mode disable")


@pytest.mark.parametrize(
    ("line", "radios"),
    [
        (ON, "3\n2\n"),
        (f"{ON}; {OFF}", "1\n1\n"),
        (f"svc wifi disable; svc bluetooth disable; {ON}; {OFF}", "0\n0\n"),
        (f"{ON}; svc wifi enable; cmd bluetooth_manager enable", "2\n1\n"),
        (f"{ON}; svc wifi enable; {ON}; {OFF}", "1\n1\n"),
        ("settings put global airplane_mode_on 1; am broadcast -a "
         "android.intent.action.AIRPLANE_MODE --ez state true", "3\n2\n"),
    ],
)  # fmt: skip
def test_airplane_mode_takes_the_radios_and_gives_them_back(
    phone: Handset, line: str, radios: str
) -> None:
    phone.shell(line)
    assert says(phone, RADIOS) == radios


def test_no_ring_volume_is_to_vibrate(phone: Handset) -> None:
    phone.shell("cmd media_session volume --stream 2 --set 0")
    assert switches.ringer(phone.phone) == switches.VIBRATE
    phone.shell("cmd media_session volume --stream 2 --set 3")
    assert switches.ringer(phone.phone) == switches.NORMAL


def test_cleared_notifications_are_told_no_more_but_ongoing_ones_stay(phone: Handset) -> None:
    phone.shell("cmd notification post a b")
    phone.phone.notify(Notification("com.example.chess", 7, "t", "x", 0, ongoing=True))
    phone.shell("service call notification 1")
    assert says(phone, "dumpsys notification | grep -c NotificationRecord") == "1\n"


def test_a_notification_is_told_whose_tag_is_no_utf8(phone: Handset) -> None:
    phone.shell("cmd notification post tag\udcff b")
    assert says(phone, "dumpsys notification | grep -c NotificationRecord") == "1\n"


def test_diskstats_are_arrays_side_by_side(phone: Handset) -> None:
    def sizes() -> list[int]:
        lines = says(phone, "dumpsys diskstats").splitlines()
        told = dict(line.split(": ", 1) for line in lines if ": " in line)
        place = json.loads(told["Package Names"]).index("com.example.chess")
        kinds = ("App Sizes", "App Data Sizes", "Cache Sizes")
        return [json.loads(told[kind])[place] for kind in kinds]

    chess = phone.phone.packages["com.example.chess"]
    assert sizes() == [chess.app_size, chess.data_size, chess.cache_size]
    phone.shell("pm clear --cache-only com.example.chess")
    assert sizes()[2] == 0


def test_a_phone_that_sleeps_has_no_focus(phone: Handset) -> None:
    phone.phone.awake = False
    assert says(phone, "dumpsys window | grep mCurrentFocus") == "  mCurrentFocus=null\n"
    assert says(phone, "dumpsys power | grep mWakefulness=") == "  mWakefulness=Asleep\n"


# -- databases --


def test_a_database_is_pulled_changed_and_pushed_back(phone: Handset) -> None:
    data = phone.files.read(MMSSMS)
    assert data.startswith(b"SQLite format 3\0")
    phone.shell(f"su 0 cp {MMSSMS} /sdcard/copy.db")
    assert says(phone, "sqlite3 /sdcard/copy.db 'SELECT count(*) FROM sms'") == "2\n"
    phone.shell("sqlite3 /sdcard/copy.db \"UPDATE sms SET body = 'changed'\"")
    phone.files.write(MMSSMS, phone.files.read("/sdcard/copy.db"))
    line = "content query --uri content://sms/inbox --projection body"
    assert says(phone, line) == "Row: 0 body=changed\n"


@pytest.mark.parametrize(
    ("script", "parts"),
    [
        ("select 1; select 2", ["select 1;", "select 2"]),
        ("select ';' || \"a;b\"; -- c;\nselect 2;", ["select ';' || \"a;b\";", "-- c;\nselect 2;"]),
        (".tables\nselect 1\n;", [".tables", "select 1\n;"]),
        ("select 'open", ["select 'open"]),
        (" ;; ", []),
    ],
)
def test_scripts_are_parted_into_statements(script: str, parts: list[str]) -> None:
    assert list(statements(script)) == parts
