"""Widgets: texts, icons, buttons, switches, list rows, sliders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.layout import (
    Around,
    Expand,
    Fitting,
    HStack,
    Pad,
    Size,
    Space,
    Surface,
    Tap,
    VStack,
    Widget,
    aligned,
)
from ui_gym_phone.ui.scene import Handler, PhoneScene
from ui_gym_phone.ui.theme import Theme

ROW_PAD: Pad = (16, 10, 16, 10)


class Text(Widget):
    """A text of at most `lines` lines (0: any number), in a style and a colour of the theme.

    `tell` is False where an ancestor tells accessibility services the same.
    """

    def __init__(
        self,
        text: str,
        style: str = "body",
        colour: str = "text",
        *,
        lines: int = 0,
        align: str = "start",
        id: str = "",
        tell: bool = True,
        weight: int = 0,
    ) -> None:
        self.text, self.style, self.colour = text, style, colour
        self.lines, self.align, self.id = lines, align, id
        self.tell, self.weight = tell, weight

    def _broken(self, theme: Theme, width: int) -> tuple[str, ...]:
        face, size = theme.font(self.style)
        return fonts.wrap(self.text, face, size, max(width, 1), self.lines)

    def measure(self, theme: Theme, width: int) -> Size:
        face, size = theme.font(self.style)
        lines = self._broken(theme, width)
        widest = max(fonts.text_width(line, face, size) for line in lines)
        return min(widest, width), len(lines) * self._step(theme)

    def _step(self, theme: Theme) -> int:
        """From one line to the next."""
        size = theme.font(self.style)[1]
        return theme.cells(size) if theme.grid else fonts.line_height(size)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        lines = self._broken(scene.theme, width)
        step = self._step(scene.theme)
        if self.tell and self.text:
            with scene.node(
                "android.widget.TextView", (x, y, x + width, y + step * len(lines)),
                text=self.text, id=self.id,
            ):  # fmt: skip
                self._paint(scene, lines, x, y, width)
        else:
            self._paint(scene, lines, x, y, width)

    def _paint(self, scene: PhoneScene, lines: tuple[str, ...], x: int, y: int, width: int) -> None:
        face, size = scene.theme.font(self.style)
        step = self._step(scene.theme)
        y += (step - fonts.line_height(size)) // 2
        for i, line in enumerate(lines):
            w = fonts.text_width(line, face, size)
            at = y + i * step
            scene.text(x + aligned(self.align, width - w), at, line, face, size, self.colour, w)


class Icon(Widget):
    """An icon of `size` dp; `desc` is what accessibility services are told."""

    def __init__(self, name: str, size: float = 24, colour: str = "dim", *, desc: str = "") -> None:
        self.name, self.dp, self.colour, self.desc = name, size, colour, desc

    def measure(self, theme: Theme, width: int) -> Size:
        return theme.px(self.dp), theme.px(self.dp)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        side = scene.theme.px(self.dp)
        left, top = x + (width - side) // 2, y + (height - side) // 2
        if self.desc:
            scene.leaf(
                "android.widget.ImageView", (left, top, left + side, top + side), desc=self.desc
            )
        scene.icon(left, top, side, self.name, self.colour)


class ImageView(Widget):
    """A drawn picture. `draw(width, height)` gives an RGB Pillow image of that size in pixels; it
    must be hashable and equal to another that draws the same (a function, a frozen dataclass)."""

    def __init__(
        self, draw: Callable[[int, int], Any], width: float, height: float, *, desc: str = ""
    ) -> None:
        self.draw, self.width, self.height, self.desc = draw, width, height, desc

    def measure(self, theme: Theme, width: int) -> Size:
        return min(width, theme.px(self.width)), theme.px(self.height)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        box = (x, y, x + width, y + height)
        scene.image(box, self.draw)
        if self.desc:
            scene.leaf("android.widget.ImageView", box, desc=self.desc)


class Divider(Widget):
    """A thin line across; a grid has no room for it."""

    def measure(self, theme: Theme, width: int) -> Size:
        return width, theme.room(1)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        scene.rect((x, y, x + width, y + height), "divider")


class Disc(Widget):
    """A coloured disc with a letter or an icon: an app's icon, a contact's face."""

    def __init__(
        self, colour: str, size: float = 40, *, letter: str = "", icon: str = "",
        ink: str = "#ffffff", round: bool = True,
    ) -> None:  # fmt: skip
        self.colour, self.dp, self.letter, self.icon = colour, size, letter, icon
        self.ink, self.round = ink, round

    def measure(self, theme: Theme, width: int) -> Size:
        return theme.px(self.dp), theme.px(self.dp)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        side = theme.px(self.dp)
        x, y = x + (width - side) // 2, y + (height - side) // 2
        radius = side // 2 if self.round else side // 4
        scene.rect((x, y, x + side, y + side), self.colour, radius)
        if self.icon:
            inner = round(side * 0.58)
            edge = (side - inner) // 2
            scene.icon(x + edge, y + edge, inner, self.icon, self.ink)
        elif self.letter:
            size = round(side * 0.45)
            w = fonts.text_width(self.letter, "medium", size)
            top = y + (side - fonts.line_height(size)) // 2
            scene.text(x + (side - w) // 2, top, self.letter, "medium", size, self.ink, w)


class SwitchMark(Widget):
    """The drawn part of a switch."""

    def __init__(self, on: bool, enabled: bool = True) -> None:
        self.on, self.enabled = on, enabled

    def measure(self, theme: Theme, width: int) -> Size:
        return theme.px(48), theme.px(28)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        px = scene.theme.px
        track, knob = ("primary", "on_primary") if self.on else ("container", "outline")
        if not self.enabled:
            track, knob = "container", "disabled"
        y += max(0, height - px(28)) // 2
        box = (x, y, x + px(48), y + px(28))
        scene.rect(box, track if self.on else "outline", px(14))
        if not self.on:
            edge = px(2)
            scene.rect((x + edge, y + edge, box[2] - edge, box[3] - edge), track, px(12))
        size, inset = (px(20), px(4)) if self.on else (px(14), px(7))
        left = box[2] - inset - size if self.on else x + inset
        scene.rect((left, y + inset, left + size, y + inset + size), knob, size // 2)


class SeekBar(Widget):
    """A slider from 0 to 1. `on_change` is called with where the finger was lifted."""

    def __init__(
        self, value: float, on_change: Callable[[float], None], *, desc: str = "", id: str = "",
        told: str = "",
    ) -> None:  # fmt: skip
        self.value, self.on_change, self.desc, self.id = value, on_change, desc, id
        self.told = told or f"{round(value * 100)}"

    def measure(self, theme: Theme, width: int) -> Size:
        return width, theme.px(44)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        px = scene.theme.px
        middle, thick, knob = y + height // 2, px(3), px(10)
        left, right = x + knob, x + width - knob
        at = left + round((right - left) * min(1.0, max(0.0, self.value)))
        scene.rect((left, middle - thick, right, middle + thick), "divider", thick)
        scene.rect(
            (left, middle - thick, max(at, left + 2 * thick), middle + thick), "primary", thick
        )
        scene.rect((at - knob, middle - knob, at + knob, middle + knob), "primary", knob)
        box = (x, y, x + width, y + height)
        scene.leaf(
            "android.widget.SeekBar", box, desc=self.desc, id=self.id, clickable=True,
            value=self.told, text=self.told,
        )  # fmt: skip

        def slide(share: float) -> None:
            within = (share * width - knob) / max(1, width - 2 * knob)
            self.on_change(min(1.0, max(0.0, within)))

        scene.touch(box, slide=slide)


# -- what is made of them --


def Button(  # noqa: N802 - named as the widget that it makes
    text: str, on_tap: Handler | None, *, style: str = "filled", icon: str = "", id: str = "",
    enabled: bool = True, weight: int = 0,
) -> Tap:  # fmt: skip
    """A button: ``filled``, ``tonal``, ``outlined`` or ``text``."""
    ground, ink = {
        "filled": ("primary", "on_primary"),
        "tonal": ("tonal", "on_tonal"),
        "outlined": ("surface", "primary"),
        "text": ("", "primary"),
    }[style]
    if not enabled:
        ground, ink = ("container" if ground else ""), "disabled"
    face = HStack(
        Icon(icon, 18, ink) if icon else None,
        Text(text, "label", ink, lines=1, align="center", tell=False, weight=1 if weight else 0),
        gap=8,
    )
    border = "outline" if style == "outlined" else ""
    pad: Pad = (20, 10, 20, 10) if style != "text" else (12, 10, 12, 10)
    panel = Surface(face, ground, radius=20, pad=pad, border=border)
    return Tap(
        panel, on_tap, cls="android.widget.Button", text=text, id=id, enabled=enabled,
        weight=weight,
    )  # fmt: skip


def IconButton(  # noqa: N802
    icon: str, desc: str, on_tap: Handler, *, colour: str = "dim", size: float = 24,
    ground: str = "", id: str = "", selected: bool = False, enabled: bool = True,
) -> Tap:  # fmt: skip
    """An icon to touch, 48 dp on each side."""
    face = Surface(Icon(icon, size, colour if enabled else "disabled"), ground, radius=24,
                   pad=(48 - size) / 2)  # fmt: skip
    return Tap(
        face, on_tap, cls="android.widget.ImageButton", desc=desc, id=id, selected=selected,
        enabled=enabled,
    )  # fmt: skip


def Item(  # noqa: N802
    title: str,
    subtitle: str = "",
    on_tap: Handler | None = None,
    *,
    icon: str = "",
    lead: Widget | None = None,
    trail: Widget | None = None,
    on_long_press: Handler | None = None,
    id: str = "",
    selected: bool = False,
    enabled: bool = True,
    lines: int = 2,
    **attributes: Any,
) -> Tap:
    """A row of a list: what leads it (an icon, a disc), a title, a subtitle, what trails it."""
    ink = "text" if enabled else "disabled"
    texts = VStack(
        Text(title, "body", ink, lines=lines),
        Fitting(Text(subtitle, "small", "dim" if enabled else "disabled", lines=lines))
        if subtitle
        else None,
        gap=1,
    )
    front = lead or (Icon(icon, 24, "dim" if enabled else "disabled") if icon else None)
    face: Widget = HStack(front, Expand(texts), trail, gap=16, pad=ROW_PAD)
    if selected:
        face = Surface(face, "tonal")
    return Tap(
        AtLeast(face, 56), on_tap, on_long_press=on_long_press, id=id, selected=selected,
        enabled=enabled, **attributes,
    )  # fmt: skip


def SwitchItem(  # noqa: N802
    title: str, on: bool, on_change: Callable[[bool], None], subtitle: str = "", *,
    icon: str = "", lead: Widget | None = None, id: str = "", enabled: bool = True, lines: int = 2,
) -> Tap:  # fmt: skip
    """A row with a switch."""
    return Item(title, subtitle, lambda: on_change(not on), icon=icon, lead=lead, id=id,
                trail=told_switch(title, on, enabled), enabled=enabled, lines=lines)  # fmt: skip


def told_switch(title: str, on: bool, enabled: bool = True) -> Told:
    """A switch as it is drawn, and as accessibility services are told of it."""
    return Told(SwitchMark(on, enabled), "android.widget.Switch", checkable=True, checked=on,
                enabled=enabled, desc=title)  # fmt: skip


def RadioItem(  # noqa: N802
    title: str, on: bool, on_tap: Handler, subtitle: str = "", *, id: str = "", lines: int = 2
) -> Tap:
    """A row with a radio button."""
    icon = "radiobox-marked" if on else "checkbox-blank-circle-outline"
    mark = _told_mark(icon, "android.widget.RadioButton", title, on)
    return Item(title, subtitle, on_tap, lead=mark, id=id, lines=lines)


def CheckItem(  # noqa: N802
    title: str, on: bool, on_change: Callable[[bool], None], subtitle: str = "", *, id: str = ""
) -> Tap:
    """A row with a checkbox."""
    icon = "checkbox-marked" if on else "checkbox-blank-outline"
    mark = _told_mark(icon, "android.widget.CheckBox", title, on)
    return Item(title, subtitle, lambda: on_change(not on), lead=mark, id=id)


def _told_mark(icon: str, cls: str, title: str, on: bool) -> Told:
    mark = Icon(icon, 24, "primary" if on else "dim")
    return Told(mark, cls, checkable=True, checked=on, desc=title)


def Header(text: str) -> Fitting:  # noqa: N802
    """The heading of a part of a list; not where there is little room."""
    return Fitting(HStack(Text(text, "label", "primary", lines=1), pad=(16, 16, 16, 6)))


def Card(*children: Widget | None, pad: Pad = 16, colour: str = "surface") -> VStack:  # noqa: N802
    """Children on a ground of their own, with room around it."""
    return VStack(Surface(VStack(*children), colour, radius=16, pad=pad), pad=(12, 6, 12, 6))


def Empty(icon: str, text: str) -> VStack:  # noqa: N802
    """What a list shows that has nothing in it."""
    return VStack(
        Space(96),
        Icon(icon, 64, "disabled"),
        Fitting(Text(text, "body", "dim", align="center")),
        gap=12, pad=(24, 0, 24, 0), align="center",
    )  # fmt: skip


class AtLeast(Widget):
    """A child that is at least so many dp high, in the middle of that."""

    def __init__(self, child: Widget, height: float) -> None:
        self.child, self.height = child, height

    def measure(self, theme: Theme, width: int) -> Size:
        w, h = self.child.size(theme, width)
        return w, max(h, theme.px(self.height))

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        if isinstance(self.child, Surface):
            self.child.place(scene, x, y, width, height)
            return
        h = min(self.child.size(scene.theme, width)[1], height)
        self.child.place(scene, x, y + (height - h) // 2, width, h)


class Told(Around):
    """A child of which accessibility services are told so."""

    def __init__(self, child: Widget, cls: str, **attributes: Any) -> None:
        self.child, self.cls, self.attributes = child, cls, attributes

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        with scene.node(self.cls, (x, y, x + width, y + height), **self.attributes):
            self.child.place(scene, x, y, width, height)
