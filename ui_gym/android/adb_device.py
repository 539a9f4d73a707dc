"""AdbDevice: a phone that is reached by ADB, be it real, emulated, or ours over the wire."""

from __future__ import annotations

import re
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from ui_gym.android import lowering, opening, shell_facts
from ui_gym.android.adb import screencap, shell, sync
from ui_gym.android.adb.stream import AdbConnection
from ui_gym.android.adb.target import AdbTarget
from ui_gym.android.device import COLUMNS, ShellResult
from ui_gym.android.uitree import elements_from_xml, tree_of
from ui_gym.contract.action import Action, Open, Type
from ui_gym.contract.device import DeviceOptions, Element, Frame, Image, settle_seconds
from ui_gym.contract.harm import Fact
from ui_gym.errors import ActionError, DeviceError, DeviceLost, DeviceStartError, DeviceTimeout

SLOW_INPUT = 1.0
"""Seconds that one `input` may take: before Android 11 each starts a virtual machine."""

MAX_LINE = 16_384
"""From this many characters on, input goes in several calls."""

_PROBE = "getprop ro.build.version.sdk; wm size; dumpsys input | grep SurfaceOrientation"
_INPUT_METHOD = "settings get secure default_input_method"
# Errors would come among the pixels: phones with two screens warn at every picture.
_SCREENCAP = "screencap 2>/dev/null"
_DUMP = "uiautomator dump /dev/tty"
# Where that cannot be written: by way of a file, which must not be an old one.
_DUMP_TO_FILE = "rm -f {0}; uiautomator dump {0}; cat {0}".format("/data/local/tmp/ui-gym.xml")
_RENEW = (
    "input keyevent 224; wm dismiss-keyguard; cmd statusbar collapse; "
    f"settings delete secure {COLUMNS} >/dev/null"
)

T = TypeVar("T")


class AdbDevice:
    """An `AndroidDevice` by ADB. What is observed is its screen, stretched to `options.size`.

    `options.kind` is ``adb`` (the only device of the adb server), ``adb:SERIAL``,
    ``adb:HOST:PORT`` (the server connects to it, and stays connected) or ``adb-direct:HOST:PORT``
    (no server; for devices that want no key). ``options.extra["settle"]``: see `settle_seconds`; 0
    takes each picture at once.
    """

    def __init__(self, options: DeviceOptions) -> None:
        self.size = options.size
        self._target = AdbTarget.parse(options.kind)
        self._timeout = options.timeout
        self._settle = settle_seconds(options)
        self._connection: AdbConnection | None = None
        self._broken = False
        self._screen = options.size
        self._sdk = lowering.KEY_COMBINATIONS
        self._pause = threading.Event()
        self._closing = threading.Lock()

    # -- Device --

    def start(self) -> None:
        if self._connection is not None and not self._broken:
            return
        renew = self._broken
        self.close()
        try:
            self._begin(renew)
        except DeviceError:
            # The server may hold a connection to something that is no more.
            if renew or self._target.direct or not self._target.host:
                raise
            self._begin(renew=True)

    def perform(self, action: Action) -> None:
        if isinstance(action, Open):
            self._open(action.target)
            return
        typed = self._input_method() if self._asks_for_keyboard(action) else ""
        screen = lowering.ScreenScale(self._screen, self.size, self._sdk, typed)
        self._do(lowering.lines(action, screen), lowering.seconds(action))

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        xml = self.ui_tree() if elements else None
        started = time.perf_counter()
        data = self._settled()
        captured = time.perf_counter()
        picture, self._screen = screencap.decode(data, self.size)
        image: Image = np.array(picture) if out is None else out
        if out is not None:
            np.copyto(out, np.asarray(picture))
        return Frame(
            image=image,
            elements=() if xml is None else self._elements(xml),
            time_capture=captured - started,
            time_decode=time.perf_counter() - captured,
        )

    def close(self) -> None:
        with self._closing:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    # -- AndroidDevice --

    def shell(self, line: str, *, timeout: float | None = None) -> ShellResult:
        """Run a line in the phone's shell; `timeout` in seconds."""
        return self._ask(lambda c: shell.run(c, line, timeout or self._timeout))

    def push(self, data: bytes, path: str) -> None:
        """Write a file. `DeviceError` where the phone refuses it."""
        self._ask(lambda c: sync.push(c, data, path, self._timeout))
        # ADB sends this machine's time along; the phone's clock may be another.
        self.shell(f"touch {shlex.quote(path)}")

    def pull(self, path: str) -> bytes:
        """Read a file. `DeviceError` where there is none."""
        return self._ask(lambda c: sync.pull(c, path, self._timeout))

    def ui_tree(self) -> str:
        """The window's nodes as `uiautomator dump` writes them: XML.

        Raises:
            DeviceTimeout: the screen did not come to rest, which `uiautomator` waits for.
        """
        deadline = time.monotonic() + self._timeout
        line = _DUMP
        while True:
            said = self._execute(line).decode("utf-8", "replace")
            tree = tree_of(said)
            if tree is not None:
                return tree
            if time.monotonic() > deadline:
                raise DeviceTimeout(
                    f"{self._target}: uiautomator told no tree of the screen within "
                    f"{self._timeout:g} s: {said.strip()[:200]!r}"
                )
            if "ERROR" not in said:  # which it says of a screen that moves
                line = _DUMP_TO_FILE
            self._pause.wait(0.1)

    def elements(self) -> tuple[Element, ...]:
        """What is on the screen, by its tree, scaled by the size that it had at the last look."""
        return self._elements(self.ui_tree())

    def facts(self) -> tuple[Fact, ...]:
        """What it holds and how it is set, as far as its shell tells that at little cost."""
        return shell_facts.by_shell(self.shell)

    def settings_log(self) -> tuple[str, ...] | None:
        """The settings that were changed, as a debuggable phone remembers the last of them."""
        return shell_facts.settings_log(self.shell)

    def renew(self, apps: Sequence[str] = (), line: str = "") -> ShellResult:
        """Wake it, fold the shade up, stop the packages `apps`, show the launcher; run the line."""
        stops = [f"am force-stop {shlex.quote(app)}" for app in apps]
        known = self.shell("; ".join([_RENEW, *stops, "input keyevent 3"]))
        return self.shell(line) if line else known

    # -- parts --

    def _begin(self, renew: bool) -> None:
        connection = self._target.connect(self._timeout, renew=renew)
        with self._closing:
            self._connection = connection
        self._broken = False
        try:
            self._probe()
        except BaseException as error:
            self.close()
            if isinstance(error, DeviceError) and not isinstance(error, DeviceStartError):
                raise DeviceStartError(f"{self._target} does not answer: {error}") from None
            raise

    def _probe(self) -> None:
        """What the phone is; waits until it has booted far enough to have a screen."""
        deadline = time.monotonic() + self._timeout
        while True:
            said = self.shell(_PROBE).text
            sizes = dict(re.findall(r"(Physical|Override) size: *(\d+x\d+)", said))
            if sizes:
                break
            if time.monotonic() > deadline:
                raise DeviceStartError(
                    f"{self._target} tells no size of its screen; is it still booting? "
                    f"It said {said[:200]!r}"
                )
            self._pause.wait(0.2)
        width, _, height = (sizes.get("Override") or sizes["Physical"]).partition("x")
        turned = re.search(r"SurfaceOrientation: *[13]\b", said)
        self._screen = (int(height), int(width)) if turned else (int(width), int(height))
        level = re.match(r"\s*(\d{1,3})\s*$", said.partition("\n")[0])
        self._sdk = int(level[1]) if level else lowering.KEY_COMBINATIONS

    def _asks_for_keyboard(self, action: Action) -> bool:
        """Whether it depends on the input method how the action is put."""
        if not isinstance(action, Type):
            return False
        clears = action.clear and self._sdk < lowering.KEY_COMBINATIONS
        return clears or not action.text.isascii()

    def _input_method(self) -> str:
        return self.shell(_INPUT_METHOD).text.strip()

    def _ways_to_open(self, target: str) -> list[str]:
        """The lines that open an app or a URL, the best first, once it is known that there is
        one."""
        url = opening.url_of(target)
        if url is not None:
            return [opening.view(url)]
        listed = self.shell("pm list packages").text.splitlines()
        installed = {line.strip().removeprefix("package:") for line in listed}
        package = opening.package_of(target, installed)
        return [opening.launch(package), opening.launch_by_monkey(package)]

    def _open(self, target: str) -> None:
        for line in self._ways_to_open(target):
            result = self.shell(line)
            said = f"{result.text}\n{result.stderr.decode('utf-8', 'replace')}"
            if result.code == 0 and not re.search(r"^Error|No activities found", said, re.M):
                return
        raise ActionError("runtime", f"open: {target!r} cannot be opened: {said.strip()[-200:]}")

    def _do(self, lines: Sequence[str], lasting: float) -> None:
        """Run lines in as few calls as may be; `lasting` is what they take, in seconds."""
        for joined in _joined(lines):
            timeout = self._timeout + lasting + len(lines) * SLOW_INPUT
            result = self.shell(joined, timeout=timeout)
            if result.code != 0:
                said = result.stderr.decode("utf-8", "replace").strip() or result.text
                raise DeviceError(f"{self._target} refused input: {said[-300:]}{_remedy(said)}")

    def _settled(self) -> bytes:
        """A screenshot that is the same as the one before it, or the last there was time for."""
        deadline = time.monotonic() + self._settle
        shot = self._execute(_SCREENCAP)
        while time.monotonic() < deadline:
            before, shot = shot, self._execute(_SCREENCAP)
            if shot == before:
                break
        return shot

    def _elements(self, xml: str) -> tuple[Element, ...]:
        (width, height), (across, down) = self._screen, self.size
        return elements_from_xml(xml, (across / width, down / height))

    def _execute(self, line: str) -> bytes:
        return self._ask(lambda c: shell.execute(c, line, self._timeout))

    def _ask(self, request: Callable[[AdbConnection], T]) -> T:
        connection = self._connection
        if connection is None:
            raise DeviceLost(f"{self._target} is not connected; call start()")
        try:
            return request(connection)
        except DeviceTimeout:
            self._broken = True
            raise
        except DeviceLost as error:
            self._broken = True
            if connection.name in str(error):
                raise
            raise DeviceLost(f"{connection.name}: {error}") from None


def _joined(lines: Sequence[str]) -> Iterator[str]:
    """The lines as ones that no transport finds too long; each part runs if the last succeeded."""
    joined = ""
    for line in lines:
        if joined and len(joined) + len(line) > MAX_LINE:
            yield joined
            joined = ""
        joined += f" && {line}" if joined else line
    if joined:
        yield joined


def _remedy(said: str) -> str:
    if "INJECT_EVENTS" not in said:
        return ""
    return ". Turn on 'USB debugging (Security settings)' in the phone's developer options"
