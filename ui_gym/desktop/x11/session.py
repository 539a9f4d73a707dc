"""X11Session: one session on an X server of its own, in a sandbox of its own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence

from ui_gym.desktop.device import Warm
from ui_gym.desktop.homes import home_files
from ui_gym.desktop.x11.confinement import Confinement, best_confinement
from ui_gym.desktop.x11.display import XDisplay
from ui_gym.desktop.x11.needs import package_of
from ui_gym.desktop.x11.rest import QUIET, TIMER, Rest
from ui_gym.desktop.x11.sandbox import Sandbox
from ui_gym.desktop.x11.users import LentUser
from ui_gym.desktop.x11.xtest import XTestInput
from ui_gym.errors import DeviceError, DeviceLost, DeviceSetupError, DeviceTimeout
from ui_gym.xvfb import authority

WRITTEN = 1_735_689_600
"""When the files of an episode were last changed: 1 January 2025, in Unix seconds."""

READY_PAUSE = 0.05
"""Seconds between two looks whether a program that is kept warm has started."""


class X11Session:
    """One session on a display of its own, of `size` (width, height) pixels.

    `timeout` bounds each wait, in seconds. `close` may be called at any time, from any thread.
    """

    def __init__(
        self, size: tuple[int, int], confinement: Confinement | None, timeout: float
    ) -> None:
        self._size = size
        self._confinement = confinement
        self._timeout = timeout
        self._lock = threading.Lock()
        self._closed = False
        self._display: XDisplay | None = None
        self._sandbox: Sandbox | None = None
        self._server_user: LentUser | None = None

    @property
    def display(self) -> XDisplay:
        """The X display. `DeviceLost` before `begin` and after `close`."""
        if self._display is None:
            raise DeviceLost("the desktop is closed")
        return self._display

    @property
    def sandbox(self) -> Sandbox:
        """Where programs run. `DeviceLost` before `begin` and after `close`."""
        if self._sandbox is None:
            raise DeviceLost("the desktop is closed")
        return self._sandbox

    def begin(self, *, accessible: bool, warm: Sequence[Warm]) -> None:
        """Start the X server, the sandbox, the bus, the window manager, and what is kept warm.

        Raises:
            DeviceStartError: something is not installed.
        """
        way = self._confinement or best_confinement()
        cookie = None if way == "bubblewrap" else os.urandom(16)  # there, nobody else sees it
        display = self._open_display(cookie)
        self.input = XTestInput(display, self.settle)
        sandbox = Sandbox(
            _environment(display.name, accessible=accessible), [display.socket], confinement=way,
            timeout=self._timeout,
        )  # fmt: skip
        with self._lock:
            self._sandbox = sandbox
        if self._closed:
            self.close()
            raise DeviceLost("the desktop is closed")
        for path, data in home_files("ui_gym.desktop.x11", "home").items():
            sandbox.write(path, data, mtime=WRITTEN)
        if cookie is not None:
            sandbox.write(".Xauthority", authority(cookie), mtime=WRITTEN)
        bus = "unix:path=" + sandbox.environment["XDG_RUNTIME_DIR"] + "/bus"
        sandbox.environment["DBUS_SESSION_BUS_ADDRESS"] = bus
        self.start(["dbus-daemon", "--session", "--nofork", f"--address={bus}"], vital=True)
        self.start(["openbox"], vital=True)
        display.wait_for_manager(self._timeout)
        self.input.rest()
        for program in warm:
            self._warm_up(program)

    def start(
        self, command: Sequence[str], packages: Mapping[str, str] | None = None, *,
        vital: bool = False,
    ) -> None:  # fmt: skip
        """Start a program. `DeviceStartError` names the package of one that is missing."""
        try:
            self.sandbox.spawn(command, vital=vital)
        except FileNotFoundError:
            raise DeviceSetupError(
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

    def settle(self, *, quiet: float = QUIET, timer: float = TIMER) -> bool:
        """Wait until input is handled and all programs rest, for `quiet` seconds and with no timer
        of up to `timer` seconds. Whether that came about.
        """
        display, sandbox = self.display, self.sandbox
        rest = Rest(sandbox.threads, display.threads, display.server.screen, self._timeout)
        while not display.await_answers(max(rest.left(), 0)):
            rest.look()  # who waits for a processor is given more time
            if rest.left() <= 0:
                return False
        return rest.wait(quiet=quiet, timer=timer)

    def close(self) -> None:
        """End everything. Idempotent."""
        with self._lock:
            self._closed = True
            sandbox, self._sandbox = self._sandbox, None
            display, self._display = self._display, None
            user, self._server_user = self._server_user, None
        if sandbox is not None:
            sandbox.close()
        if display is not None:
            display.close()
        if user is not None:
            user.give_back()

    # -- parts --

    def _open_display(self, cookie: bytes | None) -> XDisplay:
        # A server that reads what programs send it is better not root.
        user = LentUser(named=False) if os.geteuid() == 0 else None
        try:
            display = XDisplay(
                self._size,
                timeout=self._timeout,
                user=None if user is None else user.id,
                cookie=cookie,
            )
        except BaseException:
            if user is not None:
                user.give_back()
            raise
        with self._lock:
            self._display, self._server_user = display, user
        return display

    def _warm_up(self, program: Warm) -> None:
        self.start(program.command)
        deadline = time.monotonic() + self._timeout
        pause = threading.Event()
        while self.sandbox.run(program.ready).code != 0:
            self.sandbox.check()
            if time.monotonic() > deadline:
                raise DeviceTimeout(f"{program.command[0]} was not ready in {self._timeout:g} s")
            pause.wait(READY_PAUSE)


class SpareSession:
    """A session that is made ready in a thread, while another one is in use."""

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
        self._session = X11Session(size, confinement, timeout)
        self._ready = False

        def prepare() -> None:
            try:
                self._session.begin(accessible=accessible, warm=warm)
                self._ready = True
            except DeviceError:
                self._session.close()

        self._thread = threading.Thread(target=prepare, name="ui-gym-spare-session", daemon=True)
        self._thread.start()

    def take(self, seconds: float) -> X11Session | None:
        """The session, waiting until it is ready; None where it could not be made in time."""
        self._thread.join(seconds)
        if self._thread.is_alive() or not self._ready:
            self.close()
            return None
        return self._session

    def close(self) -> None:
        """Give it up, whether it is ready or not."""
        self._session.close()


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
