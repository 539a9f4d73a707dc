"""Machines that are switched on, set back and lost; with QEMU itself, and guests of 512 bytes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import guests
import psutil
import pytest
from waiting import eventually

from ui_gym.desktop.qemu.settings import QemuSettings
from ui_gym.desktop.qemu.vm import GUEST_PORTS, VirtualMachine
from ui_gym.errors import DeviceLost, DeviceStartError

pytestmark = guests.needs_qemu


def letters(vm: VirtualMachine) -> str:
    """What the guest has counted, as far as it is known."""
    return "".join(line for line in vm.serial(lines=500).splitlines() if len(line) == 1)


def await_letter(vm: VirtualMachine, letter: str, times: int = 1) -> None:
    assert eventually(lambda: letters(vm).count(letter) >= times, 60), letters(vm)


def qemus_of(folder: Path) -> list[psutil.Process]:
    """The QEMU processes whose overlay lies under a folder."""
    found = []
    for process in psutil.process_iter(["name", "cmdline"]):
        line = " ".join(process.info["cmdline"] or ())
        if "qemu-system" in (process.info["name"] or "") and str(folder) in line:
            found.append(process)
    return found


def test_a_machine_goes_back_to_a_kept_state_as_often_as_asked(switch_on):
    vm = switch_on()
    await_letter(vm, "b")
    vm.save("ready")
    before = letters(vm)
    for times in (2, 3):
        following = chr(ord(before[-1]) + 2)
        await_letter(vm, following, times - 1)
        vm.load("ready")
        # It counts on from where it was: what is in its memory and processor has come back.
        await_letter(vm, following, times)
    assert letters(vm).count("a") == 1


def test_a_guest_that_switched_itself_off_is_told_and_set_back(switch_on):
    vm = switch_on(ends=True)
    await_letter(vm, "w")
    vm.save("ready")

    def told() -> bool:
        try:
            vm.check()
        except DeviceLost as error:
            return "does not run: it is 'shutdown'" in str(error)
        return False

    assert eventually(told, 60)
    vm.load("ready")
    vm.check()
    await_letter(vm, "y", times=2)


def test_a_state_that_is_not_there_is_named(switch_on):
    vm = switch_on()
    with pytest.raises(DeviceLost, match=r"cannot be set back: .*snapshot-load failed: .*'never'"):
        vm.load("never")


def test_a_machine_whose_qemu_is_killed_is_lost(switch_on, surroundings: Path):
    vm = switch_on()
    vm.check()
    (process,) = qemus_of(surroundings)
    process.kill()
    for call in (vm.check, lambda: vm.save("ready"), lambda: vm.load("ready")):
        with pytest.raises(DeviceLost, match="QEMU died"):
            call()


def test_closing_leaves_nothing(switch_on, surroundings: Path):
    vm = switch_on()
    ports = list(vm.ports.values())
    assert set(vm.ports) == set(GUEST_PORTS)
    for port in ports:
        socket.create_connection(("127.0.0.1", port), 5).close()
    assert qemus_of(surroundings)
    vm.close()
    vm.close()
    assert not qemus_of(surroundings)
    assert list(surroundings.iterdir()) == []
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 5)
    with pytest.raises(DeviceLost, match="was closed"):
        vm.check()


def test_the_image_is_never_written_to(switch_on, tmp_path: Path):
    image = guests.guest(tmp_path)
    before = image.read_bytes()
    vm = switch_on(image)
    vm.save("ready")
    other = switch_on(image)  # two machines share it
    other.check()
    vm.close()
    other.close()
    assert image.read_bytes() == before


_PARENT = """
import sys, threading
from pathlib import Path
from ui_gym.desktop.qemu.settings import Settings
from ui_gym.desktop.qemu.vm import VirtualMachine
vm = VirtualMachine(Settings(Path(sys.argv[1]), memory=64, cores=1), "tcg", (640, 480))
print("up", flush=True)
threading.Event().wait(60)
"""


def test_a_machine_ends_with_the_process_that_switched_it_on(tmp_path: Path, surroundings: Path):
    image = guests.guest(tmp_path)
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(image)], stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "up\n"
        assert qemus_of(surroundings)
        os.kill(parent.pid, signal.SIGKILL)
        assert eventually(lambda: not qemus_of(surroundings), 20)
        assert eventually(lambda: list(surroundings.iterdir()) == [], 20)


def test_a_damaged_image_is_told(tmp_path: Path):
    image = tmp_path / "damaged.qcow2"
    image.write_bytes(b"QFI\xfb" + bytes(1000))
    with pytest.raises(DeviceStartError, match=r"no overlay of .*damaged.qcow2 can be made: .+"):
        VirtualMachine(QemuSettings(image, memory=64, cores=1), "tcg", (640, 480))


def test_a_qemu_that_ends_at_once_says_why(tmp_path: Path):
    firmware = tmp_path / "firmware"
    firmware.write_bytes(b"no firmware")
    settings = QemuSettings(guests.guest(tmp_path), memory=64, cores=1, firmware=firmware)
    with pytest.raises(DeviceStartError, match=r"ended at once: .*firmware"):
        VirtualMachine(settings, "tcg", (640, 480))


def test_a_missing_qemu_is_named_with_its_packages(tmp_path: Path, monkeypatch):
    image = guests.guest(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        DeviceStartError, match=r"there is no qemu-system-x86_64: .*apt-get install"
    ):
        VirtualMachine(QemuSettings(image), "tcg", (640, 480))
