"""X11Device: an X session on this machine, with real applications, as a device of the suite."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping, Sequence

from ui_gym.action import Action, Open
from ui_gym.desktop.surface import Command, CommandResult, Session, Warm, Window
from ui_gym.desktop.uitree import elements_from_xml
from ui_gym.desktop.x11 import applications
from ui_gym.desktop.x11.accessibility import read_tree
from ui_gym.desktop.x11.desk import WRITTEN, Desk, Spare
from ui_gym.desktop.x11.display import Display
from ui_gym.desktop.x11.sandbox import Confinement, Sandbox
from ui_gym.device import DeviceOptions, Element, Frame, Image
from ui_gym.errors import (
    ActionError,
    DeviceError,
    DeviceLost,
    DeviceTimeout,
    UserError,
)

SMALLEST, LARGEST = (320, 240), (3840, 2160)
"""(width, height) of the screen, in pixels."""

SESSION_QUIET = 0.15
"""Seconds of rest after which a session has begun: programs go on a while after their window."""

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
        self._desk: Desk | None = None
        self._spare: Spare | None = None
        self._closed = False
        self._silent_since = 0.0

    # -- Device --

    def start(self) -> None:
        """Start the X server. `DeviceStartError` where something is not installed."""
        if self._desk is None and not self._closed:
            self._desk = Desk(self.size, self._way, self._timeout)

    def perform(self, actions: Sequence[Action]) -> None:
        self.sandbox.check()
        for action in actions:
            if isinstance(action, Open):
                self._open(action.target)
            else:
                self.desk.hand.do(action)

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        started = time.perf_counter()
        self.settle()
        self.sandbox.check()
        image = self.display.picture(out)
        told = self.elements() if elements else ()
        return Frame(image=image, elements=told, time_capture=time.perf_counter() - started)

    def close(self) -> None:
        self._closed = True
        spare, self._spare = self._spare, None
        desk, self._desk = self._desk, None
        if spare is not None:
            spare.close()
        if desk is not None:
            desk.close()

    # -- DesktopDevice --

    @property
    def home(self) -> str:
        return self.sandbox.home

    def renew(self, session: Session) -> None:
        """A new sandbox, a window manager, the session's files, and its programs."""
        accessible = self._accessible or session.accessible
        desk = self._ready_desk(accessible, session.warm)
        desk.begun_with = None
        for path, data in session.files.items():
            desk.sandbox.write(path, data, mtime=WRITTEN)
        for command in session.launch:
            known = desk.display.known_windows()
            desk.start(command, session.packages)
            self._await_window(known, command[0])
        for title in session.titles:
            desk.display.wait_for_title(title, self._timeout)
        desk.display.settle(quiet=SESSION_QUIET)
        self._silent_since = 0.0
        if session.warm and not self._closed:
            self._spare = Spare(
                self.size, self._way, self._timeout, accessible=accessible, warm=session.warm
            )

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
    def desk(self) -> Desk:
        """The desk in use. `DeviceLost` before `start` and after `close`."""
        desk = self._desk
        if desk is None:
            raise DeviceLost("the desktop is closed" if self._closed else "call start() first")
        return desk

    @property
    def display(self) -> Display:
        """The X display. `DeviceLost` before `start` and after `close`."""
        return self.desk.display

    @property
    def sandbox(self) -> Sandbox:
        """Where programs run. `DeviceLost` before the first `renew` and after `close`."""
        return self.desk.sandbox

    def _ready_desk(self, accessible: bool, warm: Sequence[Warm]) -> Desk:
        """A desk with a new session: the spare one, if it is like this."""
        desk = self.desk
        spare, self._spare = self._spare, None
        if spare is not None and spare.ready_for == (accessible, tuple(warm)):
            other = spare.take(self._timeout)
            if other is not None:
                self._desk = other
                desk.close()
                if self._closed:
                    other.close()
                return other
        elif spare is not None:
            spare.close()
        desk.begin(accessible=accessible, warm=warm)
        return desk

    def _await_window(self, known: set[int], name: str) -> None:
        self.desk.await_window(known, name)
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
