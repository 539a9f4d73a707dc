"""X11Device: an X session on this machine, with real applications, as a device of the suite."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from pathlib import PurePosixPath

from ui_gym.contract.action import Action, Drag, Move, Open, Scroll
from ui_gym.contract.device import DeviceOptions, Element, Frame, Image
from ui_gym.desktop.device import Command, CommandResult, SessionSpec, Warm, Window
from ui_gym.desktop.uitree import elements_from_xml
from ui_gym.desktop.x11 import applications
from ui_gym.desktop.x11.accessibility import read_tree
from ui_gym.desktop.x11.confinement import Confinement
from ui_gym.desktop.x11.display import XDisplay
from ui_gym.desktop.x11.needs import SESSION, absent, missing
from ui_gym.desktop.x11.rest import HOVER_TIMER, TIMER
from ui_gym.desktop.x11.sandbox import Sandbox
from ui_gym.desktop.x11.session import WRITTEN, SpareSession, X11Session
from ui_gym.errors import (
    ActionError,
    DeviceError,
    DeviceLost,
    DeviceSetupError,
    DeviceTimeout,
    UserError,
)

SMALLEST, LARGEST = (320, 240), (3840, 2160)
"""(width, height) of the screen, in pixels."""

SESSION_QUIET = 0.05
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
        self._lock = threading.Lock()
        self._session: X11Session | None = None
        self._spare: SpareSession | None = None
        self._timer = TIMER
        self._started = self._closed = False

    # -- Device --

    def start(self) -> None:
        """See that there is what it needs. `DeviceStartError` says what is not installed."""
        lacking = missing(SESSION)
        if lacking:
            raise DeviceSetupError(
                f"a desktop needs more programs (Debian: apt-get install {' '.join(lacking)})"
            )
        self._started = True

    def perform(self, action: Action) -> None:
        self.display.sync()  # first: without the X server, other programs end as well
        self.sandbox.check()
        if isinstance(action, Open):
            self._open(action.target)
        else:
            self.session.input.do(action)
        self._timer = HOVER_TIMER if isinstance(action, Move | Drag | Scroll) else TIMER

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        started = time.perf_counter()
        self.settle()
        self.sandbox.check()
        image = self.display.picture(out)
        self.session.input.note_capture()
        told = self.elements() if elements else ()
        return Frame(image=image, elements=told, time_capture=time.perf_counter() - started)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            spare, self._spare = self._spare, None
            session, self._session = self._session, None
        if spare is not None:
            spare.close()
        if session is not None:
            session.close()

    # -- DesktopDevice --

    @property
    def home(self) -> str:
        return self.sandbox.home

    def renew(self, session: SessionSpec) -> None:
        """A new X server, a new sandbox, a window manager, the files and programs of `session`."""
        if not self._started and not self._closed:
            raise DeviceLost("the desktop was not started: call start() first")
        lacking = absent(session.packages)
        if lacking:
            packages = " ".join(missing(session.packages))
            raise DeviceSetupError(
                f"there is no {' and no '.join(lacking)}: install it (Debian: apt-get install "
                f"{packages})"
            )
        started = self._new_session(session)
        for path, data in session.files.items():
            started.sandbox.write(path, data, mtime=WRITTEN)
        for command in session.launch:
            known = started.display.known_windows()
            started.start(command, session.packages)
            self._await_window(known, command[0])
        self._timer = TIMER
        for title in session.titles:
            started.display.wait_for_title(title, self._timeout)
        started.settle(quiet=SESSION_QUIET)
        if session.warm:
            self._keep(spare=self._prepare_spare(session))

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
        before = self.windows()
        where = self.run(["test", "-d", path]).code == 0 and not path.endswith("/")
        defaults = (self.read(".config/mimeapps.list") or b"").decode("utf-8", "replace")
        self.launch(applications.opener_of(path + "/" * where, defaults))
        try:
            shown = self.display.wait_for_file(PurePosixPath(path).name, before, self._timeout)
        except DeviceTimeout:
            self.sandbox.check()
            raise DeviceTimeout(f"{path} showed no window within {self._timeout:g} s") from None
        if shown in {window.id for window in before}:
            self.display.activate(shown)
        self.settle()

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
        display = self.display
        if self.session.settle(timer=self._timer) or not display.silent_since:
            return  # at rest, or it paints without end: an animation
        if time.monotonic() - display.silent_since >= self._timeout:
            active = [window.title for window in self.windows() if window.active]
            raise DeviceTimeout(
                f"the window {''.join(active)!r} did not answer for {self._timeout:g} s"
            )

    # -- parts --

    @property
    def session(self) -> X11Session:
        """What is played on. `DeviceLost` before the first `renew` and after `close`."""
        session = self._session
        if session is None:
            raise DeviceLost("the desktop is closed" if self._closed else "call renew() first")
        return session

    @property
    def display(self) -> XDisplay:
        """The X display, of this session."""
        return self.session.display

    @property
    def sandbox(self) -> Sandbox:
        """Where programs run, in this session."""
        return self.session.sandbox

    def _new_session(self, spec: SessionSpec) -> X11Session:
        """A new session: the spare one, if it was made ready for this."""
        with self._lock:
            spare, self._spare = self._spare, None
            old, self._session = self._session, None
        if old is not None:
            old.close()
        session = None
        if spare is not None:
            if spare.ready_for == self._wanted(spec):
                session = spare.take(self._timeout)
            else:
                spare.close()
        if session is None:
            session = X11Session(self.size, self._way, self._timeout)
            self._keep(session=session)  # so that `close` finds it, while it begins
            accessible, warm = self._wanted(spec)
            session.begin(accessible=accessible, warm=warm)
        else:
            self._keep(session=session)
        return session

    def _prepare_spare(self, spec: SessionSpec) -> SpareSession:
        accessible, warm = self._wanted(spec)
        return SpareSession(self.size, self._way, self._timeout, accessible=accessible, warm=warm)

    def _wanted(self, spec: SessionSpec) -> tuple[bool, tuple[Warm, ...]]:
        return self._accessible or spec.accessible, tuple(spec.warm)

    def _keep(
        self, *, session: X11Session | None = None, spare: SpareSession | None = None
    ) -> None:
        """Keep it until `close`, or close it if that has been."""
        with self._lock:
            if not self._closed:
                self._session, self._spare = session or self._session, spare or self._spare
                return
        for one in (session, spare):
            if one is not None:
                one.close()
        raise DeviceLost("the desktop is closed")

    def _await_window(self, known: set[int], name: str) -> None:
        self.session.await_window(known, name)
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
