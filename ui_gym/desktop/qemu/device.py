"""QemuDevice: a desktop in a virtual machine, set back by a snapshot of the whole machine."""

from __future__ import annotations

import dataclasses
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ui_gym.contract.action import Action
from ui_gym.contract.device import DeviceOptions, Element, Frame, Image
from ui_gym.desktop.device import Command, CommandResult, SessionSpec, Window
from ui_gym.desktop.http.device import OSWorldDevice
from ui_gym.desktop.qemu.acceleration import acceleration
from ui_gym.desktop.qemu.liveness import await_server, server_of
from ui_gym.desktop.qemu.settings import QemuSettings
from ui_gym.desktop.qemu.vm import VirtualMachine
from ui_gym.errors import DeviceError, DeviceLost

READY = "ready"
"""The name of the snapshot that every episode starts from."""

SLOWNESS = 4.0
"""How many times as long as on hardware a machine may take that is run in software: the timeout of
such a one is that of the options times this."""

RETURN_SECONDS = 60.0
"""How long a server may take to answer after the machine was set back: in software, all is slow."""

T = TypeVar("T")


class QemuDevice:
    """A `DesktopDevice` in a virtual machine with OSWorld's server in it.

    `options.kind` is ``qemu:IMAGE.qcow2``, with settings after it as `QemuSettings.parse` reads
    them. The image is never written to. Where the processor cannot help, the machine is run in
    software, and `SLOWNESS` is allowed for. `start` switches the machine on and keeps its state
    once the server shows a screen; `renew` goes back to that state: disk, memory and screen.
    """

    def __init__(
        self,
        options: DeviceOptions,
        *,
        machine: type[VirtualMachine] = VirtualMachine,
    ) -> None:
        """`machine` is what is switched on."""
        self.size = options.size
        self.settings = QemuSettings.parse(options.kind, options.extra)
        self._options = options
        self._machine = machine
        self._vm: VirtualMachine | None = None
        self._desktop: OSWorldDevice | None = None
        self._closed = threading.Event()
        self._closing = threading.Lock()

    # -- Device --

    def start(self) -> None:
        """Switch the machine on, wait for its server, and keep its state.

        Raises:
            DeviceStartError: QEMU is not installed, or did not start.
            DeviceTimeout: the server did not answer; with what the guest's console said.
            UserError: the screen has another size, and keeps it.
        """
        if self._desktop is not None:
            return
        try:
            self._switch_on()
        except BaseException:
            self._switch_off()
            raise

    def perform(self, action: Action) -> None:
        self._ask(lambda desktop: desktop.perform(action))

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        return self._ask(lambda desktop: desktop.capture(out, elements=elements))

    def close(self) -> None:
        """Switch the machine off; nothing of it is left. A call in progress fails."""
        self._closed.set()
        self._switch_off()

    # -- DesktopDevice --

    @property
    def home(self) -> str:
        """The absolute path of the user's home folder in the guest, which OSWorld's images call
        ``/home/user``, and a started one tells itself."""
        return OSWorldDevice.home if self._desktop is None else self._desktop.home

    def renew(self, session: SessionSpec) -> None:
        """Set the machine back to the state it was in when it was ready, then prepare `session`."""
        if self._vm is None or self._desktop is None:
            raise self._not_running()
        self._vm.load(READY)
        await_server(self._vm, max(RETURN_SECONDS, self._options.timeout), self._closed)
        self._ask(lambda desktop: desktop.prepare(session))

    def run(
        self,
        command: Command,
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        return self._ask(lambda desktop: desktop.run(command, timeout=timeout, cwd=cwd, env=env))

    def launch(self, command: Command) -> None:
        self._ask(lambda desktop: desktop.launch(command))

    def read(self, path: str) -> bytes | None:
        return self._ask(lambda desktop: desktop.read(path))

    def write(self, path: str, data: bytes) -> None:
        self._ask(lambda desktop: desktop.write(path, data))

    def windows(self) -> tuple[Window, ...]:
        return self._ask(lambda desktop: desktop.windows())

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        return self._ask(
            lambda desktop: desktop.activate_window(name, strict=strict, by_class=by_class)
        )

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        return self._ask(
            lambda desktop: desktop.close_window(name, strict=strict, by_class=by_class)
        )

    def open_file(self, path: str) -> None:
        self._ask(lambda desktop: desktop.open_file(path))

    def connect(self, port: int) -> socket.socket:
        """See `DesktopDevice.connect`. Only the ports that are forwarded can be reached, which are
        those of `ui_gym.desktop.qemu.vm.GUEST_PORTS`."""
        if self._vm is not None and port not in self._vm.ports:
            known = ", ".join(map(str, sorted(self._vm.ports)))
            raise DeviceError(f"port {port} of {self} cannot be reached from here: only {known}")
        return self._ask(lambda desktop: desktop.connect(port))

    def ui_tree(self) -> str:
        return self._ask(lambda desktop: desktop.ui_tree())

    def elements(self) -> tuple[Element, ...]:
        return self._ask(lambda desktop: desktop.elements())

    def settle(self) -> None:
        self._ask(lambda desktop: desktop.settle())

    # -- what OSWorld's server tells beyond that --

    def terminal_output(self) -> str | None:
        """What stands in the terminal that has the focus; None without one."""
        return self._ask(lambda desktop: desktop.terminal_output())

    def wallpaper(self) -> bytes | None:
        """The file of the desktop's wallpaper; None without one."""
        return self._ask(lambda desktop: desktop.wallpaper())

    def screen_size(self) -> tuple[int, int]:
        """(width, height) of the screen in pixels, as the guest says it."""
        return self._ask(lambda desktop: desktop.screen_size())

    def window_size(self, app_class_name: str) -> tuple[int, int] | None:
        """(width, height) of an application's first window, by its class; None without one."""
        return self._ask(lambda desktop: desktop.window_size(app_class_name))

    def list_directory(self, path: str) -> dict[str, Any] | None:
        """The tree of a folder, as OSWorld has it; None where there is none."""
        return self._ask(lambda desktop: desktop.list_directory(path))

    def __str__(self) -> str:
        return f"the virtual machine {self.settings.image.name}"

    # -- parts --

    def _switch_on(self) -> None:
        use = acceleration(self.settings)
        timeout = self._options.timeout * (SLOWNESS if use == "tcg" else 1.0)
        vm = self._machine(self.settings, use, self.size, timeout=timeout)
        with self._closing:
            self._vm = vm
        await_server(vm, self.settings.boot, self._closed)
        desktop = OSWorldDevice(dataclasses.replace(self._options, kind=_kind(vm), timeout=timeout))
        desktop.start()
        if self._closed.wait(self.settings.rest):
            raise self._not_running()
        vm.save(READY)
        with self._closing:
            self._desktop = desktop
        if self._closed.is_set():
            raise self._not_running()

    def _switch_off(self) -> None:
        with self._closing:
            vm, self._vm = self._vm, None
            desktop, self._desktop = self._desktop, None
        if desktop is not None:
            desktop.close()
        if vm is not None:
            vm.close()

    def _ask(self, question: Callable[[OSWorldDevice], T]) -> T:
        vm, desktop = self._vm, self._desktop
        if vm is None or desktop is None:
            raise self._not_running()
        try:
            return question(desktop)
        except DeviceError:
            vm.check()  # a machine that has ended is a better reason than a broken connection
            raise

    def _not_running(self) -> DeviceLost:
        return DeviceLost(f"{self} was {'closed' if self._closed.is_set() else 'not started'}")


def _kind(vm: VirtualMachine) -> str:
    ports = "&".join(f"{guest}={host}" for guest, host in vm.ports.items())
    return f"osworld:{server_of(vm)}?{ports}"
