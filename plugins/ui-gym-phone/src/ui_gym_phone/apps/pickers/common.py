"""What pickers of times and of days share: steps, numbers in their cells, the face of a clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from PIL import Image, ImageDraw

from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.app import Ui
from ui_gym_phone.ui.layout import Expand, HStack, Size, Surface, Tap, Widget
from ui_gym_phone.ui.scene import PhoneScene
from ui_gym_phone.ui.theme import Rgb, Theme
from ui_gym_phone.ui.widgets import Icon, Text


def remember(ui: Ui, key: str, **changed: Any) -> None:
    """Change some of what a picker holds."""
    ui.state[key] = {**ui.state[key], **changed}


def small(ui: Ui) -> bool:
    """Whether the screen has no room for a dial or a month's page."""
    return ui.wide < 300 or ui.high < 560


def steps(label: str, shown: str, turn: Callable[[int], None], far: int = 0) -> HStack:
    """A value with buttons that count it down and up; by `far` beside by one."""
    low, high = f"{label} down", f"{label} up"
    cells: list[Widget] = [
        _step("minus", low, partial(turn, -1)),
        Expand(Text(shown, "strong", align="center", lines=1)),
        _step("plus", high, partial(turn, 1)),
    ]
    if far:
        cells = [_step("chevron-left", f"{low} by {far}", partial(turn, -far)), *cells,
                 _step("chevron-right", f"{high} by {far}", partial(turn, far))]  # fmt: skip
    return HStack(*cells)


def _step(icon: str, desc: str, on_tap: Callable[[], None]) -> Tap:
    face = Surface(Icon(icon, 20, "primary"), pad=(9, 10, 9, 10), colour="")
    return Tap(face, on_tap, cls="android.widget.ImageButton", desc=desc)


SIZE, RINGS, MARK = 240.0, (98.0, 64.0), 18.0
"""Of the dial: its diameter, the radii of its rings of numbers, and the radius of what marks the
chosen one; in dp."""


class Mark(Widget):
    """A short text in the middle of its place, on a disc of `disc` dp if `ground` is a colour."""

    def __init__(
        self, text: str, style: str = "body", ink: str = "text", ground: str = "", *,
        height: float = 40, disc: float = 36,
    ) -> None:  # fmt: skip
        self.text, self.style, self.ink, self.ground = text, style, ink, ground
        self.height, self.disc = height, disc

    def measure(self, theme: Theme, width: int) -> Size:
        return width, theme.px(self.height)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        face, size = scene.theme.font(self.style)
        if self.ground:
            side = min(scene.theme.px(self.disc), width, height)
            left, top = x + (width - side) // 2, y + (height - side) // 2
            scene.rect((left, top, left + side, top + side), self.ground, side // 2)
        w = fonts.text_width(self.text, face, size)
        top = y + (height - fonts.line_height(size)) // 2
        scene.text(x + (width - w) // 2, top, self.text, face, size, self.ink, w)


DialMark = tuple[str, str, int, int]
"""(text, description, place 0 to 11 from the top, ring: 0 outer, 1 inner)."""


class Dial(Widget):
    """Numbers around a clock's face, to be touched.

    `hand` is (degrees from the top, ring). `on_pick` is called with the index of the mark.
    """

    def __init__(
        self,
        marks: Sequence[DialMark],
        hand: tuple[int, int],
        on_pick: Callable[[int], None],
    ) -> None:
        self.marks, self.hand, self.on_pick = marks, hand, on_pick

    def measure(self, theme: Theme, width: int) -> Size:
        return width, min(width, theme.px(SIZE))

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        side = min(width, height)
        left = x + (width - side) // 2
        k = side / theme.px(SIZE)
        colours = (theme.colour("surface"), theme.colour("container"), theme.colour("primary"))
        degrees, ring = self.hand
        on_mark = any((at * 30, of) == self.hand for _, _, at, of in self.marks)
        tip = (MARK if on_mark else 5) / SIZE
        face = _Face(*colours, degrees, RINGS[ring] / SIZE, tip)
        scene.image((left, y, left + side, y + side), face)
        centre = (left + side // 2, y + side // 2)
        half = round(theme.px(MARK) * k)
        for i, (text, desc, at, of) in enumerate(self.marks):
            cx, cy = _around(centre, at * 30, theme.px(RINGS[of]) * k)
            box = (cx - half, cy - half, cx + half, cy + half)
            chosen = (at * 30, of) == self.hand
            scene.leaf("android.view.View", box, text=text, desc=desc, clickable=True,
                            selected=chosen)  # fmt: skip
            scene.touch(box, tap=partial(self.on_pick, i))
            style = "body" if of == 0 else "small"
            ink = "on_primary" if chosen else "text" if of == 0 else "dim"
            Mark(text, style, ink).place(scene, box[0], box[1], 2 * half, 2 * half)


def _around(centre: tuple[int, int], degrees: float, radius: float) -> tuple[int, int]:
    turn = math.radians(degrees)
    return (
        round(centre[0] + radius * math.sin(turn)),
        round(centre[1] - radius * math.cos(turn)),
    )


@dataclass(frozen=True)
class _Face:
    """Draws the face with its hand; `reach` is the hand's length and `tip` the radius of its end,
    as shares of the diameter."""

    ground: Rgb
    disc: Rgb
    ink: Rgb
    degrees: int
    reach: float
    tip: float

    def __call__(self, width: int, height: int) -> Image.Image:
        return _drawn(self, width, height)


@lru_cache(maxsize=64)
def _drawn(face: _Face, width: int, height: int) -> Image.Image:
    k = 3  # drawn larger and shrunk: smooth edges
    side = width * k
    picture = Image.new("RGB", (side, height * k), face.ground)
    draw = ImageDraw.Draw(picture)
    draw.ellipse((0, 0, side - 1, side - 1), fill=face.disc)
    middle = (side // 2, side // 2)
    end = _around(middle, face.degrees, face.reach * side)
    draw.line((middle, end), fill=face.ink, width=max(1, round(side * 2 / SIZE)))
    for (x, y), r in ((middle, side * 4 / SIZE), (end, side * face.tip)):
        draw.ellipse((x - r, y - r, x + r, y + r), fill=face.ink)
    return picture.resize((width, height), Image.Resampling.BOX)
