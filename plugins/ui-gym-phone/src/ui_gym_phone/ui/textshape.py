"""TextShape: where the signs of a text lie that is laid out in lines, both ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ui_gym_phone.ui import fonts
from ui_gym_phone.ui.fonts import Face
from ui_gym_phone.ui.scene import Box

Span = tuple[int, int]
"""(begin, end) of a part of a text, in characters."""


@dataclass(frozen=True)
class TextShape:
    """A text in lines whose upper left corner is (left, top), in device pixels."""

    text: str
    lines: tuple[str, ...]
    face: Face
    size: int
    left: int
    top: int

    @property
    def step(self) -> int:
        """How high a line is."""
        return fonts.line_height(self.size)

    @property
    def begins(self) -> list[int]:
        """Where in the text each line begins. Between two lines a sign was left out, or none."""
        found, begin = [], 0
        for line in self.lines:
            begin = max(begin, self.text.find(line, begin))
            found.append(begin)
            begin += len(line)
        return found

    def _width(self, line: str) -> int:
        return fonts.text_width(line, self.face, self.size)

    def spot(self, index: int) -> tuple[int, int]:
        """The upper end of the caret at a place in the text."""
        row, column = self._place(index)
        return self.left + self._width(self.lines[row][:column]), self.top + row * self.step

    def _place(self, index: int) -> tuple[int, int]:
        for row, (begin, line) in enumerate(zip(self.begins, self.lines, strict=True)):
            if index <= begin + len(line):
                return row, min(max(0, index - begin), len(line))
        return len(self.lines) - 1, len(self.lines[-1])

    def index_at(self, x: int, y: int) -> int:
        """The place between two signs that is nearest to a point."""
        row = min(max(0, (y - self.top) // self.step), len(self.lines) - 1)
        line, aim = self.lines[row], x - self.left
        column = min(range(len(line) + 1), key=lambda n: abs(self._width(line[:n]) - aim))
        return self.begins[row] + column

    def within(self, x: int, y: int) -> bool:
        """Whether a point lies on the signs of a line."""
        row = (y - self.top) // self.step
        if not 0 <= row < len(self.lines):
            return False
        return self.left <= x < self.left + self._width(self.lines[row])

    def boxes(self, span: Span) -> Iterator[Box]:
        """What a part of the text covers, a box for each line that has some of it."""
        for row, (begin, line) in enumerate(zip(self.begins, self.lines, strict=True)):
            first, last = max(span[0] - begin, 0), min(span[1] - begin, len(line))
            if first < last:
                x, y = self.left + self._width(line[:first]), self.top + row * self.step
                yield x, y, self.left + self._width(line[:last]), y + self.step


def word_at(text: str, index: int) -> Span | None:
    """The word at a place of a text, or the one that ends there."""

    def part(at: int) -> bool:
        return 0 <= at < len(text) and (text[at].isalnum() or text[at] in "_'’")

    begin = end = index
    while part(begin - 1):
        begin -= 1
    while part(end):
        end += 1
    return (begin, end) if begin < end else None
