"""The X11 device: sessions, files, windows, and the same first picture each time."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
import xcffib
from x11_helpers import NOTES, SIZE, saved

from ui_gym.contract.action import Move, Press, Type
from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.device import DesktopDevice, Session
from ui_gym.desktop.x11.device import X11Device
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, UserError


def test_it_is_a_desktop_device(desk: X11Device) -> None:
    desk.renew(Session())
    assert isinstance(desk, DesktopDevice)


def test_a_session_shows_its_program_with_its_file(desk: X11Device) -> None:
    desk.renew(NOTES)
    (window,) = desk.windows()
    assert (window.app, window.active) == ("Mousepad", True)
    assert "notes.txt" in window.title
    frame = desk.capture()
    assert frame.image.shape == (SIZE[1], SIZE[0], 3)
    assert frame.image.dtype == np.uint8
    left, top, width, height = window.box
    inside = frame.image[top + 60 : top + height, left + 80 : left + width - 20]
    assert (inside.min(axis=2) > 200).mean() > 0.9  # paper, mostly


def test_the_empty_desktop_has_its_colour(desk: X11Device) -> None:
    desk.renew(Session())
    assert [f"{n:02x}" for n in desk.capture().image[5, 5]] == ["3b", "5b", "78"]


def test_a_picture_is_written_where_it_is_asked_for(desk: X11Device) -> None:
    desk.renew(NOTES)
    out = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    frame = desk.capture(out)
    assert frame.image is out
    assert out.any()


def test_every_session_begins_with_the_same_picture(desk: X11Device) -> None:
    desk.renew(NOTES)
    first = desk.capture().image.copy()
    for action in (Type("something else"), Press("ctrl+s"), Press("alt+f4"), Move(10, 10)):
        desk.perform(action)
    desk.capture()
    for _ in range(3):
        desk.renew(NOTES)
        assert np.array_equal(desk.capture().image, first)


def test_another_device_shows_the_same_picture(desk: X11Device) -> None:
    desk.renew(NOTES)
    first = desk.capture().image.copy()
    other = X11Device(DeviceOptions("x11", SIZE))
    other.start()
    try:
        other.renew(NOTES)
        assert np.array_equal(other.capture().image, first)
    finally:
        other.close()


def test_nothing_of_an_episode_is_there_in_the_next(desk: X11Device) -> None:
    desk.renew(NOTES)
    desk.write("more.txt", b"x")
    desk.run("echo y > /tmp/y; mousepad other.txt &")
    desk.renew(Session())
    assert desk.read("more.txt") is None
    assert desk.read("/tmp/y") is None
    assert desk.windows() == ()
    assert desk.run("pgrep mousepad").text == ""


def test_not_even_the_keyboard_is_as_it_was_left(desk: X11Device) -> None:
    desk.renew(NOTES)
    desk.perform(Press("capslock"))
    desk.perform(Type("A"))
    desk.renew(NOTES)
    desk.perform(Type("small", clear=True))
    assert saved(desk).strip() == "small"


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


def test_what_a_program_writes_where_the_manager_should_is_no_failure(desk: X11Device) -> None:
    desk.renew(NOTES)
    other = xcffib.connect(desk.display.name)
    atom = desk.display.atoms["_NET_ACTIVE_WINDOW"]
    other.core.ChangePropertyChecked(0, desk.display.root, atom, 31, 8, 3, b"abc").check()
    assert len(desk.windows()) == 1
    assert desk.capture().image.any()
    other.disconnect()


def test_files_written_by_an_application_are_read(desk: X11Device) -> None:
    desk.renew(NOTES)
    desk.perform(Press("ctrl+end"))
    desk.perform(Type("gamma"))
    assert saved(desk).splitlines() == ["alpha", "beta", "gamma"]


def test_windows_are_raised_and_closed_by_name_and_class(desk: X11Device) -> None:
    files = {"one.txt": b"1", "two.txt": b"2"}
    launch = [
        ["mousepad", "--disable-server", "one.txt"],
        ["mousepad", "--disable-server", "two.txt"],
    ]
    desk.renew(Session(files=files, launch=launch))
    assert [w.active for w in desk.windows()] == [False, True]
    assert desk.activate_window("one.txt")
    assert "one.txt" in desk.windows()[-1].title
    assert not desk.activate_window("one.txt", strict=True)
    assert not desk.activate_window("three.txt")
    assert desk.activate_window("Mousepad", by_class=True, strict=True)
    assert desk.close_window("two.txt")
    assert [w.title for w in desk.windows() if "two" in w.title] == []
    assert not desk.close_window("two.txt")


def test_a_missing_program_names_its_package(desk: X11Device) -> None:
    with pytest.raises(DeviceStartError, match=r"no gimpel.*apt-get install gimp"):
        desk.renew(Session(launch=[["gimpel"]], packages={"gimpel": "gimp"}))
    desk.renew(Session())
    with pytest.raises(DeviceError, match="no program gimpel"):
        desk.launch(["gimpel"])


def test_a_file_is_opened_by_the_program_that_the_desktop_has_for_it(desk: X11Device) -> None:
    desk.renew(Session(files={"read me.txt": b"hello"}))
    desk.open_file(f"{desk.home}/read me.txt")
    assert "read me.txt" in desk.windows()[-1].title


def test_before_it_starts_and_after_it_ends_it_is_lost() -> None:
    device = X11Device(DeviceOptions("x11", SIZE))
    with pytest.raises(DeviceLost, match="call start"):
        device.renew(Session())
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
