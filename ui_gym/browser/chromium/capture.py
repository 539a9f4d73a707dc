"""How a picture is taken of a page: three ways, of which docs/capture.md has the measurements.

- `FramebufferCapture`: a browser with a window in an X server of its own, whose screen is mapped
  into memory: nothing is encoded or decoded.
- `BeginFrameCapture`: ``chromium-headless-shell`` paints exactly when it is told to.
- `ScreenshotCapture`: ``Page.captureScreenshot``, which every Chromium has.

All three give the same bytes for the same page.
"""

from __future__ import annotations

import base64
import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any

import cv2
import numpy as np

from ui_gym.browser import documents
from ui_gym.browser.chromium.cdp import CdpReply
from ui_gym.browser.chromium.process import find_browser, without
from ui_gym.browser.chromium.protocol import Command, Message, Run, evaluation, value_of
from ui_gym.contract.device import DeviceOptions, Image
from ui_gym.errors import (
    DeviceError,
    DeviceSetupError,
    DeviceStartError,
    DeviceTimeout,
    UserError,
    nearest,
)
from ui_gym.xvfb import XServer, find_xvfb

_PNG = {"format": "png", "optimizeForSpeed": True}
_PIXEL = {"x": 0, "y": 0, "width": 1, "height": 1, "scale": 1}
_BEGIN_FRAME = "HeadlessExperimental.beginFrame"

_FONTS = {"FONTCONFIG_FILE": str(files("ui_gym.browser.chromium") / "fonts.conf")}
"""Letters as chromium-headless-shell draws them: no hinting, no colour fringes."""

LARGE = 300_000
"""Pixels from which on a mapped framebuffer is faster than a picture that is encoded."""

MOST_FRAMES = 10
"""Frames that a page is given to come to rest."""

TILE_SECONDS = 0.004
"""How long the threads that paint tiles are left alone after a frame."""


@dataclass(frozen=True)
class PagePicture:
    """A picture, its encoded form if there was one, and how many seconds each part took."""

    image: Image
    encoded: bytes | None
    time_capture: float
    time_decode: float


class PageCapture:
    """A way to take pictures of one page."""

    headless = False
    framed = False
    """Whether the page is shown in a frame of a page of ours (`host_page`)."""
    cropped = False
    """Whether the page is larger than the picture, which then shows its upper left corner."""
    flags: Sequence[str] = ()
    """What the browser is started with."""
    target: Mapping[str, Any] = {}
    """Arguments of ``Target.createTarget``."""
    nudge: Sequence[Command] = ()
    """What makes the browser handle input that waits for a frame."""
    touched = False
    """Whether a script may have changed the page since the last picture."""

    def start(self) -> Mapping[str, str]:
        """Start what it needs; the environment variables that the browser gets."""
        return _FONTS

    def settle(self, reply: CdpReply, run: Run, timeout: float) -> Message:
        """Wait for the answer to an input command."""
        return reply.result(timeout)

    def mark(self) -> Sequence[Command]:
        """Sent right behind a document: the frame that shows it is known again."""
        return ()

    def expect(self, event: str, count: int) -> Sequence[Command]:
        """Sent before input that ends with the `count`th event of a type: the frame that shows
        what it did is known again."""
        return ()

    def quieten(self, run: Run) -> None:
        """Before and after a wheel: let the page paint what it has to."""
        run([("Page.captureScreenshot", {**_PNG, "clip": _PIXEL})])

    def take(
        self, run: Run, also: Sequence[Command], out: Image | None
    ) -> tuple[list[Message], PagePicture]:
        """The results of `also` and, after them, a picture (into `out` if given)."""
        raise NotImplementedError

    def host_page(self, url: str) -> str:
        """The page around the frame, which shows `url`."""
        raise NotImplementedError("the page is not framed")

    def close(self) -> None:
        """End what `start` started. May be repeated."""


class ScreenshotCapture(PageCapture):
    """Any Chromium, without a window or with one that a person looks at."""

    def __init__(self, options: DeviceOptions) -> None:
        self._size = width, height = options.size
        self.headless = options.headless
        self.flags = (f"--window-size={width},{height + 87}",)
        self.target = {"width": width, "height": height} if self.headless else {}

    def take(
        self, run: Run, also: Sequence[Command], out: Image | None
    ) -> tuple[list[Message], PagePicture]:
        started = time.perf_counter()
        width, height = self._size
        corner = {"clip": {**_PIXEL, "width": width, "height": height}} if self.cropped else {}
        *results, shot = run([*also, ("Page.captureScreenshot", {**_PNG, **corner})])
        return results, self._decoded(shot.get("data"), out, started)

    def _decoded(self, data: str | None, out: Image | None, started: float) -> PagePicture:
        if data is None:
            raise DeviceError("the browser painted no frame")
        encoded = base64.b64decode(data)
        captured = time.perf_counter()
        rgb = decode(encoded, self._size, out)
        return PagePicture(rgb, encoded, captured - started, time.perf_counter() - captured)


class BeginFrameCapture(ScreenshotCapture):
    """``chromium-headless-shell`` under BeginFrame control: no frame begins unasked."""

    nudge = ((_BEGIN_FRAME, {}),)

    def __init__(self, options: DeviceOptions) -> None:
        super().__init__(options)
        self.flags = (
            "--enable-begin-frame-control", "--run-all-compositor-stages-before-draw",
            # Tasks behind an input would wait for a frame, which comes only when it is asked for.
            without("DeferRendererTasksAfterInput"),
        )  # fmt: skip
        self.target = {**self.target, "enableBeginFrameControl": True}
        self._moving = False
        self._pause = threading.Event()

    def settle(self, reply: CdpReply, run: Run, timeout: float) -> Message:
        """Moves and wheels are handled when a frame begins: begin frames until they are."""
        deadline = time.monotonic() + timeout
        while not reply.wait(0.004) and time.monotonic() < deadline:
            run(self.nudge)
        if not reply.wait(0):
            raise DeviceTimeout(f"the browser did not answer {reply.method} within {timeout:g} s")
        return reply.result(timeout)

    def quieten(self, run: Run) -> None:
        # The first frame lays out or moves, later ones paint what came into sight.
        run(self.nudge)
        for _ in range(MOST_FRAMES):
            self._pause.wait(TILE_SECONDS)
            if not run(self.nudge)[0].get("hasDamage"):
                break
        self._moving = True

    def take(
        self, run: Run, also: Sequence[Command], out: Image | None
    ) -> tuple[list[Message], PagePicture]:
        started = time.perf_counter()
        results, shot = self._shot(run, also)
        # Tiles are painted beside the frames: after a wheel a picture counts once it came twice.
        for _ in range(MOST_FRAMES if self._moving else 0):
            self._pause.wait(TILE_SECONDS)
            before, (_, shot) = shot, self._shot(run)
            if shot == before:
                break
        self._moving = False
        return results, self._decoded(shot, out, started)

    def _shot(self, run: Run, also: Sequence[Command] = ()) -> tuple[list[Message], str | None]:
        *results, frame = run([*also, (_BEGIN_FRAME, {"screenshot": _PNG})])
        for _ in range(3):
            if "screenshotData" in frame:
                break
            # Nothing had changed since the last frame: ask for one that is surely painted.
            frame = run([(_BEGIN_FRAME, {"screenshot": _PNG})])[0]
        else:
            # The browser answers for a page that has just crashed as well: ask the page itself.
            run([("Runtime.evaluate", {"expression": "0"})])
        return results, frame.get("screenshotData")


class FramebufferCapture(PageCapture):
    """A browser in an X server of its own, whose screen is mapped into memory.

    The page lies in a frame. Below it, out of the page's reach, a strip of our own takes a new
    colour, a stamp: once it is on the screen, so is all that changed before. The page puts it on
    together with what an action changed, or else the host does, behind that.

    A move of the pointer is handled in a frame. Where that frame changes nothing, the browser waits
    out a sixtieth of a second before the next one; so each move also moves a point that nobody can
    see, which costs less.
    """

    framed = True

    STRIP = 4
    """The height of the strip, in pixels."""
    SMALLEST = (500, 400)
    """Windows are not made smaller."""

    def __init__(self, options: DeviceOptions) -> None:
        self._timeout = options.timeout
        self._width, self._height = options.size
        width = max(self._width, self.SMALLEST[0])
        height = max(self._height + self.STRIP, self.SMALLEST[1])
        # A window that is as large as the screen is made a pixel smaller.
        self._screen_size = (width, height + 8)
        self.flags = (
            "--kiosk", "--incognito", "--window-position=0,0", f"--window-size={width},{height}",
            "--disable-frame-rate-limit", "--disable-gpu-vsync",
            # Beside a rounded clip, a part that is drawn alone is rounded otherwise than the whole.
            "--ui-disable-partial-swap", "about:blank",
        )  # fmt: skip
        self._server: XServer | None = None
        self._stamp = 0
        self._pause = threading.Event()

    def start(self) -> Mapping[str, str]:
        if self._server is None:
            self._server = XServer(self._screen_size)
        return {"DISPLAY": self._server.display, **_FONTS}

    def mark(self) -> Sequence[Command]:
        self.touched = False
        return [evaluation(f"uiGym.mark({self._next_stamp()})")]

    def expect(self, event: str, count: int) -> Sequence[Command]:
        self.touched = False
        return [evaluation(f"uiGym.expect('{event}', {count}, {self._next_stamp()})")]

    def _next_stamp(self) -> int:
        # No number comes twice in 2**24 (Hull and Dobell, 1962).
        self._stamp = (self._stamp * 1103515245 + 12345) % 2**24
        return self._stamp

    def take(
        self, run: Run, also: Sequence[Command], out: Image | None
    ) -> tuple[list[Message], PagePicture]:
        started = time.perf_counter()
        asked = evaluation(f"uiGym.stampOf({self._next_stamp()}, {self.touched:d})")
        self.touched = False
        *results, stamp = run([*also, asked])
        screen = self._stamped(value_of(stamp))
        captured = time.perf_counter()
        crop = screen[: self._height, : self._width]
        image: Image = cv2.cvtColor(crop, cv2.COLOR_BGRA2RGB, dst=out)  # type: ignore[assignment]
        return results, PagePicture(image, None, captured - started, time.perf_counter() - captured)

    def _stamped(self, stamp: int) -> Image:
        """The screen, once it shows a stamp."""
        server = self._server
        if server is None:
            raise DeviceError("the X server was not started")
        screen: Image = server.screen
        # The last row: the server writes a picture from its top to its bottom.
        pixel = screen[self._height + self.STRIP - 1, 8]
        deadline = time.monotonic() + self._timeout
        while int(pixel[2]) << 16 | int(pixel[1]) << 8 | int(pixel[0]) != stamp:
            if time.monotonic() > deadline:
                raise DeviceTimeout(
                    f"the browser's window showed no new frame within {self._timeout:g} s"
                )
            self._pause.wait(0.0003)
        return screen

    def host_page(self, url: str) -> str:
        page = Template(documents.text("host.html"))
        return page.substitute(url=url, width=self._width, height=self._height, strip=self.STRIP)

    def close(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()


def decode(encoded: bytes, size: tuple[int, int], out: Image | None) -> Image:
    """A picture that a browser sent, into `out` if given.

    Raises:
        DeviceError: it is none, or not of `size` (width, height).
    """
    image = cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR)
    width, height = size
    if image is None or image.shape != (height, width, 3):
        shape = None if image is None else image.shape
        raise DeviceError(f"the browser's picture has the shape {shape}, not {size}")
    rgb: Image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB, dst=out)  # type: ignore[assignment]
    return rgb


WAYS: Mapping[str, Callable[[DeviceOptions], PageCapture]] = {
    "framebuffer": FramebufferCapture,
    "beginframe": BeginFrameCapture,
    "screenshot": ScreenshotCapture,
}


def choose_capture(options: DeviceOptions) -> PageCapture:
    """The way that was asked for (``"chromium:framebuffer"``), else the fastest one there is.

    Raises:
        UserError: there is no such way.
        DeviceStartError: this machine lacks what it needs.
    """
    _, _, way = options.kind.partition(":")
    if not options.headless:
        return ScreenshotCapture(options)
    if not way:
        way = _fastest(options.size)
    if way not in WAYS:
        raise UserError(f"chromium has no way {way!r} to take pictures. {nearest(way, WAYS)}")
    if way == "beginframe" and not _has_headless_shell():
        raise DeviceSetupError(
            "frames on demand need chromium-headless-shell (Debian: apt-get install "
            "chromium-headless-shell)"
        )
    return WAYS[way](options)


def _fastest(size: tuple[int, int]) -> str:
    if size[0] * size[1] >= LARGE and find_xvfb() is not None and _has_window_browser():
        return "framebuffer"
    return "beginframe" if _has_headless_shell() else "screenshot"


def _has_headless_shell() -> bool:
    with contextlib.suppress(DeviceStartError):
        return find_browser().endswith("headless-shell")
    return False


def _has_window_browser() -> bool:
    with contextlib.suppress(DeviceStartError):
        return bool(find_browser(headless=False))
    return False
