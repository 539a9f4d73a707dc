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
from ui_gym.errors import DeviceError
from ui_gym_phone import emulator
from ui_gym_phone.factory import factory_phone
from ui_gym_phone.shell import Output, ShellSession, run
from ui_gym_phone.shell.session import ROOT, SHELL
from ui_gym_phone.state import calling
from ui_gym_phone.state.access import files_for
from ui_gym_phone.state.clock import Clock
from ui_gym_phone.state.display import natural
from ui_gym_phone.state.files import Files
from ui_gym_phone.state.phone import Phone
from ui_gym_phone.ui.fingers import Fingers, pinch_of, turned
from ui_gym_phone.ui.painter import Painter
from ui_gym_phone.ui.screen import PhoneScreen
from ui_gym_phone.ui.touch import FingerStroke

if TYPE_CHECKING:
    from ui_gym.android.adb.shell_service import Input

ADB_ROOT = "service.adb.root"
"""The property that tells whether adbd is root."""

PIECE = 1 << 16
"""Bytes of a client's input that are taken at a time."""

KEYCODE_CALL, KEYCODE_ENDCALL = 5, 6

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
        self._fingers = Fingers()
        self._tapped: tuple[int, int] | None = None
        """Where the last touch was, if a second one there is a double tap."""

    # -- as a whole --

    def renew(self, snapshot: bytes | None = None) -> None:
        """Be the phone of a snapshot, or one as it leaves the factory."""
        self.adopt(factory_phone(*self._size) if snapshot is None else Phone.restore(snapshot))

    def adopt(self, phone: Phone) -> None:
        """Be this phone, which is nobody else's."""
        with self._lock:
            self.screen.forget()
            self.phone = phone
            self.screen = PhoneScreen(phone)
            self._fingers = Fingers()

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
            result = run(self, line, session=self._session()).result()
            if not before or before != self.phone.snapshot():
                self.screen.refresh()
        return result

    def _run(self, line: str) -> Output:
        with self._lock:
            try:
                return run(self, line, session=self._session())
            finally:
                self.screen.refresh()

    def _session(self) -> ShellSession:
        """What a shell that adbd starts begins with."""
        self._tapped = None
        session = ShellSession()
        if self.is_root:
            session.user = ROOT
            session.variables.update(USER=ROOT, LOGNAME=ROOT)
        return session

    # -- what is done to it --

    def tap(self, x: int, y: int, count: int = 1) -> None:
        """Touch a point of the screen, in device pixels. The second of two taps at a point is a
        double tap, if a shell does both in one line."""
        for _ in range(count):
            again = self._tapped is not None and FingerStroke(*self._tapped, x, y).still
            (self.screen.double_tap if again else self.screen.tap)(x, y)
            self._tapped = None if again else (x, y)
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

    def pinch(self, x: int, y: int, factor: float, dx: int = 0, dy: int = 0) -> None:
        """Two fingers around a point, whose distance grows `factor`-fold (below 1: shrinks), and
        whose middle moves by (dx, dy)."""
        self.screen.pinch(x, y, factor, dx, dy)
        self._passed()

    def touch_event(self, type: int, code: int, value: int) -> None:
        """An event of the touch screen, as `sendevent` writes it: its points are the upright
        panel's. When the last finger is lifted, all of it is done."""
        ways = self._fingers.feed(type, code, value, self.phone.clock.uptime_ms)
        size, rotation = natural(self.phone), self.screen.display.rotation
        strokes = [turned(way, size, rotation) for way in ways]
        if len(strokes) == 1:
            one = strokes[0]
            self.swipe(one.x1, one.y1, one.x2, one.y2, one.ms)
        elif strokes:
            both = pinch_of(*strokes[:2])
            self.pinch(both.x, both.y, both.factor, both.dx, both.dy)

    def text(self, text: str) -> None:
        """Type a text into the field that has the caret."""
        self.screen.text(text)
        self._passed()

    def key(self, code: int, *held: int) -> None:
        """Press a key by its Android code while others are held."""
        if not self._call_key(code):
            self.screen.key(code, *held)
        self._passed()

    def _call_key(self, code: int) -> bool:
        """The keys that answer and end a call do so, where there is one. Whether it was that."""
        if code == KEYCODE_CALL:
            return calling.answer(self.phone)
        if code != KEYCODE_ENDCALL:
            return False
        return calling.reject(self.phone) or calling.end(self.phone)

    def _passed(self) -> None:
        self._tapped = None
        self.phone.clock.advance(ACTION_SECONDS)
        self.screen.refresh()

    # -- what is seen of it --

    def pixels(self) -> tuple[int, int, bytes]:
        """(width, height, RGBA) of the screen in device pixels."""
        with self._lock:
            display = self.screen.display
            size = display.width, display.height
            if self._device_painter is None or self._device_painter.size != size:
                self._device_painter = Painter(*size, 1.0)
            return *size, self.paint(self._device_painter).rgba()

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

    @property
    def is_root(self) -> bool:
        """Whether adbd, and with it each shell that it starts, is root."""
        return self.phone.properties.get(ADB_ROOT) == "1"

    def console(self, line: str) -> str:
        """Do what an emulator's console is told: ``sms send``, ``gsm call``..."""
        with self._lock:
            try:
                return emulator.answer(self.phone, line)
            finally:
                self.screen.refresh()

    def restart(self) -> None:
        """What ``adb reboot`` does."""
        self.shell("reboot")

    def set_root(self, on: bool) -> None:
        """What ``adb root`` and ``adb unroot`` do."""
        with self._lock:
            self.phone.properties[ADB_ROOT] = str(int(on))

    def run(
        self,
        line: str,
        stdin: Input | None,
        write: Callable[[int, bytes], None],
        *,
        prompt: bool = False,
    ) -> int:
        """Run a line for a client, or without one the commands that the client sends. Nobody else
        waits for a client that is slow to send or take."""
        chunks = list[tuple[int, bytes]]()

        def told() -> None:
            """Send what was written since the last time."""
            waiting = chunks[:]
            chunks.clear()
            for descriptor, data in waiting:
                write(descriptor, data)

        def given() -> bytes:
            """What comes in next; before that, everybody sees what was done."""
            self.screen.refresh()
            self._lock.release()
            try:
                told()
                return stdin.read(PIECE) if stdin is not None else b""
            except DeviceError:  # the client went, or sent what is no input: that is its end
                return b""
            finally:
                self._lock.acquire()

        with self._lock:
            try:
                code = run(
                    self, line, stdin=given, session=self._session(), chunks=chunks, prompt=prompt
                ).code
            finally:
                self.screen.refresh()
        told()
        return code

    def stat(self, path: str) -> SyncStat | None:
        """What lies at a path, if anything."""
        with self._lock:
            try:
                found = self._adb_files().stat(path)
            except (FileNotFoundError, NotADirectoryError):
                return None
            return SyncStat(found.mode, found.size, int(found.mtime))

    def list(self, path: str) -> Sequence[tuple[str, SyncStat]]:
        """What a folder holds."""
        with self._lock:
            files = self._adb_files()
            if not files.is_dir(path):
                return []
            inside = [(name, self.stat(f"{path}/{name}")) for name in files.list(path)]
            return [(name, found) for name, found in inside if found is not None]

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        with self._lock:
            return self._adb_files().read(path)

    def write(self, path: str, data: bytes, mode: int, mtime: int) -> None:
        """Write a file and make its folders."""
        with self._lock:
            files = self._adb_files()
            folder = path.rpartition("/")[0] or "/"
            files.mkdir(folder, parents=True)
            files.write(path, data, mode)
            files.touch(path, float(mtime))
            self.screen.refresh()

    def _adb_files(self) -> Files:
        """The files as adbd may use them."""
        return files_for(self.files, ROOT if self.is_root else SHELL)
