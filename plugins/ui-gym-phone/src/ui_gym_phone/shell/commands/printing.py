"""echo, printf, seq, basename, dirname: what makes text of its arguments."""

from __future__ import annotations

import posixpath
import re

from ui_gym_phone.shell.options import CommandOptions
from ui_gym_phone.shell.registry import CommandContext, command

MAX_WIDTH = 65_536
"""The widest that a directive may make its text."""

_SIGNS = {
    "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:0?([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_DIRECTIVE = re.compile(r"%([-+ #0]*)(\d{0,9})(?:\.(\d{0,9}))?(.?)", re.DOTALL)


def unescaped(text: str) -> tuple[str, bool]:
    """A text with its backslash escapes read, and whether ``\\c`` said to stop there."""
    if "\\" not in text:
        return text, False
    cut = re.match(r"((?:[^\\]|\\[^c])*)\\c", text, re.DOTALL)
    return _ESCAPE.sub(_replaced, cut[1] if cut else text), cut is not None


def _replaced(match: re.Match[str]) -> str:
    octal, hexadecimal, char = match.groups()
    if char is not None:
        return _SIGNS.get(char, match.group())
    value = (int(octal, 8) if octal else int(hexadecimal, 16)) & 255
    # Bytes that are no ASCII are kept by surrogates until they are encoded.
    return chr(value) if value < 128 else chr(0xDC00 + value)


@command("echo")
def _echo(ctx: CommandContext, argv: list[str]) -> int:
    """mksh's: it reads escapes unless ``-E`` says not to."""
    arguments, newline, escaped = argv[1:], True, True
    while arguments and re.fullmatch(r"-[neE]+", arguments[0]):
        for letter in arguments.pop(0)[1:]:
            newline = newline and letter != "n"
            escaped = letter == "e" if letter in "eE" else escaped
    text, stop = " ".join(arguments), False
    if escaped:
        text, stop = unescaped(text)
    ctx.out(text + "\n" * (newline and not stop))
    return 0


@command("printf")
def _printf(ctx: CommandContext, argv: list[str]) -> int:
    """A format, put out once for as many arguments as it takes."""
    if len(argv) < 2:
        return ctx.fail('Needs 1 argument (see "printf --help")')
    call = _PrintfCall(ctx, argv[1], argv[2:])
    while True:
        left = len(call.arguments)
        call.once()
        if call.stopped or not call.arguments or len(call.arguments) == left:
            return call.code


class _PrintfCall:
    def __init__(self, ctx: CommandContext, form: str, arguments: list[str]) -> None:
        self.ctx, self.form, self.arguments = ctx, form, arguments
        self.code = 0
        self.stopped = False

    def once(self) -> None:
        """Put the format out once."""
        self.ctx.spend(1 + (len(self.form) >> 6))
        end = 0
        for found in _DIRECTIVE.finditer(self.form):
            self._plain(self.form[end : found.start()])
            end = found.end()
            if self.stopped:
                return
            self._directive(found)
        self._plain(self.form[end:])

    def _plain(self, text: str) -> None:
        if not self.stopped:
            text, self.stopped = unescaped(text)
            self.ctx.out(text)

    def _directive(self, found: re.Match[str]) -> None:
        flags, width, precision, letter = found.groups()
        if letter == "%":
            self.ctx.out("%")
            return
        if not letter or letter not in "sbcdixXouefg":
            self.code = self.ctx.fail(f"bad %{letter}@{found.end()}")
            self.stopped = True
            return
        value = self.arguments.pop(0) if self.arguments else ""
        lead = f"%{flags}{min(MAX_WIDTH, int(width or 0)) or ''}"
        digits = "" if precision is None else f".{min(1000, int(precision or 0))}"
        if letter in "sbc":
            if letter == "b":
                value, self.stopped = unescaped(value)
            self.ctx.out((lead.replace("%0", "%") + (".1" if letter == "c" else digits) + "s")
                         % value)  # fmt: skip
        elif letter in "efg":
            self.ctx.out((lead + digits + letter) % self._number(value, letter))
        else:
            number = int(self._number(value, letter))
            number = number if letter in "di" else number % (1 << 64)
            self.ctx.out((lead + digits + {"i": "d", "u": "d"}.get(letter, letter)) % number)

    def _number(self, text: str, letter: str) -> float:
        if text[:1] in ("'", '"'):
            return ord(text[1]) if len(text) > 1 else 0
        try:
            if letter in "efg":
                return float(text or "0")
            octal = re.fullmatch(r"[-+]?0[0-7]+", text)
            return int(text[:40] or "0", 8 if octal else 0)
        except ValueError:
            self.code = self.ctx.fail(f"bad %{letter} {text}")
            return 0


@command("seq")
def _seq(ctx: CommandContext, argv: list[str]) -> int:
    """``seq [FIRST [STEP]] LAST`` of whole numbers."""
    words = argv[1:]
    if not 1 <= len(words) <= 3:
        return ctx.fail('Needs 1 argument (see "seq --help")')
    for each in words:
        if not re.fullmatch(r"[-+]?\d{1,15}", each, re.ASCII):
            return ctx.fail(f"not a number: {each}")
    numbers = [int(each) for each in words]
    first, last = (numbers[0] if len(numbers) > 1 else 1), numbers[-1]
    step = numbers[1] if len(numbers) == 3 else 1
    if not step:
        return ctx.fail("step of 0")
    for number in range(first, last + (1 if step > 0 else -1), step):
        ctx.spend()
        ctx.out(f"{number}\n")
    return 0


@command("basename")
def _basename(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "")
    options.need(1)
    name, suffix = (*options.arguments, "")[:2]
    base = posixpath.basename(name.rstrip("/")) or name[:1]
    ctx.out((base if base == suffix else base.removesuffix(suffix)) + "\n")
    return 0


@command("dirname")
def _dirname(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "")
    options.need(1)
    for name in options.arguments:
        above = posixpath.dirname(name.rstrip("/")) if name.rstrip("/") else "/"
        ctx.out((above or ".") + "\n")
    return 0
