"""What `find` asks of a file: toybox' match filters, with their way of counting."""

from __future__ import annotations

import posixpath
import re
import stat as bits
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ui_gym_phone.data import table
from ui_gym_phone.shell import options
from ui_gym_phone.shell.commands.dates import parse_date
from ui_gym_phone.shell.commands.files import mode_of
from ui_gym_phone.shell.commands.listing import told
from ui_gym_phone.shell.conditions import ConditionFault, ConditionParser
from ui_gym_phone.shell.globs import compile_glob
from ui_gym_phone.shell.registry import CommandContext
from ui_gym_phone.state.files import Stat

KINDS = {
    "f": bits.S_ISREG, "d": bits.S_ISDIR, "l": bits.S_ISLNK, "c": bits.S_ISCHR,
    "b": bits.S_ISBLK, "p": bits.S_ISFIFO, "s": bits.S_ISSOCK,
}  # fmt: skip
UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
"""Seconds of what may end an age."""


@dataclass
class FoundFile:
    """The file that the expression is asked about; `path` is how it is shown."""

    path: str
    whole: str
    root: str
    """Where its walk began."""
    stat: Stat
    pruned: bool = False
    """Whether what is in it is left out."""

    @property
    def name(self) -> str:
        return posixpath.basename(self.path.rstrip("/")) or self.path


FindTest = Callable[[FoundFile], bool]


class FindFilters(ConditionParser[FoundFile]):
    """Parses an expression into tests of a file."""

    implied = True

    def __init__(self, ctx: CommandContext, words: list[str]) -> None:
        super().__init__(words)
        self.ctx = ctx
        self.low, self.high = 0, 1 << 30
        """How many folders down files are asked about."""

    def primary(self, word: str) -> FindTest:
        reader = self.readers().get(word)
        if reader is not None:
            return reader(word)
        if re.fullmatch("-[acm](time|min)", word):
            return self._aged(word)
        if re.fullmatch("-newer([acmB][acmt])?", word):
            return self._newer(word)
        if word not in _PLAIN:
            raise ConditionFault(f"bad arg '{word}'")
        return _PLAIN[word]

    def readers(self) -> Mapping[str, Callable[[str], FindTest]]:
        """What reads the value of a word that needs one."""
        return {
            "-name": self._named, "-iname": self._named, "-path": self._named,
            "-ipath": self._named, "-wholename": self._named, "-iwholename": self._named,
            "-type": self._typed, "-size": self._sized, "-links": self._counted,
            "-inum": self._counted, "-empty": self._empty, "-perm": self._permitted,
            "-user": self._owned, "-group": self._owned, "-samefile": self._same,
            "-maxdepth": self._depth_bound, "-mindepth": self._depth_bound,
        }  # fmt: skip

    def value(self, option: str) -> str:
        """The word after an option."""
        return self.take(f"'{option}' needs 1 arg")

    def _named(self, option: str) -> FindTest:
        pattern, lower = self.value(option), option.startswith("-i")
        match = compile_glob(pattern.lower() if lower else pattern).fullmatch

        def test(here: FoundFile) -> bool:
            text = here.name if option in ("-name", "-iname") else here.path
            return match(text.lower() if lower else text) is not None

        return test

    def _typed(self, option: str) -> FindTest:
        kinds = self.value(option).replace(",", "")
        for kind in kinds:
            if kind not in KINDS:
                raise ConditionFault(f"bad -type '{kind}'")
        return lambda here: any(KINDS[kind](here.stat.mode) for kind in kinds)

    def _number(self, value: str, unit: int) -> Callable[[float], bool]:
        """Whether a number is as a value such as ``+10k`` says; without a unit, it is of `unit`."""
        if not re.match(r"[-+]|\d", value):
            raise ConditionFault(f"{value} not [+-]N")
        sign, text = (value[0], value[1:]) if value[0] in "+-" else ("", value)
        wanted = options.number(text.removesuffix("c"))
        if wanted is None:
            raise ConditionFault(f"not integer: {text}")
        wanted *= unit if text[-1:].isdigit() else 1
        if sign == "+":
            return lambda number: number > wanted
        return lambda number: number < wanted if sign else number == wanted

    def _sized(self, option: str) -> FindTest:
        fits = self._number(self.value(option), 512)
        return lambda here: fits(here.stat.size)

    def _counted(self, option: str) -> FindTest:
        fits, letter = self._number(self.value(option), 1), {"-links": "h", "-inum": "i"}[option]
        return lambda here: fits(int(told(self.ctx, here.path, here.stat)[letter]))

    def _aged(self, option: str) -> FindTest:
        value, now = self.value(option), int(self.ctx.machine.clock.seconds())
        unit = UNITS.get(value[-1:].lower(), 0)
        fits = self._number(value[:-1] if unit else value, unit or UNITS["md"[option[2] == "t"]])
        return lambda here: fits(now - int(here.stat.mtime))

    def _newer(self, option: str) -> FindTest:
        value, clock = self.value(option), self.ctx.machine.clock
        if option.endswith("t"):
            try:
                then = parse_date(value, clock.local).timestamp()
            except ValueError:
                raise ConditionFault(f"bad date {value}") from None
        else:
            then = self._stat(value).mtime
        return lambda here: option[6:7] != "B" and here.stat.mtime > then

    def _stat(self, name: str) -> Stat:
        if not self.ctx.files.exists(self.ctx.path(name)):
            raise ConditionFault(f"Can't stat {name}: No such file or directory")
        return self.ctx.files.stat(self.ctx.path(name))

    def _same(self, option: str) -> FindTest:
        value, files = self.value(option), self.ctx.files
        self._stat(value)
        wanted = files.canonical(self.ctx.path(value))
        return lambda here: files.canonical(here.whole) == wanted

    def _empty(self, option: str) -> FindTest:
        files = self.ctx.files
        return lambda here: not (files.list(here.whole) if here.stat.is_dir else here.stat.size)

    def _permitted(self, option: str) -> FindTest:
        value = self.value(option)
        text = value[1:] if value[:1] in ("-", "/") else value
        wanted = mode_of(text, 0)
        if wanted is None:
            raise ConditionFault(f"bad mode '{text}'")
        if value.startswith("-"):
            return lambda here: here.stat.mode & wanted == wanted
        if value.startswith("/"):
            return lambda here: not wanted or bool(here.stat.mode & wanted)
        return lambda here: here.stat.mode & 0o7777 == wanted

    def _owned(self, option: str) -> FindTest:
        value, who = self.value(option), option[1:]
        known = table("shell_names")["uids"]
        users = {*known, *(package.user for package in self.ctx.phone.packages)}
        if value not in users and not value.isdecimal():
            raise ConditionFault(f"bad {who} '{value}'")

        def test(here: FoundFile) -> bool:
            name = here.stat.owner if who == "user" else here.stat.group
            return value in (name, str(known.get(name, "")))

        return test

    def _depth_bound(self, option: str) -> FindTest:
        value = self.value(option)
        number = options.number(value)
        if number is None:
            raise ConditionFault(f"not integer: {value}")
        if option == "-maxdepth":
            self.high = number
        else:
            self.low = number
        return lambda here: True


def _pruned(here: FoundFile) -> bool:
    here.pruned = True
    return True


_PLAIN: dict[str, FindTest] = {
    "-true": lambda here: True, "-false": lambda here: False,
    "-depth": lambda here: True, "-d": lambda here: True,
    "-xdev": lambda here: True, "-noleaf": lambda here: True,
    "-nouser": lambda here: False, "-nogroup": lambda here: False,
    "-executable": lambda here: bool(here.stat.mode & 0o111),
    "-prune": _pruned,
}  # fmt: skip
"""Those without a value."""
