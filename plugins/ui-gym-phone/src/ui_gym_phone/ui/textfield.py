"""TextField: where text is typed, and what typing does to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.layout import SEAM, Size, Widget
from ui_gym_phone.ui.scene import Box, Handler, PhoneScene
from ui_gym_phone.ui.textshape import Span, TextShape, word_at
from ui_gym_phone.ui.theme import Theme

if TYPE_CHECKING:
    from ui_gym_phone.state.activities import Activity
    from ui_gym_phone.state.phone import Phone
    from ui_gym_phone.ui.app import Ui

MOST_CHARACTERS = 20_000


def selected(activity: Activity, length: int) -> Span:
    """What is selected of the `length` characters of the field that has the caret."""
    caret = min(activity.caret, length)
    mark = caret if activity.mark is None else min(max(0, activity.mark), length)
    return min(mark, caret), max(mark, caret)


class TextField(Widget):
    """A text field. `key` names its text in the activity; `kind` chooses the keyboard: ``text``,
    ``number`` or ``phone``. `lines` above 1 makes Enter begin a new line.

    `on_change` is called with the new text, `on_enter` when Enter is pressed in a single line.
    """

    editable = True
    """Whether it can be typed into."""

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
        self.shape: TextShape
        """Where its text lies, once it has been placed."""

    def measure(self, theme: Theme, width: int) -> Size:
        _, size = theme.font(self.style)
        room = theme.room(28 if self.framed else 16)
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
        scene.touch(box, tap_at=self._tap, long_press_at=self._hold, double_tap=self._hold)
        scene.fields[self.key] = self

    def _frame(self, scene: PhoneScene, box: Box, focused: bool) -> None:
        px = scene.theme.px
        if scene.theme.grid:
            box = (box[0], box[1] + px(SEAM), box[2], box[3] - px(SEAM))
        edge = px(2 if focused else scene.theme.line)
        scene.rect(box, "primary" if focused else "outline", px(8))
        inner = (box[0] + edge, box[1] + edge, box[2] - edge, box[3] - edge)
        scene.rect(inner, "surface", px(7))

    def _paint(self, scene: PhoneScene, box: Box, focused: bool) -> None:
        theme = scene.theme
        face, size = theme.font(self.style)
        self.shape = shape = self._shaped(theme, box, focused)
        step, left, top = shape.step, shape.left, shape.top
        if not self.ui.text(self.key) and self.label:
            width = box[2] - box[0]
            hint = fonts.shorten(self.label, face, size, width)
            scene.text(left, top, hint, face, size, "dim", fonts.text_width(hint, face, size))
        for marked in shape.boxes(self.selection) if focused else ():
            scene.rect(marked, "tonal")
        for i, line in enumerate(shape.lines):
            w = fonts.text_width(line, face, size)
            scene.text(left, top + i * step, line, face, size, "text", w)
        if focused and self.editable and self.selection[0] == self.selection[1]:
            x, y = shape.spot(self.ui.activity.caret)
            scene.rect((x, y, x + theme.px(2), y + step), "primary")

    def _shaped(self, theme: Theme, box: Box, focused: bool) -> TextShape:
        face, size = theme.font(self.style)
        step = fonts.line_height(size)
        lines = self._broken(theme, box[2] - box[0])
        left, top = box[0], box[1] + (box[3] - box[1] - step * len(lines)) // 2
        if self.lines > 1:
            top = box[1] + theme.px(14 if self.framed else 8)
            if theme.grid:
                top = box[1] + (theme.grid - step) // 2
        elif focused:  # the caret stays in sight
            before = fonts.text_width(lines[0][: self.ui.activity.caret], face, size)
            left -= max(0, before + theme.px(3) - (box[2] - left))
        return TextShape(self._shown(), lines, face, size, left, top)

    # -- what is selected --

    @property
    def selection(self) -> Span:
        """What is selected, (begin, end) in characters; both are the caret where nothing is."""
        return selected(self.ui.activity, len(self.ui.text(self.key)))

    def select(self, begin: int, end: int) -> None:
        """Select a part of the text by touch: it shows its handles and the bar."""
        activity = self.ui.activity
        self.ui.focus(self.key)
        activity.caret, activity.mark = end, begin if begin < end else None
        activity.held = True

    def _tap(self, x: int, y: int) -> None:
        """The caret goes where the text is touched."""
        at = self.shape.index_at(x, y)
        self.ui.focus(self.key)
        self.ui.activity.caret = at

    def _hold(self, x: int, y: int) -> None:
        """The word that is touched is selected."""
        text, at = self._shown(), self.shape.index_at(x, y)
        word = word_at(text, at) if self.shape.within(x, y) else None
        if self.password and text:
            word = (0, len(text))
        self.select(*(word or (at, at)))


class Growing(TextField):
    """An unframed text field (give it `lines` of 2) that is one line high while its text is, and
    grows up to `most` lines."""

    most = 5

    def measure(self, theme: Theme, width: int) -> Size:
        _, size = theme.font(self.style)
        shown = min(self.most, len(self._broken(theme, width - theme.px(8))))
        return width, shown * fonts.line_height(size) + theme.room(16)

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


class Readable(TextField):
    """A text to read, of any number of lines, of which a part can be selected and copied."""

    editable = False

    def __init__(self, ui: Ui, key: str, text: str, *, style: str = "body", id: str = "") -> None:
        super().__init__(ui, key, lines=2, style=style, framed=False, id=id)
        ui.activity.fields[key] = text

    def measure(self, theme: Theme, width: int) -> Size:
        _, size = theme.font(self.style)
        return width, len(self._broken(theme, width)) * fonts.line_height(size)

    def place(self, scene: PhoneScene, x: int, y: int, width: int, height: int) -> None:
        box = (x, y, x + width, y + height)
        held = self.ui.activity.focus == self.key
        scene.leaf("android.widget.TextView", box, text=self._shown(), id=self.id,
                   long_clickable=True)  # fmt: skip
        self._paint(scene, box, held)
        scene.touch(box, tap=self.ui.unfocus if held else None, long_press_at=self._hold,
                    double_tap=self._hold)  # fmt: skip
        scene.readable[self.key] = self

    def _shaped(self, theme: Theme, box: Box, focused: bool) -> TextShape:
        face, size = theme.font(self.style)
        lines = self._broken(theme, box[2] - box[0])
        top = box[1] + max(0, theme.grid - fonts.line_height(size)) // 2
        return TextShape(self._shown(), lines, face, size, box[0], top)


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
        before, after = self._around()
        if self.selected():
            self._set(before + after, len(before))
        elif forward:
            self._set(before + after[1:], len(before))
        elif before:
            self._set(before[:-1] + after, len(before) - 1)

    def move(self, by: int, *, extend: bool = False) -> None:
        """Move the caret by characters, as far as there is text; `extend` selects what it passes.
        A single step out of a selection leads to its end on that side."""
        activity, length = self.activity, len(self.text)
        begin, end = selected(activity, length)
        to = min(max(0, min(activity.caret, length) + by), length)
        if extend:
            mark = activity.caret if activity.mark is None else activity.mark
            activity.mark = mark if mark != to else None
        else:
            if begin < end and abs(by) == 1:
                to = end if by > 0 else begin
            activity.mark = None
        activity.caret, activity.held = to, False

    def mark_all(self) -> None:
        """Select all."""
        self.activity.caret, self.activity.mark = len(self.text), 0 if self.text else None

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
        """The part of the text that is selected."""
        begin, end = selected(self.activity, len(self.text))
        return self.text[begin:end]

    def copy(self, phone: Phone) -> bool:
        """Put what is selected on the clipboard; False where nothing is, or it is a password."""
        text = "" if self.field.password else self.selected()
        phone.clipboard = text or phone.clipboard
        return bool(text)

    def cut(self, phone: Phone) -> None:
        """The same, and delete it."""
        if self.copy(phone):
            self.delete()

    def _around(self) -> tuple[str, str]:
        begin, end = selected(self.activity, len(self.text))
        return self.text[:begin], self.text[end:]

    def _set(self, text: str, caret: int) -> None:
        self.activity.fields[self.field.key] = text
        self.activity.caret, self.activity.mark = caret, None
        self.activity.held = False
        if self.field.on_change is not None:
            self.field.on_change(text)
