"""Handset: a built-in phone that is switched on: its state, its screen and its shell together.

What is done by touch, by a shell line or over ADB ends up in the same place. One lock makes each of
these whole, as a phone that is served has several clients.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ui_gym.android.adb.sync import SyncStat
from ui_gym.android.device import ShellResult
from ui_gym_phone.factory import factory_phone
from ui_gym_phone.shell import Output, run
from ui_gym_phone.state.clock import Clock
from ui_gym_phone.state.files import Files
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.painter import Painter
from ui_gym_phone.ui.screen import PhoneScreen

if TYPE_CHECKING:
    from ui_gym.android.adb.shell_service import Input

ACTION_SECONDS = 1.0
"""How far the clock moves with each touch and key."""


class Handset:
    """A phone with a screen of `width` x `height` device pixels."""

    def __init__(self, width: int = 1080, height: int = 2400, serial: str = "phone") -> None:
        self.serial = serial
        self._lock = threading.RLock()
        self._size = (width, height)
        self.phone = factory_phone(width, height)
        self.screen = PhoneScreen(self.phone)
        self._device_painter: Painter | None = None

    # -- as a whole --

    def renew(self, snapshot: bytes | None = None) -> None:
        """Be the phone of a snapshot, or one as it leaves the factory."""
        with self._lock:
            self.phone = factory_phone(*self._size) if snapshot is None else Phone.restore(snapshot)
            self.screen = PhoneScreen(self.phone)

    def snapshot(self) -> bytes:
        """All of its state."""
        with self._lock:
            return self.phone.snapshot()

    def paint(self, painter: Painter) -> Painter:
        """Bring a painter up to date."""
        with self._lock:
            self.screen.paint(painter)
        return painter

    # -- what the shell works on --

    @property
    def files(self) -> Files:
        return self.phone.files

    @property
    def clock(self) -> Clock:
        return self.phone.clock

    def shell(self, line: str) -> ShellResult:
        """Run a line in its shell."""
        return self._run(line).result()

    def ask(self, line: str) -> ShellResult:
        """The same of a line that may change nothing, as those that judge: the screen is laid out
        anew only if it did."""
        with self._lock:
            before = self.phone.snapshot() if self.screen.laid_out else b""
            result = run(self, line).result()
            if not before or before != self.phone.snapshot():
                self.screen.refresh()
        return result

    def _run(self, line: str, stdin: bytes | Callable[[], bytes] = b"") -> Output:
        with self._lock:
            try:
                return run(self, line, stdin=stdin)
            finally:
                self.screen.refresh()

    # -- what is done to it --

    def tap(self, x: int, y: int, count: int = 1) -> None:
        """Touch a point of the screen, in device pixels."""
        for _ in range(count):
            self.screen.tap(x, y)
            self.phone.clock.advance(ACTION_SECONDS)
        self.screen.refresh()

    def long_press(self, x: int, y: int, seconds: float = 0.8) -> None:
        """Touch and hold a point."""
        self.screen.long_press(x, y)
        self._passed()

    def swipe(self, x1: int, y1: int, x2: int, y2: int, ms: int = 300) -> None:
        """Move a finger, which takes `ms` milliseconds."""
        self.screen.swipe(x1, y1, x2, y2, ms)
        self._passed()

    def text(self, text: str) -> None:
        """Type a text into the field that has the caret."""
        self.screen.text(text)
        self._passed()

    def key(self, code: int, *held: int) -> None:
        """Press a key by its Android code while others are held."""
        self.screen.key(code, *held)
        self._passed()

    def _passed(self) -> None:
        self.phone.clock.advance(ACTION_SECONDS)
        self.screen.refresh()

    # -- what is seen of it --

    def pixels(self) -> tuple[int, int, bytes]:
        """(width, height, RGBA) of the screen in device pixels."""
        with self._lock:
            width, height = self._size
            if self._device_painter is None:
                self._device_painter = Painter(width, height, 1.0)
            return width, height, self.paint(self._device_painter).rgba()

    def ui_tree(self) -> str:
        """What `uiautomator dump` writes."""
        with self._lock:
            return self.screen.ui_tree()

    @property
    def focused_window(self) -> str:
        """What has the focus, as `dumpsys window` names it."""
        return self.screen.focused_window

    @property
    def keyboard_shown(self) -> bool:
        return self.screen.keyboard_shown

    # -- as it is served by ADB --

    @property
    def banner(self) -> Mapping[str, str]:
        """What it tells of itself."""
        names = ("ro.product.name", "ro.product.model", "ro.product.device")
        return {name: self.phone.properties[name] for name in names}

    def run(self, line: str, stdin: Input | None, write: Callable[[int, bytes], None]) -> int:
        """Run a line for a client. Nobody else waits for a client that is slow to send or take."""

        def given() -> bytes:
            self._lock.release()
            try:
                return stdin.read() if stdin is not None else b""
            finally:
                self._lock.acquire()

        output = self._run(line, given)
        for descriptor, data in output.chunks:
            write(descriptor, data)
        return output.code

    def stat(self, path: str) -> SyncStat | None:
        """What lies at a path, if anything."""
        with self._lock:
            if not self.files.exists(path):
                return None
            found = self.files.stat(path)
            return SyncStat(found.mode, found.size, int(found.mtime))

    def list(self, path: str) -> Sequence[tuple[str, SyncStat]]:
        """What a folder holds."""
        with self._lock:
            if not self.files.is_dir(path):
                return []
            inside = [(name, self.stat(f"{path}/{name}")) for name in self.files.list(path)]
            return [(name, found) for name, found in inside if found is not None]

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        with self._lock:
            return self.files.read(path)

    def write(self, path: str, data: bytes, mode: int, mtime: int) -> None:
        """Write a file and make its folders."""
        with self._lock:
            folder = path.rpartition("/")[0] or "/"
            self.files.mkdir(folder, parents=True)
            self.files.write(path, data, mode)
            self.files.touch(path, float(mtime))
            self.screen.refresh()
