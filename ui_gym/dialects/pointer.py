"""The pointer and the keys of one step: where the pointer is, and what is held down.

Formats that have a pointer (pyautogui, Anthropic's and Qwen's tools) say a drag as press, move and
release, a click with a key held as key down, click and key up, and leave out the point where it is
that of the call before. `PointerState` takes such calls in order and makes whole actions of them.
"""

from __future__ import annotations

from ui_gym.contract import action as act
from ui_gym.dialects.seen import Point, Seen
from ui_gym.errors import ActionError


class PointerState:
    """Collects `actions`, `limit` at most. A point of None is where the pointer is."""

    def __init__(self, size: tuple[int, int], seen: Seen, limit: int = act.MAX_ACTIONS) -> None:
        self.actions: list[act.Action] = []
        self.at = seen.pointer
        self._limit = limit
        self._middle = (size[0] // 2, size[1] // 2)
        self._pressed: tuple[Point, act.Button] | None = None
        self._held_for: float | None = None
        self._keys: list[str] = []
        self._unused = False  # keys are down, and nothing was done with them yet
        self._remarks: list[str] = []

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that are held down."""
        return tuple(self._keys)

    def do(self, action: act.Action) -> None:
        """Add a whole action that no pointer and no held key has a part in."""
        self._free(action.name)
        self._add(action)

    def move(self, point: Point) -> None:
        if self._pressed is None:
            self._add(act.Move(*point))
        self.at = point

    def move_by(self, dx: int, dy: int) -> None:
        x, y = self._here(None)
        self.move((x + dx, y + dy))

    def click(
        self,
        point: Point | None = None,
        button: act.Button = "left",
        count: int = 1,
        keys: str = "",
    ) -> None:
        """With `keys` held, beside those that already are."""
        self._released("click")
        x, y = self.at = self._here(point)
        held = "+".join([*self._keys, keys] if keys else self._keys)
        self._add(act.Click(x, y, button, count, held))
        self._unused = False

    def drag(
        self, end: Point, seconds: float = act.Drag.seconds, start: Point | None = None
    ) -> None:
        """From `start` or the pointer."""
        self._free("drag")
        begin = start or self._led_here()
        self._add(act.Drag(*begin, *end, seconds=seconds))
        self.at = end

    def drag_by(self, dx: int, dy: int, seconds: float = act.Drag.seconds) -> None:
        x, y = self._here(None)
        self.drag((x + dx, y + dy), seconds)

    def down(self, point: Point | None = None, button: act.Button = "left") -> None:
        """Press a button; what follows until `up` makes a click, a long press or a drag of it."""
        self._released("press")
        self.at = point or self._led_here()
        self._pressed = (self.at, button)
        self._held_for = None

    def up(self, point: Point | None = None, button: act.Button = "left") -> None:
        if self._pressed is None or self._pressed[1] != button:
            raise ActionError("argument", f"the {button} button is not down, so it cannot go up")
        start, end = self._pressed[0], self._here(point)
        self._pressed = None
        if self._held_for is None and end == start:
            self.click(start, button)
        elif button != "left":
            raise ActionError("name", f"only the left button can be held, not the {button} one")
        elif end != start:
            self.drag(end, start=start)
        else:
            self._free("long press")
            self._add(act.LongPress(*start, seconds=self._held_for or 0.0))

    def scroll(self, point: Point | None, dx: int = 0, dy: int = 0) -> None:
        """At `point`, at the pointer, or in the middle where that is not known."""
        self._free("scroll")
        self.at = point or self.at or self._middle
        self._add(act.Scroll(*self.at, dx=dx, dy=dy))

    def press(self, chord: str) -> None:
        """Press keys, beside those that are held."""
        self._released("press keys")
        self._add(act.Press("+".join([*self._keys, chord])))
        self._unused = False

    def paste(self, text: str) -> None:
        """Type a text in place of the chord that pastes it, whose held keys are then used up."""
        self._released("paste")
        self._add(act.Type(text))
        self._unused = False

    def key_down(self, key: str) -> None:
        self._released("hold keys")
        if key not in self._keys:
            self._keys.append(key)
        self._unused = True

    def key_up(self, key: str) -> None:
        if key not in self._keys:
            raise ActionError(
                "argument", f"the key {act.shorten(key)} is not down, so it cannot go up"
            )
        if self._unused:
            self._add(act.Press("+".join(self._keys)))
            self._unused = False
        self._keys.remove(key)

    def wait(self, seconds: float) -> None:
        if self._pressed is None:
            self._add(act.Wait(seconds))
        else:
            self._held_for = (self._held_for or 0.0) + act.Wait(seconds).seconds

    def finish(self, action: act.Finish) -> None:
        """End the episode. Some formats call the task done after an answer, which ends it here."""
        answered = bool(self.actions) and isinstance(self.actions[-1], act.Answer)
        if not (answered and action == act.Finish("success")):
            self.do(action)

    def remark(self, text: str) -> None:
        """Note what was said beside the actions: without any, it is the answer."""
        self._remarks += [text] if text.strip() else []

    def done(self) -> list[act.Action]:
        """The actions; nothing may be held down any more."""
        self._free("end a step")
        if not self.actions and self._remarks:
            self._add(act.Answer("\n".join(self._remarks)))
        return self.actions

    def _here(self, point: Point | None) -> Point:
        here = point or self.at
        if here is None:
            raise ActionError("argument", "where the pointer is, is not known; say where")
        return here

    def _led_here(self) -> Point:
        """Where the pointer is; a move that only led there becomes a part of what follows."""
        here = self._here(None)
        if self.actions and self.actions[-1] == act.Move(*here):
            del self.actions[-1]
        return here

    def _released(self, what: str) -> None:
        if self._pressed is not None:
            raise ActionError("argument", f"cannot {what} while a mouse button is down")

    def _free(self, what: str) -> None:
        self._released(what)
        if self._keys:
            held = "+".join(self._keys)
            raise ActionError("argument", f"cannot {what} while {held} is held down")

    def _add(self, action: act.Action) -> None:
        if len(self.actions) == self._limit:
            raise ActionError("parse", f"more than {self._limit} actions in one step")
        self.actions.append(action)
