"""Whether a guest lives: what it says on its serial console, and whether its server answers."""

from __future__ import annotations

import re
import threading
import time

from ui_gym.desktop.http.address import ServerAddress
from ui_gym.desktop.http.client import Client, Refused
from ui_gym.desktop.qemu.vm import GUEST_PORTS, VirtualMachine
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, DeviceTimeout

SERVER_PORT = GUEST_PORTS[0]

SHORTEST, LONGEST = 2.0, 20.0
"""Seconds that the first request to a guest that starts may take, and the later ones.

QEMU takes every connection at once and offers it to the guest ever more seldom: where the guest was
not ready for the first offer, a new connection is heard sooner than an old one. But a guest that is
run in software may take long for an answer.
"""

_PAUSE = 0.2
_NOT_US = (401, 403)
# A kernel's message with its time; firmware and boot loaders write none.
_KERNEL = re.compile(r"^\[\s*\d+\.\d{6}\] ", re.MULTILINE)


def server_of(vm: VirtualMachine) -> ServerAddress:
    """Where OSWorld's server in the guest is reached, with the other ports that are forwarded."""
    return ServerAddress("http", "127.0.0.1", vm.ports[SERVER_PORT], vm.ports)


def await_server(vm: VirtualMachine, seconds: float, closed: threading.Event) -> None:
    """Wait until the server in the guest gives a screenshot.

    Raises:
        DeviceStartError: it answers, but not us.
        DeviceTimeout: it did not; with the last lines of the serial console.
        DeviceLost: the machine ended, or `closed` was set.
    """
    deadline = time.monotonic() + seconds
    last: DeviceError | None = None
    attempt = SHORTEST
    while (left := deadline - time.monotonic()) > 0:
        if closed.is_set():
            raise DeviceLost("the virtual machine was closed")
        vm.check()
        try:
            _ask(vm, "/screenshot", min(left, attempt))
        except Refused as error:
            if error.status in _NOT_US:
                raise DeviceStartError(str(error)) from None
            last = error
        except DeviceError as error:
            last = error
        else:
            return
        attempt = min(attempt * 1.5, LONGEST)
        closed.wait(_PAUSE)
    serial = vm.serial() or "(nothing)"
    raise DeviceTimeout(
        f"the server in {vm.settings.image.name} did not answer within {seconds:g} s "
        f"({vm.acceleration}; {last}). Where it only takes longer, say so: "
        f"device='qemu:IMAGE?boot=600'. The last lines of its serial console:\n{serial}"
    )


def await_life(vm: VirtualMachine, seconds: float) -> str:
    """What the first sign of life was: ``kernel`` or ``server``.

    Raises:
        DeviceTimeout: there was none in time.
        DeviceLost: the machine ended.
    """
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while (left := deadline - time.monotonic()) > 0:
        vm.check()
        if _KERNEL.search(vm.serial(lines=100)):
            return "kernel"
        try:
            _ask(vm, "/platform", min(left, 1.0))
        except Refused:
            return "server"
        except DeviceError:
            pause.wait(_PAUSE)
        else:
            return "server"
    raise DeviceTimeout(f"no sign of life within {seconds:g} s")


def _ask(vm: VirtualMachine, path: str, timeout: float) -> None:
    client = Client(server_of(vm), timeout)
    client.check(path, client.get(path))
