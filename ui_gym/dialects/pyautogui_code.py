"""Reading code strings of pyautogui: calls with literal arguments, by their syntax tree.

The code is never run. What is read are calls of the functions in `SIGNATURES`, the words ``WAIT``,
``DONE`` and ``FAIL``, and lines that change nothing here: imports, comments, ``pyautogui.PAUSE``.
Anything else is an error, however harmless it may look. ``tag_12`` stands for the middle of the
element 12, as for OSWorld's agents that are shown marks.
"""

from __future__ import annotations

import ast
import math
import re
import textwrap
from dataclasses import dataclass

from ui_gym.contract.action import shorten, syntax_tree
from ui_gym.contract.tables import read_table
from ui_gym.dialects.common import unknown
from ui_gym.dialects.fields import Fields
from ui_gym.dialects.seen import NOTHING, Seen
from ui_gym.errors import ActionError

EXAMPLE = "pyautogui.click(10, 20)"

_IGNORED = ("interval", "tween", "logScreenshot", "_pause", "pause", "mouseDownUp")
"""Parameters that change how an action looks, not what it does."""

SIGNATURES: dict[str, tuple[str, ...]] = read_table(__package__, "texts")["pyautogui"]["signatures"]
"""The parameters of every function that is read, in their order."""

WORDS = ("WAIT", "DONE", "FAIL")

_MODULES = ("pyautogui", "pyperclip", "time")
_SETTINGS = ("FAILSAFE", "PAUSE")
_TAG = re.compile(r"tag_(\d{1,9})", re.ASCII)
_LANGUAGE = re.compile(r"[ \t]*(?:python3?|py|code)\b")
_FIRST_LINE = re.compile(
    r"^[ \t]*(?:pyautogui\.|pyperclip\.|time\.sleep|import (?:pyautogui|pyperclip|time)\b"
    r"|(?:WAIT|DONE|FAIL)\s*$)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class PyautoguiCall:
    """One call: the function's name without its module, or one of `WORDS`."""

    name: str
    arguments: Fields

    @property
    def usage(self) -> str:
        known = next(full for full in SIGNATURES if full.endswith(f".{self.name}"))
        return usage(known)


def usage(function: str) -> str:
    """How a function of `SIGNATURES` is called, without what is ignored."""
    names = [name for name in SIGNATURES[function] if name not in _IGNORED]
    if function == "pyautogui.hotkey":
        names = ["'ctrl'", "'c'"]
    return f"{function}({', '.join(names)})"


def read_code(text: str, seen: Seen = NOTHING) -> list[PyautoguiCall]:
    """The calls of the last block of code in `text`, or of the lines that look like code.

    Raises:
        ActionError: (``parse``) this is no code, or code that is not allowed; (``name``) it calls
            a function that is not known; (``argument``) an argument is no literal, or too much.
    """
    return read_calls(_code_of(text), seen)


def read_calls(code: str, seen: Seen = NOTHING) -> list[PyautoguiCall]:
    """The calls of a text that is nothing but code. Raises as `read_code`."""
    code = textwrap.dedent(code).strip()
    tree = syntax_tree(code, f"Write calls, as in {EXAMPLE}")
    lines = code.splitlines()
    read = [_read(statement, lines, seen) for statement in tree.body]
    return [call for call in read if call is not None]


def _code_of(text: str) -> str:
    fences = [match.span() for match in re.finditer("```", text)]
    if fences:
        begin, end = (fences[-2][1], fences[-1][0]) if len(fences) > 1 else (fences[0][1], None)
        code = text[begin:end]
        language = _LANGUAGE.match(code)
        return code[language.end() :] if language else code
    first = _FIRST_LINE.search(text)
    if first is None:
        raise ActionError("parse", f"no code in {shorten(text)}. Write it as in {EXAMPLE}")
    return text[first.start() :]


def _read(statement: ast.stmt, lines: list[str], seen: Seen) -> PyautoguiCall | None:
    """The call of a statement; None if it does nothing here."""
    match statement:
        case ast.Import(names=names) if all(n.name in _MODULES and not n.asname for n in names):
            return None
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id="pyautogui"), attr=attribute)],
            value=ast.Constant(),
        ) if attribute in _SETTINGS:
            return None
        case ast.Expr(value=ast.Constant(value=str())):
            return None
        case ast.Expr(value=ast.Name(id=word)) if word in WORDS:
            return PyautoguiCall(word, Fields({}))
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)) as call
        ) if module in _MODULES:
            return _call(f"{module}.{name}", call, seen)
    line = shorten(lines[min(statement.lineno, len(lines)) - 1].strip())
    raise ActionError("parse", f"{line} is not allowed. Write calls alone, as in {EXAMPLE}")


def _call(function: str, node: ast.Call, seen: Seen) -> PyautoguiCall:
    if function not in SIGNATURES:
        raise unknown("function", function, SIGNATURES)
    name = function.rpartition(".")[2]
    try:
        return PyautoguiCall(name, Fields(_arguments(function, node, seen)))
    except ValueError as error:
        message = f"{function}: {error}. It is written {usage(function)}"
        raise ActionError("argument", message) from None


def _arguments(function: str, node: ast.Call, seen: Seen) -> dict[str, object]:
    """The arguments by their names. ValueError says what is wrong."""
    values = [_value(argument, seen) for argument in node.args]
    if function == "pyautogui.hotkey":
        given: dict[str, object] = {"keys": values[0] if values and _is_list(values) else values}
    else:
        names = SIGNATURES[function]
        if len(values) > len(names):
            raise ValueError(f"{len(values)} arguments are too many")
        given = dict(zip(names, values, strict=False))
    for keyword in node.keywords:
        if keyword.arg not in (*SIGNATURES[function], *_IGNORED) or keyword.arg in given:
            raise ValueError(f"the argument {shorten(str(keyword.arg))} is unknown or given twice")
        given[keyword.arg] = _value(keyword.value, seen)
    return given


def _is_list(values: list[object]) -> bool:
    return len(values) == 1 and isinstance(values[0], list)


def _value(node: ast.expr, seen: Seen) -> object:
    """A literal, a list of them, or the point of a tag."""
    match node:
        case ast.Attribute(value=ast.Name(id="pyautogui"), attr=attribute) if _is_tween(attribute):
            return None  # as if it were not there, since it is ignored wherever it may stand
    if isinstance(node, ast.Name) and (tag := _TAG.fullmatch(node.id)):
        return list(seen.locate(tag[1]))
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item) for item in node.elts]
    return _literal(node)


def _is_tween(name: str) -> bool:
    return name == "linear" or name.startswith("ease")


def _literal(node: ast.expr) -> object:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        sign = -1 if isinstance(node.op, ast.USub) else 1
        node = node.operand
        if not isinstance(node, ast.Constant) or type(node.value) not in (int, float):
            raise ValueError("arguments must be plain numbers and strings")
    if not isinstance(node, ast.Constant):
        raise ValueError("arguments must be plain numbers and strings")
    value = node.value
    if value is None or isinstance(value, str | bool):
        return value
    if not isinstance(value, int | float):
        raise ValueError("arguments must be plain numbers and strings")
    # An integer of any length is legal there; beyond this none makes sense, and floats overflow.
    return sign * (value if abs(value) < 1e18 else math.inf)
