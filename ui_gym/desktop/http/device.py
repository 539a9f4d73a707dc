"""OSWorldDevice: a computer that is looked at and acted on through OSWorld's server."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
import time
from collections.abc import Sequence

import numpy as np

from ui_gym.contract.action import Action, Drag, LongPress, Open, Type, Wait, shorten
from ui_gym.contract.device import DeviceOptions, Element, Frame, Image, settle_seconds
from ui_gym.desktop.http import lowering
from ui_gym.desktop.http.address import ServerAddress, addresses
from ui_gym.desktop.http.client import Client, CutShort, Refused
from ui_gym.desktop.http.machine import OSWorldMachine
from ui_gym.desktop.http.picture import BrokenPicture, decode, png_size
from ui_gym.desktop.uitree import elements_from_xml
from ui_gym.errors import (
    ActionError,
    DeviceError,
    DeviceLost,
    DeviceStartError,
    DeviceTimeout,
    UserError,
)

QUIET = 0.2
"""Seconds between two pictures that must be the same."""

PICTURES = 3
"""How often a picture is asked for that came broken."""

OPENING = 10.0
"""Seconds that an application has to show its window, if `DeviceOptions.timeout` is not less."""


class OSWorldDevice(OSWorldMachine):
    """A `DesktopDevice` by the HTTP interface of OSWorld's virtual machines.

    `options.kind` is ``osworld:http://HOST:PORT``; see `ServerAddress.parse` for forwarded ports.
    The machine's screen is what is observed: it is asked to take `options.size`, and must then
    have it.
    ``options.extra["settle"]``: see `settle_seconds`; 0 takes each picture at once. The environment
    variable `ui_gym.desktop.http.address.TOKEN` holds the token of a server that wants one.

    Actions are sent as pyautogui scripts, made of literals alone. What pyautogui cannot type goes
    through the machine's clipboard and ctrl+v, which terminals do not take.
    """

    def __init__(self, options: DeviceOptions) -> None:
        named = addresses(options.kind)
        if len(named) > 1:
            raise UserError(f"a device is one machine, not {len(named)}: {options.kind!r}")
        super().__init__(Client(ServerAddress.parse(named[0]), options.timeout))
        self.size = options.size
        self._settling = settle_seconds(options)
        self._started = False

    # -- Device --

    def start(self) -> None:
        """Wait until the machine shows its screen, for as long as `options.timeout` says.

        Raises:
            DeviceStartError: it did not.
            UserError: the screen has another size, and keeps it.
        """
        if self._started:
            return
        deadline = time.monotonic() + self._timeout
        shown = self._await_screen(deadline)
        if shown != self.size:
            shown = self._resize(deadline, shown)
        if shown != self.size:
            (width, height), (w, h) = shown, self.size
            raise UserError(
                f"the screen of {self} is {width}x{height} pixels, not {w}x{h}: make the env with "
                f"viewport=({width}, {height}), or set the screen of that machine"
            )
        self.home = self._find_home()
        self._started = True

    def perform(self, action: Action) -> None:
        match action:
            case Wait():
                self._wait(action.seconds)
            case Open():
                self._open(action.target)
            case _:
                self._act(lowering.lower(action), _lasts(action))

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        started = time.perf_counter()
        data = self._settled()
        xml = self.ui_tree() if elements else None
        captured = time.perf_counter()
        if out is None:
            out = np.empty((self.size[1], self.size[0], 3), np.uint8)
        decode(data, out)
        return Frame(
            image=out,
            encoded=data,
            format="png",
            elements=() if xml is None else elements_from_xml(xml),
            time_capture=captured - started,
            time_decode=time.perf_counter() - captured,
        )

    def close(self) -> None:
        """Leave the machine as it is; a call in progress fails."""
        self._closed.set()
        self._client.close()

    # -- DesktopDevice --

    def elements(self) -> tuple[Element, ...]:
        return elements_from_xml(self.ui_tree())

    def settle(self) -> None:
        self._settled()

    # -- parts --

    def _await_screen(self, deadline: float) -> tuple[int, int]:
        while True:
            try:
                return png_size(self._picture())
            except DeviceError as error:
                if time.monotonic() > deadline or not _is_booting(error) or self._closed.is_set():
                    raise DeviceStartError(
                        f"{error}. Is the machine up, and OSWorld's server on it?"
                    ) from None
            self._closed.wait(0.5)

    def _resize(self, deadline: float, shown: tuple[int, int]) -> tuple[int, int]:
        """Ask the screen to take our size. Older servers cannot."""
        value = dict(zip(("width", "height"), self.size, strict=True))
        if self._client.post("/set_screen_resolution", value).status != 200:
            return shown
        # The server answers before the desktop has been laid out anew.
        until = min(deadline, time.monotonic() + 5.0)
        while shown != self.size and time.monotonic() < until:
            self._closed.wait(QUIET)
            shown = png_size(self._picture())
        return shown

    def _find_home(self) -> str:
        value = self._client.post("/desktop_path").json()
        desktop = value.get("desktop_path") if isinstance(value, dict) else None
        if isinstance(desktop, str) and desktop.startswith("/"):
            return desktop.rpartition("/")[0] or "/"
        try:
            said = self.run('printf %s "$HOME"').text
        except DeviceError:
            said = ""
        return said if said.startswith("/") else self.home

    def _act(self, lines: Sequence[str], seconds: float) -> None:
        result = self._python(lowering.script(lines), seconds)
        if result.code == 0:
            return
        error = result.stderr.decode("utf-8", "replace").strip()
        said = error.rpartition("\n")[2][:300]
        if said.startswith("ActionError: "):
            raise ActionError("runtime", said.removeprefix("ActionError: "))
        if lowering.PASTED in error.lower():
            raise ActionError(
                "runtime",
                "pyautogui types ASCII alone, and this machine has no clipboard for other text "
                "(on it: pip install pyperclip, and apt-get install xclip)",
            )
        raise DeviceError(f"{self} could not act (exit code {result.code}): {said}")

    def _open(self, target: str) -> None:
        """Start a program by its name alone: what a model wrote is no command line."""
        name = target.strip()
        if not re.fullmatch(r"\w[\w.+ -]*", name):
            raise ActionError("runtime", f"open: {shorten(target)} is no name of a program")
        if self.is_ours:
            reply = self._client.post("/setup/open_file", {"path": name})
            if reply.status == 404:
                said = reply.text.removeprefix("Application/file not found: open: ")
                raise ActionError("runtime", f"open: {said}")
            self._client.check("/setup/open_file", reply)
            return
        program = name.lower()
        if self.run(["/bin/sh", "-c", 'command -v "$0"', program]).code != 0:
            raise ActionError("runtime", f"open: there is no program {program!r} on {self}")
        try:
            start = functools.partial(self.launch, [program])
            self._await_window(start, program, timeout=min(self._timeout, OPENING))
        except DeviceTimeout as error:
            raise ActionError("runtime", f"open: {error}") from None

    def _wait(self, seconds: float) -> None:
        if self._closed.wait(seconds):
            raise DeviceLost(f"{self} was closed")

    def _settled(self) -> bytes:
        """A screenshot as there was one before, or the last there was time for.

        It need not be the one just before: carets blink. Our own server takes none before the
        screen is at rest.
        """
        deadline = time.monotonic() + (0.0 if self.is_ours else self._settling)
        seen: set[bytes] = set()
        while True:
            data = self._picture()
            digest = hashlib.blake2b(data, digest_size=16).digest()
            if digest in seen or time.monotonic() >= deadline:
                return data
            seen.add(digest)
            self._wait(QUIET)

    def _picture(self) -> bytes:
        """The screen, as a whole PNG file.

        OSWorld's server keeps its picture in one file, which every request writes anew: where
        somebody else asks at the same time (a second client, or a request that was given up), the
        answer ends after a block or two, or holds parts of two pictures. So it is asked again.
        """
        for _ in range(PICTURES - 1):
            with contextlib.suppress(CutShort, BrokenPicture):
                return self._whole_picture()
        return self._whole_picture()

    def _whole_picture(self) -> bytes:
        data = self._get("/screenshot").body
        png_size(data)
        return data


def _lasts(action: Action) -> float:
    """Seconds, by a generous guess for a text: pyautogui pauses after every call."""
    if isinstance(action, Drag | LongPress):
        return action.seconds
    return len(action.text) * 0.02 if isinstance(action, Type) else 0.2


def _is_booting(error: DeviceError) -> bool:
    """Whether a machine may say so that is not up yet: it has no server, or that no screen."""
    if isinstance(error, Refused):
        return error.status >= 500
    return isinstance(error, DeviceLost | DeviceTimeout)
