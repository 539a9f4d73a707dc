"""The formulas by which conditional formats decide: parsed once, computed for each cell.

A small part of the language of spreadsheets (ECMA-376, part 1, 18.17): operators, references of
the same sheet, and the functions of `FUNCTIONS`. A formula beyond it is `Unsupported`; what cannot
be computed for a cell (text where a number is wanted, ``#DIV/0!``) is a `Fault`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import Broken, library
from ui_gym.desktop.osworld.metrics.table_functions import FUNCTIONS, Fault, Value, number, ordered

REFERENCE = re.compile(r"(\$?)([A-Z]{1,3})(\$?)(\d{1,7})")
MAX_LOOKS = 30_000_000
"""How many values a range may give in all, once for each cell that the formula is computed for."""
LEVELS = (("=", "<>", "<", ">", "<=", ">="), ("&",), ("+", "-"), ("*", "/"), ("^",))


class Unsupported(Exception):
    """A formula with something in it that is not known here."""


@dataclass(frozen=True)
class CellContext:
    """Where a formula is computed: the values of its sheet, and how far its cell lies from the one
    that it was written for (rows down, columns to the right)."""

    cells: Mapping[str, Value]
    down: int = 0
    right: int = 0


FormulaNode = Callable[[CellContext], Any]
"""A part of a formula, ready to be computed; a range gives the list of its values."""


def compiled(formula: str) -> FormulaNode:
    """What computes a formula of one sheet, written without its ``=``. `Unsupported` says why
    not."""
    tokenizer = library("openpyxl.formula").Tokenizer
    try:
        tokens = tokenizer("=" + formula).items
    except Exception as error:  # it fails in as many ways as a formula can be wrong
        raise Unsupported(f"{formula!r} is no formula") from error
    parser = _FormulaParser([token for token in tokens if token.type != "WHITE-SPACE"])
    try:
        node = parser.expression(0)
    except RecursionError as error:
        raise Unsupported("a formula has too many brackets") from error
    if parser.rest:
        raise Unsupported(f"{formula!r} goes on after its end")
    return node


class _FormulaParser:
    """A parser by descent through `LEVELS`, over the tokens of openpyxl."""

    def __init__(self, tokens: Sequence[Any]) -> None:
        self.rest = list(tokens)

    def _is(self, kind: str, *values: str) -> bool:
        token = self.rest[0] if self.rest else None
        return token is not None and token.type == kind and (not values or token.value in values)

    def expression(self, level: int) -> FormulaNode:
        if level == len(LEVELS):
            return self._signed()
        node = self.expression(level + 1)
        while self._is("OPERATOR-INFIX", *LEVELS[level]):
            sign = self.rest.pop(0).value
            node = _joined(sign, node, self.expression(level + 1))
        return node

    def _signed(self) -> FormulaNode:
        if self._is("OPERATOR-PREFIX"):
            sign = -1 if self.rest.pop(0).value == "-" else 1
            inner = self._signed()
            return lambda place: sign * number(inner(place))
        node = self._operand()
        while self._is("OPERATOR-POSTFIX"):
            self.rest.pop(0)
            node = _percent(node)
        return node

    def _operand(self) -> FormulaNode:
        if not self.rest:
            raise Unsupported("a formula ends too early")
        token = self.rest.pop(0)
        if token.type == "PAREN" and token.subtype == "OPEN":
            node = self.expression(0)
            self._close()
            return node
        if token.type == "FUNC" and token.subtype == "OPEN":
            return self._function(token.value[:-1].upper())
        if token.type == "OPERAND":
            return _operand(token)
        raise Unsupported(f"{token.value!r} is not known")

    def _function(self, name: str) -> FormulaNode:
        function = FUNCTIONS.get(name.removeprefix("_XLFN."))
        if function is None and name not in {"IF", "IFERROR", "ISERROR"}:
            raise Unsupported(f"the function {name} is not known")
        arguments: list[FormulaNode] = []
        while not self._is("FUNC", ")"):
            arguments.append(self.expression(0))
            if self._is("SEP"):
                self.rest.pop(0)
        self._close()
        if function is None:
            return _lazy(name, arguments)
        return lambda place: function(*[argument(place) for argument in arguments])

    def _close(self) -> None:
        if not self.rest or self.rest.pop(0).subtype != "CLOSE":
            raise Unsupported("a bracket is not closed")


def _operand(token: Any) -> FormulaNode:
    text = token.value
    if token.subtype == "NUMBER":
        amount = float(text)
        return lambda _: amount
    if token.subtype == "TEXT":
        quoted = text[1:-1].replace('""', '"')
        return lambda _: quoted
    if token.subtype == "LOGICAL":
        truth = text.upper() == "TRUE"
        return lambda _: truth
    first, _, last = text.upper().partition(":")
    corners = [REFERENCE.fullmatch(corner) for corner in ((first, last) if last else (first,))]
    if token.subtype != "RANGE" or None in corners:
        raise Unsupported(f"{text!r} is not known")
    if not last:
        return lambda place: place.cells.get(_shifted(corners[0], place))
    return _range(corners)


def _range(corners: Sequence[re.Match[str] | None]) -> FormulaNode:
    fixed = all(match is not None and match.group(1, 3) == ("$", "$") for match in corners)
    kept: list[Value] | None = None
    looks = 0

    def values(place: CellContext) -> list[Value]:
        nonlocal kept, looks
        # What is fixed is the same for every cell of the sheet that the formula is compiled for.
        found = kept if kept is not None else [place.cells.get(c) for c in _area(corners, place)]
        kept = found if fixed else None
        looks += len(found)
        if looks > MAX_LOOKS:
            raise Broken("a conditional format looks at too many cells, too often")
        return found

    return values


def _shifted(match: re.Match[str] | None, place: CellContext) -> str:
    row, column = _corner(match, place)
    return f"{library('openpyxl.utils').get_column_letter(column)}{row}"


def _corner(match: re.Match[str] | None, place: CellContext) -> tuple[int, int]:
    assert match is not None
    fixed_column, letters, fixed_row, digits = match.groups()
    column = library("openpyxl.utils").column_index_from_string(letters)
    row = int(digits) + (0 if fixed_row else place.down)
    column += 0 if fixed_column else place.right
    if row < 1 or column < 1:
        raise Fault("#REF!")
    return row, column


def _area(corners: Sequence[re.Match[str] | None], place: CellContext) -> Iterator[str]:
    (top, left), (bottom, right) = (_corner(corner, place) for corner in corners)
    letter = library("openpyxl.utils").get_column_letter
    if (bottom - top + 1) * (right - left + 1) > 200_000:
        raise Fault("a range is too large")
    for column in range(left, right + 1):
        name = letter(column)
        for row in range(top, bottom + 1):
            yield f"{name}{row}"


def _percent(node: FormulaNode) -> FormulaNode:
    return lambda place: number(node(place)) / 100


def _joined(sign: str, left: FormulaNode, right: FormulaNode) -> FormulaNode:
    compare = {
        "=": operator.eq,
        "<>": operator.ne,
        "<": operator.lt,
        ">": operator.gt,
        "<=": operator.le,
        ">=": operator.ge,
    }.get(sign)
    if compare is not None:
        return lambda place: compare(*ordered(left(place), right(place)))
    if sign == "&":
        return lambda place: FUNCTIONS["CONCATENATE"](left(place), right(place))
    compute = {"+": operator.add, "-": operator.sub, "*": operator.mul}.get(sign)
    if compute is not None:
        return lambda place: compute(number(left(place)), number(right(place)))
    power = sign == "^"

    def divided(place: CellContext) -> float:
        first, second = number(left(place)), number(right(place))
        try:
            return float(first**second) if power else first / second
        except (ArithmeticError, TypeError) as error:
            raise Fault("#NUM!") from error

    return divided


def _lazy(name: str, arguments: list[FormulaNode]) -> FormulaNode:
    """The functions that do not compute all of their arguments, or outlive a fault in one."""
    if name == "IF" and 2 <= len(arguments) <= 3:
        test, then, *other = arguments

        def choose(place: CellContext) -> Any:
            if number(test(place)):
                return then(place)
            return other[0](place) if other else False

        return choose
    wanted = 1 if name == "ISERROR" else 2
    if len(arguments) != wanted:
        raise Unsupported(f"{name} has {len(arguments)} arguments")

    def attempt(place: CellContext) -> Any:
        try:
            value = arguments[0](place)
        except Fault:
            return True if name == "ISERROR" else arguments[1](place)
        return False if name == "ISERROR" else value

    return attempt
