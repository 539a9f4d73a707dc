"""A phone that is switched on: touch, shell and files are one."""

from __future__ import annotations

import threading

import pytest

from ui_gym.errors import DeviceLost
from ui_gym_phone.handset import Handset


@pytest.fixture
def handset() -> Handset:
    return Handset()


@pytest.mark.parametrize(
    "line", ["test -d /sdcard/x", "settings get global wifi_on", "nothing", ""]
)
def test_a_line_that_changes_nothing_keeps_the_layout(handset, line):
    scene = handset.screen.scene
    handset.ask(line)
    assert handset.screen.scene is scene


@pytest.mark.parametrize(
    "line",
    ["settings put global wifi_on 0", "cmd statusbar expand-settings", "input keyevent 187",
     "touch /sdcard/x", "sleep 60", "am start -n com.android.settings/.Settings"],
)  # fmt: skip
def test_a_line_that_changes_something_is_seen(handset, line):
    scene = handset.screen.scene
    handset.ask(line)
    assert handset.screen.scene is not scene


def test_what_the_shell_sets_is_what_is_shown(handset):
    handset.ask("cmd statusbar expand-settings; svc wifi disable")
    assert 'content-desc="Wi-Fi" checkable="true" checked="false"' in handset.ui_tree()
    handset.ask("svc wifi enable")
    assert 'content-desc="Wi-Fi" checkable="true" checked="true"' in handset.ui_tree()


def test_a_database_is_a_file_to_the_shell_and_to_adb(handset):
    path = "/data/data/com.android.providers.contacts/databases/contacts2.db"
    with pytest.raises(PermissionError):
        handset.read(path)
    handset.set_root(True)
    assert handset.read(path).startswith(b"SQLite format 3\0")
    assert handset.stat(path).size == len(handset.read(path))
    assert "contacts2.db" in [name for name, _ in handset.list(path.rpartition("/")[0])]
    assert handset.shell(f"test -f {path} && head -c 6 {path}").text == "SQLite"
    with pytest.raises(OSError, match="Invalid argument"):
        handset.write(path, b"no database", 0o660, 0)


def test_a_client_that_is_slow_to_speak_blocks_nobody(handset):
    reading, speak = threading.Event(), threading.Event()

    class Slow:
        words = [b"said"]

        def read(self, size: int = -1, /) -> bytes:
            reading.set()
            speak.wait(10)
            return self.words.pop() if self.words else b""

    told: list[bytes] = []
    client = threading.Thread(
        target=handset.run, args=("cat", Slow(), lambda fd, data: told.append(data))
    )
    client.start()
    assert reading.wait(10)
    assert handset.shell("echo here").text == "here"
    speak.set()
    client.join(10)
    assert told == [b"said"]


def test_a_snapshot_brings_everything_back(handset):
    handset.shell("settings put global wifi_on 0; echo x > /sdcard/x; input tap 500 2000")
    saved = handset.snapshot()
    handset.shell("rm -rf /sdcard/*; settings put global wifi_on 1; input keyevent 3")
    handset.renew(saved)
    assert handset.shell("cat /sdcard/x; settings get global wifi_on").text == "x\n0"
    assert handset.snapshot() == saved


def test_each_touch_takes_a_second(handset):
    before = handset.clock.ms
    handset.shell("input tap 10 1000; input keyevent 4; input swipe 10 1000 10 500; sleep 5")
    assert handset.clock.ms == before + 8000


def test_an_input_that_breaks_off_is_at_its_end(handset, caplog):
    class Gone:
        def read(self, size=-1, /):
            raise DeviceLost("the client went")

    told = []
    assert handset.run("cat; echo after", Gone(), lambda fd, data: told.append((fd, data))) == 0
    assert told == [(1, b"after\n")]
    assert not caplog.records, "a client that went is no fault of a command"
