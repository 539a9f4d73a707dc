"""Scene: a laid-out screen, as what is painted, what is touched and what is told of it.

Boxes are (left, top, right, bottom) in device pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ui_gym_phone.ui.fonts import Face
from ui_gym_phone.ui.theme import Rgb, Theme
from ui_gym_phone.ui.touch import FingerStroke, Pinch

Box = tuple[int, int, int, int]
Handler = Callable[[], None]


class Op(NamedTuple):
    """One thing to paint. `kind` is ``rect``, ``text``, ``icon`` or ``image``; `box` is where it
    may leave marks, `clip` where it is allowed to."""

    kind: str
    box: Box
    clip: Box
    colour: Rgb
    what: Any
    """Of a rect (corner radius, opacity 0-255), of a text (text, face, size), of an icon its name,
    of an image a function that draws it at a size."""


@dataclass
class ViewNode:
    """What accessibility services are told of a view: uiautomator's attributes."""

    cls: str
    bounds: Box
    text: str = ""
    desc: str = ""
    id: str = ""
    checkable: bool = False
    checked: bool = False
    clickable: bool = False
    enabled: bool = True
    focused: bool = False
    scrollable: bool = False
    long_clickable: bool = False
    password: bool = False
    selected: bool = False
    value: str = ""
    """Of a slider: how far it is set."""
    hint: str = ""
    """Of a text field: what stands in it while it is empty."""
    children: list[ViewNode] = field(default_factory=list)


@dataclass
class TouchTarget:
    """Something that can be touched."""

    box: Box
    tap: Handler | None = None
    long_press: Handler | None = None
    tap_at: Callable[[int, int], None] | None = None
    """Instead of `tap`, of what wants to know where it was touched, in device pixels."""
    long_press_at: Callable[[int, int], None] | None = None
    double_tap: Callable[[int, int], None] | None = None
    """Of the second of two quick taps, where that is more than two taps."""
    slide: Callable[[float], None] | None = None
    """Of a slider: called with where along it (0 to 1) the finger was lifted."""
    swipe: Callable[[int, int], bool] | None = None
    """Called with how far (dx, dy, device pixels) the finger went; False if it does not care."""
    stroke: Callable[[FingerStroke], bool] | None = None
    """The same of what wants to know all of the finger's way."""
    pinch: Callable[[Pinch], None] | None = None
    """Of two fingers."""
    scroll: Callable[[int, float], None] | None = None
    """Of a scrolled container: called with the pixels that its content moves up, and with the
    speed at which the finger left it, in pixels a second."""
    stop: Callable[[], bool] | None = None
    """Of one that may move by itself: a finger that comes down stops it. False if it stood."""
    modal: bool = False
    """Whether nothing below it can be touched."""


@dataclass
class PhoneWindow:
    """One window, such as an app's, a dialog, the shade or the keyboard, with its views."""

    package: str
    title: str
    root: ViewNode
    listed: bool = True
    """Whether uiautomator sees it."""


class PhoneScene:
    """Collects what widgets leave behind when they are placed."""

    def __init__(self, theme: Theme, width: int, height: int) -> None:
        self.theme = theme
        self.width, self.height = width, height
        self.ops: list[Op] = []
        self.targets: list[TouchTarget] = []
        self.windows: list[PhoneWindow] = []
        self.fields: dict[str, Any] = {}
        """Text fields by key."""
        self.readable: dict[str, Any] = {}
        """Texts to read by key, of which a part can be selected."""
        self._clip: Box = (0, 0, width, height)
        self._open: list[ViewNode] = []

    # -- what is painted --

    def rect(self, box: Box, colour: str | Rgb, radius: int = 0, opacity: int = 255) -> None:
        self._paint("rect", box, colour, (radius, opacity))

    def text(
        self, x: int, y: int, text: str, face: Face, size: int, colour: str | Rgb, width: int
    ) -> None:
        """A line whose top left corner is (x, y); `width` is how wide it is."""
        slack = size // 4  # slanted and accented signs reach beyond their line
        box = (x - slack, y - slack, x + width + slack, y + round(size * 1.36) + slack)
        self._paint("text", box, colour, (x, y, text, face, size))

    def icon(self, x: int, y: int, size: int, name: str, colour: str | Rgb) -> None:
        self._paint("icon", (x, y, x + size, y + size), colour, name)

    def image(self, box: Box, draw: Any) -> None:
        """`draw` is a hashable callable: (width, height) in pixels -> an RGB image of that size."""
        self._paint("image", box, (0, 0, 0), draw)

    def _paint(self, kind: str, box: Box, colour: str | Rgb, what: Any) -> None:
        clip = meet(box, self._clip)
        if clip is not None:
            rgb = self.theme.colour(colour) if isinstance(colour, str) else colour
            self.ops.append(Op(kind, box, clip, rgb, what))

    @contextmanager
    def clipped(self, box: Box) -> Iterator[None]:
        """Within it, nothing leaves a mark outside of the box, nor can be touched there."""
        before = self._clip
        self._clip = meet(box, before) or (0, 0, 0, 0)
        try:
            yield
        finally:
            self._clip = before

    @property
    def screen(self) -> Box:
        """All of it."""
        return 0, 0, self.width, self.height

    # -- what is touched --

    def touch(self, box: Box, **handlers: Any) -> None:
        seen = meet(box, self._clip)
        if seen is not None:
            self.targets.append(TouchTarget(seen, **handlers))

    # -- what is told --

    @contextmanager
    def window(self, package: str, title: str, *, listed: bool = True) -> Iterator[None]:
        root = ViewNode("android.widget.FrameLayout", (0, 0, self.width, self.height))
        self.windows.append(PhoneWindow(package, title, root, listed))
        before, self._open = self._open, [root]
        try:
            yield
        finally:
            self._open = before

    @contextmanager
    def above(self) -> Iterator[None]:
        """Within it, views join the uppermost window that accessibility services are told of."""
        before = self._open
        self._open = [[window for window in self.windows if window.listed][-1].root]
        try:
            yield
        finally:
            self._open = before

    def leaf(self, cls: str, box: Box, **attributes: Any) -> None:
        """A view that holds no others."""
        self._view(cls, box, attributes)

    @contextmanager
    def node(self, cls: str, box: Box, **attributes: Any) -> Iterator[ViewNode]:
        """A view; those placed within it are its children. Unseen ones are not told of."""
        node = self._view(cls, box, attributes)
        self._open.append(node)
        try:
            yield node
        finally:
            self._open.pop()

    def _view(self, cls: str, box: Box, attributes: dict[str, Any]) -> ViewNode:
        seen = meet(box, self._clip)
        node = ViewNode(cls, seen or (0, 0, 0, 0), **attributes)
        if seen is not None:
            self._open[-1].children.append(node)
        return node


def meet(a: Box, b: Box) -> Box | None:
    """What two boxes share; None if nothing."""
    left, top, right, bottom = a
    x1, y1, x2, y2 = b
    if left >= x1 and top >= y1 and right <= x2 and bottom <= y2:  # as most are
        return a if left < right and top < bottom else None
    left, top = left if left > x1 else x1, top if top > y1 else y1
    right, bottom = right if right < x2 else x2, bottom if bottom < y2 else y2
    return (left, top, right, bottom) if left < right and top < bottom else None
