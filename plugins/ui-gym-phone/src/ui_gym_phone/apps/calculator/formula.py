"""Formulas: read by a small parser of their own, and worked out in exact decimals."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext

OPERATORS = ("+", "−", "×", "÷")
LONGEST = 100
"""The most signs of a formula."""

SHOWN_DIGITS = 15
"""Significant digits of a result; it is worked out with more, and a longer whole part is shown."""

LONGEST_WHOLE = 30
"""Digits of a whole part from which on a result is written with an exponent."""

_PRECISE = Context(prec=2 * LONGEST)


class FormulaError(ValueError):
    """A formula that has no result; the text is what a calculator shows."""


def evaluate(formula: str) -> str:
    """The result of a formula, as a calculator writes it: ``0.1+0.2`` is ``0.3``.

    Signs are digits, ``.``, ``+ − × ÷``, ``%`` and parentheses, of which the last ones may be left
    open. As on Android, ``a+b%`` adds so many per cent of a. Raises `FormulaError`.
    """
    if len(formula) > LONGEST + SHOWN_DIGITS:
        raise FormulaError("Too long")
    with localcontext(_PRECISE):
        parser = _SumParser(formula)
        value = parser.sum()
        if parser.at < len(formula):
            raise FormulaError("Bad expression")
        return _written(value)


def _written(value: Decimal) -> str:
    if value == 0:
        return "0"
    whole = value.adjusted() + 1
    digits_shown = max(SHOWN_DIGITS, whole) if whole <= LONGEST_WHOLE else SHOWN_DIGITS
    rounded = Context(prec=digits_shown).plus(value).normalize()
    if not -9 <= rounded.adjusted() < LONGEST_WHOLE:
        digits, _, exponent = f"{rounded:E}".partition("E")
        return f"{digits.replace('-', '−')}E{int(exponent)}"
    return f"{rounded:f}".replace("-", "−")


class _SumParser:
    """Reads a formula from the left; each method reads one level of it."""

    def __init__(self, formula: str) -> None:
        self.formula, self.at = formula, 0

    def sum(self) -> Decimal:
        total, _ = self._product()
        while self._next() in ("+", "−"):
            minus = self._take() == "−"
            value, percent = self._product()
            if percent:
                value = total * value
            total = total - value if minus else total + value
        return total

    def _product(self) -> tuple[Decimal, bool]:
        """Its value, and whether it is nothing but so many per cent."""
        value, percent = self._signed()
        while self._next() in ("×", "÷", "("):
            divide = self._next() == "÷"
            if self._next() != "(":
                self._take()
            other, _ = self._signed()
            if divide and other == 0:
                raise FormulaError("Can't divide by 0")
            value, percent = (value / other if divide else value * other), False
        return value, percent

    def _signed(self) -> tuple[Decimal, bool]:
        minus = False
        while self._next() == "−":
            self._take()
            minus = not minus
        value = self._atom()
        percent = False
        while self._next() == "%":
            self._take()
            value, percent = value / 100, True
        return (-value if minus else value), percent and not minus

    def _atom(self) -> Decimal:
        if self._next() == "(":
            self._take()
            value = self.sum()
            if self._next() == ")":
                self._take()
            elif self._next():
                raise FormulaError("Bad expression")
            return value
        start = self.at
        while self._next() and self._next() in "0123456789.":
            self._take()
        number = self.formula[start : self.at]
        if not number.strip(".") or number.count(".") > 1:
            raise FormulaError("Bad expression")
        return Decimal(number)

    def _next(self) -> str:
        return self.formula[self.at : self.at + 1]

    def _take(self) -> str:
        self.at += 1
        return self.formula[self.at - 1]
