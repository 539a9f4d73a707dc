"""SharedDesktop: the one desktop behind a server, which its requests take turns at."""

from __future__ import annotations

import posixpath
import threading
from collections import Counter
from collections.abc import Mapping
from typing import cast

from ui_gym.contract.action import Action, Wait
from ui_gym.contract.device import DevicePool
from ui_gym.desktop.device import Command, CommandResult, DesktopDevice, SessionSpec
from ui_gym.desktop.http.picture import encode
from ui_gym.dialects.pyautogui import read_script
from ui_gym.dialects.pyautogui_code import read_calls
from ui_gym.dialects.seen import Point, Seen
from ui_gym.errors import ActionError, DeviceLost
from ui_gym.remote.guard import Mistake

MAX_ACTIONS = 200
"""The most actions of one script."""

MAX_SLEEP = 30.0
"""The longest single ``time.sleep`` of a script, in seconds; what asks for more gets this."""

MAX_WAITS = 120.0
"""The seconds that all waits of a script may come to; one that asks for more is refused."""

MAX_HELD = 20_000
"""The longest script that may wait for its keys and buttons to be let go, in characters."""

OSWORLD_HOME = "/home/user"
"""The home folder in OSWorld's machines, which its task files name."""


class SharedDesktop:
    """Lends one device to requests. What looks or acts does so alone; commands run beside it.

    `allow_execute` says whether clients may run commands. A device that is lost is given back, and
    another one borrowed at the next request.
    """

    def __init__(
        self, pool: DevicePool, session: SessionSpec, *, allow_execute: bool = False
    ) -> None:
        self.allow_execute = allow_execute
        self.turn = threading.RLock()
        self.pointer: Point | None = None
        self._pool = pool
        self._session = session
        self._held = ""
        self._device: DesktopDevice | None = None
        self._starting: DesktopDevice | None = None
        self._closed = False

    @property
    def device(self) -> DesktopDevice:
        """The device, started. `DeviceLost` once the desktop is closed."""
        device = self._device
        if device is not None and not self._closed:
            return device  # not its turn: a command runs beside a long script
        with self.turn:
            if self._closed:
                raise DeviceLost("the server is closed")
            return self._device or self._started()

    def _started(self) -> DesktopDevice:
        """A device from the pool, which is the desktop's once its session is there."""
        device = self._starting = cast(DesktopDevice, self._pool.acquire())
        try:
            device.renew(self._session)
            if self._closed:
                raise DeviceLost("the server is closed")
        except BaseException:
            self.lose()
            raise
        self._device, self._starting = device, None
        return device

    def renew(self, session: SessionSpec | None = None) -> None:
        """Come to the start of `session`; without one, of that which the server began with."""
        with self.turn:
            self.pointer, self._held = None, ""
            self.device.renew(session or self._session)

    @property
    def lent(self) -> DesktopDevice | None:
        """The device that is held now, if any."""
        return self._device

    def lose(self, failed: DesktopDevice | None = None) -> None:
        """Give the device back, as one that failed. What is being done on it fails.

        Where `failed` is another that was held before, that has happened already.
        """
        if failed is not None and failed is not self._device:
            return
        device, self._device, self._starting = self._device or self._starting, None, None
        self.pointer, self._held = None, ""
        if device is not None:
            self._pool.release(device, healthy=False)

    def close(self) -> None:
        """Give the device back for good. May be repeated."""
        self._closed = True
        self.lose()

    # -- looking and acting --

    def screenshot(self) -> bytes:
        """The screen as a PNG file."""
        with self.turn:
            frame = self.device.capture()
        if frame.encoded is not None and frame.format == "png":
            return frame.encoded
        return encode(frame.image)

    def act(self, code: str) -> None:
        """Read a script of pyautogui and do what it says.

        Clients press a button in one request and let go in another: a script that leaves something
        held is kept, and done with the one that lets go.

        Raises:
            ActionError: it holds what is not allowed, or cannot be done.
        """
        with self.turn:
            code = f"{self._held}\n{code}" if self._held else code
            self._held = ""
            if _holds(code) and len(code) <= MAX_HELD:
                self._held = code
                return
            size = self.device.size
            seen = Seen(pointer=self.pointer)
            actions = read_script(code, size, seen, limit=MAX_ACTIONS, longest=MAX_SLEEP)
            seconds = sum(action.seconds for action in actions if isinstance(action, Wait))
            if seconds > MAX_WAITS:
                raise ActionError(
                    "runtime",
                    f"the script waits for {seconds:g} s in all, and at most {MAX_WAITS:g} are "
                    "allowed: divide it",
                )
            for action in actions:
                self.perform(action)

    def perform(self, action: Action) -> None:
        with self.turn:
            self.device.perform(action)
            if action.points():
                self.pointer = action.points()[-1]

    # -- commands and files --

    def run(
        self,
        command: Command,
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command on the desktop, never beside it."""
        return self.device.run(command, timeout=timeout, cwd=cwd, env=env)

    def path(self, said: str) -> str:
        """The absolute path on the desktop that a client means.

        Raises:
            Mistake: it leads to what clients that may run no commands have no business with.
        """
        home = self.device.home
        for name in ("~", "$HOME", "${HOME}", OSWORLD_HOME):
            if said == name or said.startswith(name + "/"):
                said = home + said[len(name) :]
                break
        path = posixpath.normpath(posixpath.join(home, said))
        if not self.allow_execute:
            # Links are followed before it is decided, not after.
            real = self.run(["readlink", "-m", "--", path]).text or path
            roots = (self.run(["readlink", "-m", "--", home]).text or home, "/tmp")
            if not any(real == root or real.startswith(root + "/") for root in roots):
                raise Mistake(403, f"{said} is neither in the home folder nor in /tmp{REMEDY}")
        return path


REMEDY = ": start the server with --allow-execute for more"


def _holds(code: str) -> bool:
    """Whether a script ends with a key or a button down."""
    said = Counter(call.name for call in read_calls(code))
    return said["mouseDown"] > said["mouseUp"] or said["keyDown"] > said["keyUp"]
