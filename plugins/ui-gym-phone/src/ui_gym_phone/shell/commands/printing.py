"""echo, printf, seq, basename, dirname: what makes text of its arguments."""

from __future__ import annotations

import posixpath
import re

from ui_gym_phone.shell.registry import CommandContext, command, toybox

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
def _echo(ctx: CommandContext) -> None:
    """mksh's: it reads escapes unless ``-E`` says not to."""
    words, newline, escaped = ctx.words, True, True
    while words and re.fullmatch(r"-[neE]+", words[0]):
        for letter in words.pop(0)[1:]:
            newline = newline and letter != "n"
            escaped = letter == "e" if letter in "eE" else escaped
    text, stop = unescaped(" ".join(words)) if escaped else (" ".join(words), False)
    ctx.out(text + "\n" * (newline and not stop))


@command("printf")
def _printf(ctx: CommandContext) -> None:
    """A format, put out once for as many arguments as it takes."""
    if not ctx.words:
        raise ctx.misused("Needs 1 argument")
    form, *arguments = ctx.words
    while True:
        left = len(arguments)
        ctx.spend(1 + (len(form) >> 6))
        stopped = _put_out(ctx, form, arguments)
        if stopped or not arguments or len(arguments) == left:
            return


def _put_out(ctx: CommandContext, form: str, arguments: list[str]) -> bool:
    """Put the format out once, which takes its arguments; whether ``\\c`` said to stop."""
    end = 0
    for found in [*_DIRECTIVE.finditer(form), None]:
        text, stopped = unescaped(form[end : found.start() if found else len(form)])
        ctx.out(text)
        if stopped or found is None:
            return stopped
        end = found.end()
        if found[4] == "%":
            ctx.out("%")
        elif not found[4] or found[4] not in "sbcdixXouefg":
            raise ctx.fault(f"bad %{found[4]}@{end}")
        else:
            text, stopped = _directive(ctx, found, arguments.pop(0) if arguments else "")
            ctx.out(text)
            if stopped:
                return True
    return False


def _directive(ctx: CommandContext, found: re.Match[str], value: str) -> tuple[str, bool]:
    """What a directive makes of an argument, and whether that said to stop."""
    flags, width, precision, letter = found.groups()
    lead, stopped = f"%{flags}{min(MAX_WIDTH, int(width or 0)) or ''}", False
    digits = "" if precision is None else f".{min(1000, int(precision or 0))}"
    if letter in "sbc":
        if letter == "b":
            value, stopped = unescaped(value)
        lead = lead.replace("%0", "%")
        return (lead + (".1" if letter == "c" else digits) + "s") % value, stopped
    if letter in "efg":
        return (lead + digits + letter) % _number(ctx, value, letter), False
    number = int(_number(ctx, value, letter))
    number = number if letter in "di" else number % (1 << 64)
    return (lead + digits + {"i": "d", "u": "d"}.get(letter, letter)) % number, False


def _number(ctx: CommandContext, text: str, letter: str) -> float:
    if text[:1] in ("'", '"'):
        return ord(text[1]) if len(text) > 1 else 0
    try:
        if letter in "efg":
            return float(text or "0")
        octal = re.fullmatch(r"[-+]?0[0-7]+", text)
        return int(text[:40] or "0", 8 if octal else 0)
    except ValueError:
        ctx.fail(f"bad %{letter} {text}")
        return 0


@command("seq")
def _seq(ctx: CommandContext) -> None:
    """``seq [FIRST [STEP]] LAST`` of whole numbers."""
    if not 1 <= len(ctx.words) <= 3:
        raise ctx.misused("Needs 1 argument")
    for each in ctx.words:
        if not re.fullmatch(r"[-+]?\d{1,15}", each, re.ASCII):
            raise ctx.fault(f"not a number: {each}")
    *begin, last = map(int, ctx.words)
    first, step = [*begin, 1][0], [*begin[1:], 1][0]
    if not step:
        raise ctx.fault("step of 0")
    for number in range(first, last + (1 if step > 0 else -1), step):
        ctx.spend()
        ctx.out(f"{number}\n")


@toybox("basename", least=1)
def _basename(ctx: CommandContext) -> None:
    name, suffix = (*ctx.words, "")[:2]
    base = posixpath.basename(name.rstrip("/")) or name[:1]
    ctx.out((base if base == suffix else base.removesuffix(suffix)) + "\n")


@toybox("dirname", least=1)
def _dirname(ctx: CommandContext) -> None:
    for name in ctx.words:
        above = posixpath.dirname(name.rstrip("/")) if name.rstrip("/") else "/"
        ctx.out((above or ".") + "\n")
