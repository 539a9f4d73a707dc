"""Editor: runs a script of sed over lines."""

from __future__ import annotations

import re

from ui_gym_phone.shell.options import Options, each_file
from ui_gym_phone.shell.regex import Found, Regex
from ui_gym_phone.shell.registry import Context, decode, encode, message_of
from ui_gym_phone.shell.sed.script import Address, Command, SedFault

MAX_TURNS = 100_000
"""Jumps within the script for one line."""


class Editor:
    """Runs a script over files."""

    def __init__(self, ctx: Context, commands: list[Command], options: Options) -> None:
        self.ctx, self.commands, self.options = ctx, commands, options
        self.quiet = "n" in options
        self.hold = ""
        self.lines: list[str] = []
        self.number = 0
        self.ended = True
        """Whether the last line of the input has its newline."""
        self.out: list[str] = []
        self.appended: list[str] = []
        self.last_regex: Regex | None = None
        self.code: int | None = None

    def run(self) -> int:
        failed, options = list[str](), self.options
        apart = {"i", "s"} & options.values.keys()
        text = b""
        for name, data in each_file(self.ctx, options.arguments, failed):
            if apart:
                self._edit(data)
                self._deliver(name)
            else:
                text += b"\n" if text and not text.endswith(b"\n") else b""
                text += data
        if not apart:
            self._edit(text)
            self._deliver("-")
        return self.code if self.code is not None else int(bool(failed))

    def _deliver(self, name: str) -> None:
        text, self.out = "".join(self.out), []
        if "i" in self.options and name != "-":
            try:
                self.ctx.write(name, encode(text))
            except OSError as error:
                error.filename = name
                self.code = self.ctx.fail(message_of(error))
        else:
            self.ctx.out(text)

    def _edit(self, data: bytes) -> None:
        self.ended = data.endswith(b"\n") or not data
        self.lines = decode(data.removesuffix(b"\n")).split("\n") if data else []
        self.number = 0
        while self.number < len(self.lines) and self.code is None:
            self.number += 1
            self._cycle(self.lines[self.number - 1])

    def _write(self, text: str) -> None:
        last = self.number >= len(self.lines) and not self.ended
        self.out.append(text if last else text + "\n")

    def _cycle(self, space: str) -> None:
        """Run the script for one line."""
        again: str | None = space
        while again is not None:
            space, printed, again = self._script(again)
            if printed and not self.quiet:
                self._write(space)
            self._append()

    def _append(self) -> None:
        if self.appended:
            if self.out and not self.out[-1].endswith("\n"):
                self.out.append("\n")
            self.out += self.appended
            self.appended = []

    def _script(self, space: str) -> tuple[str, bool, str | None]:
        """The space after the script, whether it is printed, and what to start over with."""
        index, replaced, turns = 0, False, 0
        commands = self.commands
        while index < len(commands):
            each = commands[index]
            self.ctx.spend(1 + (len(space) >> 8))
            index += 1
            if each.name in ":}":
                continue
            if self._selected(each, space) == each.negated:
                if each.name == "{":
                    index = each.target
                continue
            name = each.name
            if name == "s":
                space, done = self._substitute(each, space)
                replaced = replaced or done
            elif name in "btT":
                jumps = name == "b" or replaced == (name == "t")
                replaced = replaced and name == "b"
                if jumps:
                    index, turns = each.target, turns + 1
                    if turns > MAX_TURNS:
                        raise SedFault("script loops")
            elif name in "dDcqQ":
                return self._end(each, space)
            elif name in "nN":
                if self.number >= len(self.lines):
                    self.code = self.code or 0
                    return space, True, None
                if name == "n":
                    if not self.quiet:
                        self._write(space)
                    self._append()
                    space = ""
                following = self.lines[self.number]
                self.number += 1
                space = space + "\n" + following if name == "N" else following
            else:
                space = self._other(each, space)
            if len(space) > 1 << 20:
                raise SedFault("pattern space too long")
        return space, True, None

    def _end(self, each: Command, space: str) -> tuple[str, bool, str | None]:
        if each.name in "qQ":
            self.code = int(each.text or 0) & 255
            return space, each.name == "q", None
        if each.name == "c" and (each.last is None or each.active < 0 or each.negated):
            self.out.append(each.text)
        if each.name == "D" and "\n" in space:
            return space, False, space.partition("\n")[2]
        return space, False, None

    def _other(self, each: Command, space: str) -> str:
        name = each.name
        if name == "p":
            self._write(space)
        elif name == "P":
            self._write(space.partition("\n")[0])
        elif name == "=":
            self.out.append(f"{self.number}\n")
        elif name == "a":
            self.appended.append(each.text)
        elif name == "i":
            self.out.append(each.text)
        elif name == "y":
            return space.translate(each.table)
        elif name == "g":
            return self.hold
        elif name == "G":
            return space + "\n" + self.hold
        elif name == "h":
            self.hold = space
        elif name == "H":
            self.hold = (self.hold + "\n" + space)[: 1 << 20]
        elif name == "x":
            space, self.hold = self.hold, space
        elif name == "r":
            try:
                self.appended.append(decode(self.ctx.read(each.text)))
            except OSError:
                pass  # as POSIX has it
        elif name == "w":
            path = self.ctx.path(each.text)
            old = self.ctx.files.read(path) if self.ctx.files.exists(path) else b""
            self.ctx.write(each.text, old + encode(space + "\n"))
        elif name == "l":
            self.out.append(space.encode("unicode_escape").decode() + "$\n")
        return space

    # -- addresses --

    def _selected(self, each: Command, space: str) -> bool:
        if each.first is None:
            return True
        if each.last is None:
            return self._matches(each.first, space)
        if each.active < 0:
            if not self._matches(each.first, space):
                return False
            each.active = 0
            if each.last.plus:
                each.active = self.number + each.last.number
            elif each.last.regex is None and not each.last.reuse:
                each.active = each.last.number or len(self.lines)
            if each.active and each.active <= self.number:
                each.active = -1
            return True
        if each.active == 0:
            if self._matches(each.last, space):
                each.active = -1
            return True
        ends = each.active
        if self.number >= ends:
            each.active = -1
        return self.number <= ends

    def _matches(self, address: Address, space: str) -> bool:
        if address.regex is not None or address.reuse:
            regex = address.regex or self.last_regex
            if regex is None:
                raise SedFault("no previous regex")
            self.last_regex = regex
            return regex.test(space, self.ctx.spend)
        return self.number == (address.number or len(self.lines))

    # -- s --

    def _substitute(self, each: Command, space: str) -> tuple[str, bool]:
        regex = each.regex or self.last_regex
        if regex is None:
            raise SedFault("no previous regex")
        self.last_regex = regex
        position, count, pieces, changed = 0, 0, list[str](), False
        everywhere = "g" in each.flags
        copied, last_end = 0, -1
        while position <= len(space):
            found = regex.search(space, position, self.ctx.spend)
            if found is None:
                break
            self.ctx.spend()
            if found.start == found.end == last_end:  # an empty match right after another
                position = found.end + 1
                continue
            count += 1
            last_end = found.end
            position = found.end + (found.end == found.start)
            if count < each.nth:
                continue
            pieces.append(space[copied : found.start])
            pieces.append(_replacement(each.text, space, found))
            copied, changed = found.end, True
            if not everywhere:
                break
        result = "".join(pieces) + space[copied:]
        if changed and "p" in each.flags:
            self._write(result)
        return result, changed


def _replacement(template: str, space: str, found: Found) -> str:
    """The text of a substitution: ``&``, ``\\1``..., and escapes."""

    def each(match: re.Match[str]) -> str:
        if match.group() == "&":
            return space[found.start : found.end]
        char = match[1]
        if char.isdigit() and char.isascii():
            number = int(char)
            return space[found.start : found.end] if number == 0 else found.groups[number - 1]
        return {"n": "\n", "t": "\t", "r": "\r"}.get(char, char)

    return re.sub(r"&|\\(.)", each, template, flags=re.DOTALL)
