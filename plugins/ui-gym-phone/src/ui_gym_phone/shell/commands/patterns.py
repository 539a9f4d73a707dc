"""grep, egrep and fgrep as toybox has them, and sed as far as it is used."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ui_gym_phone.shell.regex import Found, Regex, RegexFault, compile_regex
from ui_gym_phone.shell.registry import CommandContext, lines_of, message_of, toybox

_LONG = {
    "ignore-case": "i", "invert-match": "v", "count": "c", "extended-regexp": "E",
    "fixed-strings": "F", "quiet": "q", "only-matching": "o", "line-number": "n",
    "recursive": "r", "word-regexp": "w", "line-regexp": "x", "after-context": "A",
    "before-context": "B", "context": "C", "max-count": "m", "files-with-matches": "l",
}  # fmt: skip


@toybox("grep", "egrep", "fgrep", flags="EFHaihnorsvwclLqxm:A:B:C:e:", long=_LONG, code=2)
def _grep(ctx: CommandContext) -> None:
    try:
        _GrepCall(ctx, posixpath.basename(ctx.argv[0])).run()
    except RegexFault as fault:
        ctx.fail(str(fault))


class _GrepCall:
    """One call."""

    def __init__(self, ctx: CommandContext, name: str) -> None:
        self.ctx = ctx
        if "e" not in ctx.options and not ctx.words:
            raise ctx.fault("no REGEX")
        patterns = ctx.options.get("e") or [ctx.words.pop(0)]
        self.plain: list[str] = []
        self.regexes: list[Regex] = []
        fixed = "F" in ctx.options or name == "fgrep"
        split = [each for pattern in patterns for each in pattern.split("\n")]
        if fixed and not ctx.given("iwxo"):
            self.plain = split
        else:
            extended = "E" in ctx.options or name == "egrep"
            self.regexes = [self._compile(each, fixed, extended) for each in split]
        around = ctx.number("C", 0)
        self.after, self.before = ctx.number("A", around), ctx.number("B", around)
        self.most = ctx.number("m", -1)
        self.matched = False
        self.grouped = False
        """Whether a group of lines was written, after which others are set off."""

    def _compile(self, pattern: str, fixed: bool, extended: bool) -> Regex:
        if fixed:
            extended = False
            pattern = re.sub(r"([.\[\]\\*^$])", r"\\\1", pattern)
        given = self.ctx.options
        try:
            return compile_regex(
                pattern, extended=extended, ignore_case="i" in given, whole="x" in given
            )
        except RegexFault as fault:
            raise RegexFault(f"bad regex '{pattern}': {fault}") from None

    def run(self) -> None:
        ctx, recursive = self.ctx, "r" in self.ctx.options
        names = ctx.words or (["."] if recursive else ["-"])
        named = "H" in ctx.options or ((len(names) > 1 or recursive) and "h" not in ctx.options)
        for name, data in self._files(names, recursive):
            shown = "(standard input)" if name == "-" else name
            self._file(shown, lines_of(data), named)
            if self.matched and "q" in ctx.options:
                ctx.code = 0
                return
        ctx.code = ctx.code or int(not self.matched)

    def _files(self, names: list[str], recursive: bool) -> Iterator[tuple[str, bytes]]:
        for name in names:
            listed = [name]
            if recursive and name != "-" and self.ctx.files.is_dir(self.ctx.path(name)):
                below = list(self._below(name))
                listed = [path.removeprefix("./") for path in below] if name == "." else below
            for path in listed:
                self.ctx.spend()
                try:
                    yield path, self.ctx.read(path)
                except OSError as error:
                    self.ctx.code = 2
                    if "s" not in self.ctx.options:
                        self.ctx.fail(message_of(error))

    def _below(self, name: str) -> Iterator[str]:
        files, whole = self.ctx.files, self.ctx.path(name)
        for path in files.walk(whole):
            if not files.is_dir(path):
                yield name.rstrip("/") + path[len(whole.rstrip("/")) :]

    # -- one file --

    def _file(self, name: str, lines: list[str], named: bool) -> None:
        ctx, given = self.ctx, self.ctx.options
        count, last, due, shown = 0, -1, 0, name * named
        for index, line in enumerate(lines):
            ctx.spend(1 + (len(line) >> 6) if index % 8 == 0 or len(line) > 512 else 0)
            if self._hit(line) == ("v" in given):
                if due > 0 and not ctx.given("qlLc"):
                    self._write(shown, index, "-", line)
                    due, last = due - 1, index
                continue
            count += 1
            self.matched = True
            if ctx.given("qlL"):
                break
            if "c" not in given:
                if self.before or self.after:
                    self._context(shown, lines, last, index)
                if "o" not in given:
                    self._write(shown, index, ":", line)
                elif "v" not in given:
                    self._matches(shown, index, line)
                last, due = index, self.after
            if count == self.most:
                break
        if ctx.given("lL"):
            if "q" not in given and (("l" in given and count) or ("L" in given and not count)):
                ctx.out(name + "\n")
        elif "c" in given and "q" not in given:
            ctx.out(f"{shown + ':' * named}{count}\n")

    def _context(self, name: str, lines: list[str], last: int, index: int) -> None:
        first = max(last + 1, index - self.before)
        if self.grouped and (first > last + 1 or last < 0):
            self.ctx.out("--\n")
        self.grouped = True
        for number in range(first, index):
            self._write(name, number, "-", lines[number])

    def _write(self, name: str, index: int, sign: str, line: str) -> None:
        lead = f"{name}{sign}" if name else ""
        number = f"{index + 1}{sign}" if "n" in self.ctx.options else ""
        self.ctx.out(f"{lead}{number}{line}\n")

    def _matches(self, name: str, index: int, line: str) -> None:
        position = 0
        while position <= len(line) and (found := self._first(line, position)) is not None:
            if found.end > found.start:
                self._write(name, index, ":", line[found.start : found.end])
            position = max(found.end, found.start + 1)

    def _hit(self, line: str) -> bool:
        if self.plain:
            return any(each in line for each in self.plain)
        if "w" in self.ctx.options:
            return self._first(line, 0) is not None
        return any(regex.test(line, self.ctx.spend) for regex in self.regexes)

    def _first(self, line: str, start: int) -> Found | None:
        """The leftmost match of any pattern, the longest there."""
        found = [self._search(regex, line, start) for regex in self.regexes]
        return min(filter(None, found), key=lambda each: (each.start, -each.end), default=None)

    def _search(self, regex: Regex, line: str, start: int) -> Found | None:
        while start <= len(line):
            found = regex.search(line, start, self.ctx.spend)
            if found is None or "w" not in self.ctx.options:
                return found
            before = line[found.start - 1 : found.start] if found.start else ""
            sides = (before, line[found.end : found.end + 1])
            if not any(side.isalnum() or side == "_" for side in sides):
                return found
            start = found.start + 1
        return None


# -- sed --

_COMMAND = re.compile(r"\s*(\d{1,9}|\$|/(?:[^/\\]|\\.)*/|)(?:([pd])|s(.)(.*))\s*", re.DOTALL)


@dataclass(frozen=True)
class _SedCommand:
    """``s``, ``p`` or ``d`` with the lines that it is for: a number, ``$``, or a pattern."""

    verb: str
    number: str
    lines: Regex | None
    pattern: Regex | None = None
    text: str = ""
    flags: str = ""


@toybox("sed", flags="nEre:")
def _sed(ctx: CommandContext) -> None:
    """``s/.../.../``, ``p`` and ``d``, on all lines or on some."""
    scripts = ctx.options.get("e") or [ctx.words.pop(0) for _ in ctx.words[:1]]
    if not scripts:
        raise ctx.fault("no pattern")
    try:
        commands = [_parsed(script, ctx.given("Er")) for script in scripts]
    except RegexFault as fault:
        raise ctx.fault(f"bad pattern '{' '.join(scripts)}'@0 ({fault})") from None
    lines = [line for _, data in ctx.read_each(ctx.words) for line in lines_of(data)]
    for number, line in enumerate(lines, 1):
        ctx.spend(1 + (len(line) >> 6))
        printed = "n" not in ctx.options
        for each in commands:
            last = each.number == "$" and number == len(lines)
            if each.number and each.number != str(number) and not last:
                continue
            if each.lines is not None and not each.lines.test(line, ctx.spend):
                continue
            changed = True
            if each.pattern is not None:
                line, changed = _substituted(ctx, each, each.pattern, line)
            if each.verb == "d":
                printed = False
                break
            if changed and (each.verb == "p" or "p" in each.flags):
                ctx.out(line + "\n")
        if printed:
            ctx.out(line + "\n")


def _parsed(script: str, extended: bool) -> _SedCommand:
    """One command. Raises `RegexFault` where it is none, or more than this `sed` does."""
    found = _COMMAND.fullmatch(script)
    if found is None:
        raise RegexFault("not a command that is known here")
    address, verb, sign, rest = found.groups()
    lines = compile_regex(address[1:-1], extended=extended) if address[:1] == "/" else None
    number = "" if lines else address
    if verb:
        return _SedCommand(verb, number, lines)
    parts = re.split(rf"(?<!\\){re.escape(sign)}", rest)
    if len(parts) != 3 or not set(parts[2].strip()) <= set("gp"):
        raise RegexFault("not a substitution")
    if re.search(r"\\[1-9]", parts[1]):
        raise RegexFault("groups are not known here")
    pattern, text = (part.replace("\\" + sign, sign) for part in parts[:2])
    regex = compile_regex(pattern, extended=extended)
    return _SedCommand("s", number, lines, regex, text, parts[2])


def _substituted(
    ctx: CommandContext, each: _SedCommand, pattern: Regex, line: str
) -> tuple[str, bool]:
    """A line with its matches replaced, and whether there were any."""
    result, position, start = "", 0, 0
    while start <= len(line) and (found := pattern.search(line, start, ctx.spend)):
        match = line[found.start : found.end]
        text = re.sub(r"\\&|&", lambda sign: "&" if sign[0] != "&" else match, each.text)  # noqa: B023
        ctx.shell.budget.check_text(len(result) + len(text))
        result += line[position : found.start] + text
        position, start = found.end, max(found.end, found.start + 1)
        if "g" not in each.flags:
            break
    return result + line[position:], start > 0
