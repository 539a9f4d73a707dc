"""Desk: an X server, and on it one session at a time, each in a new sandbox."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from ui_gym.desktop.surface import Warm
from ui_gym.desktop.x11.display import Display
from ui_gym.desktop.x11.hand import Hand
from ui_gym.desktop.x11.needs import package_of
from ui_gym.desktop.x11.sandbox import Confinement, Sandbox
from ui_gym.errors import DeviceError, DeviceLost, DeviceStartError, DeviceTimeout

WRITTEN = 1_735_689_600
"""When the files of an episode were last changed: 1 January 2025, in Unix seconds."""

READY_PAUSE = 0.05
"""Seconds between two looks whether a program that is kept warm has started."""


class Desk:
    """A display of `size` (width, height) pixels, and its session.

    `timeout` bounds each wait, in seconds. `close` may be called at any time, from any thread.

    Raises:
        DeviceStartError: there is no Xvfb.
    """

    def __init__(
        self, size: tuple[int, int], confinement: Confinement | None, timeout: float
    ) -> None:
        self._confinement = confinement
        self._timeout = timeout
        self._lock = threading.Lock()
        self._closed = False
        self._sandbox: Sandbox | None = None
        self.display = Display(size)
        self.hand = Hand(self.display)
        self.begun_with: tuple[bool, tuple[Warm, ...]] | None = None
        """What `begin` was last called with, while nothing was done in that session."""

    @property
    def sandbox(self) -> Sandbox:
        """Where programs run. `DeviceLost` before the first session and after `close`."""
        sandbox = self._sandbox
        if sandbox is None:
            raise DeviceLost("the desktop is closed" if self._closed else "call renew() first")
        return sandbox

    def begin(self, *, accessible: bool, warm: Sequence[Warm]) -> None:
        """A new session: sandbox, bus, window manager, and the programs that are kept warm."""
        self._end()
        self.display.clear()
        environment = _environment(self.display.name, accessible=accessible)
        sandbox = Sandbox(
            environment, [self.display.socket], confinement=self._confinement,
            timeout=self._timeout,
        )  # fmt: skip
        with self._lock:
            if self._closed:
                sandbox.close()
                raise DeviceLost("the desktop is closed")
            self._sandbox = sandbox
        for path, data in _home().items():
            sandbox.write(path, data, mtime=WRITTEN)
        bus = "unix:path=" + sandbox.environment["XDG_RUNTIME_DIR"] + "/bus"
        sandbox.environment["DBUS_SESSION_BUS_ADDRESS"] = bus
        self.start(["dbus-daemon", "--session", "--nofork", f"--address={bus}"], vital=True)
        self.start(["openbox"], vital=True)
        self.display.wait_for_manager(self._timeout)
        self.hand.rest()
        for program in warm:
            self._warm_up(program)
        self.begun_with = (accessible, tuple(warm))

    def start(
        self, command: Sequence[str], packages: Mapping[str, str] | None = None, *,
        vital: bool = False,
    ) -> None:  # fmt: skip
        """Start a program. `DeviceStartError` names the package of one that is missing."""
        try:
            self.sandbox.spawn(command, vital=vital)
        except FileNotFoundError:
            raise DeviceStartError(
                f"there is no {command[0]}: install it (Debian: apt-get install "
                f"{package_of(command[0], packages)})"
            ) from None

    def await_window(self, known: set[int], name: str) -> None:
        """Wait until there is a window beside those `known`. `DeviceTimeout` names the program."""
        try:
            self.display.wait_for_window(known, self._timeout)
        except DeviceTimeout:
            self.sandbox.check()
            raise DeviceTimeout(f"{name} showed no window within {self._timeout:g} s") from None

    def close(self) -> None:
        """End everything. Idempotent."""
        with self._lock:
            self._closed = True
        self._end()
        self.display.close()

    # -- parts --

    def _end(self) -> None:
        with self._lock:
            sandbox, self._sandbox = self._sandbox, None
        self.begun_with = None
        if sandbox is not None:
            sandbox.close()

    def _warm_up(self, program: Warm) -> None:
        self.start(program.command)
        deadline = time.monotonic() + self._timeout
        pause = threading.Event()
        while self.sandbox.run(program.ready).code != 0:
            self.sandbox.check()
            if time.monotonic() > deadline:
                raise DeviceTimeout(f"{program.command[0]} was not ready in {self._timeout:g} s")
            pause.wait(READY_PAUSE)


class Spare:
    """A desk that is made ready in a thread, while another one is in use."""

    def __init__(
        self,
        size: tuple[int, int],
        confinement: Confinement | None,
        timeout: float,
        *,
        accessible: bool,
        warm: Sequence[Warm],
    ) -> None:
        self.ready_for = (accessible, tuple(warm))
        self._desk: Desk | None = None
        self._lock = threading.Lock()
        self._closed = False

        def prepare() -> None:
            desk = Desk(size, confinement, timeout)
            with self._lock:
                self._desk = desk
                closed = self._closed
            try:
                if not closed:
                    desk.begin(accessible=accessible, warm=warm)
            except DeviceError:
                self.close()
            if closed:
                desk.close()

        self._thread = threading.Thread(target=prepare, name="ui-gym-spare-desk", daemon=True)
        self._thread.start()

    def take(self, seconds: float) -> Desk | None:
        """The desk, waiting until it is ready; None where it could not be made in time."""
        self._thread.join(seconds)
        with self._lock:
            desk, self._desk = self._desk, None
        if desk is None or self._thread.is_alive() or desk.begun_with != self.ready_for:
            if desk is not None:
                desk.close()
            return None
        return desk

    def close(self) -> None:
        """Give it up, whether it is ready or not."""
        with self._lock:
            self._closed = True
            desk, self._desk = self._desk, None
        if desk is not None:
            desk.close()


def _environment(display: str, *, accessible: bool) -> dict[str, str]:
    environment = {
        "DISPLAY": display, "LANG": "C.UTF-8", "TZ": "UTC", "GDK_BACKEND": "x11",
        "GSETTINGS_BACKEND": "keyfile",  # so that a judge finds settings in a plain file
        "GIO_USE_VFS": "local", "LIBGL_ALWAYS_SOFTWARE": "1", "XDG_CURRENT_DESKTOP": "openbox",
        "SAL_USE_VCLPLUGIN": "gtk3",
    }  # fmt: skip
    if not accessible:
        return environment | {"NO_AT_BRIDGE": "1"}
    # GTK 2 tells through modules, Qt and Chromium when they are asked to.
    return environment | {
        "GTK_MODULES": "gail:atk-bridge", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        "ACCESSIBILITY_ENABLED": "1",
    }  # fmt: skip


@cache
def _home() -> Mapping[str, bytes]:
    """The files that every home folder begins with, by their paths there."""
    found: dict[str, bytes] = {}

    def add(folder: Traversable, prefix: str) -> None:
        for entry in folder.iterdir():
            path = prefix + entry.name
            if entry.is_dir():
                add(entry, path + "/")
            else:
                found[path] = entry.read_bytes()

    add(files("ui_gym.desktop.x11") / "home", "")
    return found
