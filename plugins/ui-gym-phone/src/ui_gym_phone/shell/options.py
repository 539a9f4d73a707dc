"""Options of commands, and the other things that toybox' commands have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ui_gym_phone.shell.registry import CommandContext, decode, message_of


class UsageFault(Exception):
    """Options that a command does not take; the message was written, `code` is the exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class CommandOptions:
    """The options and the arguments of one call.

    `spec` has a letter for each option; one that takes a value is followed by a colon. Long
    options are given by name with the letter that they stand for.
    """

    def __init__(
        self, ctx: CommandContext, argv: list[str], spec: str, *,
        long: dict[str, str] | None = None, permute: bool = True, code: int = 1,
    ) -> None:  # fmt: skip
        self._ctx, self._code, self._long = ctx, code, long or {}
        self.values: dict[str, list[str]] = {}
        self.arguments: list[str] = []
        self._takes = {spec[at - 1] for at, letter in enumerate(spec) if letter == ":"}
        self._known = set(spec) - {":"}
        self._read(argv[1:], permute)

    def __contains__(self, letter: str) -> bool:
        return letter in self.values

    def text(self, letter: str, default: str = "") -> str:
        """The last value of an option."""
        return self.values[letter][-1] if letter in self.values else default

    def number(self, letter: str, default: int) -> int:
        """The last value as a number."""
        if letter not in self.values:
            return default
        return self.parse_number(self.text(letter))

    def parse_number(self, text: str) -> int:
        """A number as toybox reads it: with k, m, g for 1024 and so on."""
        found = re.fullmatch(r"([-+]?\d{1,15})([bkmg]?)d?", text.strip(), re.ASCII | re.IGNORECASE)
        if found is None:
            raise self.fault(f"not integer: {text}")
        scale = {"": 1, "b": 512, "k": 1024, "m": 1024**2, "g": 1024**3}[found[2].lower()]
        return int(found[1]) * scale

    def fault(self, message: str) -> UsageFault:
        """Say what is wrong; the result is to be raised."""
        return UsageFault(self._ctx.fail(message, self._code))

    def help(self, message: str) -> UsageFault:
        """As `fault`, with toybox' hint."""
        name = self._ctx.argv[0].rpartition("/")[2]
        return self.fault(f'{message} (see "{name} --help")')

    def need(self, count: int) -> None:
        """Refuse fewer arguments than `count`."""
        if len(self.arguments) < count:
            raise self.help(f"Needs {count} argument{'s' * (count > 1)}")

    def _read(self, argv: list[str], permute: bool) -> None:
        while argv:
            word = argv.pop(0)
            if word == "--":
                self.arguments += argv
                return
            if word.startswith("--"):
                self._read_long(word, argv)
            elif len(word) > 1 and word[0] == "-":
                self._read_short(word, argv)
            elif permute:
                self.arguments.append(word)
            else:
                self.arguments += [word, *argv]
                return

    def _read_long(self, word: str, argv: list[str]) -> None:
        name, equals, value = word[2:].partition("=")
        letter = self._long.get(name)
        if letter is None:
            raise self.help(f"Unknown option '{name}'")
        if letter in self._takes and not equals:
            if not argv:
                raise self.help(f"Missing argument to --{name}")
            value = argv.pop(0)
        self.values.setdefault(letter, []).append(value)

    def _read_short(self, word: str, argv: list[str]) -> None:
        for index, letter in enumerate(word[1:], 1):
            if letter not in self._known:
                raise self.help(f"Unknown option '{word[index:]}'")
            if letter not in self._takes:
                self.values.setdefault(letter, []).append("")
                continue
            value = word[index + 1 :]
            if not value:
                if not argv:
                    raise self.help(f"Missing argument to -{letter}")
                value = argv.pop(0)
            self.values.setdefault(letter, []).append(value)
            return


def each_file(
    ctx: CommandContext, names: list[str], failed: list[str]
) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of the files, or of the standard input where none is named.

    One that cannot be read is complained of, and added to `failed`.
    """
    for name in names or ["-"]:
        try:
            yield name, ctx.read(name)
        except OSError as error:
            ctx.fail(message_of(error))
            failed.append(name)


def lines_of(data: bytes) -> list[str]:
    """The lines of a text, without their newlines."""
    if not data:
        return []
    return decode(data.removesuffix(b"\n")).split("\n")
