"""VirtualMachine: one QEMU process on a throwaway overlay of an image.

Nothing that the guest writes reaches the image, and nothing of the guest reaches a network: its
card ends in QEMU's own ("user") network, from which only the ports of `GUEST_PORTS` are reached,
and only from this machine.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Literal

from ui_gym.child_process import ChildProcess
from ui_gym.desktop.qemu.qmp import Qmp, QmpError
from ui_gym.desktop.qemu.settings import QemuSettings
from ui_gym.errors import DeviceError, DeviceLost, DeviceSetupError, DeviceStartError, DeviceTimeout

Acceleration = Literal["kvm", "tcg"]
"""By the processor, or in software."""

PROGRAM = "qemu-system-x86_64"
PACKAGES = "qemu-system-x86 qemu-utils"
"""Debian's packages of QEMU and of ``qemu-img``."""

GUEST_PORTS = (5000, 9222, 8080)
"""OSWorld's server, Chrome's DevTools, and VLC's."""

START_SECONDS = 20.0
"""How long QEMU itself may take to come up; the guest has longer."""

SIZE_BLOB = "opt/org.ui-gym/size"
"""The name by which a guest finds the size that its screen shall have (``1280x800``), among QEMU's
firmware configuration (``docs/specs/fw_cfg.txt``)."""

CONSOLE_BYTES = 1 << 16
"""How much is kept of what the guest writes to its serial console."""

SNAPSHOT_SECONDS = 120.0
"""How long the state of a machine may take to be saved or loaded: it is a file as large as the
memory that the guest uses."""

_FORWARDED = re.compile(r"TCP\[HOST_FORWARD\]\s+\S+\s+127\.0\.0\.1\s+(\d+)\s+\S+\s+(\d+)")


class VirtualMachine:
    """A machine that has been switched on. `ports` maps the guest's ports to those here.

    `size` is (width, height) of the screen that the guest's graphics card proposes.

    Raises:
        DeviceStartError: QEMU is not installed (names the packages), or did not start.
    """

    def __init__(
        self,
        settings: QemuSettings,
        acceleration: Acceleration,
        size: tuple[int, int],
        *,
        timeout: float = 20.0,
    ) -> None:
        program, tool = _program(PROGRAM), _program("qemu-img")
        self.settings = settings
        self.acceleration = acceleration
        self._child: ChildProcess | None = None
        self._qmp: Qmp | None = None
        self._console = ""
        self._folder = Path(tempfile.mkdtemp(prefix="ui-gym-qemu-"))
        try:
            overlay = self._folder / "overlay.qcow2"
            _make_overlay(tool, settings.image, overlay)
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(str(self._folder / "qmp"))
                listening.listen(1)
                command = [program, *_arguments(settings, acceleration, size, self._folder)]
                with (self._folder / "errors").open("wb") as errors:
                    self._child = ChildProcess(command, folder=self._folder, stderr=errors)
                self._qmp = Qmp(_accepted(listening, self._folder), timeout=timeout)
            self.ports = self._forwarded()
        except DeviceLost:
            said = self._errors()
            self.close()
            raise DeviceStartError(f"{PROGRAM} ended at once: {said}") from None
        except BaseException:
            self.close()
            raise

    # -- life --

    def check(self) -> None:
        """`DeviceLost`, with the reason, where the guest does not run any more."""
        if (status := self._status()) != "running":
            raise DeviceLost(f"the virtual machine does not run: it is {status!r}")

    def serial(self, lines: int = 5) -> str:
        """The last lines that the guest wrote to its serial console; empty where it has none."""
        with contextlib.suppress(DeviceError):
            asked = {"device": "serial", "size": CONSOLE_BYTES, "format": "utf8"}
            said = self._control().execute("ringbuf-read", asked)
            self._console = (self._console + said)[-CONSOLE_BYTES:]
        return "\n".join(_last(self._console, lines))

    def close(self) -> None:
        """Switch it off, and remove all that it wrote. Bounded in time; idempotent."""
        qmp, self._qmp = self._qmp, None
        if qmp is not None:
            qmp.close()
        if self._child is not None:
            self._child.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    # -- snapshots --

    def save(self, tag: str) -> None:
        """Keep the state of the whole machine (disk, memory, processor) by this name.

        Raises:
            DeviceError: it could not be kept, such as on a full disk.
            DeviceLost: QEMU is gone.
        """
        try:
            self._snapshot("snapshot-save", tag)
        except QmpError as error:
            free = shutil.disk_usage(self._folder).free >> 20
            raise DeviceError(
                f"the state of the virtual machine cannot be kept: {error} ({free} MiB are free in "
                f"{self._folder.parent}; the environment variable TMPDIR names another folder)"
            ) from None

    def load(self, tag: str) -> None:
        """Go back to that state; the guest runs on from it, also where it had switched itself off.

        Raises:
            DeviceLost: QEMU is gone; or there is no such state, or it could not be read, which no
                machine survives.
        """
        qmp = self._control()
        if self._status() in ("shutdown", "guest-panicked", "internal-error"):
            qmp.execute("system_reset")
            self._await_status("prelaunch")
        try:
            self._snapshot("snapshot-load", tag)
        except QmpError as error:
            raise DeviceLost(f"the virtual machine cannot be set back: {error}") from None
        if self._status() != "running":
            qmp.execute("cont")

    def _snapshot(self, command: str, tag: str) -> None:
        where = {"tag": tag, "vmstate": "disk", "devices": ["disk"]}
        try:
            self._control().job(command, where, timeout=SNAPSHOT_SECONDS)
        except DeviceLost:
            raise self._died() from None

    # -- parts --

    def _control(self) -> Qmp:
        if self._qmp is None:
            raise DeviceLost("the virtual machine was closed")
        return self._qmp

    def _status(self) -> str:
        qmp = self._control()
        try:
            return str(qmp.execute("query-status")["status"])
        except DeviceLost:
            raise self._died() from None

    def _await_status(self, wanted: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while (status := self._status()) != wanted:
            if time.monotonic() > deadline:
                raise DeviceTimeout(f"the virtual machine stays {status!r}")
            time.sleep(0.02)

    def _forwarded(self) -> dict[int, int]:
        """Which ports QEMU chose: it was asked for free ones."""
        said = self._control().execute("human-monitor-command", {"command-line": "info usernet"})
        return {int(guest): int(host) for host, guest in _FORWARDED.findall(said)}

    def _died(self) -> DeviceLost:
        if self._qmp is None:
            return DeviceLost("the virtual machine was closed")
        return DeviceLost(f"QEMU died: {self._errors()}")

    def _errors(self) -> str:
        return " ".join(_tail(self._folder / "errors", 5)) or "it gave no reason"


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise DeviceSetupError(
            f"there is no {name}: install it (Debian: apt-get install "
            f"--no-install-recommends {PACKAGES})"
        )
    return path


def _make_overlay(tool: str, image: Path, overlay: Path) -> None:
    command = [tool, "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", str(image), str(overlay)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=START_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise DeviceStartError(f"qemu-img did not end within {START_SECONDS:g} s") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise DeviceStartError(f"no overlay of {image} can be made: {said}")


def _arguments(
    settings: QemuSettings, acceleration: Acceleration, size: tuple[int, int], folder: Path
) -> list[str]:
    # What the overlay holds need not survive a power cut.
    disk = {
        "driver": "qcow2", "node-name": "disk", "discard": "unmap", "cache": {"no-flush": True},
        "file": {"driver": "file", "filename": str(folder / "overlay.qcow2")},
    }  # fmt: skip
    forwards = "".join(f",hostfwd=tcp:127.0.0.1:0-:{port}" for port in GUEST_PORTS)
    return [
        "-nodefaults", "-no-user-config", "-display", "none", "-name", "ui-gym",
        # A guest that switches itself off can still be set back.
        "-action", "shutdown=pause,panic=pause",
        "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
        "-machine", "q35", "-accel", acceleration,
        "-cpu", "host" if acceleration == "kvm" else "max",
        "-m", str(settings.memory), "-smp", str(settings.cores),
        *(["-bios", str(settings.firmware)] if settings.firmware else []),
        "-device", f"VGA,vgamem_mb=32,edid=on,xres={size[0]},yres={size[1]}",
        "-device", "virtio-rng-pci",
        "-blockdev", json.dumps(disk), "-device", "virtio-blk-pci,drive=disk,bootindex=1",
        "-netdev", f"user,id=net,restrict=on{forwards}",
        "-device", "virtio-net-pci,netdev=net,romfile=",
        "-fw_cfg", f"name={SIZE_BLOB},string={size[0]}x{size[1]}",
        # A ring of bounded size: a guest could fill the disk by writing to a file.
        "-chardev", f"ringbuf,id=serial,size={CONSOLE_BYTES}", "-serial", "chardev:serial",
        "-chardev", f"socket,id=qmp,path={_plain(folder / 'qmp')}",
        "-mon", "chardev=qmp,mode=control",
    ]  # fmt: skip


def _plain(path: Path) -> str:
    """A path within an option, where a comma begins the next one."""
    return str(path).replace(",", ",,")


def _accepted(listening: socket.socket, folder: Path) -> socket.socket:
    """QEMU's connection: it ends when QEMU does, which nothing else tells us so soon."""
    listening.settimeout(START_SECONDS)
    try:
        return listening.accept()[0]
    except TimeoutError:
        said = " ".join(_tail(folder / "errors", 5)) or "it gave no reason"
        raise DeviceStartError(
            f"{PROGRAM} did not come up within {START_SECONDS:g} s: {said}"
        ) from None


def _tail(path: Path, lines: int) -> list[str]:
    """The last lines of a file that may be long, or not there."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(max(path.stat().st_size - 16384, 0))
        return _last(file.read().decode("utf-8", "replace"), lines)
    return []


def _last(text: str, lines: int) -> list[str]:
    # Firmware draws its screen by escape sequences.
    text = re.sub(r"\x1b(\[[0-9;?=]*[A-Za-z]|.)", "", text)
    return [line.rstrip() for line in text.splitlines() if line.strip()][-lines:]
