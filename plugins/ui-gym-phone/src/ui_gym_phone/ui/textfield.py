"""TextField: where text is typed, and what typing does to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.layout import Size, Widget
from ui_gym_phone.ui.scene import Box, Handler, PhoneScene
from ui_gym_phone.ui.theme import Theme

if TYPE_CHECKING:
    from ui_gym_phone.state.activities import Activity
    from ui_gym_phone.ui.app import Ui

MOST_CHARACTERS = 20_000


class TextField(Widget):
    """A text field. `key` names its text in the activity; `kind` chooses the keyboard: ``text``,
    ``number`` or ``phone``. `lines` above 1 makes Enter begin a new line.

    `on_change` is called with the new text, `on_enter` when Enter is pressed in a single line.
    """

    def __init__(
        self,
        ui: Ui,
        key: str,
        label: str = "",
        *,
        kind: str = "text",
        lines: int = 1,
        password: bool = False,
        on_change: Callable[[str], None] | None = None,
        on_enter: Handler | None = None,
        id: str = "",
        style: str = "body",
        framed: bool = True,
        weight: int = 0,
    ) -> None:
        self.ui, self.key, self.label, self.kind = ui, key, label, kind
        self.lines, self.password, self.style = lines, password, style
        self.on_change, self.on_enter = on_change, on_enter
        self.id, self.framed, self.weight = id or key, framed, weight

    def measure(self, theme: Theme, width: int) -> Size:
        _, size = theme.font(self.style)
        room = theme.px(28 if self.framed else 16)
        if self.lines == 1:
            return width, fonts.line_height(size) + room
        shown = len(self._broken(theme, width - theme.px(28)))
        return width, max(self.lines, shown) * fonts.line_height(size) + room

    def _shown(self) -> str:
        text = self.ui.text(self.key)
        return "•" * len(text) if self.password else text

    def _broken(self, theme: Theme, width: int) -> tuple[str, ...]:
        face, size = theme.font(self.style)
        if self.lines == 1:
            return (self._shown(),)
        return fonts.wrap(self._shown(), face, size, max(1, width), 0)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        theme = scene.theme
        focused = self.ui.activity.focus == self.key
        box = (x, y, x + width, y + height)
        if self.framed:
            self._frame(scene, box, focused)
        text = self.ui.text(self.key)
        scene.leaf(
            "android.widget.EditText", box, text=self._shown() or self.label, id=self.id,
            desc=self.label if text else "", clickable=True, long_clickable=True,
            focused=focused, password=self.password, hint=self.label,
        )  # fmt: skip
        inset = theme.px(14) if self.framed else theme.px(4)
        inner = (x + inset, y, x + width - inset, y + height)
        with scene.clipped(inner):
            self._paint(scene, inner, focused)
        scene.touch(box, tap=self._tap, long_press=self._mark)
        scene.fields[self.key] = self

    def _frame(self, scene: PhoneScene, box: Box, focused: bool) -> None:
        px = scene.theme.px
        edge = px(2 if focused else 1)
        scene.rect(box, "primary" if focused else "outline", px(8))
        inner = (box[0] + edge, box[1] + edge, box[2] - edge, box[3] - edge)
        scene.rect(inner, "surface", px(7))

    def _paint(self, scene: PhoneScene, box: Box, focused: bool) -> None:
        theme = scene.theme
        face, size = theme.font(self.style)
        step = fonts.line_height(size)
        lines = self._broken(theme, box[2] - box[0])
        left, top = box[0], box[1] + (box[3] - box[1] - step * len(lines)) // 2
        if self.lines > 1:
            top = box[1] + theme.px(14 if self.framed else 8)
        elif focused:  # the end of a long line, where the caret is, stays in sight
            left -= max(0, fonts.text_width(lines[0], face, size) + theme.px(3) - (box[2] - left))
        if not self.ui.text(self.key) and self.label:
            width = box[2] - box[0]
            hint = fonts.shorten(self.label, face, size, width)
            scene.text(left, top, hint, face, size, "dim", fonts.text_width(hint, face, size))
        for i, line in enumerate(lines):
            w = fonts.text_width(line, face, size)
            if focused and self.ui.activity.marked and line:
                scene.rect((left, top + i * step, left + w, top + (i + 1) * step), "tonal")
            scene.text(left, top + i * step, line, face, size, "text", w)
        if focused and not self.ui.activity.marked:
            self._caret(scene, lines, left, top)

    def _caret(self, scene: PhoneScene, lines: tuple[str, ...], left: int, top: int) -> None:
        face, size = scene.theme.font(self.style)
        step = fonts.line_height(size)
        row, column = self._place(lines, self.ui.activity.caret)
        x = left + fonts.text_width(lines[row][: max(0, column)], face, size)
        y = top + row * step
        scene.rect((x, y, x + scene.theme.px(2), y + step), "primary")

    def _place(self, lines: tuple[str, ...], caret: int) -> tuple[int, int]:
        """The line and the column of the caret. Between two lines a sign was left out, or none."""
        text, begin = self._shown(), 0
        for row, line in enumerate(lines):
            begin = max(begin, text.find(line, begin))
            if caret <= begin + len(line) or row == len(lines) - 1:
                return row, min(max(0, caret - begin), len(line))
            begin += len(line)
        return 0, 0

    def _tap(self) -> None:
        self.ui.focus(self.key)

    def _mark(self) -> None:
        self.ui.focus(self.key)
        self.ui.activity.marked = bool(self.ui.text(self.key))


class Growing(TextField):
    """An unframed text field (give it `lines` of 2) that is one line high while its text is, and
    grows up to `most` lines."""

    most = 5

    def measure(self, theme: Theme, width: int) -> Size:
        _, size = theme.font(self.style)
        shown = min(self.most, len(self._broken(theme, width - theme.px(8))))
        return width, shown * fonts.line_height(size) + theme.px(16)

    def _paint(self, scene: PhoneScene, box: Box, focused: bool) -> None:
        """While it is typed into, the last of too many lines are seen."""
        left, top, right, bottom = box
        _, size = scene.theme.font(self.style)
        hidden = len(self._broken(scene.theme, right - left)) - self.most
        if not focused or hidden <= 0:
            super()._paint(scene, box, focused)
            return
        with scene.clipped((left, top + scene.theme.px(8), right, bottom)):
            above = hidden * fonts.line_height(size)
            super()._paint(scene, (left, top - above, right, bottom), focused)


class Typing:
    """What keys do to the text field that has the caret."""

    def __init__(self, activity: Activity, field: TextField) -> None:
        self.activity, self.field = activity, field

    @property
    def text(self) -> str:
        return self.activity.fields.get(self.field.key, "")

    def insert(self, text: str) -> None:
        """Type a text at the caret, or over what is selected."""
        if self.field.lines == 1:
            text = text.replace("\n", " ")
        if self.field.kind in ("number", "phone"):
            allowed = "0123456789.-" if self.field.kind == "number" else "0123456789+*#()- "
            text = "".join(sign for sign in text if sign in allowed)
        before, after = self._around()
        room = MOST_CHARACTERS - len(before) - len(after)
        self._set(before + text[:room] + after, len(before) + len(text[:room]))

    def delete(self, *, forward: bool = False) -> None:
        """Backspace; with `forward` the delete key."""
        if self.activity.marked:
            self._set("", 0)
            return
        before, after = self._around()
        if forward:
            self._set(before + after[1:], len(before))
        elif before:
            self._set(before[:-1] + after, len(before) - 1)

    def move(self, by: int) -> None:
        """Move the caret by characters, as far as there is text."""
        self.activity.caret = min(max(0, self.activity.caret + by), len(self.text))
        self.activity.marked = False

    def mark_all(self) -> None:
        """Select all."""
        self.activity.marked = bool(self.text)

    def enter(self) -> None:
        """The Enter key: a new line, or what the field does when it is done."""
        if self.field.lines > 1:
            self.insert("\n")
            return
        if self.field.on_enter is not None:
            self.field.on_enter()
        else:
            self.activity.focus = ""

    def selected(self) -> str:
        return self.text if self.activity.marked else ""

    def _around(self) -> tuple[str, str]:
        if self.activity.marked:
            return "", ""
        return self.text[: self.activity.caret], self.text[self.activity.caret :]

    def _set(self, text: str, caret: int) -> None:
        self.activity.fields[self.field.key] = text
        self.activity.caret, self.activity.marked = caret, False
        if self.field.on_change is not None:
            self.field.on_change(text)
