"""What an Android device must do, whichever way the phone is reached.

The same checks run on the built-in phone in this process, on one that is served and reached over
ADB's device transport, on one that is reached through a real adb server, and on the device whose
serial ``UI_GYM_ANDROID_SERIAL`` names. That one is only looked at and gone about in: checks that
write what cannot be taken back, or that know what is on the screen, are for built-in phones.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from ui_gym.android import moves
from ui_gym.android.adb.binary import find_adb
from ui_gym.android.adb_device import AdbDevice
from ui_gym.android.device import AndroidDevice
from ui_gym.contract.action import (
    Action,
    Click,
    Drag,
    LongPress,
    Move,
    Open,
    Press,
    Scroll,
    Type,
    Wait,
)
from ui_gym.contract.device import DeviceOptions, Image
from ui_gym.errors import ActionError, DeviceError, DeviceLost
from ui_gym.playing.env import UIEnv
from ui_gym_phone.adbd import AdbServer
from ui_gym_phone.device import PhoneDevice
from ui_gym_phone.handset import Handset

SIZE = (540, 1200)
SERIAL = os.environ.get("UI_GYM_ANDROID_SERIAL", "")
WAYS = (
    "phone",
    "adb-direct",
    pytest.param("adb", marks=pytest.mark.nightly),
    *(["real"] if SERIAL else []),
)
FOLDER = "/data/local/tmp/ui-gym-contract"


@dataclass
class Reached:
    """A phone and the way to it; `handset` is what is behind it, where that is ours."""

    kind: str
    device: AndroidDevice
    handset: Handset | None

    def do(self, *actions: Action) -> None:
        for action in actions:
            self.device.perform(action)

    def follow(self, steps: Iterator[Action]) -> None:
        """Do what an oracle would."""
        for step in steps:
            self.device.perform(step)

    def says(self, line: str) -> str:
        return self.device.shell(line).text

    @property
    def focus(self) -> str:
        return self.says("dumpsys window | grep mCurrentFocus")


@pytest.fixture(scope="module")
def adb_server() -> Iterator[None]:
    """An adb server of our own, which is gone afterwards."""
    adb = find_adb()
    if adb is None:
        pytest.skip("no adb: apt-get install adb, or pip install adbutils")
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = str(sock.getsockname()[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ADB_SERVER_SOCKET", raising=False)
        patch.delenv("ANDROID_ADB_SERVER_ADDRESS", raising=False)
        patch.setenv("ANDROID_ADB_SERVER_PORT", port)
        # It would look for emulators at ports where other tests have their phones.
        patch.setenv("ADB_LOCAL_TRANSPORT_MAX_PORT", "5554")
        patch.setenv("ADB_MDNS", "0")
        yield
        subprocess.run([adb, "-P", port, "kill-server"], capture_output=True, timeout=60)


@pytest.fixture(scope="module", params=WAYS)
def way(request: pytest.FixtureRequest) -> Iterator[Reached]:
    if request.param == "phone":
        built_in = PhoneDevice(DeviceOptions("phone", SIZE))
        built_in.start()
        yield Reached("phone", built_in, built_in.handset)
        built_in.close()
        return
    if request.param == "real":
        yield from _reached(f"adb:{SERIAL}", None)
        return
    if request.param == "adb":
        request.getfixturevalue("adb_server")
    handset = Handset()
    with AdbServer(handset) as server:
        yield from _reached(f"{request.param}:{server.address}", handset)


def _reached(kind: str, handset: Handset | None) -> Iterator[Reached]:
    device = AdbDevice(DeviceOptions(kind, SIZE))
    device.start()
    yield Reached(kind, device, handset)
    device.close()


@pytest.fixture
def phone(way: Reached) -> Reached:
    """Any phone, at its home screen."""
    way.device.start()
    if way.handset is not None:
        way.handset.renew()
    way.device.renew(["com.android.settings"])
    return way


@pytest.fixture
def ours(phone: Reached) -> Reached:
    """A built-in phone, as it left the factory."""
    if phone.handset is None:
        pytest.skip("this is for built-in phones")
    return phone


# -- the shell --


def test_a_line_tells_output_errors_and_exit_code_apart(phone: Reached) -> None:
    result = phone.device.shell("echo out; echo wrong >&2; exit 3")
    assert (result.stdout, result.stderr, result.code) == (b"out\n", b"wrong\n", 3)
    assert phone.device.shell("true").code == 0


def test_lines_have_variables_pipes_and_any_text(phone: Reached) -> None:
    assert phone.says("x='Grüße ☂'; echo \"$x\" | sed s/ü/u/") == "Gruße ☂"
    assert phone.says("printf 'a\\nb\\n' | wc -l").strip() == "2"


def test_a_long_output_comes_whole(phone: Reached) -> None:
    result = phone.device.shell("for i in 1 2 3 4 5; do head -c 2000000 /dev/zero; echo; done")
    assert result.stdout == (bytes(2_000_000) + b"\n") * 5


def test_what_is_unknown_fails_and_the_next_line_works(phone: Reached) -> None:
    result = phone.device.shell("no-such-command-at-all")
    assert result.code == 127
    assert b"no-such-command-at-all" in result.stderr
    assert phone.says("echo well") == "well"


# -- files --


def test_bytes_go_there_and_back(phone: Reached) -> None:
    data = bytes(range(256)) * 3000
    phone.device.push(data, f"{FOLDER}/deep/data.bin")
    assert phone.device.pull(f"{FOLDER}/deep/data.bin") == data
    assert phone.says(f"wc -c < {FOLDER}/deep/data.bin").strip() == str(len(data))
    phone.device.push(b"", f"{FOLDER}/empty")
    assert phone.device.pull(f"{FOLDER}/empty") == b""
    assert phone.device.shell(f"rm -r {FOLDER}").code == 0


def test_a_file_that_is_not_there_is_told_by_its_path(phone: Reached) -> None:
    with pytest.raises(DeviceError, match=r"(?s)/sdcard/no-such-file.*No such file or directory"):
        phone.device.pull("/sdcard/no-such-file")


def test_a_place_where_nobody_may_write_refuses(phone: Reached) -> None:
    with pytest.raises(DeviceError, match="/system/ui-gym"):
        phone.device.push(b"x", "/system/ui-gym")
    assert phone.says("echo well") == "well"


# -- what is seen --


def test_a_picture_has_the_size_that_was_asked_for(phone: Reached) -> None:
    frame = phone.device.capture()
    assert frame.image.shape == (SIZE[1], SIZE[0], 3)
    assert frame.image.dtype == np.uint8
    assert frame.elements == ()
    out = np.zeros_like(frame.image)
    assert phone.device.capture(out).image is out
    assert out.any()


def test_the_same_state_gives_the_same_picture(ours: Reached) -> None:
    ours.do(Open("Contacts"))
    first = ours.device.capture().image
    assert np.array_equal(first, ours.device.capture().image)
    ours.handset.renew()  # type: ignore[union-attr]
    ours.do(Open("Contacts"))
    assert np.array_equal(first, ours.device.capture().image)


def test_every_way_shows_the_picture_that_the_phone_has_here(ours: Reached) -> None:
    here = PhoneDevice(DeviceOptions("phone", SIZE))
    here.start()
    for app in ("Settings", "Calculator"):
        here.renew()
        ours.handset.renew()  # type: ignore[union-attr]
        here.perform(Open(app))
        ours.do(Open(app))
        difference = shrunk(here.capture().image) - shrunk(ours.device.capture().image)
        assert np.abs(difference).max() < 40
        assert here.capture(elements=True).elements == ours.device.capture(elements=True).elements
    here.close()


def shrunk(image: Image) -> np.ndarray:
    """A picture at a twelfth of its size. Over ADB it was drawn large, so edges are others."""
    return image.reshape(SIZE[1] // 12, 12, SIZE[0] // 12, 12, 3).mean((1, 3))


def test_the_tree_and_the_elements_tell_of_the_app_that_is_seen(phone: Reached) -> None:
    phone.do(Open("Settings"))
    tree = phone.device.ui_tree()
    assert tree.startswith("<?xml")
    assert tree.rstrip().endswith("</hierarchy>")
    assert "settings" in tree
    elements = phone.device.capture(elements=True).elements
    assert [element.id for element in elements] == list(range(len(elements)))
    assert any(element.name for element in elements)
    for element in elements:
        left, top, width, height = element.box
        assert 0 <= left < left + width <= SIZE[0]
        assert 0 <= top < top + height <= SIZE[1]


# -- what is done --


def test_a_click_opens_what_it_touches(ours: Reached) -> None:
    ours.do(Open("Settings"))
    ours.follow(moves.tap(ours.device, "Display"))
    assert "DisplaySettings" in ours.focus


def test_keys_lead_back_and_home(phone: Reached) -> None:
    home = phone.focus
    phone.do(Open("Settings"))
    assert "settings" in phone.focus
    phone.do(Press("back"))
    assert phone.focus.split()[-1] == home.split()[-1]
    phone.do(Open("Settings"), Press("home"))
    assert phone.focus.split()[-1] == home.split()[-1]


def test_scrolling_down_shows_what_is_below_and_up_what_was_above(ours: Reached) -> None:
    ours.do(Open("Settings"))
    before = ours.device.capture().image
    assert moves.find(ours.device, "About phone") is None
    ours.do(*[Scroll(270, 700, dy=500)] * 3)
    assert moves.find(ours.device, "About phone") is not None
    ours.do(*[Scroll(270, 700, dy=-500)] * 4)
    assert np.array_equal(ours.device.capture().image, before)


def test_a_drag_from_the_top_pulls_the_shade_down(phone: Reached) -> None:
    phone.do(Drag(270, 4, 270, 900))
    assert "NotificationShade" in phone.focus
    phone.device.renew()
    assert "NotificationShade" not in phone.focus


def test_a_long_press_selects(ours: Reached) -> None:
    ours.device.push(b"x", "/sdcard/Download/held.txt")
    ours.do(Open("Files"))
    ours.follow(moves.tap(ours.device, "Download"))
    found = moves.find(ours.device, "held.txt")
    assert found is not None
    ours.do(LongPress(*found.center))
    assert moves.find(ours.device, "1 selected") is not None


@pytest.mark.parametrize(
    "text", ['Plain text, 100%sure & "so" it\'s $HOME `x` \\n', "Grüße ☂ 漢字", "two\nlines", ""]
)
def test_text_is_typed_as_it_is(ours: Reached, text: str) -> None:
    ours.do(Open("Notes"))
    ours.follow(moves.tap(ours.device, "New note"))
    ours.follow(moves.fill(ours.device, "File name", "typed.txt"))
    ours.follow(moves.fill(ours.device, "Text", "what was there before"))
    ours.do(Type(text, clear=True))
    ours.follow(moves.tap(ours.device, "Save"))
    assert ours.device.pull("/sdcard/Documents/Notes/typed.txt").decode() == text


def test_enter_and_chords_reach_the_field(ours: Reached) -> None:
    ours.do(Open("Browser"))
    ours.follow(moves.tap(ours.device, "", role="textbox", exact=False))
    ours.do(Type("wrong"), Press("ctrl+a"), Type("openwiki.example/otter", enter=True))
    assert moves.find(ours.device, "Mustelidae") is not None


def test_time_passes_while_it_waits(phone: Reached) -> None:
    before = int(phone.says("date +%s"))
    phone.do(Wait(2))
    assert int(phone.says("date +%s")) >= before + 2


def test_two_clicks_are_two(ours: Reached) -> None:
    ours.do(Open("Calculator"))
    five = moves.find(ours.device, "5")
    assert five is not None
    ours.do(Click(*five.center, count=2))
    assert moves.find(ours.device, "55") is not None


@pytest.mark.parametrize(
    "action", [Move(5, 5), Click(5, 5, button="right"), Press("no-such-key"), Open("No Such App")]
)
def test_what_a_phone_cannot_do_is_refused_and_nothing_is_done(
    phone: Reached, action: Action
) -> None:
    home = phone.focus
    with pytest.raises(ActionError):
        phone.do(action)
    assert phone.focus == home


# -- opening --


@pytest.mark.parametrize("target", ["Settings", "settings", "com.android.settings"])
def test_apps_are_opened_by_label_and_by_package(phone: Reached, target: str) -> None:
    phone.do(Open(target))
    assert "com.android.settings/" in phone.focus


def test_an_app_that_is_not_there_is_told_with_the_nearest(phone: Reached) -> None:
    with pytest.raises(ActionError, match=r"no app 'Setings'.*'settings'"):
        phone.do(Open("Setings"))


def test_addresses_are_opened_in_the_browser(ours: Reached) -> None:
    ours.do(Open("https://openwiki.example/tram"))
    assert "com.android.browser" in ours.focus
    assert "openwiki.example/tram" in ours.device.ui_tree()


def test_no_other_scheme_is_opened(phone: Reached) -> None:
    with pytest.raises(ActionError, match="begins with"):
        phone.do(Open("file:///sdcard/x"))


# -- as a whole --


def test_renewing_leads_home_from_anywhere(phone: Reached) -> None:
    home = phone.focus
    phone.do(Open("Settings"))
    assert phone.device.shell("cmd statusbar expand-notifications").code == 0
    phone.device.renew(["com.android.settings"])
    assert phone.focus.split()[-1] == home.split()[-1]


def test_a_closed_device_is_lost_until_it_is_started(way: Reached) -> None:
    way.device.close()
    way.device.close()
    for use in (way.device.capture, way.device.ui_tree, lambda: way.device.shell("true")):
        with pytest.raises(DeviceLost):
            use()
    way.device.start()
    way.device.start()
    assert way.device.shell("echo back").text == "back"
    if isinstance(way.device, PhoneDevice):
        way.handset = way.device.handset


EPISODES = ("AndroidMkdir", "AndroidSmsReply", "AndroidWifi")


@pytest.fixture(scope="module")
def played_here() -> dict[str, list[str]]:
    """What the oracle does in each episode, in this process."""
    return {name: played(name, "phone") for name in EPISODES}


def played(name: str, kind: str) -> list[str]:
    """The answers of an oracle that reaches the goal."""
    env = UIEnv(name, device=kind, viewport=SIZE)
    try:
        _, info = env.reset(seed=3, options={"oracle": True})
        done = []
        while True:
            done.append(info["oracle"]["action_text"])
            _, _, terminated, truncated, info = env.step(done[-1])
            assert info["action_error"] is None
            if terminated or truncated:
                break
        assert info["success"], info["notes"] or info["failure"]
        return done
    finally:
        env.close()


@pytest.mark.parametrize("name", EPISODES)
def test_an_episode_is_played_the_same_way_on_every_phone(
    ours: Reached, played_here: dict[str, list[str]], name: str
) -> None:
    assert played(name, ours.kind) == played_here[name]
