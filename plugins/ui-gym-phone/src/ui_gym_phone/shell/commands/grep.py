"""grep, egrep and fgrep, as toybox has them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from ui_gym_phone.shell.options import CommandOptions, lines_of
from ui_gym_phone.shell.regex import Found, Regex, RegexFault, compile_regex
from ui_gym_phone.shell.registry import CommandContext, command, message_of

_LONG = {
    "ignore-case": "i", "invert-match": "v", "count": "c", "extended-regexp": "E",
    "fixed-strings": "F", "quiet": "q", "only-matching": "o", "line-number": "n",
    "recursive": "r", "word-regexp": "w", "line-regexp": "x", "after-context": "A",
    "before-context": "B", "context": "C", "max-count": "m", "files-with-matches": "l",
}  # fmt: skip


@command("grep", "egrep", "fgrep")
def _grep(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "EFHaihnorsvwclLqxm:A:B:C:e:", long=_LONG, code=2)
    try:
        return _GrepCall(ctx, options, posixpath.basename(argv[0])).run()
    except RegexFault as fault:
        return ctx.fail(str(fault), 2)


class _GrepCall:
    """One call."""

    def __init__(self, ctx: CommandContext, options: CommandOptions, name: str) -> None:
        self.ctx, self.options = ctx, options
        if "e" not in options and not options.arguments:
            raise options.fault("no REGEX")
        patterns = options.values.get("e") or [options.arguments.pop(0)]
        self.plain: list[str] = []
        self.regexes: list[Regex] = []
        fixed = "F" in options or name == "fgrep"
        split = [each for pattern in patterns for each in pattern.split("\n")]
        if fixed and not {"i", "w", "x", "o"} & options.values.keys():
            self.plain = split
        else:
            extended = "E" in options or name == "egrep"
            self.regexes = [self._compile(each, fixed, extended) for each in split]
        self.words = "w" in options
        around = options.number("C", 0)
        self.after = options.number("A", around)
        self.before = options.number("B", around)
        self.most = options.number("m", -1)
        self.failed = False
        self.matched = False
        self.grouped = False
        """Whether a group of lines was written, after which others are set off."""

    def _compile(self, pattern: str, fixed: bool, extended: bool) -> Regex:
        if fixed:
            extended = False
            pattern = re.sub(r"([.\[\]\\*^$])", r"\\\1", pattern)
        try:
            return compile_regex(
                pattern,
                extended=extended,
                ignore_case="i" in self.options,
                whole="x" in self.options,
            )
        except RegexFault as fault:
            raise RegexFault(f"bad regex '{pattern}': {fault}") from None

    def run(self) -> int:
        options = self.options
        recursive = "r" in options
        names = options.arguments or (["."] if recursive else ["-"])
        named = "H" in options or ((len(names) > 1 or recursive) and "h" not in options)
        for name, data in self._files(names, recursive):
            shown = "(standard input)" if name == "-" else name
            self._file(shown, data, named)
            if self.matched and "q" in options:
                return 0
        return 2 if self.failed else int(not self.matched)

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
                    self.failed = True
                    if "s" not in self.options:
                        self.ctx.fail(message_of(error))

    def _below(self, name: str) -> Iterator[str]:
        files, whole = self.ctx.files, self.ctx.path(name)
        for path in files.walk(whole):
            if not files.is_dir(path):
                yield name.rstrip("/") + path[len(whole.rstrip("/")) :]

    # -- one file --

    def _file(self, name: str, data: bytes, named: bool) -> None:
        options, ctx = self.options, self.ctx
        quiet = bool({"q", "l", "L", "c"} & options.values.keys())
        inverted, numbered, only = "v" in options, "n" in options, "o" in options
        lines = lines_of(data)
        count, last, due = 0, -1, 0
        for index, line in enumerate(lines):
            ctx.spend(1 + (len(line) >> 6) if index % 8 == 0 or len(line) > 512 else 0)
            if self._hit(line) == inverted:
                if due > 0 and not quiet:
                    self._write(name * named, index, "-", line, numbered)
                    due, last = due - 1, index
                continue
            count += 1
            self.matched = True
            if {"q", "l", "L"} & options.values.keys():
                break
            if not quiet:
                if self.before or self.after:
                    self._context(name * named, lines, last, index, numbered)
                if not only:
                    self._write(name * named, index, ":", line, numbered)
                elif not inverted:
                    self._matches(name * named, index, line, numbered)
                last, due = index, self.after
            if count == self.most:
                break
        self._summary(name, count, named)

    def _summary(self, name: str, count: int, named: bool) -> None:
        options = self.options
        if "q" in options:
            return
        if ("l" in options and count) or ("L" in options and not count):
            self.ctx.out(name + "\n")
        elif "c" in options and not {"l", "L"} & options.values.keys():
            self.ctx.out(f"{name + ':' if named else ''}{count}\n")

    def _context(self, name: str, lines: list[str], last: int, index: int, numbered: bool) -> None:
        first = max(last + 1, index - self.before)
        if self.grouped and (first > last + 1 or last < 0):
            self.ctx.out("--\n")
        self.grouped = True
        for number in range(first, index):
            self._write(name, number, "-", lines[number], numbered)

    def _write(self, name: str, index: int, sign: str, line: str, numbered: bool) -> None:
        lead = f"{name}{sign}" if name else ""
        self.ctx.out(f"{lead}{f'{index + 1}{sign}' if numbered else ''}{line}\n")

    def _matches(self, name: str, index: int, line: str, numbered: bool) -> None:
        position = 0
        while position <= len(line):
            found = self._first(line, position)
            if found is None:
                return
            if found.end > found.start:
                self._write(name, index, ":", line[found.start : found.end], numbered)
            position = max(found.end, found.start + 1)

    def _hit(self, line: str) -> bool:
        if self.plain:
            return any(each in line for each in self.plain)
        if self.words:
            return self._first(line, 0) is not None
        spend = self.ctx.spend
        return any(regex.test(line, spend) for regex in self.regexes)

    def _first(self, line: str, start: int) -> Found | None:
        """The leftmost match of any pattern, the longest there."""
        best: Found | None = None
        for regex in self.regexes:
            found = self._search(regex, line, start)
            if found and (best is None or (found.start, -found.end) < (best.start, -best.end)):
                best = found
        return best

    def _search(self, regex: Regex, line: str, start: int) -> Found | None:
        while start <= len(line):
            found = regex.search(line, start, self.ctx.spend)
            if found is None or not self.words:
                return found
            before = line[found.start - 1 : found.start] if found.start else ""
            sides = (before, line[found.end : found.end + 1])
            if not any(side.isalnum() or side == "_" for side in sides):
                return found
            start = found.start + 1
        return None
