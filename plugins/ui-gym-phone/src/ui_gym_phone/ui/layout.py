"""Layout: widgets that arrange others. Sizes given by authors are in dp."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ui_gym_phone.ui.scene import Handler, PhoneScene
from ui_gym_phone.ui.theme import Theme

Size = tuple[int, int]
"""(width, height) in device pixels."""

Pad = float | tuple[float, float, float, float]
"""Room around, in dp: the same on all sides, or left, top, right, bottom."""


class Widget:
    """Something on a screen: says how large it wants to be, and is then given a place."""

    weight = 0
    """Its share of the room that is left in an HStack or VStack; 0 takes what it needs."""

    _measured: tuple[int, Size] | None = None

    def size(self, theme: Theme, width: int) -> Size:
        """How large it wants to be where it may be `width` device pixels wide."""
        if self._measured is None or self._measured[0] != width:
            w, h = self.measure(theme, width)
            self._measured = (width, (w, theme.cells(h)))
        return self._measured[1]

    def measure(self, theme: Theme, width: int) -> Size:
        raise NotImplementedError

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        """Leave itself in the scene, in this box of device pixels."""
        raise NotImplementedError


class Space(Widget):
    """Room: as high and wide as is said, or a share of what is left."""

    def __init__(self, height: float = 0, width: float = 0, weight: int = 0) -> None:
        self.height, self.width, self.weight = height, width, weight

    def measure(self, theme: Theme, width: int) -> Size:
        return theme.px(self.width), theme.room(self.height)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        return


class Around(Widget):
    """A widget around a child: as large as it, and where it is."""

    child: Widget

    def measure(self, theme: Theme, width: int) -> Size:
        return self.child.size(theme, width)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        self.child.place(scene, x, y, width, height)


class Fitting(Widget):
    """What has much room, or where all lies on a grid, something `small`; there, nothing if there
    is no such thing."""

    def __init__(self, large: Widget, small: Widget | None = None) -> None:
        self.large, self.small, self.weight = large, small, large.weight

    def _shown(self, theme: Theme) -> Widget | None:
        return self.small if theme.grid else self.large

    def measure(self, theme: Theme, width: int) -> Size:
        shown = self._shown(theme)
        return shown.size(theme, width) if shown else (0, 0)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        if shown := self._shown(scene.theme):
            shown.place(scene, x, y, width, height)


class Expand(Around):
    """Gives its child a share of the room that is left in an HStack or VStack."""

    def __init__(self, child: Widget, weight: int = 1) -> None:
        self.child, self.weight = child, weight


class Stack(Widget):
    """Several children, those that are None left out."""

    standard = ""
    """How children are aligned unless it is said."""

    def __init__(
        self, *children: Widget | None, gap: float = 0, pad: Pad = 0, align: str = "",
        weight: int = 0,
    ) -> None:  # fmt: skip
        self.children = [child for child in children if child is not None]
        self.gap, self.pad, self.weight = gap, pad, weight
        self.align = align or self.standard


class VStack(Stack):
    """Children one below the other. `align`: ``stretch``, ``start``, ``center``, ``end``."""

    standard = "stretch"

    def measure(self, theme: Theme, width: int) -> Size:
        left, top, right, bottom = padding(theme, self.pad)
        inner = width - left - right
        widest = high = 0
        for child in self.children:
            w, h = child.size(theme, inner)
            widest, high = max(widest, w), high + h
        gaps = theme.room(self.gap) * max(0, len(self.children) - 1)
        return widest + left + right, high + gaps + top + bottom

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        left, top, right, bottom = padding(theme, self.pad)
        inner, gap = width - left - right, theme.room(self.gap)
        sizes = [child.size(theme, inner) for child in self.children]
        spare, shares = height - top - bottom - gap * max(0, len(sizes) - 1), 0
        for child, (_, h) in zip(self.children, sizes, strict=True):
            shares += child.weight
            spare -= 0 if child.weight else h
        at = y + top
        for child, (w, h) in zip(self.children, sizes, strict=True):
            if child.weight:
                h = max(0, spare * child.weight // shares)
            w = inner if self.align == "stretch" else min(w, inner)
            child.place(scene, x + left + aligned(self.align, inner - w), at, w, h)
            at += h + gap


class HStack(Stack):
    """Children side by side. `align`: ``center``, ``start``, ``end``, ``stretch``, of heights."""

    standard = "center"

    def _widths(self, theme: Theme, inner: int) -> list[int]:
        gaps = theme.px(self.gap) * max(0, len(self.children) - 1)
        fixed = [0 if c.weight else c.size(theme, inner)[0] for c in self.children]
        spare = max(0, inner - gaps - sum(fixed))
        shares = sum(c.weight for c in self.children)
        return [
            spare * c.weight // shares if c.weight else w
            for c, w in zip(self.children, fixed, strict=True)
        ]

    def measure(self, theme: Theme, width: int) -> Size:
        left, top, right, bottom = padding(theme, self.pad)
        inner = width - left - right
        widths = self._widths(theme, inner)
        heights = [c.size(theme, w)[1] for c, w in zip(self.children, widths, strict=True)]
        gaps = theme.px(self.gap) * max(0, len(widths) - 1)
        total = sum(widths) + gaps + left + right
        return total, max(heights, default=0) + top + bottom

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        left, top, right, bottom = padding(theme, self.pad)
        inner, room = width - left - right, height - top - bottom
        at = x + left
        for child, w in zip(self.children, self._widths(theme, inner), strict=True):
            h = room if self.align == "stretch" else min(child.size(theme, w)[1], room)
            under = theme.whole(aligned(self.align, room - h))
            child.place(scene, at, y + top + under, w, h)
            at += w + theme.px(self.gap)


class GridLayout(Widget):
    """Children in rows of `columns`, all cells as wide; `cell` is their height in dp, or the
    highest child's."""

    def __init__(
        self, *children: Widget, columns: int, cell: float = 0, gap: float = 0, pad: Pad = 0
    ) -> None:
        self.children, self.columns = children, columns
        self.cell, self.gap, self.pad = cell, gap, pad

    def _cell(self, theme: Theme, inner: int) -> Size:
        gap = theme.px(self.gap)
        width = (inner - gap * (self.columns - 1)) // self.columns
        high = max((child.size(theme, width)[1] for child in self.children), default=0)
        return width, theme.cells(theme.px(self.cell)) if self.cell else high

    def measure(self, theme: Theme, width: int) -> Size:
        left, top, right, bottom = padding(theme, self.pad)
        _, height = self._cell(theme, width - left - right)
        rows = -(-len(self.children) // self.columns)
        return width, rows * height + max(0, rows - 1) * theme.room(self.gap) + top + bottom

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        left, top, right, _ = padding(theme, self.pad)
        w, h = self._cell(theme, width - left - right)
        across, down = theme.px(self.gap), theme.room(self.gap)
        for i, child in enumerate(self.children):
            row, column = divmod(i, self.columns)
            child.place(scene, x + left + column * (w + across), y + top + row * (h + down), w, h)


class ZStack(Stack):
    """Children over each other, each with the whole place; sized as the first."""

    def measure(self, theme: Theme, width: int) -> Size:
        return self.children[0].size(theme, width)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        for child in self.children:
            child.place(scene, x, y, width, height)


ListRow = tuple[Hashable, Callable[[], Widget]]
"""(what kind of row it is, what makes it): rows of one kind are equally high."""


class Lazy(Widget):
    """Rows one below the other; of each kind one is measured, and only those that are within the
    screen are made and placed."""

    def __init__(self, rows: Sequence[ListRow]) -> None:
        self.rows = rows
        self._heights: dict[Hashable, int] = {}

    def measure(self, theme: Theme, width: int) -> Size:
        for kind, make in self.rows:
            if kind not in self._heights:
                self._heights[kind] = make().size(theme, width)[1]
        return width, sum(self._heights[kind] for kind, _ in self.rows)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        self.size(scene.theme, width)
        for kind, make in self.rows:
            high = self._heights[kind]
            if y + high > 0 and y < scene.height:
                make().place(scene, x, y, width, high)
            y += high


class Center(Widget):
    """Its child in the middle of all the room."""

    def __init__(self, child: Widget, weight: int = 1) -> None:
        self.child, self.weight = child, weight

    def measure(self, theme: Theme, width: int) -> Size:
        return width, self.child.size(theme, width)[1]

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        w, h = self.child.size(scene.theme, width)
        w, h = min(w, width), min(h, height)
        self.child.place(scene, x + (width - w) // 2, y + (height - h) // 2, w, h)


SEAM = 3
"""dp that a panel leaves free of the first and the last cell of a grid that it fills."""


class Surface(Widget):
    """A child on a coloured ground: a card, a chip, a bar. `width` and `height` in dp fix its
    size; `radius` is that of its corners."""

    def __init__(
        self,
        child: Widget | None = None,
        colour: str = "surface",
        *,
        radius: float = 0,
        pad: Pad = 0,
        width: float = 0,
        height: float = 0,
        border: str = "",
        weight: int = 0,
    ) -> None:
        self.child, self.colour, self.radius = child, colour, radius
        self.pad, self.width, self.height = pad, width, height
        self.border, self.weight = border, weight

    def measure(self, theme: Theme, width: int) -> Size:
        left, top, right, bottom = padding(theme, self.pad)
        outer = min(width, theme.px(self.width)) if self.width else width
        w, h = self.child.size(theme, outer - left - right) if self.child else (0, 0)
        w, h = w + left + right, h + top + bottom
        return outer if self.width else w, theme.px(self.height) if self.height else h

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        radius = theme.px(self.radius)
        edge = theme.px(SEAM) if theme.grid and radius else 0
        box = (x, y + edge, x + width, y + height - edge)
        if self.border:
            scene.rect(box, self.border, radius)
            edge = theme.px(theme.line)
            box = (box[0] + edge, box[1] + edge, box[2] - edge, box[3] - edge)
            radius = max(0, radius - edge)
        if self.colour:
            scene.rect(box, self.colour, radius)
        if self.child is not None:
            left, top, right, bottom = padding(theme, self.pad)
            self.child.place(scene, x + left, y + top, width - left - right, height - top - bottom)


class Tap(Around):
    """Makes its child something to touch, and tells accessibility services of it."""

    def __init__(
        self,
        child: Widget,
        on_tap: Handler | None = None,
        *,
        on_long_press: Handler | None = None,
        on_swipe: Callable[[int, int], bool] | None = None,
        on_double_tap: Callable[[int, int], None] | None = None,
        cls: str = "android.widget.LinearLayout",
        text: str = "",
        desc: str = "",
        id: str = "",
        selected: bool = False,
        enabled: bool = True,
        weight: int = 0,
        **attributes: Any,
    ) -> None:
        self.child, self.on_tap, self.on_long_press = child, on_tap, on_long_press
        self.on_swipe, self.on_double_tap = on_swipe, on_double_tap
        self.enabled, self.weight = enabled, weight
        self.cls = cls
        self.attributes = {
            "text": text, "desc": desc, "id": id, "selected": selected, **attributes
        }  # fmt: skip

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        box = (x, y, x + width, y + height)
        if self.enabled:  # below its child, which is asked first
            scene.touch(box, tap=self.on_tap, long_press=self.on_long_press, swipe=self.on_swipe,
                        double_tap=self.on_double_tap)  # fmt: skip
        with scene.node(
            self.cls, box, clickable=self.on_tap is not None, enabled=self.enabled,
            long_clickable=self.on_long_press is not None, **self.attributes,
        ):  # fmt: skip
            self.child.place(scene, x, y, width, height)


def padding(theme: Theme, pad: Pad) -> tuple[int, int, int, int]:
    """Room around, in device pixels."""
    if isinstance(pad, tuple):
        return theme.px(pad[0]), theme.room(pad[1]), theme.px(pad[2]), theme.room(pad[3])
    across, down = (theme.px(pad), theme.room(pad)) if pad else (0, 0)
    return across, down, across, down


def aligned(align: str, spare: int) -> int:
    """Where a child begins that leaves `spare` pixels."""
    if align == "center":
        return spare // 2
    return spare if align == "end" else 0
