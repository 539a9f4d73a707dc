"""echo, printf, seq, yes, basename, dirname, expr and other small ones."""

from __future__ import annotations

import posixpath
import re
from typing import TypeVar

from ui_gym_phone.shell import escapes, formats
from ui_gym_phone.shell.options import Options
from ui_gym_phone.shell.regex import RegexFault, compile_regex
from ui_gym_phone.shell.registry import Context, command

YES_BYTES = 1 << 20
"""What `yes` writes at most: nobody closes the other end of our pipes."""


@command("true")
def _true(ctx: Context, argv: list[str]) -> int:
    return 0


@command("false")
def _false(ctx: Context, argv: list[str]) -> int:
    return 1


@command("echo")
def _echo(ctx: Context, argv: list[str]) -> int:
    """mksh's: it reads escapes unless ``-E`` says not to."""
    arguments, newline, escaped = argv[1:], True, True
    while arguments and re.fullmatch(r"-[neE]+", arguments[0]):
        for letter in arguments.pop(0)[1:]:
            newline = newline and letter != "n"
            escaped = letter == "e" if letter in "eE" else escaped
    text, stop = " ".join(arguments), False
    if escaped:
        text, stop = escapes.echo(text)
    ctx.out(text + "\n" * (newline and not stop))
    return 0


@command("printf")
def _printf(ctx: Context, argv: list[str]) -> int:
    if len(argv) < 2:
        return ctx.fail('Needs 1 argument (see "printf --help")')
    arguments, position = argv[2:], 0
    status = _Printf(ctx, argv[1], arguments)
    while True:
        before = position
        position = status.once(position)
        if status.stopped or position >= len(arguments) or position == before:
            return status.code


class _Printf:
    """A format, put out once for as many arguments as it takes."""

    def __init__(self, ctx: Context, form: str, arguments: list[str]) -> None:
        self.ctx, self.form, self.arguments = ctx, form, arguments
        self.code = 0
        self.stopped = False
        self.position = 0

    def once(self, position: int) -> int:
        """Put it out; the position of the next argument."""
        self.ctx.spend(1 + (len(self.form) >> 6))
        self.position = position
        end = 0
        for found in formats.DIRECTIVE.finditer(self.form):
            if found.start() < end:
                continue
            self._plain(self.form[end : found.start()])
            end = found.end()
            if self.stopped or not self._directive(found):
                return len(self.arguments)
        self._plain(self.form[end:])
        return self.position

    def _plain(self, text: str) -> None:
        if not self.stopped:
            cut, stop = (text, False) if "\\c" not in text else escapes.echo(text)
            self.ctx.out(cut if stop else escapes.in_format(cut))
            self.stopped = stop

    def _next(self) -> str | None:
        self.position += 1
        here = self.position - 1
        return self.arguments[here] if here < len(self.arguments) else None

    def _directive(self, found: re.Match[str]) -> bool:
        flags, width, precision, letter = found.groups()
        if letter == "%":
            self.ctx.out("%")
            return True
        if letter not in "sbcdixXoueEfFgGaA" or not letter:
            self.code = self.ctx.fail(f"bad %{letter}@{found.end()}")
            self.stopped = True
            return False
        if width == "*":
            number = self._integer(self._next() or "0")
            flags, width = flags + "-" * (number < 0), str(abs(number))
        if precision == "*":
            precision = str(max(0, self._integer(self._next() or "0")))
        lead, digits = formats.spread(flags, width, precision)
        value = self._next() or ""
        if letter in "sbc":
            stop = False
            if letter == "b":
                value, stop = escapes.echo(value)
            self.ctx.out(formats.text(lead, 1 if letter == "c" else digits, value))
            self.stopped = stop
        elif letter in formats.INTEGERS:
            number = self._integer(value, letter)
            self.ctx.out(formats.integer(lead, digits, letter, number))
        else:
            self.ctx.out(formats.floating(lead, digits, letter, self._float(value, letter)))
        return True

    def _integer(self, text: str, letter: str = "d") -> int:
        if text[:1] in ("'", '"'):
            return ord(text[1]) if len(text) > 1 else 0
        found = re.fullmatch(
            r"\s*([-+]?)(0[xX][0-9a-fA-F]{1,16}|0[0-7]*|[1-9]\d{0,18}|)", text, re.ASCII
        )
        if found is None:
            self.code = self.ctx.fail(f"bad %{letter} {text}")
            return 0
        digits = found[2]
        octal = len(digits) > 1 and digits[1] not in "xX"
        value = int(digits or "0", 8 if digits[:1] == "0" and octal else 0)
        return -value if found[1] == "-" else value

    def _float(self, text: str, letter: str) -> float:
        try:
            return float(text or "0")
        except ValueError:
            self.code = self.ctx.fail(f"bad %{letter} {text}")
            return 0.0


@command("seq")
def _seq(ctx: Context, argv: list[str]) -> int:
    arguments, options, words = [], list[str](), argv[1:]
    while words:  # a negative number is no option
        word = words.pop(0)
        if word in ("-s", "-f") and words:
            options += [word, words.pop(0)]
        elif re.match(r"-[sfw]", word):
            options.append(word)
        else:
            arguments.append(word)
    chosen = Options(ctx, [argv[0], *options], "s:f:w")
    if not 1 <= len(arguments) <= 3:
        return ctx.fail(f'Needs 1 argument (see "{argv[0]} --help")')
    values = list[float]()
    for each in arguments:
        try:
            values.append(float(each))
        except ValueError:
            return ctx.fail(f"not a number: {each}")
    first, step, last = (1.0, 1.0, values[0]) if len(values) == 1 else (values[0], 1.0, values[-1])
    step = values[1] if len(values) == 3 else step
    if any(value != value or abs(value) > 1e15 for value in (first, step, last)):
        return ctx.fail("value out of range")
    digits = max((len(each.partition(".")[2]) for each in arguments), default=0)
    wide = max(len(f"{first:.{digits}f}"), len(f"{last:.{digits}f}")) if "w" in chosen else 0
    separator, count, out = chosen.text("s", "\n"), 0, list[str]()
    form = formats.DIRECTIVE.search(chosen.text("f", ""))
    while (first + count * step <= last + 1e-9) if step > 0 else (first + count * step >= last):
        value = first + count * step
        if form:
            lead, precision = formats.spread(form[1], form[2], form[3])
            letter = form[4] if form[4] and form[4] in formats.FLOATS else "g"
            shown = formats.floating(lead, precision, letter, value)
            text = chosen.text("f")[: form.start()] + shown + chosen.text("f")[form.end() :]
        else:
            text = f"{value:0{wide}.{digits}f}"
        out.append(separator * (count > 0) + text)
        count += 1
        if len(out) >= 1024 or step == 0:
            ctx.spend(len(out))
            ctx.out("".join(out))
            out.clear()
    ctx.out("".join(out) + "\n" * (count > 0))
    return 0


@command("yes")
def _yes(ctx: Context, argv: list[str]) -> int:
    line = (" ".join(argv[1:]) or "y") + "\n"
    ctx.out(line * max(1, YES_BYTES // len(line)))
    return 141  # as one that writes to a closed pipe


@command("basename")
def _basename(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "as:", permute=False)
    options.need(1)
    names = options.arguments
    suffix = options.text("s")
    if "a" not in options and "s" not in options:
        if len(names) > 2:
            return ctx.fail('Max 2 arguments (see "basename --help")')
        suffix, names = names[1] if len(names) == 2 else "", names[:1]
    for name in names:
        base = posixpath.basename(name.rstrip("/")) or name[:1]
        cut = suffix and base.endswith(suffix) and base != suffix
        ctx.out((base[: -len(suffix)] if cut else base) + "\n")
    return 0


@command("dirname")
def _dirname(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "")
    options.need(1)
    for name in options.arguments:
        above = posixpath.dirname(name.rstrip("/")) if name.rstrip("/") else "/"
        ctx.out((above or ".") + "\n")
    return 0


@command("clear")
def _clear(ctx: Context, argv: list[str]) -> int:
    ctx.out("\x1b[2J\x1b[H")
    return 0


# -- expr --


class _ExprFault(Exception):
    """An expression that is none."""


@command("expr")
def _expr(ctx: Context, argv: list[str]) -> int:
    try:
        result = _Expr(ctx, argv[1:]).value()
    except (_ExprFault, RegexFault) as fault:
        return ctx.fail(str(fault), 2)
    ctx.out(result + "\n")
    return int(result in ("", "0"))


_LEVELS = (("|",), ("&",), ("=", "==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))


T = TypeVar("T", int, str)


def _compare(operator: str, left: T, right: T) -> bool:
    return {
        "=": left == right, "==": left == right, "!=": left != right, "<": left < right,
        "<=": left <= right, ">": left > right, ">=": left >= right,
    }[operator]  # fmt: skip


class _Expr:
    """The grammar of `expr`, whose tokens are the arguments."""

    def __init__(self, ctx: Context, tokens: list[str]) -> None:
        self.ctx, self.tokens, self.depth = ctx, tokens, 0

    def value(self) -> str:
        if not self.tokens:
            raise _ExprFault("missing operand")
        result = self._level(0)
        if self.tokens:
            raise _ExprFault("syntax error")
        return result

    def _level(self, level: int) -> str:
        if level == len(_LEVELS):
            return self._match()
        left = self._level(level + 1)
        while self.tokens and self.tokens[0] in _LEVELS[level]:
            left = self._apply(self.tokens.pop(0), left, self._level(level + 1))
        return left

    def _apply(self, operator: str, left: str, right: str) -> str:
        if operator == "|":
            return left if left not in ("", "0") else right
        if operator == "&":
            return "0" if {left, right} & {"", "0"} else left
        numbers = [int(each) for each in (left, right) if re.fullmatch(r"-?\d{1,18}", each)]
        if operator in _LEVELS[2]:
            return str(int(_compare(operator, *numbers) if len(numbers) == 2
                           else _compare(operator, left, right)))  # fmt: skip
        if len(numbers) < 2:
            raise _ExprFault("non-integer argument")
        first, second = numbers
        if operator in "/%" and second == 0:
            raise _ExprFault("division by zero")
        if operator in "/%":
            quotient = abs(first) // abs(second) * (1 if (first < 0) == (second < 0) else -1)
            return str(quotient if operator == "/" else first - second * quotient)
        return str({"+": first + second, "-": first - second, "*": first * second}[operator])

    def _match(self) -> str:
        left = self._operand()
        while self.tokens and self.tokens[0] == ":":
            self.tokens.pop(0)
            left = self._matched(left, self._operand())
        return left

    def _matched(self, text: str, pattern: str) -> str:
        regex = compile_regex("^" + pattern.removeprefix("^"), extended=False)
        found = regex.search(text, 0, self.ctx.spend)
        if regex.groups:
            return found.groups[0] if found else ""
        return str(found.end if found else 0)

    def _operand(self) -> str:
        if not self.tokens:
            raise _ExprFault("syntax error")
        token = self.tokens.pop(0)
        if token == "(":
            self.depth += 1
            if self.depth > 30:
                raise _ExprFault("syntax error")
            result = self._level(0)
            if not self.tokens or self.tokens.pop(0) != ")":
                raise _ExprFault("syntax error")
            self.depth -= 1
            return result
        if token == "length" and self.tokens:
            return str(len(self._operand()))
        if token == "match" and len(self.tokens) > 1:
            return self._matched(self._operand(), self._operand())
        if token == "index" and len(self.tokens) > 1:
            text, chars = self._operand(), self._operand()
            return str(next((i for i, char in enumerate(text, 1) if char in chars), 0))
        if token == "substr" and len(self.tokens) > 2:
            text, start, size = (self._operand() for _ in range(3))
            try:
                begin = int(start) - 1
                return text[begin : begin + max(0, int(size))] if begin >= 0 else ""
            except ValueError:
                return ""
        return token
