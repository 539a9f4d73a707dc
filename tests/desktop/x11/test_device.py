"""The X11 device: sessions, files, windows, and the same first picture each time."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
import xcffib
from waiting import eventually
from x11_helpers import NOTES, SIZE, saved

from ui_gym.contract.action import Move, Press, Type
from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.x11 import applications
from ui_gym.desktop.x11.device import X11Device
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, UserError


def test_it_is_a_desktop_device(desktop: X11Device) -> None:
    desktop.renew(SessionSpec())
    assert isinstance(desktop, DesktopDevice)


def test_a_session_shows_its_program_with_its_file(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    (window,) = desktop.windows()
    assert (window.app, window.active) == ("Mousepad", True)
    assert "notes.txt" in window.title
    frame = desktop.capture()
    assert frame.image.shape == (SIZE[1], SIZE[0], 3)
    assert frame.image.dtype == np.uint8
    left, top, width, height = window.box
    inside = frame.image[top + 60 : top + height, left + 80 : left + width - 20]
    assert (inside.min(axis=2) > 200).mean() > 0.9  # paper, mostly


def test_the_empty_desktop_has_its_colour(desktop: X11Device) -> None:
    desktop.renew(SessionSpec())
    assert [f"{n:02x}" for n in desktop.capture().image[5, 5]] == ["3b", "5b", "78"]


def test_a_picture_is_written_where_it_is_asked_for(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    out = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    frame = desktop.capture(out)
    assert frame.image is out
    assert out.any()


def test_every_session_begins_with_the_same_picture(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    first = desktop.capture().image.copy()
    for action in (Type("something else"), Press("ctrl+s"), Press("alt+f4"), Move(10, 10)):
        desktop.perform(action)
    desktop.capture()
    for _ in range(3):
        desktop.renew(NOTES)
        assert np.array_equal(desktop.capture().image, first)


def test_another_device_shows_the_same_picture(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    first = desktop.capture().image.copy()
    other = X11Device(DeviceOptions("x11", SIZE))
    other.start()
    try:
        other.renew(NOTES)
        assert np.array_equal(other.capture().image, first)
    finally:
        other.close()


def test_nothing_of_an_episode_is_there_in_the_next(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    desktop.write("more.txt", b"x")
    desktop.run("echo y > /tmp/y; mousepad other.txt &")
    desktop.renew(SessionSpec())
    assert desktop.read("more.txt") is None
    assert desktop.read("/tmp/y") is None
    assert desktop.windows() == ()
    assert desktop.run("pgrep mousepad").text == ""


def test_not_even_the_keyboard_is_as_it_was_left(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    desktop.perform(Press("capslock"))
    desktop.perform(Type("A"))
    desktop.renew(NOTES)
    desktop.perform(Type("small", clear=True))
    assert saved(desktop).strip() == "small"


@pytest.mark.skipif(os.geteuid() != 0, reason="another user takes root")
def test_without_namespaces_a_session_is_the_same() -> None:
    device = X11Device(DeviceOptions("x11:user", SIZE, elements=True))
    device.start()
    try:
        device.renew(NOTES)
        assert "notes.txt" in device.windows()[0].title
        device.perform(Type("mine: ", clear=False))
        assert saved(device).startswith("mine: ")
        assert "File" in [element.name for element in device.elements()]
    finally:
        device.close()


@pytest.mark.parametrize("portal", ["Desktop", "Documents"])
@pytest.mark.parametrize("way", ["bubblewrap", "unconfined"])
def test_the_portals_of_the_machine_are_no_part_of_a_session(way: str, portal: str) -> None:
    device = X11Device(DeviceOptions(f"x11:{way}", SIZE))
    try:
        device.start()
        device.renew(SessionSpec())
        name = f"org.freedesktop.portal.{portal}"
        asked = f"dbus-send --session --print-reply --dest={name} / org.freedesktop.DBus.Peer.Ping"
        said = device.run(asked).stderr.decode()
    finally:
        device.close()
    assert f"Process {name} exited with status 1" in said  # it is known, and does not start


@pytest.mark.parametrize("way", ["bubblewrap", "user"])
def test_temporary_files_may_lie_where_only_we_can_go(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "user" and os.geteuid():
        pytest.skip("another user takes root")
    tmp_path.chmod(0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    device = X11Device(DeviceOptions(f"x11:{way}", SIZE))
    device.start()
    try:
        device.renew(NOTES)
        assert "notes.txt" in device.windows()[0].title
    finally:
        device.close()


def test_what_a_program_writes_where_the_manager_should_is_no_failure(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    other = xcffib.connect(desktop.display.name)
    atom = desktop.display.atoms["_NET_ACTIVE_WINDOW"]
    other.core.ChangePropertyChecked(0, desktop.display.root, atom, 31, 8, 3, b"abc").check()
    assert len(desktop.windows()) == 1
    assert desktop.capture().image.any()
    other.disconnect()


def test_files_written_by_an_application_are_read(desktop: X11Device) -> None:
    desktop.renew(NOTES)
    desktop.perform(Press("ctrl+end"))
    desktop.perform(Type("gamma"))
    assert saved(desktop).splitlines() == ["alpha", "beta", "gamma"]


def test_windows_are_raised_and_closed_by_name_and_class(desktop: X11Device) -> None:
    files = {"one.txt": b"1", "two.txt": b"2"}
    launch = [
        ["mousepad", "--disable-server", "one.txt"],
        ["mousepad", "--disable-server", "two.txt"],
    ]
    desktop.renew(SessionSpec(files=files, launch=launch))
    assert [w.active for w in desktop.windows()] == [False, True]
    assert desktop.activate_window("one.txt")
    assert "one.txt" in desktop.windows()[-1].title
    assert not desktop.activate_window("one.txt", strict=True)
    assert not desktop.activate_window("three.txt")
    assert desktop.activate_window("Mousepad", by_class=True, strict=True)
    assert desktop.close_window("two.txt")
    assert [w.title for w in desktop.windows() if "two" in w.title] == []
    assert not desktop.close_window("two.txt")


def test_a_missing_program_names_its_package(desktop: X11Device) -> None:
    with pytest.raises(DeviceStartError, match=r"no gimpel.*apt-get install gimp"):
        desktop.renew(SessionSpec(launch=[["gimpel"]], packages={"gimpel": "gimp"}))
    desktop.renew(SessionSpec())
    with pytest.raises(DeviceError, match="no program gimpel"):
        desktop.launch(["gimpel"])


def test_a_file_is_opened_by_the_program_that_the_desktop_has_for_it(desktop: X11Device) -> None:
    desktop.renew(SessionSpec(files={"read me.txt": b"hello"}))
    desktop.open_file(f"{desktop.home}/read me.txt")
    assert "read me.txt" in desktop.windows()[-1].title


def test_files_that_are_opened_in_one_window_are_waited_for_by_its_title(
    desktop: X11Device,
) -> None:
    """Mousepad shows the second file, and again the first, in a tab of the window that it has."""
    desktop.renew(SessionSpec(files={"one.txt": b"1", "two.txt": b"2"}))
    desktop.open_file(f"{desktop.home}/one.txt")
    (first,) = desktop.windows()
    for name in ("two.txt", "one.txt"):
        desktop.launch(["pcmanfm", "/usr"])
        assert eventually(lambda: desktop.windows()[-1].app == "Pcmanfm")
        desktop.open_file(f"{desktop.home}/{name}")
        active = [window for window in desktop.windows() if window.active]
        assert [(window.id, name in window.title) for window in active] == [(first.id, True)]


def test_of_the_chosen_applications_the_first_that_is_there_opens_a_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = [
        applications.Application(name, (name,), f"{name}.desktop", (), frozenset({"text/plain"}))
        for name in ("alpha", "beta", "gamma")
    ]
    monkeypatch.setattr(applications, "installed", lambda: tuple(there))
    chosen = "[Default Applications]\ntext/plain=absent.desktop;beta.desktop;gamma.desktop\n"
    assert applications.opener_of("/a.txt", chosen) == ("beta", "/a.txt")
    assert applications.opener_of("/a.txt", "") == ("alpha", "/a.txt")


def test_before_it_starts_and_after_it_ends_it_is_lost() -> None:
    device = X11Device(DeviceOptions("x11", SIZE))
    with pytest.raises(DeviceLost, match="call start"):
        device.renew(SessionSpec())
    device.start()
    with pytest.raises(DeviceLost, match="renew"):
        device.capture()
    device.close()
    device.close()
    with pytest.raises(DeviceLost, match="closed"):
        device.windows()


@pytest.mark.parametrize("size", [(100, 600), (800, 9000)])
def test_a_screen_has_bounds(size: tuple[int, int]) -> None:
    with pytest.raises(UserError, match=f"not {size[0]}x{size[1]}"):
        X11Device(DeviceOptions("x11", size))


def test_an_unknown_confinement_names_those_that_there_are() -> None:
    with pytest.raises(UserError, match=r"no confinement 'docker'.*bubblewrap"):
        X11Device(DeviceOptions("x11:docker", SIZE))
