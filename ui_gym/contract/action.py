"""What an agent can do: one frozen dataclass a kind, its canonical text, and the parser.

`str(action)` is the canonical text and `parse(str(action)) == [action]`. Coordinates are integers
in pixels of the observed screenshot, origin top left. Text is read with `ast` against the table
below alone: a call of a known name with literal arguments. Nothing is ever executed.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import threading
import types
import typing
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from ui_gym.errors import ActionError, nearest

MAX_ACTIONS = 16
"""The most actions that one step may hold."""

MAX_TEXT = 4096
"""The longest text of one argument, in characters."""

MAX_SECONDS = 60.0
"""The longest duration of one action, in seconds."""

HELD_KEYS = frozenset((
    "ctrl", "control", "alt", "option", "shift", "meta", "cmd", "command", "super", "win",
))  # fmt: skip
"""Names of the keys that a chord may hold while another key is pressed."""

Button = Literal["left", "middle", "right"]
Outcome = Literal["success", "failure", "infeasible"]
Locate = Callable[[object], tuple[int, int]]
"""Where the element of an id is: what it returns, or an `ActionError` that says which there are."""


@dataclass(frozen=True, repr=False)
class Action:
    """Base of all actions. Subclasses are plain data; devices give them meaning."""

    name: ClassVar[str] = ""
    ends_episode: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, _checked(self, field))

    def __str__(self) -> str:
        return f"{self.name}({', '.join(_arguments(self))})"

    __repr__ = __str__

    def points(self) -> list[tuple[int, int]]:
        """The screen positions that the action names."""
        return []


@dataclass(frozen=True, repr=False)
class _PointAction(Action):
    x: int
    y: int

    def points(self) -> list[tuple[int, int]]:
        return [(self.x, self.y)]


@dataclass(frozen=True, repr=False)
class Click(_PointAction):
    """Press and release a mouse button, or tap. `keys` (``"ctrl+shift"``) are held meanwhile."""

    name: ClassVar[str] = "click"
    button: Button = "left"
    count: int = 1
    keys: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.count <= 3:
            raise ActionError("argument", f"click: count must be 1, 2 or 3, not {self.count}")


@dataclass(frozen=True, repr=False)
class LongPress(_PointAction):
    """Touch and hold for `seconds`."""

    name: ClassVar[str] = "long_press"
    seconds: float = 0.8


@dataclass(frozen=True, repr=False)
class Move(_PointAction):
    """Hover."""

    name: ClassVar[str] = "move"


@dataclass(frozen=True, repr=False)
class Drag(Action):
    """Press at the first point, move, release at the second; a swipe on a touch screen."""

    name: ClassVar[str] = "drag"
    x1: int
    y1: int
    x2: int
    y2: int
    seconds: float = 0.3

    def points(self) -> list[tuple[int, int]]:
        return [(self.x1, self.y1), (self.x2, self.y2)]


@dataclass(frozen=True, repr=False)
class Scroll(_PointAction):
    """Scroll what lies under the point, in pixels: `dy > 0` shows what is below."""

    name: ClassVar[str] = "scroll"
    dx: int = 0
    dy: int = 0


@dataclass(frozen=True, repr=False)
class Type(Action):
    """Type text at the caret; `clear` empties the field before, `enter` presses Enter after."""

    name: ClassVar[str] = "type"
    text: str
    clear: bool = False
    enter: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for char in self.text:
            if char not in "\n\t" and unicodedata.category(char) == "Cc":
                raise ActionError(
                    "argument",
                    f"type: the text holds the control character {char!r}; line breaks (\\n) and "
                    'tabs (\\t) alone can be typed. Other keys are pressed, as in press("escape")',
                )


@dataclass(frozen=True, repr=False)
class Press(Action):
    """A key, modifiers held: ``"enter"``, ``"ctrl+c"``; on a phone also ``"back"``..."""

    name: ClassVar[str] = "press"
    keys: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.keys.strip():
            raise ActionError("argument", 'press: name a key, as in press("enter")')
        names = split_keys(self.keys)
        said = shorten(self.keys)
        if "" in names:
            raise ActionError(
                "argument",
                f"press: a key is missing in {said}. A chord is written "
                'press("ctrl+c"), and with the key + itself press("ctrl++")',
            )
        pressed = [name for name in names if name.lower() not in HELD_KEYS]
        if len(pressed) > 1:
            raise ActionError(
                "argument",
                f"press: {said} names {len(pressed)} keys beside modifiers. A chord is one key "
                'with ctrl, alt, shift or meta held, as in press("ctrl+c"); keys that follow '
                "each other are actions of their own",
            )


@dataclass(frozen=True, repr=False)
class Open(Action):
    """Open an app by name, or a URL that the task allows."""

    name: ClassVar[str] = "open"
    target: str


@dataclass(frozen=True, repr=False)
class Wait(Action):
    """Let time pass; virtual time where the device has a virtual clock."""

    name: ClassVar[str] = "wait"
    seconds: float = 1.0


@dataclass(frozen=True, repr=False)
class Answer(Action):
    """The answer to an information task; ends the episode."""

    name: ClassVar[str] = "answer"
    ends_episode: ClassVar[bool] = True
    text: str


@dataclass(frozen=True, repr=False)
class Finish(Action):
    """The agent says that it is done; ends the episode."""

    name: ClassVar[str] = "finish"
    ends_episode: ClassVar[bool] = True
    outcome: Outcome = "success"
    message: str = ""


ACTIONS: dict[str, type[Action]] = {
    kind.name: kind
    for kind in (
        Click, LongPress, Move, Drag, Scroll, Type, Press, Open, Wait, Answer, Finish,
    )
}  # fmt: skip
"""Every kind of action by its canonical name."""

_AST = threading.Lock()
"""CPython before 3.13 counts the depth of all threads' syntax trees together, and then raises
SystemError where two are made at once (python/cpython#106905)."""

_HINTS: dict[type[Action], dict[str, Any]] = {
    kind: typing.get_type_hints(kind) for kind in ACTIONS.values()
}


def usage(name: str) -> str:
    """How the action `name` is written, as a signature: ``click(x, y, button="left", ...)``."""
    parts = []
    for field in dataclasses.fields(ACTIONS[name]):
        required = field.default is dataclasses.MISSING
        parts.append(field.name if required else f"{field.name}={_literal(field.default)}")
    return f"{name}({', '.join(parts)})"


def parse(text: str, *, limit: int = MAX_ACTIONS, locate: Locate | None = None) -> list[Action]:
    """Read canonical actions, separated by newlines or ``;``.

    With `locate`, ``element=12`` may stand for a point; see `build`.

    Raises:
        ActionError: `text` is not of the grammar (``parse``), names an unknown action (``name``),
            has a wrong argument (``argument``), or holds none or more than `limit` actions.
    """
    tree = syntax_tree(text, "Write one action, as in click(10, 20)")
    if not tree.body:
        raise ActionError("parse", "no action given. Write one, as in click(10, 20)")
    if len(tree.body) > limit:
        raise ActionError("parse", f"{len(tree.body)} actions in one step; at most {limit}")
    found = [one for said in tree.body for one in _from_statement(said, text, locate)]
    if len(found) > limit:
        raise ActionError("parse", f"{len(found)} actions in one step; at most {limit}")
    return found


def syntax_tree(text: str, hint: str) -> ast.Module:
    """The syntax tree of a text, which is never run. `hint` ends the error's message.

    Raises:
        ActionError: (``parse``) `text` is not Python, or too much of it.
    """
    try:
        with _AST:
            return ast.parse(text.strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = getattr(error, "msg", None) or "not readable"
        raise ActionError("parse", f"cannot read {shorten(text)}: {reason}. {hint}") from None


def build(
    kind: type[Action],
    args: Sequence[Any],
    named: Mapping[str, Any],
    locate: Locate | None = None,
) -> list[Action]:
    """The action of a kind with these arguments.

    An argument ``element`` is the id of an element, and stands for the point where that is. Text is
    typed into an element by clicking it first, which makes two actions.

    Raises:
        ActionError: an argument is wrong.
        TypeError: an argument is missing, unknown or given twice.
    """
    if "element" not in named:
        return [kind(*args, **named)]
    rest = {name: value for name, value in named.items() if name != "element"}
    if not issubclass(kind, _PointAction | Type):
        raise ActionError("argument", f"{kind.name} takes no element")
    if locate is None:
        raise ActionError("argument", f"{kind.name}: no elements are shown; give x and y")
    point = locate(named["element"])
    if issubclass(kind, Type):
        return [Click(*point), kind(*args, **rest)]
    if args or rest.keys() & {"x", "y"}:
        raise ActionError("argument", f"{kind.name}: give an element, or x and y, but not both")
    return [kind(*point, **rest)]


def split_keys(chord: str) -> list[str]:
    """The names in a chord: ``ctrl++`` is ``ctrl`` and ``+``. A name that is missing is empty."""
    if len(chord) == 1:
        return [chord]
    text = chord.strip()
    if text == "+":
        return ["+"]
    if text.endswith("++"):
        return [*split_keys(text[:-2]), "+"]
    return [name.strip() for name in text.split("+")]


def check_points(actions: Sequence[Action], size: tuple[int, int]) -> None:
    """Raise `ActionError` (``argument``) for a point outside a screen of `size` (width, height)."""
    width, height = size
    for action in actions:
        for x, y in action.points():
            if not (0 <= x < width and 0 <= y < height):
                raise ActionError(
                    "argument",
                    f"{action}: ({x}, {y}) is outside the screen; "
                    f"x is 0 to {width - 1}, y is 0 to {height - 1}",
                )


def shorten(text: str, limit: int = 60) -> str:
    """`text` quoted, cut to `limit` characters, for error messages."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def _from_statement(statement: ast.stmt, text: str, locate: Locate | None) -> list[Action]:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ActionError(
            "parse", f"{shorten(text)} is not an action. Write one, as in click(10, 20)"
        )
    name = call.func.id
    kind = ACTIONS.get(name)
    if kind is None:
        raise ActionError("name", f"there is no action {name!r}. {nearest(name, ACTIONS)}")
    try:
        args = [_constant(node) for node in call.args]
        named = {_keyword(node): _constant(node.value) for node in call.keywords}
        return build(kind, args, named, locate)
    except (TypeError, ValueError) as error:
        reason = str(error).replace(f"{kind.__name__}.__init__()", name)
        raise ActionError("argument", f"{reason}. It is written {usage(name)}") from None


def _keyword(node: ast.keyword) -> str:
    if node.arg is None:
        raise ValueError("** is not allowed")
    return node.arg


def _constant(node: ast.expr) -> object:
    """A literal number, string or bool; a sign before a number is allowed."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        sign = -1 if isinstance(node.op, ast.USub) else 1
        node = node.operand
        if not isinstance(node, ast.Constant) or type(node.value) not in (int, float):
            raise ValueError("arguments must be plain numbers, strings or booleans")
    if not isinstance(node, ast.Constant) or type(node.value) not in (int, float, str, bool):
        raise ValueError("arguments must be plain numbers, strings or booleans")
    return sign * node.value if sign != 1 else node.value  # type: ignore[operator]


def _literal(value: object) -> str:
    """`value` as it stands in canonical text."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _arguments(action: Action) -> list[str]:
    if isinstance(action, Finish):  # reads best as finish("failure", "why")
        return [_literal(v) for v in (action.outcome, action.message) if v]
    parts = []
    for field in dataclasses.fields(action):
        value = getattr(action, field.name)
        if field.default is dataclasses.MISSING:
            parts.append(_literal(value))
        elif value != field.default:
            parts.append(f"{field.name}={_literal(value)}")
    return parts


def _checked(action: Action, field: dataclasses.Field[Any]) -> object:
    """The field's value in its declared type, or an `ActionError` that says what is wrong."""
    value = getattr(action, field.name)
    hint = _HINTS[type(action)][field.name]
    where = f"{action.name}: {field.name}"
    if typing.get_origin(hint) is Literal:
        options = get_args(hint)
        if value not in options or not isinstance(value, str):
            listed = ", ".join(map(repr, options))
            raise ActionError("argument", f"{where} must be one of {listed}, not {value!r}")
        return value
    if isinstance(hint, types.UnionType) or hint not in (int, float, str, bool):
        raise TypeError(f"{where}: unsupported type {hint}")
    return _CHECKS[hint](value, where)


def _check_int(value: object, where: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int:
        raise ActionError("argument", f"{where} must be a whole number, not {value!r}")
    if abs(value) > 100_000:
        raise ActionError("argument", f"{where} is out of range")
    return value


def _check_seconds(value: object, where: str) -> float:
    if type(value) not in (int, float):
        raise ActionError("argument", f"{where} must be a number, not {value!r}")
    if not 0 <= value <= MAX_SECONDS:  # type: ignore[operator]  # false for NaN, too
        raise ActionError("argument", f"{where} must be 0 to {MAX_SECONDS:g}")
    return float(value)  # type: ignore[arg-type]


def _check_str(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ActionError("argument", f"{where} must be a quoted string, not {value!r}")
    if len(value) > MAX_TEXT:
        raise ActionError("argument", f"{where} is {len(value)} characters; at most {MAX_TEXT}")
    if any(0xD800 <= ord(char) <= 0xDFFF for char in value):
        raise ActionError("argument", f"{where} holds half of a surrogate pair")
    return value


def _check_bool(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise ActionError("argument", f"{where} must be True or False, not {value!r}")
    return value


_CHECKS: dict[Any, Any] = {
    int: _check_int,
    float: _check_seconds,
    str: _check_str,
    bool: _check_bool,
}
