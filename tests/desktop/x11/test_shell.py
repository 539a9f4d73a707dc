"""The whole desktop: icons, a panel with launchers, a list of windows and a clock, the browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest
from waiting import eventually

from ui_gym.contract.action import Press
from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop import shell
from ui_gym.desktop.content.town import Town
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.homes import with_values
from ui_gym.desktop.x11 import needs
from ui_gym.desktop.x11.device import X11Device
from ui_gym.errors import DeviceLost, DeviceStartError

SIZE = (1280, 720)
FILES = {"Desktop/notes.txt": b"hello\n", "Desktop/Papers/old.txt": b"old\n", "other.txt": b""}
ICONS = (["Papers"], ["notes.txt"])

needs_panel = pytest.mark.skipif(
    bool(needs.missing(shell.PACKAGES)), reason="the panel is not installed"
)
needs_chromium = pytest.mark.skipif(
    bool(needs.absent(["chromium"])), reason="Chromium is not installed"
)


@pytest.fixture(scope="module")
def whole() -> Iterator[X11Device]:
    """A started device with room for a whole desktop; each test renews it."""
    device = X11Device(DeviceOptions("x11", SIZE))
    device.start()
    yield device
    device.close()


def titles(device: X11Device) -> list[str]:
    return [window.title for window in device.windows()]


def opened(device: X11Device, title: str) -> bool:
    """Whether a window of that title came to have the keyboard."""
    return eventually(lambda: any(w.active and title in w.title for w in device.windows()), 30.0)


@needs_panel
def test_it_begins_with_the_same_picture_and_leaves_room_for_the_panel(whole: X11Device) -> None:
    spec = shell.session(FILES, [["mousepad", "other.txt"]])
    pictures = []
    for _ in range(2):
        whole.renew(spec)
        pictures.append(whole.capture().image.tobytes())
    assert pictures[0] == pictures[1]
    whole.perform(Press("win+up"))  # maximised
    assert eventually(lambda: whole.windows()[-1].box[2] == SIZE[0])
    _, top, _, height = whole.windows()[-1].box
    assert SIZE[1] - 60 < top + height <= SIZE[1] - 36


@needs_panel
def test_icons_and_panel_are_no_windows(whole: X11Device) -> None:
    whole.renew(shell.session(FILES))
    assert whole.windows() == ()
    for name in ("panel", "pcmanfm"):
        assert not whole.activate_window(name)
        assert not whole.close_window(name)
    assert whole.run(["pgrep", "-c", "tint2|pcmanfm"]).text == "2"


@needs_panel
def test_icons_open_what_they_stand_for(whole: X11Device) -> None:
    whole.renew(shell.session(FILES))
    home = PurePosixPath(whole.home).name
    for name, title in (("notes.txt", "notes.txt"), ("Papers", "Papers"), ("Home", home)):
        whole.perform(shell.icon(name, *ICONS, count=2))
        assert opened(whole, title), titles(whole)
        whole.perform(Press("alt+f4"))
        assert eventually(lambda: not whole.windows())


@needs_panel
def test_the_panel_starts_programs_in_their_own_time(whole: X11Device) -> None:
    whole.renew(shell.session(FILES))
    home = PurePosixPath(whole.home).name
    for name, title in (("files", home), ("editor", "Mousepad"), ("terminal", "Terminal")):
        whole.perform(shell.launcher(SIZE, name))
        assert opened(whole, title), titles(whole)
    faked = "cat /proc/$(pgrep -x {})/environ | tr '\\0' '\\n' | grep -c ^LD_PRELOAD="
    assert whole.run(faked.format("tint2")).text == "1"
    assert whole.run(faked.format("mousepad")).text == "0"


@needs_panel
def test_the_list_of_windows_minimises_and_brings_back(whole: X11Device) -> None:
    launch = [["mousepad", "other.txt"], ["pcmanfm", "Desktop"]]
    whole.renew(shell.session(FILES, launch))
    whole.perform(shell.task(SIZE, 1))
    assert eventually(lambda: titles(whole) == ["other.txt - Mousepad"]), titles(whole)
    whole.perform(shell.task(SIZE, 1))
    assert opened(whole, "Desktop"), titles(whole)
    whole.perform(shell.task(SIZE, 0))
    assert opened(whole, "other.txt"), titles(whole)


@needs_panel
def test_a_panel_that_crashes_is_named(whole: X11Device) -> None:
    whole.renew(shell.session(FILES))
    assert whole.run(["pkill", "-SEGV", "tint2"]).code == 0

    def check() -> bool:
        try:
            whole.sandbox.check()
        except DeviceLost as error:
            return "SIGSEGV" in str(error)
        return False

    assert eventually(check)


@needs_panel
@needs_chromium
def test_the_browser_shows_pages_without_a_dialog_or_a_network(whole: X11Device) -> None:
    town = Town(3)
    pages = {f"{shell.WEB}/{path}": page for path, page in town.files().items()}
    whole.renew(shell.session(pages, packages={"chromium": "chromium"}))
    whole.perform(shell.launcher(SIZE, "browser"))
    assert opened(whole, f"Welcome - {town.name}"), titles(whole)
    assert len(whole.windows()) == 1
    pictures = [whole.capture().image.tobytes() for _ in range(2)]
    assert pictures[0] == pictures[1]


def test_a_missing_program_is_named_before_anything_is_started(whole: X11Device) -> None:
    whole.renew(SessionSpec())
    there = whole.sandbox
    with pytest.raises(DeviceStartError, match=r"no gimpel.*apt-get install viewers"):
        whole.renew(shell.session({}, packages={"gimpel": "viewers"}))
    assert whole.sandbox is there


def test_values_of_a_file_are_replaced_by_their_keys() -> None:
    assert with_values(b"[a]\none=1\ntwo=2\n", {"two": "3"}) == b"[a]\none=1\ntwo=3\n"
    with pytest.raises(KeyError, match="three"):
        with_values(b"one=1\n", {"three": "3"})


def test_the_panel_starts_what_there_are_entries_for() -> None:
    files = shell.session({}).files
    entries = re.findall(r"/(\w+)\.desktop", files[".config/tint2/tint2rc"].decode())
    assert tuple(entries) == shell.LAUNCHERS
    for name in entries:
        assert b"\nExec=env -u LD_PRELOAD " in files[f".local/share/applications/{name}.desktop"]
