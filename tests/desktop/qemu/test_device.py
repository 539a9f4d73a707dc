"""The device: QEMU itself with a guest of 512 bytes, and the guest's server beside it.

The server is ui-gym's own over a desktop in memory, reached where a guest's would be.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import guests
import psutil
import pytest
from desktops import FakeDesktop

from ui_gym.contract.action import parse
from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.device import DesktopDevice, SessionSpec
from ui_gym.desktop.http.server import DesktopServer
from ui_gym.desktop.qemu.acceleration import VARIABLE
from ui_gym.desktop.qemu.device import QemuDevice
from ui_gym.desktop.qemu.vm import GUEST_PORTS, VirtualMachine
from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout
from ui_gym.playing.pool import FreshPool

pytestmark = guests.needs_qemu

SIZE = (320, 240)


@contextmanager
def served(desktop: FakeDesktop) -> Iterator[DesktopServer]:
    pool = FreshPool(lambda: desktop)
    server = DesktopServer(pool, port=0, allow_execute=True)
    try:
        with server:
            yield server
    finally:
        pool.close()


@pytest.fixture
def desktop() -> FakeDesktop:
    return FakeDesktop(SIZE)


@pytest.fixture
def make(
    desktop: FakeDesktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., QemuDevice]]:
    """Makes devices whose guest seems to serve `desktop`, and closes them."""
    monkeypatch.setenv(VARIABLE, "tcg")
    with ExitStack() as stack:
        server = stack.enter_context(served(desktop))
        port = int(server.address.rpartition(":")[2])

        class Served(VirtualMachine):
            def __init__(self, *given: Any, **named: Any) -> None:
                super().__init__(*given, **named)
                self.loaded: list[str] = []
                if serving:
                    # The first says what the server is called: it checks the Host header.
                    self.ports = {port: port, 5000: port, 9222: self.ports[9222]}

            def load(self, tag: str) -> None:
                super().load(tag)
                self.loaded.append(tag)

        serving = True

        def build(image: Path | None = None, *, answers: bool = True, **extra: str) -> QemuDevice:
            nonlocal serving
            serving = answers
            image = image or guests.guest(tmp_path)
            kind = f"qemu:{image}?memory=64&cores=1"
            more = {"settle": "0", "rest": "0", "boot": "60"} | extra
            device = QemuDevice(DeviceOptions(kind, SIZE, 5.0, extra=more), machine=Served)
            stack.callback(device.close)
            return device

        yield build


def test_it_is_a_desktop(make):
    device = make()
    assert isinstance(device, DesktopDevice)
    device.start()
    device.start()
    assert isinstance(device, DesktopDevice)
    assert device.home == "/home/user"


def test_an_episode_begins_at_the_kept_state_and_is_played_through_the_server(make, desktop):
    device = make()
    device.start()
    for _ in range(2):
        device.renew(SessionSpec(files={"note.txt": b"one"}, launch=[["mousepad", "note.txt"]]))
        assert device.read("note.txt") == b"one"
        assert [window.app for window in device.windows()] == ["Mousepad"]
        frame = device.capture()
        assert frame.image.shape == (240, 320, 3)
        for action in parse('click(5, 6); type("x")'):
            device.perform(action)
        desktop.shown.clear()
    assert device._vm.loaded == ["ready", "ready"]
    assert [action.text for action in desktop.done if hasattr(action, "text")] == ["x", "x"]


def test_only_forwarded_ports_are_reached(make):
    device = make()
    device.start()
    device.connect(9222).close()
    with pytest.raises(DeviceError, match=r"port 22 of the virtual machine guest.qcow2 cannot be"):
        device.connect(22)


def test_a_machine_that_dies_is_lost_at_the_next_call(make, surroundings: Path):
    device = make()
    device.start()
    for process in psutil.process_iter(["name", "cmdline"]):
        line = " ".join(process.info["cmdline"] or ())
        if "qemu-system" in (process.info["name"] or "") and str(surroundings) in line:
            process.kill()
    with pytest.raises(DeviceLost, match="QEMU died"):
        device.renew(SessionSpec())
    device.close()
    with pytest.raises(DeviceLost, match="was closed"):
        device.capture()


def test_a_fault_of_the_server_is_named_by_what_became_of_the_machine(make, desktop):
    device = make()
    device.start()
    desktop.lost = True
    with pytest.raises(DeviceError, match=r"answered /execute|answered /screenshot"):
        device.capture()  # the machine runs: the server's words stand
    device._vm.close()
    with pytest.raises(DeviceLost, match="was closed"):
        device.capture()


def test_a_server_that_never_answers_is_told_with_the_last_of_the_console(make):
    device = make(answers=False, boot="3")
    with pytest.raises(DeviceTimeout) as told:
        device.start()
    said = str(told.value)
    assert "did not answer within 3 s (tcg; " in said
    assert "device='qemu:IMAGE?boot=600'" in said
    assert said.rpartition("\n")[2] in "abcdefghijklmnopqrstuvwxyz"


def test_closing_ends_a_start_in_another_thread(make):
    device = make(answers=False)
    errors: list[BaseException] = []

    def start() -> None:
        try:
            device.start()
        except DeviceError as error:
            errors.append(error)

    starting = threading.Thread(target=start)
    starting.start()
    while device._vm is None:
        starting.join(0.02)
        assert starting.is_alive()
    device.close()
    starting.join(20)
    assert isinstance(errors[0], DeviceLost)


def test_what_was_not_started_says_so(make):
    device = make()
    with pytest.raises(DeviceLost, match=r"guest\.qcow2 was not started"):
        device.renew(SessionSpec())
    with pytest.raises(DeviceLost, match="was not started"):
        device.run("true")


def test_the_guest_s_ports_are_those_of_osworld():
    assert GUEST_PORTS == (5000, 9222, 8080)
