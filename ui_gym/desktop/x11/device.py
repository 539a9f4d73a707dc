"""X11Device: an X session on this machine, with real applications, as a device of the suite."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from ui_gym.action import Action, Open
from ui_gym.desktop.surface import Command, CommandResult, Session, Window
from ui_gym.desktop.uitree import elements_from_xml
from ui_gym.desktop.x11 import applications
from ui_gym.desktop.x11.accessibility import read_tree
from ui_gym.desktop.x11.display import Display
from ui_gym.desktop.x11.hand import Hand
from ui_gym.desktop.x11.sandbox import Confinement, Sandbox
from ui_gym.device import DeviceOptions, Element, Frame, Image
from ui_gym.errors import (
    ActionError,
    DeviceError,
    DeviceLost,
    DeviceStartError,
    DeviceTimeout,
    UserError,
)

SMALLEST, LARGEST = (320, 240), (3840, 2160)
"""(width, height) of the screen, in pixels."""

WRITTEN = 1_735_689_600
"""When the files of an episode were last changed: 1 January 2025, in Unix seconds."""

PACKAGES = {
    "openbox": "openbox", "dbus-daemon": "dbus-daemon", "mousepad": "mousepad",
    "pcmanfm": "pcmanfm", "xfce4-terminal": "xfce4-terminal", "galculator": "galculator",
    "gnumeric": "gnumeric", "soffice": "libreoffice-calc libreoffice-writer",
}  # fmt: skip
"""The Debian package of a program."""

_CONFINEMENTS: Mapping[str, Confinement | None] = {
    "": None, "bubblewrap": "bubblewrap", "user": "user", "unconfined": "unconfined",
}  # fmt: skip


class X11Device:
    """A `DesktopDevice` on this machine: an X server without a screen, a window manager, and
    applications in a sandbox that is new for each episode.

    ``device="x11"`` confines applications as well as this machine can; ``"x11:bubblewrap"``,
    ``"x11:user"`` and ``"x11:unconfined"`` (see `Sandbox`) ask for a way.
    """

    def __init__(self, options: DeviceOptions) -> None:
        _, _, way = options.kind.partition(":")
        if way not in _CONFINEMENTS:
            raise UserError(f"x11 has no confinement {way!r}; it is one of {[*_CONFINEMENTS][1:]}")
        for asked, least, most in zip(options.size, SMALLEST, LARGEST, strict=True):
            if not least <= asked <= most:
                raise UserError(
                    f"a desktop's screen is {SMALLEST[0]}x{SMALLEST[1]} to "
                    f"{LARGEST[0]}x{LARGEST[1]} pixels, not {options.size[0]}x{options.size[1]}"
                )
        self.size = options.size
        self._way = _CONFINEMENTS[way]
        self._timeout = options.timeout
        self._accessible = options.elements
        self._display: Display | None = None
        self._sandbox: Sandbox | None = None
        self._closed = False
        self._silent_since = 0.0

    # -- Device --

    def start(self) -> None:
        """Start the X server. `DeviceStartError` where something is not installed."""
        if self._display is None:
            self._display = Display(self.size)
            self._hand = Hand(self._display)

    def perform(self, actions: Sequence[Action]) -> None:
        self.sandbox.check()
        for action in actions:
            if isinstance(action, Open):
                self._open(action.target)
            else:
                self._hand.do(action)

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        started = time.perf_counter()
        self.settle()
        self.sandbox.check()
        image = self.display.picture(out)
        told = self.elements() if elements else ()
        return Frame(image=image, elements=told, time_capture=time.perf_counter() - started)

    def close(self) -> None:
        self._closed = True
        sandbox, self._sandbox = self._sandbox, None
        display, self._display = self._display, None
        if sandbox is not None:
            sandbox.close()
        if display is not None:
            display.close()

    # -- DesktopDevice --

    @property
    def home(self) -> str:
        return self.sandbox.home

    def renew(self, session: Session) -> None:
        """A new sandbox, a window manager, the session's files, and its programs."""
        self._end_sandbox()
        display = self.display
        display.clear()
        accessible = self._accessible or session.accessible
        self._sandbox = sandbox = Sandbox(
            _environment(display.name, accessible=accessible), [display.socket],
            confinement=self._way, timeout=self._timeout,
        )  # fmt: skip
        for path, data in {**_home(), **session.files}.items():
            sandbox.write(path, data, mtime=WRITTEN)
        packages = {**PACKAGES, **session.packages}
        bus = "unix:path=" + sandbox.environment["XDG_RUNTIME_DIR"] + "/bus"
        sandbox.environment["DBUS_SESSION_BUS_ADDRESS"] = bus
        self._start(
            ["dbus-daemon", "--session", "--nofork", f"--address={bus}"], packages, vital=True
        )
        self._start(["openbox"], packages, vital=True)
        display.wait_for_manager(self._timeout)
        self._hand.rest()
        for command in session.launch:
            known = display.known_windows()
            self._start(command, packages)
            self._await_window(known, command[0])
        self.settle()
        self._silent_since = 0.0

    def run(
        self,
        command: Command,
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        return self.sandbox.run(command, timeout=timeout, cwd=cwd, env=env)

    def launch(self, command: Command) -> None:
        try:
            self.sandbox.spawn(command)
        except FileNotFoundError as error:
            raise DeviceError(f"there is no program {error} on the desktop") from None

    def read(self, path: str) -> bytes | None:
        return self.sandbox.read(path)

    def write(self, path: str, data: bytes) -> None:
        self.sandbox.write(path, data, mtime=WRITTEN)

    def windows(self) -> tuple[Window, ...]:
        return self.display.windows()

    def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        window = self._window(name, strict=strict, by_class=by_class)
        if window is not None:
            self.display.activate(window.id)
            self.settle()
        return window is not None

    def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> bool:
        window = self._window(name, strict=strict, by_class=by_class)
        if window is not None:
            self.display.close_window(window.id)
            self.settle()
        return window is not None

    def open_file(self, path: str) -> None:
        known = self.display.known_windows()
        where = self.run(["test", "-d", path]).code == 0 and not path.endswith("/")
        defaults = (self.read(".config/mimeapps.list") or b"").decode("utf-8", "replace")
        self.launch(applications.opener_of(path + "/" * where, defaults))
        self._await_window(known, path)

    def connect(self, port: int) -> socket.socket:
        return self.sandbox.connect(port)

    def ui_tree(self) -> str:
        """The tree of what applications say that they show. `DeviceError` where they do not: the
        session, or the env's observation, must ask for it."""
        return read_tree(self.sandbox)

    def elements(self) -> tuple[Element, ...]:
        return elements_from_xml(read_tree(self.sandbox, showing=True))

    def settle(self) -> None:
        """Wait until the active window has handled its input and the screen is at rest.

        `DeviceTimeout` once a window has not answered for as long as the device waits.
        """
        if self.display.settle():
            self._silent_since = 0.0
            return
        if self.display.answers:
            return  # it paints without end: an animation
        now = time.monotonic()
        self._silent_since = self._silent_since or now
        if now - self._silent_since >= self._timeout:
            active = [window.title for window in self.windows() if window.active]
            raise DeviceTimeout(
                f"the window {''.join(active)!r} did not answer for {self._timeout:g} s"
            )

    # -- parts --

    @property
    def display(self) -> Display:
        """The X display. `DeviceLost` before `start` and after `close`."""
        display = self._display
        if display is None:
            raise DeviceLost("the desktop is closed" if self._closed else "call start() first")
        return display

    @property
    def sandbox(self) -> Sandbox:
        """Where programs run. `DeviceLost` before the first `renew` and after `close`."""
        sandbox = self._sandbox
        if sandbox is None:
            raise DeviceLost("the desktop is closed" if self._closed else "call renew() first")
        return sandbox

    def _end_sandbox(self) -> None:
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.close()

    def _start(
        self, command: Sequence[str], packages: Mapping[str, str], *, vital: bool = False
    ) -> None:
        try:
            self.sandbox.spawn(command, vital=vital)
        except FileNotFoundError:
            name = os.path.basename(command[0])
            package = packages.get(name, name)
            raise DeviceStartError(
                f"there is no {name}: install it (Debian: apt-get install {package})"
            ) from None

    def _await_window(self, known: set[int], name: str) -> None:
        try:
            self.display.wait_for_window(known, self._timeout)
        except DeviceTimeout:
            self.sandbox.check()
            raise DeviceTimeout(f"{name} showed no window within {self._timeout:g} s") from None
        self.settle()

    def _window(self, name: str, *, strict: bool, by_class: bool) -> Window | None:
        for window in self.windows():
            said = window.app if by_class else window.title
            if said == name or (not strict and name.lower() in said.lower()):
                return window
        return None

    def _open(self, target: str) -> None:
        if "/" in target and self.read(target) is not None:
            self.open_file(target)
            return
        known = self.display.known_windows()
        self.launch(applications.command_of(target))
        try:
            self._await_window(known, target)
        except DeviceTimeout as error:
            raise ActionError("runtime", f"open: {error}") from None


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
