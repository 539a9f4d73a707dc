"""The functions that awk brings along."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ui_gym_phone.shell import formats
from ui_gym_phone.shell.awk.expression_parser import Node
from ui_gym_phone.shell.awk.records import split_fields
from ui_gym_phone.shell.awk.values import Value, outside, to_number, to_text
from ui_gym_phone.shell.regex import Found

if TYPE_CHECKING:
    from ui_gym_phone.shell.awk.expressions import Expressions as Machine


class CallFault(Exception):
    """A function that is called wrongly."""


def random_of(seed: float) -> random.Random:
    """The generator of `rand`."""
    return random.Random(seed)


def call(machine: Machine, name: str, arguments: tuple[Node, ...]) -> Value:
    """The value of a built-in function."""
    special = _SPECIAL.get(name)
    if special is not None:
        return special(machine, arguments)
    if name in _MATHS:
        if not arguments:
            raise CallFault(f"not enough args to {name}")
        return _mathematics(name, [machine.number(each) for each in arguments])
    texts = [machine.text(each) for each in arguments]
    if name in ("toupper", "tolower") and texts:
        return texts[0].upper() if name == "toupper" else texts[0].lower()
    if name == "index" and len(texts) > 1:
        return float(texts[0].find(texts[1]) + 1)
    if name == "close" and texts:
        return machine.streams.close(texts[0])
    if name == "fflush":
        machine.streams.flush()
        return 0.0
    if name == "system" and texts:
        machine.streams.flush()
        return float(machine.ctx.shell(texts[0]))
    raise CallFault(f"not enough args to {name}")


_MATHS: dict[str, Callable[..., float]] = {
    "sin": math.sin, "cos": math.cos, "exp": math.exp, "log": math.log, "sqrt": math.sqrt,
    "int": math.trunc, "atan2": math.atan2,
}  # fmt: skip


def _mathematics(name: str, values: list[float]) -> float:
    try:
        return float(_MATHS[name](*values[: 2 if name == "atan2" else 1]))
    except OverflowError:
        return values[0] if name == "int" else math.inf
    except ValueError:
        return -math.inf if name == "log" and values[0] == 0 else math.nan
    except TypeError:
        raise CallFault(f"not enough args to {name}") from None


def _length(machine: Machine, arguments: tuple[Node, ...]) -> Value:
    if not arguments:
        return float(len(machine.text(("field", ("constant", 0.0)))))
    node = arguments[0]
    if node[0] == "variable":
        scope = machine.frames[-1] if machine.frames and node[1] in machine.frames[-1] else None
        value = (machine.globals if scope is None else scope).get(node[1])
        if isinstance(value, dict):
            return float(len(value))
    return float(len(machine.text(node)))


def _substr(machine: Machine, arguments: tuple[Node, ...]) -> Value:
    if len(arguments) < 2:
        raise CallFault("not enough args to substr")
    text = machine.text(arguments[0])
    start = max(1, min(_whole(machine.number(arguments[1])), len(text) + 1))
    if len(arguments) == 2:
        return text[start - 1 :]
    size = max(0, min(_whole(machine.number(arguments[2])), len(text)))
    return text[start - 1 : start - 1 + size]


def _whole(number: float) -> int:
    return int(max(-1e9, min(1e9, number))) if number == number else 0


def _split(machine: Machine, arguments: tuple[Node, ...]) -> Value:
    if len(arguments) < 2 or arguments[1][0] != "variable":
        raise CallFault("not enough args to split")
    text = machine.text(arguments[0])
    array = machine.array(arguments[1][1])
    if len(arguments) > 2:
        node = arguments[2]
        separator = node[1] if node[0] == "regex" else machine.text(node)
        if node[0] == "regex" and len(separator) == 1:
            separator = f"[{separator}]" if separator not in "^\\" else "\\" + separator
    else:
        separator = machine.text_of("FS")
    parts = split_fields(text, separator, machine.ctx.spend)
    machine.ctx.spend(len(parts))
    array.clear()
    array.update((str(index), outside(part)) for index, part in enumerate(parts, 1))
    return float(len(parts))


def _match(machine: Machine, arguments: tuple[Node, ...]) -> Value:
    if len(arguments) < 2:
        raise CallFault("not enough args to match")
    text = machine.text(arguments[0])
    found = machine.regex(arguments[1]).search(text, 0, machine.ctx.spend)
    start, length = (found.start + 1, found.end - found.start) if found else (0, -1)
    machine.globals["RSTART"], machine.globals["RLENGTH"] = float(start), float(length)
    return float(start)


def _sub(machine: Machine, arguments: tuple[Node, ...], everywhere: bool = False) -> Value:
    if len(arguments) < 2:
        raise CallFault(f"not enough args to {'g' * everywhere}sub")
    regex, template = machine.regex(arguments[0]), machine.text(arguments[1])
    target = arguments[2] if len(arguments) > 2 else ("field", ("constant", 0.0))
    text = machine.text(target)
    pieces, position, copied, count, last_end = list[str](), 0, 0, 0, -1
    while position <= len(text):
        found = regex.search(text, position, machine.ctx.spend)
        if found is None:
            break
        machine.ctx.spend()
        if found.start == found.end == last_end:
            position = found.end + 1
            continue
        count += 1
        pieces += [text[copied : found.start], _replacement(template, text, found)]
        copied = last_end = found.end
        position = found.end + (found.start == found.end)
        if not everywhere:
            break
    if count:
        result = "".join(pieces) + text[copied:]
        machine.ctx.runner.budget.check_text(len(result))
        machine.assign(target, result)
    return float(count)


def _gsub(machine: Machine, arguments: tuple[Node, ...]) -> Value:
    return _sub(machine, arguments, everywhere=True)


def _replacement(template: str, text: str, found: Found) -> str:
    matched = text[found.start : found.end]

    def each(part: re.Match[str]) -> str:
        return {"&": matched, "\\&": "&", "\\\\": "\\"}[part.group()]

    return re.sub(r"\\\\|\\&|&", each, template)


def _sprintf(machine: Machine, arguments: tuple[Node, ...]) -> Value:
    return format_values(machine, [machine.value(each) for each in arguments])


def _rand(machine: Machine, arguments: tuple[Node, ...]) -> Value:
    return machine.random.random()


def _srand(machine: Machine, arguments: tuple[Node, ...]) -> Value:
    before = machine.seed
    machine.seed = (
        machine.number(arguments[0]) if arguments else machine.ctx.machine.clock.seconds()
    )
    machine.random = random_of(machine.seed)
    return before


_SPECIAL: dict[str, Callable[[Machine, tuple[Node, ...]], Value]] = {
    "length": _length, "substr": _substr, "split": _split, "match": _match, "sub": _sub,
    "gsub": _gsub, "sprintf": _sprintf, "rand": _rand, "srand": _srand,
}  # fmt: skip


def format_values(machine: Machine, values: list[Value]) -> str:
    """What `sprintf` makes of a format and its values."""
    if not values:
        raise CallFault("not enough args in printf()")
    form = to_text(values[0])
    waiting = list(reversed(values[1:]))
    convert = machine.text_of("CONVFMT")

    def take() -> Value:
        if not waiting:
            raise CallFault(f"not enough args in printf({form})\n source line number 1")
        return waiting.pop()

    def each(found: re.Match[str]) -> str:
        flags, width, precision, letter = found.groups()
        if letter == "%":
            return "%"
        if not letter or letter not in "sc" + formats.INTEGERS + formats.FLOATS:
            return found.group()
        if width == "*":
            size = _whole(to_number(take()))
            flags, width = flags + "-" * (size < 0), str(abs(size))
        if precision == "*":
            precision = str(max(0, _whole(to_number(take()))))
        lead, digits = formats.spread(flags, width, precision)
        value = take()
        if letter == "s":
            return formats.text(lead, digits, to_text(value, convert))
        if letter == "c":
            code = _whole(value) & 0x1FFFFF if isinstance(value, float) else 0
            char = chr(code % 0x110000) if isinstance(value, float) else str(value)[:1]
            return formats.text(lead, None, char)
        number = to_number(value)
        if letter in formats.INTEGERS:
            finite = number if math.isfinite(number) else math.copysign(1e18, number)
            return formats.integer(lead, digits, letter, int(finite))
        return formats.floating(lead, digits, letter, number)

    return formats.DIRECTIVE.sub(each, form)
