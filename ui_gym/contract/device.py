"""Device: the one seam between an env and what it is played on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ui_gym.contract.action import Action
from ui_gym.errors import UserError

Image = NDArray[np.uint8]
"""A screenshot: shape (height, width, 3), dtype uint8, RGB."""

_LINE = re.compile(
    r'\[(?P<id>\d+)\] (?P<role>[^"]*?)(?: "(?P<name>[^"]*)")?'
    r" @ (?P<x>-?\d+),(?P<y>-?\d+) (?P<width>\d+)x(?P<height>\d+)(?P<states>(?: .*)?)"
)
"""An element as it is written."""
_STATE = re.compile(r'[^\s"]+(?:"(?:[^"\\]|\\.)*")?')


@dataclass(frozen=True)
class Element:
    """One accessible element: what a screen reader would say, and where it is.

    `box` is (left, top, width, height) in pixels of the observed screenshot.
    """

    id: int
    role: str
    name: str
    box: tuple[int, int, int, int]
    states: tuple[str, ...] = ()

    @property
    def center(self) -> tuple[int, int]:
        left, top, width, height = self.box
        return left + width // 2, top + height // 2

    def __str__(self) -> str:
        x, y = self.center
        words = [f"[{self.id}]", self.role]
        if name := " ".join(self.name.split()):
            words.append('"' + name.replace('"', "'") + '"')
        words += ["@", f"{x},{y}", f"{self.box[2]}x{self.box[3]}", *self.states]
        return " ".join(words)

    @classmethod
    def read(cls, line: str) -> Element | None:
        """The element that `str` wrote as this line; None where it wrote another, or cut it."""
        found = _LINE.fullmatch(line)
        if found is None:
            return None
        number, x, y, width, height = map(int, found.group("id", "x", "y", "width", "height"))
        box = (x - width // 2, y - height // 2, width, height)
        return cls(
            number, found["role"], found["name"] or "", box, tuple(_STATE.findall(found["states"]))
        )


@dataclass(frozen=True)
class Frame:
    """One settled picture of the screen.

    `encoded` and `format` hold the picture as the device sent it, where it did. Times are in
    seconds.
    """

    image: Image
    encoded: bytes | None = None
    format: Literal["png", "jpeg"] | None = None
    elements: tuple[Element, ...] = ()
    time_capture: float = 0.0
    time_decode: float = 0.0


@runtime_checkable
class Device(Protocol):
    """What a task is played on. Synchronous; every method has a deadline of its own.

    A suite adds what its tasks need (a browser: `load`, `state`; a phone: `shell`; a desktop:
    files and processes). `close` may be called at any time, from any thread, more than once.
    """

    size: tuple[int, int]
    """(width, height) of the observed screenshot, in pixels."""

    def start(self) -> None:
        """Make it ready. `DeviceStartError` says what to install. Starting twice is harmless."""

    def perform(self, action: Action) -> None:
        """Do one action.

        Raises:
            ActionError: (``runtime``) this cannot be done here; the device is as before.
            DeviceError: the device failed.
        """

    def capture(self, out: Image | None = None, *, elements: bool = False) -> Frame:
        """The picture once the device has handled all input, written into `out` if given."""

    def close(self) -> None:
        """Stop it and leave nothing behind."""


@runtime_checkable
class DevicePool(Protocol):
    """Lends devices that share their heavy part (one browser process, one X server)."""

    def acquire(self) -> Device:
        """A started device, new or healed. `DeviceStartError` where none can be had."""

    def release(self, device: Device, *, healthy: bool) -> None:
        """Give a device back; an unhealthy one is destroyed."""

    def close(self) -> None:
        """Close every device and the part that they share."""


@dataclass
class DeviceOptions:
    """How a suite's devices are made: what `gym.make` passes on.

    `kind` is the suite's device, with its address after a colon (``"selenium:http://grid:4444"``);
    `size` is (width, height) of the observation in pixels; `timeout` bounds, in seconds, every
    single wait on the device; `headless=False` shows it to a person; `elements` says that pictures
    will be asked for together with what is on them.
    """

    kind: str = "auto"
    size: tuple[int, int] = (1280, 800)
    timeout: float = 20.0
    headless: bool = True
    elements: bool = False
    extra: dict[str, str] = field(default_factory=dict)


def settle_seconds(options: DeviceOptions) -> float:
    """Seconds that a screen is given to come to rest: ``extra["settle"]``, or 2.

    Raises:
        UserError: it is no time of 0 to 60 seconds.
    """
    text = options.extra.get("settle", "2")
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 60:
        raise UserError(f"settle is a time of 0 to 60 seconds, not {text!r}")
    return seconds
