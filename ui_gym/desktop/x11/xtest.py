"""Actions as input of an X server, by its XTEST extension: as if from a mouse and a keyboard."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from ui_gym.contract.action import (
    Action,
    Button,
    Click,
    Drag,
    LongPress,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
)
from ui_gym.desktop.x11.display import XDisplay
from ui_gym.desktop.x11.keyboard import Keyboard, Stroke
from ui_gym.dialects.common import NOTCH
from ui_gym.errors import ActionError

_BUTTONS: dict[Button, int] = {"left": 1, "middle": 2, "right": 3}
_UP, _DOWN, _LEFT, _RIGHT = 4, 5, 6, 7
"""Buttons of the wheel: one press is a notch."""

_KEY, _BUTTON, _MOTION = 2, 4, 6
"""Numbers of X11's events: a press (its release is one more), and a move."""

MOST_SECONDS = 3.0
"""How long one action takes at most, whatever it asks for: sixteen of them are a step."""

DOUBLE_CLICK = 0.45, 8
"""Seconds and pixels within which programs take two clicks for a double one (GTK: 0.4 s, 5), and a
little more."""

DRAG_STEPS = 12
"""Points on the way of a drag."""


class XTestInput:
    """The mouse and the keyboard of a display. `settle` waits until programs are at rest."""

    def __init__(self, display: XDisplay, settle: Callable[[], object]) -> None:
        self._display = display
        self._settle = settle
        self.keyboard = Keyboard(display.x, settle)
        self._pause = threading.Event()
        self._pressed: set[tuple[int, int]] = set()
        self._last_press: tuple[int, int] | None = None
        self._seen = 0.0

    def do(self, action: Action) -> None:
        """Do one action.

        Raises:
            ActionError: it cannot be done with a mouse and a keyboard.
            DeviceLost: the X server has ended.
        """
        with self._display.lost(), self._released():
            match action:
                case Click():
                    self._click(action)
                case LongPress():
                    self._go_to_press(action.x, action.y)
                    with self._held(_BUTTON, [1]):
                        self._wait(action.seconds)
                    self._display.pass_manager()
                case Move():
                    self._move(action.x, action.y)
                case Drag():
                    self._drag(action)
                case Scroll():
                    self._scroll(action)
                case Type():
                    self._type(action)
                case Press():
                    codes = self.keyboard.chord(action.keys)
                    with self._held(_KEY, codes):
                        pass
                case Wait():
                    self._wait(action.seconds)
                case _:
                    raise ActionError("runtime", f"a desktop cannot {action.name}")
            self._display.sync()

    def note_capture(self) -> None:
        """A picture was taken: a press at the place of the last one is no double click any more, be
        it soon after or, on a busy machine, late."""
        self._seen = self._seen or time.monotonic()

    def rest(self) -> None:
        """Put the pointer where it hides little, with nothing held."""
        with self._display.lost():
            width, height = self._display.size
            self._move(width - 1, height - 1)
            self._display.sync()

    # -- parts --

    def _click(self, action: Click) -> None:
        held = self.keyboard.modifiers(action.keys)
        self._go_to_press(action.x, action.y)
        with self._held(_KEY, held):
            for _ in range(action.count):
                with self._held(_BUTTON, [_BUTTONS[action.button]]):
                    pass
                self._display.pass_manager()

    def _go_to_press(self, x: int, y: int) -> None:
        """Move to where a button is pressed, once that makes no double click with an earlier step's
        press, be it to click, to drag or to hold."""
        seconds, pixels = DOUBLE_CLICK
        last_x, last_y = self._last_press or (x, y)
        left = self._seen + seconds - time.monotonic()
        if left > 0 and abs(x - last_x) < pixels and abs(y - last_y) < pixels:
            self._wait(left)
        self._last_press, self._seen = (x, y), 0.0
        self._move(x, y)

    def _drag(self, action: Drag) -> None:
        self._go_to_press(action.x1, action.y1)
        with self._held(_BUTTON, [1]):
            for step in range(1, DRAG_STEPS + 1):
                self._wait(min(action.seconds, MOST_SECONDS) / DRAG_STEPS)
                part = step / DRAG_STEPS
                self._move(
                    round(action.x1 + part * (action.x2 - action.x1)),
                    round(action.y1 + part * (action.y2 - action.y1)),
                )
            # What is dropped on must have seen that something comes.
            self._settle()
        self._display.pass_manager()

    def _scroll(self, action: Scroll) -> None:
        self._move(action.x, action.y)
        for pixels, less, more in ((action.dy, _UP, _DOWN), (action.dx, _LEFT, _RIGHT)):
            notches = -(-abs(pixels) // NOTCH)
            for _ in range(notches):
                with self._held(_BUTTON, [more if pixels > 0 else less]):
                    pass

    def _type(self, action: Type) -> None:
        if action.clear:
            for keys in ("ctrl+a", "backspace"):
                with self._held(_KEY, self.keyboard.chord(keys)):
                    pass
        for batch in self.keyboard.strokes(action.text):
            self._strike(batch)
        if action.enter:
            with self._held(_KEY, self.keyboard.chord("enter")):
                pass

    def _strike(self, strokes: Sequence[Stroke]) -> None:
        shift = self.keyboard.code("shift")
        for stroke in strokes:
            with self._held(_KEY, [shift, stroke.code] if stroke.shifted else [stroke.code]):
                pass

    @contextlib.contextmanager
    def _held(self, kind: int, codes: Sequence[int]) -> Iterator[None]:
        """Press these in order; let go in the other order."""
        for code in codes:
            self._fake(kind, code, press=True)
        yield
        for code in reversed(codes):
            self._fake(kind, code, press=False)

    @contextlib.contextmanager
    def _released(self) -> Iterator[None]:
        """Whatever happens inside, nothing stays held."""
        try:
            yield
        finally:
            for kind, code in tuple(self._pressed):
                with contextlib.suppress(Exception):
                    self._fake(kind, code, press=False)

    def _fake(self, kind: int, code: int, *, press: bool) -> None:
        self._display.test.FakeInput(kind if press else kind + 1, code, 0, 0, 0, 0, 0)
        (self._pressed.add if press else self._pressed.discard)((kind, code))

    def _move(self, x: int, y: int) -> None:
        self._display.test.FakeInput(_MOTION, 0, 0, self._display.root, x, y, 0)

    def _wait(self, seconds: float) -> None:
        self._display.sync()
        self._pause.wait(min(seconds, MOST_SECONDS))
