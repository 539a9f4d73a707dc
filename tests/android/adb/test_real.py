"""A device by ADB: acts, looks, and says what went wrong, whichever way it is reached."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from adb_peers import use_server
from adb_toy import NOW, TREE, Adb, Toy, options, raw_picture

from ui_gym.android.adb_device import AdbDevice
from ui_gym.android.device import AndroidDevice
from ui_gym.contract import action as act
from ui_gym.errors import (
    ActionError,
    DeviceError,
    DeviceLost,
    DeviceStartError,
    DeviceTimeout,
    UserError,
)
from ui_gym_phone.adbd import AdbServer


def input_lines(toy: Toy) -> list[str]:
    return [line for line in toy.lines if line.startswith("input")]


@pytest.fixture(params=["adb-direct", "adb", "serial"])
def each(request: pytest.FixtureRequest, served: AdbServer) -> Iterator[AdbDevice]:
    """The toy as a device, by each of the ways there are."""
    if request.param == "adb-direct":
        kind = f"adb-direct:{served.address}"
    else:
        serial = request.getfixturevalue("attached")
        kind = "adb" if request.param == "adb" else f"adb:{serial}"
    made = AdbDevice(options(kind))
    made.start()
    yield made
    made.close()


def test_it_does_what_a_device_for_android_must(each: AdbDevice, toy: Toy) -> None:
    assert isinstance(each, AndroidDevice)
    each.start()
    each.perform(act.Click(10, 20))
    each.perform(act.Type("a b", enter=True))
    assert input_lines(toy) == ["input tap 21 41", "input text a%sb && input keyevent 66"]
    assert each.shell("echo hi; exit 2").code == 2
    each.push(b"data", "/sdcard/x")
    assert each.pull("/sdcard/x") == b"data"
    assert each.ui_tree() == TREE
    frame = each.capture(elements=True)
    assert frame.image.shape == (120, 54, 3)
    assert frame.image.dtype == np.uint8
    assert (frame.image == (10, 200, 30)).all()
    assert [str(element) for element in frame.elements] == [
        '[0] switch "Wi-Fi" @ 27,20 54x20 checked'
    ]
    each.close()
    each.close()
    with pytest.raises(DeviceLost, match="not connected"):
        each.shell("echo")
    each.start()
    assert each.shell("echo again").text == "again"


def test_a_picture_is_written_where_it_is_wanted(device: AdbDevice) -> None:
    out = np.zeros((120, 54, 3), np.uint8)
    assert device.capture(out).image is out
    assert (out == (10, 200, 30)).all()


def test_a_picture_is_taken_when_the_screen_has_come_to_rest(device: AdbDevice, toy: Toy) -> None:
    toy.pictures = [raw_picture(toy.screen, (n, 0, 0)) for n in (1, 2, 3, 3, 4)]
    assert (device.capture().image == (3, 0, 0)).all()


def test_a_screen_that_never_rests_is_taken_as_it_is(served: AdbServer, toy: Toy) -> None:
    toy.pictures = [raw_picture(toy.screen, (n, 0, 0)) for n in range(200)]
    device = AdbDevice(options(f"adb-direct:{served.address}", settle="0"))
    device.start()
    assert (device.capture().image == (0, 0, 0)).all()
    assert (device.capture().image == (1, 0, 0)).all()
    device.close()


@pytest.mark.parametrize(
    ("sizes", "orientation", "tap"),
    [
        ("Physical size: 108x240\n", 0, "input tap 107 239"),
        ("Physical size: 108x240\n", 1, "input tap 237 107"),
        ("Physical size: 108x240\nOverride size: 54x120\n", 0, "input tap 53 119"),
        ("Physical size: 108x240\nOverride size: 54x120\n", 3, "input tap 118 53"),
    ],
)
def test_the_size_is_known_before_the_first_picture(
    toy: Toy, served: AdbServer, sizes: str, orientation: int, tap: str
) -> None:
    toy.sizes, toy.orientation = sizes, orientation
    device = AdbDevice(options(f"adb-direct:{served.address}"))
    device.start()
    device.perform(act.Click(53, 119))
    assert input_lines(toy) == [tap]
    device.close()


def test_a_screen_that_turns_takes_clicks_where_they_were_seen(device: AdbDevice, toy: Toy) -> None:
    toy.screen = (240, 108)
    device.capture()
    device.perform(act.Click(53, 0))
    assert input_lines(toy)[-1] == "input tap 237 0"


def test_much_input_goes_in_calls_that_are_not_too_long(device: AdbDevice, toy: Toy) -> None:
    for action in [act.Type("x" * 4000), act.Click(1, 1)] * 8:
        device.perform(action)
    sent = " && ".join(input_lines(toy))
    assert sent.split(" && ") == ["input text " + "x" * 4000, "input tap 3 3"] * 8
    assert max(map(len, toy.lines)) < 20_000


def test_a_wrong_action_leaves_the_phone_as_it_was(device: AdbDevice, toy: Toy) -> None:
    for wrong in (act.Move(1, 1), act.Type("你好"), act.Press("nokey"), act.Open("No Such App")):
        with pytest.raises(ActionError):
            device.perform(wrong)
    assert input_lines(toy) == []


def test_signs_of_all_languages_go_through_adbkeyboard(device: AdbDevice, toy: Toy) -> None:
    toy.input_method = "com.android.adbkeyboard/.AdbIME"
    device.perform(act.Type("你好"))
    assert toy.launched == ["5L2g5aW9"]


def test_apps_and_urls_are_opened(device: AdbDevice, toy: Toy) -> None:
    device.perform(act.Open("Settings"))
    device.perform(act.Click(1, 1))
    device.perform(act.Open("https://a.example/?x=1&y"))
    assert toy.launched == ["com.android.settings", "https://a.example/?x=1&y"]
    device.perform(act.Open("mail"))  # `am` does not find it
    assert toy.launched[2:] == ["monkey com.example.mail"]


def test_an_app_that_does_not_start_is_feedback(device: AdbDevice, toy: Toy) -> None:
    toy._monkey = lambda rest, stdin, write: write(1, b"** No activities found to run, aborted.")
    with pytest.raises(ActionError, match=r"'mail' cannot be opened: .*No activities") as caught:
        device.perform(act.Open("mail"))
    assert caught.value.kind == "runtime"


def test_refused_input_is_the_devices_fault(device: AdbDevice, toy: Toy) -> None:
    def refuse(rest: list[str], stdin: object, write: object) -> int:
        write(2, b"SecurityException: needs INJECT_EVENTS permission")  # type: ignore[operator]
        return 255

    toy._input = refuse  # type: ignore[method-assign]
    with pytest.raises(DeviceError, match=r"INJECT_EVENTS.*developer options"):
        device.perform(act.Click(1, 1))


def test_the_tree_is_asked_for_until_the_screen_is_idle(device: AdbDevice, toy: Toy) -> None:
    toy.trees = ["ERROR: could not get idle state.\n", "ERROR: null root node returned\n", TREE]
    assert device.ui_tree() == TREE
    dumps = [line for line in toy.lines if line.startswith("uiautomator")]
    assert len(dumps) == 3


def test_a_tree_comes_by_a_file_where_there_is_no_terminal(device: AdbDevice, toy: Toy) -> None:
    toy.has_terminal = False
    toy.files["/data/local/tmp/ui-gym.xml"] = (b"<hierarchy>old</hierarchy>", 0o644, 7)
    toy.trees = [TREE, "Killed", TREE]
    assert device.ui_tree() == TREE


def test_a_tree_that_never_comes_is_given_up(served: AdbServer, toy: Toy) -> None:
    toy.trees = ["ERROR: could not get idle state.\n"]
    device = AdbDevice(options(f"adb-direct:{served.address}", timeout=0.5))
    device.start()
    with pytest.raises(DeviceTimeout, match=r"within 0\.5 s: 'ERROR: could not get idle state"):
        device.ui_tree()
    device.close()


def test_a_file_that_is_pushed_is_of_the_phones_time(device: AdbDevice, toy: Toy) -> None:
    device.push(b"x", "/sdcard/it's new.txt")
    assert toy.files["/sdcard/it's new.txt"] == (b"x", 0o644, NOW)
    with pytest.raises(DeviceError, match="remote: Permission denied"):
        device.push(b"x", "/system/x")


def test_a_known_start_stops_what_is_named(device: AdbDevice, toy: Toy) -> None:
    device.renew(["com.example.mail", "a;b"])
    (line,) = [line for line in toy.lines if "collapse" in line]
    assert line.endswith("am force-stop com.example.mail; am force-stop 'a;b'; input keyevent 3")


@pytest.mark.parametrize(
    ("picture", "reason"),
    [(b"", "no screenshot"), (struct.pack("<4I", 1 << 30, 1 << 30, 1, 0), "1073741824x1073741824")],
)
def test_nonsense_for_a_picture_is_told(
    device: AdbDevice, toy: Toy, picture: bytes, reason: str
) -> None:
    toy.pictures = [picture]
    with pytest.raises(DeviceError, match=reason):
        device.capture()


@pytest.mark.parametrize("level", ["", "unknown", "34.1", "99999"])
def test_an_odd_version_is_no_hindrance(toy: Toy, served: AdbServer, level: str) -> None:
    toy.properties["ro.build.version.sdk"] = level
    device = AdbDevice(options(f"adb-direct:{served.address}"))
    device.start()
    device.perform(act.Type("", clear=True))
    assert input_lines(toy) == ["input keycombination 113 29 && input keyevent 67"]
    device.close()


def test_a_line_may_take_as_long_as_it_is_given(served: AdbServer, toy: Toy) -> None:
    device = AdbDevice(options(f"adb-direct:{served.address}", timeout=10))
    device.start()
    with pytest.raises(DeviceTimeout, match=rf"{served.address}.* 0\.2 s"):
        device.shell("hang", timeout=0.2)
    device.close()


def test_a_phone_that_goes_is_lost_and_comes_back_at_the_next_start(toy: Toy) -> None:
    served = AdbServer(toy)
    device = AdbDevice(options(f"adb-direct:{served.address}"))
    device.start()
    served.close()
    with pytest.raises(DeviceLost, match=served.address):
        device.perform(act.Click(1, 1))
    with pytest.raises(DeviceStartError, match="no device answers"):
        device.start()
    with AdbServer(toy, port=served.port):
        device.start()
        assert device.shell("echo back").text == "back"
        device.close()


def test_a_phone_that_was_restarted_is_connected_anew(
    any_adb: Adb, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_server(monkeypatch, any_adb.port)
    served = AdbServer(toy)
    device = AdbDevice(options(f"adb:{served.address}"))
    device.start()
    served.close()
    with pytest.raises(DeviceLost):
        device.shell("echo")
    with AdbServer(toy, port=served.port):
        device.start()
        assert device.shell("echo back").text == "back"
        served.close()
        device.close()
        any_adb("disconnect", served.address)


def test_a_phone_that_dies_in_mid_call_is_lost(
    each: AdbDevice, served: AdbServer, toy: Toy
) -> None:
    killer = threading.Thread(target=lambda: toy.hanging.wait(10) and _kill(served, toy))
    killer.start()
    with pytest.raises(DeviceLost, match=served.address):
        each.shell("hang")
    killer.join(10)


def _kill(served: AdbServer, toy: Toy) -> None:
    served.close()
    toy.go.set()


def test_a_phone_without_a_screen_does_not_start(served: AdbServer, toy: Toy) -> None:
    toy._wm = lambda rest, stdin, write: write(1, b"cmd: Can't find service: window\n")
    device = AdbDevice(options(f"adb-direct:{served.address}", timeout=0.3))
    with pytest.raises(DeviceStartError, match=r"tells no size.*booting.*find service"):
        device.start()


def test_a_wrong_option_is_told() -> None:
    with pytest.raises(UserError, match="settle is a time of 0 to 60 seconds, not 'soon'"):
        AdbDevice(options("adb", settle="soon"))
