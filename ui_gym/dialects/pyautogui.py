"""Code strings of pyautogui, as agents of OSWorld write them; read, never run.

Source of the format: https://github.com/xlang-ai/OSWorld (its agents' action space "pyautogui"):
code in a fence, and instead of code the words ``WAIT``, ``DONE`` and ``FAIL``. Code is read by its
syntax tree against a list of functions with literal arguments; see `pyautogui_code`.

What the format leaves open, we define:

- ``scroll`` and ``hscroll`` count notches of `NOTCH` pixels: above 0 is up, and to the right. Where
  the pointer is not known, they are in the middle.
- ``WAIT`` is `WAIT` seconds, as OSWorld has it. ``DONE`` is ``finish("success")``, and ``FAIL``, by
  which OSWorld means that the task cannot be done, ``finish("infeasible")``.
- A drag, and a button that is held, go straight from where they began to where they end. Without a
  `duration`, a drag takes the time that drags have here.
- Held keys count for clicks and other keys alone, and must be let go before the step ends.
- One newline at the end of a written text is the Enter key.
- ``pyperclip.copy`` and then a chord of `PASTES` types what was copied. Both must be of one step:
  the desktop's own clipboard is not touched.
- ``tag_12`` is the middle of element 12, where elements are shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ui_gym.contract import action as act
from ui_gym.contract.tables import read_table
from ui_gym.dialects.common import (
    NOTCH,
    check_actions,
    check_length,
    has_words,
    speechless,
    typed,
    typing,
    written,
)
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.grid import Size
from ui_gym.dialects.keys import PYAUTOGUI
from ui_gym.dialects.pointer import PointerState
from ui_gym.dialects.pyautogui_code import EXAMPLE, WORDS, PyautoguiCall, read_calls, read_code
from ui_gym.dialects.seen import NOTHING, Point, Seen
from ui_gym.errors import ActionError

WAIT = 2.0
"""How long ``WAIT`` takes, in seconds."""

PASTES = ("ctrl+v", "ctrl+shift+v", "shift+ctrl+v", "shift+insert")
"""The chords that paste."""

_BUTTONS: dict[str, act.Button] = {
    "left": "left", "middle": "middle", "right": "right", "primary": "left", "secondary": "right",
}  # fmt: skip
_CLICKS: dict[str, tuple[act.Button, int]] = {
    "click": ("left", 1),
    "doubleClick": ("left", 2),
    "tripleClick": ("left", 3),
    "rightClick": ("right", 1),
    "middleClick": ("middle", 1),
    "leftClick": ("left", 1),
}
_NAMES = {click: name for name, click in reversed(_CLICKS.items())}
_TEXTS = read_table(__package__, "texts")["pyautogui"]
_PROMPT: str = _TEXTS["prompt"]
_ENDINGS = {"DONE": act.Finish("success"), "FAIL": act.Finish("infeasible")}


class PyAutoGUI:
    """``pyautogui.click(10, 20)``."""

    name = "pyautogui"

    def parse(self, text: str, size: Size, seen: Seen = NOTHING) -> list[act.Action]:
        check_length(text)
        actions = _actions(read_code(text, seen), PointerState(size, seen))
        if not actions:
            raise ActionError("parse", f"the code does nothing. Write calls, as in {EXAMPLE}")
        act.check_points(actions, size)
        return actions

    def render(self, actions: Sequence[act.Action], size: Size, thought: str = "") -> str:
        check_actions(actions, size)
        code = "\n".join(line for action in actions for line in _say(action))
        block = f"```python\n{code}\n```"
        return f"{thought}\n{block}" if thought else block

    def prompt(self, size: Size, *, elements: bool = False) -> str:
        prompt = _PROMPT.format(width=size[0], height=size[1], notch=NOTCH, wait=WAIT)
        return prompt + str(_TEXTS["elements"]) if elements else prompt

    def can_say(self, action: act.Action) -> bool:
        return has_words(_say, action)


def read_script(
    code: str, size: Size, seen: Seen = NOTHING, *, limit: int, longest: float
) -> list[act.Action]:
    """The actions of a program of pyautogui calls; none, if it does nothing.

    Args:
        code: The program.
        size: Of the screen.
        seen: Where the pointer is before it.
        limit: The most actions.
        longest: Seconds; what sleeps longer sleeps for these.

    Raises:
        ActionError: as `PyAutoGUI.parse`.
    """
    check_length(code)
    actions = _actions(read_calls(code), PointerState(size, seen, limit), longest)
    act.check_points(actions, size)
    return actions


def _actions(
    calls: Sequence[PyautoguiCall], pointer: PointerState, longest: float = math.inf
) -> list[act.Action]:
    reader = _Reader(pointer, longest)
    for call in calls:
        reader.do(call)
    return reader.done()


class _Reader:
    """Does one call after the other, and sleeps for `longest` seconds at most."""

    def __init__(self, pointer: PointerState, longest: float) -> None:
        self.pointer = pointer
        self._longest = longest
        self._clipboard: str | None = None
        self._pasted = True

    def done(self) -> list[act.Action]:
        if not self._pasted:
            raise ActionError(
                "argument", "what is copied must be pasted in the same code, by hotkey('ctrl', 'v')"
            )
        return self.pointer.done()

    def do(self, call: PyautoguiCall) -> None:
        if call.name in WORDS:
            self.pointer.do(_ENDINGS.get(call.name, act.Wait(WAIT)))
            return
        with written(call.name, call.usage):
            if call.name in _CLICKS or call.name in ("mouseDown", "mouseUp"):
                self._button(call.name, call.arguments)
            elif call.name in ("scroll", "vscroll", "hscroll"):
                self._scroll(call.name, call.arguments)
            elif call.arguments.has("x", "y", "xOffset", "yOffset"):
                self._pointer(call.name, call.arguments)
            else:
                self._keyboard(call.name, call.arguments)

    def _button(self, name: str, said: Fields) -> None:
        own, count = _CLICKS.get(name, ("left", 1))
        button = said.choice(_BUTTONS, "button", default=own)
        if name == "mouseDown":
            self.pointer.down(_point(said), button)
        elif name == "mouseUp":
            self.pointer.up(_point(said), button)
        else:
            self.pointer.click(_point(said), button, said.whole("clicks", default=count))

    def _scroll(self, name: str, said: Fields) -> None:
        pixels = said.whole("clicks") * NOTCH
        if name == "hscroll":
            self.pointer.scroll(_point(said), dx=pixels)
        else:
            self.pointer.scroll(_point(said), dy=-pixels)

    def _pointer(self, name: str, said: Fields) -> None:
        seconds = said.number("duration", default=act.Drag.seconds)
        if name.startswith("drag") and said.choice(_BUTTONS, "button", default="left") != "left":
            raise ActionError("argument", "only the left button can drag")
        if name.startswith("drag") and not said.flag("mouseDownUp", default=True):
            raise ActionError("argument", "a drag presses the button; for a move, write moveTo")
        match name:
            case "moveTo":
                self.pointer.move(_there(said))
            case "dragTo":
                self.pointer.drag(_there(said), seconds)
            case "dragRel" | "drag":
                self.pointer.drag_by(*_offset(said), seconds)
            case _:  # moveRel, move
                self.pointer.move_by(*_offset(said))

    def _keyboard(self, name: str, said: Fields) -> None:
        match name:
            case "write" | "typewrite":
                self._write(said)
            case "press":
                presses = said.whole("presses", default=1)
                if not 1 <= presses <= 100:
                    raise ActionError("argument", f"presses must be 1 to 100, not {presses}")
                for _ in range(presses):
                    self._press(said.words("keys"))
            case "hotkey":
                self._chord(PYAUTOGUI.read(said.words("keys")))
            case "keyDown":
                self.pointer.key_down(_key(said))
            case "keyUp":
                self.pointer.key_up(_key(said))
            case "copy":
                self._clipboard = said.text("text")
                self._pasted = False
            case "sleep":
                self.pointer.wait(min(said.number("seconds"), self._longest))
            case "moveTo" if self.pointer.at is not None:
                self.pointer.move(self.pointer.at)
            case _:
                raise ActionError("argument", "the point is missing")

    def _write(self, said: Fields) -> None:
        if isinstance(said.get("message"), list):
            self._press(said.words("message"))
        else:
            self.pointer.do(typed(said.text("message")))

    def _press(self, keys: list[str]) -> None:
        for key in keys:
            self._chord(PYAUTOGUI.read([key]))

    def _chord(self, chord: str) -> None:
        if self._clipboard is not None and "+".join([*self.pointer.keys, chord]) in PASTES:
            self.pointer.paste(self._clipboard)
            self._pasted = True
        else:
            self.pointer.press(chord)


def _there(said: Fields) -> Point:
    """``(x, y)`` or ``((x, y))``."""
    return said.pixel("x") if isinstance(said.get("x"), list) else said.pixel()


def _point(said: Fields) -> Point | None:
    """As `_there`; None is where the pointer is."""
    return _there(said) if said.has("x", "y") else None


def _offset(said: Fields) -> Point:
    if isinstance(said.get("xOffset"), list):
        return said.pixel("xOffset")
    return said.whole("xOffset", default=0), said.whole("yOffset", default=0)


def _key(said: Fields) -> str:
    key = PYAUTOGUI.read([said.text("key")])
    if not key.strip():
        raise ActionError("argument", "key is empty")
    return key


def _say(action: act.Action) -> list[str]:
    match action:
        case act.Click(keys=keys):
            names = PYAUTOGUI.write(keys) if keys else []
            if len(set(names)) == len(names):
                down = [f"pyautogui.keyDown({_quote(name)})" for name in names]
                up = [f"pyautogui.keyUp({_quote(name)})" for name in reversed(names)]
                return [*down, _say_click(action), *up]
        case act.Move(x=x, y=y):
            return [f"pyautogui.moveTo({x}, {y})"]
        case act.LongPress(x=x, y=y, seconds=seconds):
            hold = [f"pyautogui.mouseDown({x}, {y})", f"time.sleep({seconds!r})"]
            return [*hold, "pyautogui.mouseUp()"]
        case act.Drag(x1=x1, y1=y1, x2=x2, y2=y2, seconds=seconds):
            drag = f"pyautogui.dragTo({x2}, {y2}, duration={seconds!r})"
            return [f"pyautogui.moveTo({x1}, {y1})", drag]
        case act.Scroll(x=x, y=y, dx=0, dy=dy) if dy % NOTCH == 0:
            return [f"pyautogui.scroll({-dy // NOTCH}, x={x}, y={y})"]
        case act.Scroll(x=x, y=y, dx=dx, dy=0) if dx % NOTCH == 0:
            return [f"pyautogui.hscroll({dx // NOTCH}, x={x}, y={y})"]
        case act.Type() if (text := typing(action)) is not None:
            return [f"pyautogui.write({_quote(text)})"]
        case act.Press(keys=keys):
            names = PYAUTOGUI.write(keys)
            function = "press" if len(names) == 1 else "hotkey"
            return [f"pyautogui.{function}({', '.join(map(_quote, names))})"]
        case act.Wait(seconds=seconds):
            return [f"time.sleep({seconds!r})"]
        case act.Finish():
            words = [word for word, ending in _ENDINGS.items() if ending == action]
            if words:
                return words
    raise speechless("pyautogui", action)


def _say_click(action: act.Click) -> str:
    name = _NAMES.get((action.button, action.count))
    if name is not None:
        return f"pyautogui.{name}({action.x}, {action.y})"
    how = f"clicks={action.count}, button={action.button!r}"
    return f"pyautogui.click({action.x}, {action.y}, {how})"


def _quote(text: str) -> str:
    """`text` as a string literal that no fence can end."""
    return repr(text).replace("`", "\\x60")
