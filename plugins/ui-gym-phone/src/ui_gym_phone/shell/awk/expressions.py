"""Expressions of awk: variables, and what every kind of node is worth."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

from ui_gym_phone.shell.awk import library
from ui_gym_phone.shell.awk.expression_parser import Node
from ui_gym_phone.shell.awk.parser import Function, Program
from ui_gym_phone.shell.awk.records import Record
from ui_gym_phone.shell.awk.streams import Streams
from ui_gym_phone.shell.awk.values import (
    UNSET,
    Unset,
    Value,
    compare,
    outside,
    to_number,
    to_text,
    truth,
)
from ui_gym_phone.shell.regex import Regex, compile_regex
from ui_gym_phone.shell.registry import Context

Array = dict[str, Value]

MAX_CALLS = 30
"""Functions that run inside each other."""

MAX_ELEMENTS = 200_000


class AwkFault(Exception):
    """An error while a program runs."""


class Return(Exception):
    """`return`, with its value."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class Expressions:
    """The half of a machine that finds values; statements are in `runtime.Machine`.

    A method ``do_KIND`` is there for every kind of node.
    """

    ctx: Context
    program: Program
    streams: Streams
    record: Record
    globals: dict[str, Value | Array]
    frames: list[dict[str, Any]]
    seed: float
    random: random.Random
    _input: Iterator[str]
    _run: dict[str, Callable[..., Any]]

    def execute(self, node: Node) -> None:
        """Run a statement."""
        self.ctx.spend()
        self._run[node[0]](*node[1:])

    # -- variables --

    def scalar(self, name: str) -> Value:
        """A variable that is no array."""
        if name == "NF":
            return float(self.record.count)
        scope = self._scope(name)
        value = scope.get(name, UNSET)
        if isinstance(value, dict):
            raise AwkFault(f"can't read value of {name}; it's an array name.")
        return UNSET if value is None else value

    def text_of(self, name: str) -> str:
        return to_text(self.scalar(name))

    def set_variable(self, name: str, value: Value) -> None:
        if name == "NF":
            self.record.resize(int(max(-1.0, min(to_number(value), 1e6))))
            return
        scope = self._scope(name)
        if isinstance(scope.get(name), dict):
            raise AwkFault(f"can't assign to {name}; it's an array name.")
        if isinstance(value, str):
            self.ctx.runner.budget.check_text(len(value))
        scope[name] = value

    def array(self, name: str) -> Array:
        scope = self._scope(name)
        found = scope.get(name)
        if found is None or isinstance(found, Unset):
            found = scope[name] = {}
        if not isinstance(found, dict):
            raise AwkFault(f"can't use {name} as an array; it's a scalar.")
        return found

    def _scope(self, name: str) -> dict[str, Any]:
        return self.frames[-1] if self.frames and name in self.frames[-1] else self.globals

    def assign(self, target: Node, value: Value) -> None:
        """Set a variable, an element or a field."""
        kind = target[0]
        if kind == "variable":
            self.set_variable(target[1], value)
        elif kind == "element":
            array = self.array(target[1])
            if len(array) >= MAX_ELEMENTS:
                raise AwkFault("out of memory")
            array[self.key(target[2])] = value
        elif kind == "field":
            text = to_text(value, self.text_of("CONVFMT"))
            self.record.put(self.field_number(target), text, self.text_of("FS"))
        else:
            raise AwkFault("illegal assignment")

    def key(self, subscript: tuple[Node, ...]) -> str:
        form = self.text_of("CONVFMT")
        return self.text_of("SUBSEP").join(to_text(self.value(each), form) for each in subscript)

    def field_number(self, target: Node) -> int:
        number = to_number(self.value(target[1]))
        if not 0 <= number <= 1e5:
            raise AwkFault(f"trying to access out of range field {to_text(number)}")
        return int(number)

    # -- expressions --

    def value(self, node: Node) -> Value:
        """The value of an expression."""
        value: Value = self._run[node[0]](*node[1:])
        return value

    def text(self, node: Node) -> str:
        return to_text(self.value(node), self.text_of("CONVFMT"))

    def number(self, node: Node) -> float:
        return to_number(self.value(node))

    def regex(self, node: Node) -> Regex:
        """The pattern that an operand of ``~`` is."""
        pattern = node[1] if node[0] == "regex" else self.text(node)
        return compile_regex(pattern, extended=True, escapes=True)

    def do_constant(self, value: Value) -> Value:
        return value

    def do_variable(self, name: str) -> Value:
        return self.scalar(name)

    def do_element(self, name: str, subscript: tuple[Node, ...]) -> Value:
        return self.array(name).setdefault(self.key(subscript), UNSET)

    def do_field(self, index: Node) -> Value:
        return self.record.get(self.field_number(("field", index)), self.text_of("OFS"))

    def do_brackets(self, inner: Node) -> Value:
        return self.value(inner)

    def do_grouping(self, inner: tuple[Node, ...]) -> Value:
        raise AwkFault("illegal list of expressions")

    def do_regex(self, pattern: str) -> Value:
        regex = compile_regex(pattern, extended=True, escapes=True)
        return float(regex.test(self.record.get(0, self.text_of("OFS")), self.ctx.spend))

    def do_match(self, left: Node, right: Node, negated: bool) -> Value:
        return float(self.regex(right).test(self.text(left), self.ctx.spend) != negated)

    def do_choose(self, condition: Node, first: Node, second: Node) -> Value:
        return self.value(first if truth(self.value(condition)) else second)

    def do_or(self, left: Node, right: Node) -> Value:
        return float(truth(self.value(left)) or truth(self.value(right)))

    def do_and(self, left: Node, right: Node) -> Value:
        return float(truth(self.value(left)) and truth(self.value(right)))

    def do_not(self, inner: Node) -> Value:
        return float(not truth(self.value(inner)))

    def do_sign(self, kind: str, inner: Node) -> Value:
        number = self.number(inner)
        return -number if kind == "-" else number

    def do_in(self, subscript: tuple[Node, ...], name: str) -> Value:
        return float(self.key(subscript) in self.array(name))

    def do_compare(self, operator: str, left: Node, right: Node) -> Value:
        order = compare(self.value(left), self.value(right), self.text_of("CONVFMT"))
        return float({
            "<": order < 0, "<=": order <= 0, "==": order == 0, "!=": order != 0,
            ">": order > 0, ">=": order >= 0,
        }[operator])  # fmt: skip

    def do_concatenate(self, left: Node, right: Node) -> Value:
        joined = self.text(left) + self.text(right)
        self.ctx.runner.budget.check_text(len(joined))
        return joined

    def do_arithmetic(self, operator: str, left: Node, right: Node) -> Value:
        return self.calculate(operator, self.number(left), self.number(right))

    def calculate(self, operator: str, left: float, right: float) -> float:
        """One of ``+ - * / % ^``."""
        if operator in "/%" and right == 0:
            raise AwkFault("division by zero" + " in %" * (operator == "%"))
        try:
            if operator == "^":
                result = math.pow(left, right)
            elif operator == "%":
                result = math.fmod(left, right)
            else:
                result = {"+": left + right, "-": left - right, "*": left * right}.get(
                    operator, 0.0
                )
                result = left / right if operator == "/" else result
        except (OverflowError, ValueError):
            return math.inf if operator == "^" else math.nan
        return result

    def do_assign(self, operator: str, target: Node, node: Node) -> Value:
        value = self.value(node)
        if operator:
            value = self.calculate(operator, self.number(target), to_number(value))
        self.assign(target, value)
        return value

    def do_increment(self, step: int, target: Node, before: bool) -> Value:
        old = self.number(target)
        self.assign(target, old + step)
        return old + step if before else old

    def do_getline(self, operator: str, source: Node | None, target: Node | None) -> Value:
        if source is None:
            line = next(self._input, None)
        else:
            try:
                line = self.streams.line(operator, self.text(source))
            except OSError:
                return -1.0
            if line is not None and operator == "|":
                self.globals["NR"] = self.number(("variable", "NR")) + 1
        if line is None:
            return 0.0
        self.ctx.spend()
        if target is None:
            self.record.set(line, self.text_of("FS"))
        else:
            self.assign(target, outside(line))
        return 1.0

    def do_builtin(self, name: str, arguments: tuple[Node, ...]) -> Value:
        self.ctx.spend()
        return library.call(self, name, arguments)

    def do_call(self, name: str, arguments: tuple[Node, ...]) -> Value:
        function = self.program.functions.get(name)
        if function is None:
            raise AwkFault(f"calling undefined function {name}")
        if len(arguments) > len(function.params):
            raise AwkFault(f"function {name} called with too many args")
        frame = {
            param: self._argument(function, param, arguments[index : index + 1])
            for index, param in enumerate(function.params)
        }
        self.ctx.spend()
        if len(self.frames) >= MAX_CALLS:
            raise AwkFault(f"function {name} calls itself too often")
        self.frames.append(frame)
        try:
            self.execute(function.body)
        except Return as back:
            return back.value
        finally:
            self.frames.pop()
        return UNSET

    def _argument(self, function: Function, param: str, given: tuple[Node, ...]) -> Any:
        if given and given[0][0] == "variable":
            name = given[0][1]
            value = self._scope(name).get(name)
            if isinstance(value, dict) or param in function.arrays:
                return self.array(name)
        if not given:
            return {} if param in function.arrays else UNSET
        return self.value(given[0])
