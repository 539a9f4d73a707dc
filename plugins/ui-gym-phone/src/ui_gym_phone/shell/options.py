"""Options of commands, in the two ways that commands read them: toybox' and Android's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

Values = dict[str, list[str]]
"""The values of each option that was given; an option without values has empty ones."""


@dataclass(frozen=True)
class ToyboxOptions:
    """What a command of toybox takes.

    `flags` has a letter for each option; one that takes a value is followed by a colon. A ``#``
    lets ``-5`` stand for ``-n 5``. `long` says which letter a long option stands for.
    """

    flags: str
    long: Mapping[str, str]
    least: int
    """How many arguments are needed."""
    permute: bool
    """Whether options may follow arguments."""
    code: int
    """What the command exits with where the options are wrong."""

    def read(self, argv: list[str]) -> tuple[Values, list[str]]:
        """(options, arguments). ValueError with toybox' message for what is not taken."""
        values: Values = {}
        arguments, left = list[str](), list(argv)
        while left:
            word = left.pop(0)
            if "#" in self.flags and re.fullmatch(r"-\d+", word):
                values.setdefault("n", []).append(word[1:])
            elif word == "--" or not (word.startswith("-") and len(word) > 1):
                arguments += [] if word == "--" else [word]
                if word == "--" or not self.permute:
                    arguments += left
                    break
            elif word.startswith("--"):
                self._long(word, left, values)
            else:
                self._short(word, left, values)
        if len(arguments) < self.least and "f" not in values:
            raise ValueError(f"Needs {self.least} argument{'s' * (self.least > 1)}")
        return values, arguments

    def _long(self, word: str, left: list[str], values: Values) -> None:
        name, equals, value = word[2:].partition("=")
        letter = self.long.get(name)
        if letter is None:
            raise ValueError(f"Unknown option '{name}'")
        if letter + ":" in self.flags and not equals:
            if not left:
                raise ValueError(f"Missing argument to --{name}")
            value = left.pop(0)
        values.setdefault(letter, []).append(value)

    def _short(self, word: str, left: list[str], values: Values) -> None:
        for index, letter in enumerate(word[1:], 1):
            if letter not in self.flags or letter in ":#":
                raise ValueError(f"Unknown option '{word[index:]}'")
            if letter + ":" not in self.flags:
                values.setdefault(letter, []).append("")
                continue
            value = word[index + 1 :]
            if not value:
                if not left:
                    raise ValueError(f"Missing argument to -{letter}")
                value = left.pop(0)
            values.setdefault(letter, []).append(value)
            return


def number(text: str) -> int | None:
    """A number as toybox reads it, with k, m, g for 1024 and so on; None where it is none."""
    found = re.fullmatch(r"([-+]?\d{1,15})([bkmg]?)d?", text.strip(), re.ASCII | re.IGNORECASE)
    if found is None:
        return None
    return (
        int(found[1])
        * {"": 1, "b": 512, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[found[2].lower()]
    )


def android(argv: list[str], flags: str, valued: str) -> tuple[Values, list[str], str]:
    """(options with their values, other words, the first option that is not known or lacks its
    value). `flags` and `valued` list the options without and with a value, parted by blanks."""
    found: Values = {}
    rest, words = list[str](), iter(argv)
    for word in words:
        if word in flags.split():
            found[word] = [""]
        elif word in valued.split():
            value = next(words, None)
            if value is None:
                return found, rest, word
            found[word] = [value]
        elif word.startswith("-") and not re.fullmatch(r"-|-\d+\.?\d*|-\.\d+", word):
            return found, rest, word
        else:
            rest.append(word)
    return found, rest, ""
