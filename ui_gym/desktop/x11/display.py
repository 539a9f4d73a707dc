"""The X display of a desktop: its picture, its windows, and whether input was handled.

Input is handled when two have answered. The window manager, which looks at clicks before
applications do, answers a request for frame extents after what came before. The window that has the
input answers ``_NET_WM_PING`` when it comes to it. (Both are of the Extended Window Manager Hints.)
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import cv2
import numpy as np
import xcffib
import xcffib.xproto as xp
import xcffib.xtest

from ui_gym.contract.device import Image
from ui_gym.desktop.device import Window
from ui_gym.desktop.x11.supervisor import descendants, threads_of
from ui_gym.errors import DeviceLost, DeviceTimeout
from ui_gym.xvfb import XServer

ANSWER_TIMEOUT = 2.0
"""Seconds that the window manager may take to answer."""

BACKGROUND = 0x3B5B78
"""The colour of the empty desktop, RGB."""

_ATOMS = (
    "_NET_ACTIVE_WINDOW", "_NET_CLIENT_LIST_STACKING", "_NET_CLOSE_WINDOW", "_NET_FRAME_EXTENTS",
    "_NET_REQUEST_FRAME_EXTENTS", "_NET_SUPPORTING_WM_CHECK", "_NET_WM_NAME", "_NET_WM_PING",
    "_NET_WM_STATE", "_NET_WM_STATE_HIDDEN", "_NET_WM_WINDOW_TYPE", "_NET_WM_WINDOW_TYPE_DESKTOP",
    "_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_SPLASH", "WM_PROTOCOLS",
)  # fmt: skip

_FURNITURE = ("_NET_WM_WINDOW_TYPE_DESKTOP", "_NET_WM_WINDOW_TYPE_DOCK")
"""Types of windows that are the desktop itself: its icons, its panel."""

AT_ONCE = 1000
"""Events that are looked at before the time is."""

WAKE = 0.02
"""Seconds after which a window manager that does not answer is woken."""

_TO_MANAGER = xp.EventMask.SubstructureNotify | xp.EventMask.SubstructureRedirect
_ANY = 0
_LONGEST = 1 << 16


class XDisplay:
    """A connection of ours to an X server. Not for use by several threads at once.

    Raises:
        DeviceStartError: there is no Xvfb.
        DeviceLost: the server ended at once.
    """

    def __init__(
        self, size: tuple[int, int], *, timeout: float = 20.0, user: int | None = None,
        cookie: bytes | None = None,
    ) -> None:  # fmt: skip
        self.size = size
        self.silent_since = 0.0
        self._silent = 0
        self._use = threading.RLock()
        self._depth = 0
        self._closed = threading.Event()
        # Shared memory is left out: the server and its clients do not share a name space for it.
        # Keys that repeat on a busy machine would be typed twice, and each sets a timer (-r: off).
        flags = ("-extension", "MIT-SHM", "-dpi", "96", "-r")
        self.server = XServer(size, flags=flags, user=user, cookie=cookie, timeout=timeout)
        try:
            with self.lost():
                self.x = _connected(self.server)
                self._prepare()
        except BaseException:
            self.server.close()
            raise
        self._timeout = timeout
        self._processes = descendants(self.server.pid) | {self.server.pid}
        self._heard = time.monotonic()
        threading.Thread(target=self._watch, name="ui-gym-x-watch", daemon=True).start()

    @property
    def name(self) -> str:
        """Such as ``:3``."""
        return self.server.display

    @property
    def socket(self) -> str:
        """The path of the server's socket."""
        return f"/tmp/.X11-unix/X{self.name.removeprefix(':')}"

    def close(self) -> None:
        """End the server; who waits for it is told that it is lost. Idempotent."""
        self._closed.set()
        self.server.close()
        # The connection is let go once nobody is in the middle of it.
        if self._use.acquire(timeout=ANSWER_TIMEOUT):
            self.x.disconnect()
            self._use.release()

    def threads(self) -> dict[str, tuple[str, int, int, int]]:
        """What the threads of the server do at this moment, as `supervisor.threads_of` says it."""
        return threads_of(self._processes)

    def sync(self) -> None:
        """Return once the server has done all that was asked of it. `DeviceLost` if it is gone."""
        with self.lost():
            self.x.core.GetInputFocus().reply()

    # -- the picture --

    def picture(self, out: Image | None = None) -> Image:
        """What is on the screen, with the pointer: uint8, (height, width, 3), RGB."""
        self.sync()
        image: Image = cv2.cvtColor(self.server.screen, cv2.COLOR_BGRA2RGB, dst=out)  # type: ignore[assignment]
        return image

    def await_answers(self, timeout: float) -> bool:
        """Wait until all input is handled: the window manager and the active window have answered.
        Whether they have, within `timeout` seconds; `silent_since` then tells since when (in
        monotonic seconds) somebody has not, 0 if all have.
        """
        deadline = time.monotonic() + timeout
        with self.lost():
            for _ in self._events(0):  # what has come since the last time
                continue
            waits_for = self._ask_manager()
            while waits_for and (left := deadline - time.monotonic()) > 0:
                for event in self._awaited(left, waits_for):
                    if waits_for and self._is_answer(event, waits_for):
                        waits_for = self._ask_window() if waits_for == self._probe else 0
                    elif waits_for not in (0, self._probe) and self._is_new_active(event):
                        waits_for = self._ask_window()  # the one that was asked may have gone
            self._note_silence(waits_for, time.monotonic())
            return not waits_for

    def _note_silence(self, window: int, now: float) -> None:
        self._silent = window
        self.silent_since = (self.silent_since or now) if window else 0.0

    def pass_manager(self, *, timeout: float = ANSWER_TIMEOUT) -> None:
        """Wait until the window manager has handled all input: it holds clicks back while it looks
        at them, and keys would arrive before these."""
        deadline = time.monotonic() + timeout
        with self.lost():
            waiting = bool(self._ask_manager())
            while waiting and (left := deadline - time.monotonic()) > 0:
                for event in self._awaited(left, self._probe):
                    waiting = waiting and not self._is_answer(event, self._probe)

    # -- windows --

    def windows(self) -> tuple[Window, ...]:
        """What the window manager looks after and shows, the lowest first: neither icons on the
        desktop nor its panel."""
        with self.lost():
            return tuple(self._windows())

    def wait_for_manager(self, seconds: float) -> None:
        """Wait until a window manager is there. `DeviceTimeout` if none came."""
        deadline = time.monotonic() + seconds
        with self.lost():
            while not self._list(self.root, "_NET_SUPPORTING_WM_CHECK"):
                self._await_event(deadline, "the window manager did not start")

    def wait_for_window(self, known: set[int], seconds: float) -> None:
        """Wait until there is a window that is not among `known`. `DeviceTimeout` if none came."""
        deadline = time.monotonic() + seconds
        with self.lost():
            while not self._new(known):
                self._await_event(deadline, "no window was opened")

    def wait_for_file(self, name: str, before: Sequence[Window], seconds: float) -> int:
        """Wait until a file of that name is shown: by a window that is not among `before`, or, as
        a program may open it in the window that it has, by one whose title holds its name, or came
        to hold it without its ending. `DeviceTimeout` if there is none in time.

        Returns:
            The number of that window; of one that is called so rather than of a new one.
        """
        deadline = time.monotonic() + seconds
        titles = {window.id: window.title for window in before}
        with self.lost():
            while not (found := self._showing(name, titles) or self._new(set(titles))):
                self._await_event(deadline, f"no window showed {name!r}")
        return found

    def wait_for_title(self, title: str, seconds: float) -> None:
        """Wait until a window's title holds that. `DeviceTimeout` if none came to."""
        deadline = time.monotonic() + seconds
        with self.lost():
            while not any(title in window.title for window in self._windows()):
                self._await_event(deadline, f"no window was called {title!r}")

    def known_windows(self) -> set[int]:
        """The numbers of the windows that there are."""
        with self.lost():
            return set(self._list(self.root, "_NET_CLIENT_LIST_STACKING"))

    def activate(self, window: int) -> None:
        """Raise a window and give it the keyboard."""
        self._tell_manager(window, "_NET_ACTIVE_WINDOW", 2)

    def close_window(self, window: int) -> None:
        """Ask a window to close."""
        self._tell_manager(window, "_NET_CLOSE_WINDOW", 0, 2)

    # -- parts --

    @contextlib.contextmanager
    def lost(self) -> Iterator[None]:
        """A context in which the loss of the server becomes `DeviceLost`."""
        with self._use:
            self._heard = time.monotonic()
            self._depth += 1
            try:
                yield
            except xcffib.Error:
                raise  # the server is there, and says that a request was wrong
            except (xcffib.XcffibException, OSError):
                raise DeviceLost("the desktop's X server has ended") from None
            finally:
                self._depth -= 1

    def _watch(self) -> None:
        """End a server that does not answer, as when a program has grabbed it: a wait for an answer
        has no deadline of its own."""
        while not self._closed.wait(1.0):
            if self._depth and time.monotonic() - self._heard > self._timeout + ANSWER_TIMEOUT:
                self.server.close()

    def _prepare(self) -> None:
        self.root = self.x.get_setup().roots[0].root
        asked = [self.x.core.InternAtom(False, len(name), name) for name in _ATOMS]
        self.atoms = {name: one.reply().atom for name, one in zip(_ATOMS, asked, strict=True)}
        self.test = self.x(xcffib.xtest.key)
        self.x.core.ChangeWindowAttributes(
            self.root,
            xp.CW.BackPixel | xp.CW.EventMask,
            [BACKGROUND, xp.EventMask.SubstructureNotify | xp.EventMask.PropertyChange],
        )
        self.x.core.ClearArea(False, self.root, 0, 0, 0, 0)  # paints it
        self._stamp = 0
        self._probe: int = self.x.generate_id()
        self.x.core.CreateWindow(
            0, self._probe, self.root, -1, -1, 1, 1, 0, xp.WindowClass.InputOnly, 0,
            xp.CW.OverrideRedirect | xp.CW.EventMask, [1, xp.EventMask.PropertyChange],
        )  # fmt: skip
        self.sync()

    def _events(self, seconds: float) -> Iterator[Any]:
        """Events that are there, waiting up to `seconds` for the first."""
        self._heard = time.monotonic()
        event = self._event()
        if event is None:
            select.select([self.x.get_file_descriptor()], [], [], max(seconds, 0))
            event = self._event()
        count = 0
        while event is not None:
            yield event
            count += 1  # a program that sends events without end must not hold us
            event = self._event() if count < AT_ONCE else None

    def _awaited(self, seconds: float, waits_for: int) -> Iterator[Any]:
        """As `_events`, keeping the manager awake if it is that which is waited for."""
        if waits_for != self._probe:
            yield from self._events(seconds)
            return
        events = list(self._events(min(seconds, WAKE)))
        if not events:
            self._wake_manager()
        yield from events

    def _event(self) -> Any:
        while True:
            try:
                event = self.x.poll_for_event()
            except xcffib.Error:
                continue  # the window that was spoken to has gone
            if event is not None and self._silent and self._is_answer(event, self._silent):
                self._note_silence(0, 0.0)  # who was silent the last time has answered since
            return event

    def _await_event(self, deadline: float, else_: str) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise DeviceTimeout(f"{else_} in time")
        for _ in self._events(min(left, WAKE)):
            continue
        self._wake_manager()

    def _wake_manager(self) -> None:
        """Send a message that means nothing: Openbox may sleep on requests that it read while it
        was starting."""
        self._send(self.root, self.root, "WM_PROTOCOLS", (0, 0, 0, 0, 0), _TO_MANAGER)

    def _ask_manager(self) -> int:
        """Ask the window manager for an answer; the window that it is about, 0 without one."""
        if not self._list(self.root, "_NET_SUPPORTING_WM_CHECK"):
            return 0
        words = (0, 0, 0, 0, 0)
        self._send(self.root, self._probe, "_NET_REQUEST_FRAME_EXTENTS", words, _TO_MANAGER)
        return self._probe

    def _ask_window(self) -> int:
        """Ask the active window for an answer; 0 if there is none that would give one."""
        window = next(iter(self._list(self.root, "_NET_ACTIVE_WINDOW")), 0)
        if not window or self.atoms["_NET_WM_PING"] not in self._list(window, "WM_PROTOCOLS"):
            return 0
        self._stamp = (self._stamp + 1) & 0x7FFFFFFF
        data = (self.atoms["_NET_WM_PING"], self._stamp, window, 0, 0)
        self._send(window, window, "WM_PROTOCOLS", data, 0)
        return window

    def _is_answer(self, event: Any, window: int) -> bool:
        """Whether that window has answered, or has gone."""
        match event:
            case xp.PropertyNotifyEvent():
                frame = self.atoms["_NET_FRAME_EXTENTS"]
                return bool(event.window == window == self._probe and event.atom == frame)
            case xp.ClientMessageEvent():
                words = [int(word) for word in event.data.data32]
                return words[:3] == [self.atoms["_NET_WM_PING"], self._stamp, window]
        return False

    def _is_new_active(self, event: Any) -> bool:
        """Whether another window has become the active one."""
        active = self.atoms["_NET_ACTIVE_WINDOW"]
        return isinstance(event, xp.PropertyNotifyEvent) and bool(event.atom == active)

    def _tell_manager(self, window: int, message: str, *data: int) -> None:
        with self.lost():
            self._send(self.root, window, message, (*data, 0, 0, 0, 0, 0)[:5], _TO_MANAGER)
            self.sync()

    def _send(self, to: int, window: int, message: str, data: tuple[int, ...], mask: int) -> None:
        event = struct.pack("=BBHII5I", 33, 32, 0, window, self.atoms[message], *data)
        self.x.core.SendEvent(False, to, mask, event)
        self.x.flush()

    def _windows(self) -> Iterator[Window]:
        active = self._list(self.root, "_NET_ACTIVE_WINDOW")
        for number in self._list(self.root, "_NET_CLIENT_LIST_STACKING"):
            try:
                geometry = self.x.core.GetGeometry(number).reply()
                where = self.x.core.TranslateCoordinates(number, self.root, 0, 0).reply()
                if self.atoms["_NET_WM_STATE_HIDDEN"] in self._list(number, "_NET_WM_STATE"):
                    continue
                if self._is_of(number, _FURNITURE):
                    continue
                title = self._bytes(number, self.atoms["_NET_WM_NAME"]) or self._bytes(
                    number, xp.Atom.WM_NAME
                )
                app = self._bytes(number, xp.Atom.WM_CLASS).decode("utf-8", "replace")
            except xcffib.Error:
                continue  # it has gone meanwhile
            box = (where.dst_x, where.dst_y, geometry.width, geometry.height)
            words = app.split("\0")
            yield Window(
                number, title.decode("utf-8", "replace"), words[1] if len(words) > 1 else app,
                box, active=number in active,
            )  # fmt: skip

    def _showing(self, name: str, titles: Mapping[int, str]) -> int:
        """The topmost window that shows that file, where `titles` were those before; 0 without."""
        stem = PurePosixPath(name).stem
        for window in reversed(list(self._windows()) if name else []):
            changed = titles.get(window.id) != window.title
            if name in window.title or (changed and stem in window.title):
                return window.id
        return 0

    def _new(self, known: set[int]) -> int:
        """A window that is not among `known` and stays; 0 without one."""
        return next(filter(self._is_lasting, sorted(self.known_windows() - known)), 0)

    def _is_lasting(self, window: int) -> bool:
        """Whether it is no picture that a program shows while it starts."""
        return not self._is_of(window, ("_NET_WM_WINDOW_TYPE_SPLASH",))

    def _is_of(self, window: int, types: Sequence[str]) -> bool:
        """Whether a window says that it is of one of these types."""
        said = self._list(window, "_NET_WM_WINDOW_TYPE")
        return any(self.atoms[name] in said for name in types)

    def _list(self, window: int, name: str) -> list[int]:
        try:
            return [number for number in self._words(window, self.atoms[name]) if number]
        except xcffib.Error:
            return []

    def _bytes(self, window: int, atom: int) -> bytes:
        asked = self.x.core.GetProperty(False, window, atom, _ANY, 0, _LONGEST).reply()
        return bytes(asked.value.buf())

    def _words(self, window: int, atom: int) -> list[int]:
        """A property of 32-bit numbers; none where somebody wrote anything else."""
        asked = self.x.core.GetProperty(False, window, atom, _ANY, 0, _LONGEST).reply()
        if asked.format != 32:
            return []
        return [int(word) for word in np.frombuffer(bytes(asked.value.buf()), np.uint32)]


_CONNECTING = threading.Lock()


def _connected(server: XServer) -> Any:
    """A connection to a server, with its cookie if it asks for one. (What xcffib takes as a cookie
    it frees too early; libxcb finds it by the environment.)"""
    if server.authority is None:
        return xcffib.connect(server.display)
    with _CONNECTING:
        before = os.environ.get("XAUTHORITY")
        os.environ["XAUTHORITY"] = str(server.authority)
        try:
            return xcffib.connect(server.display)
        finally:
            del os.environ["XAUTHORITY"]
            if before is not None:
                os.environ["XAUTHORITY"] = before
