"""find: an expression over the files below a folder."""

from __future__ import annotations

import posixpath
import re
import stat as bits
from collections.abc import Callable
from dataclasses import dataclass

from ui_gym_phone.shell.globs import compile_glob
from ui_gym_phone.shell.registry import CommandContext, command
from ui_gym_phone.state.files import Stat

MAX_DEPTH = 30
"""Brackets inside each other."""


class _FindFault(Exception):
    """An expression that is none."""


@dataclass
class _FoundFile:
    """The file that the expression is asked about; `path` is how it is shown."""

    path: str
    whole: str
    stat: Stat


FindTest = Callable[[_FoundFile], bool]


@command("find")
def _find(ctx: CommandContext, argv: list[str]) -> int:
    words, roots = argv[1:], list[str]()
    while words and words[0][:1] not in ("-", "(", "!", ")"):
        roots.append(words.pop(0))
    find = _FindCall(ctx, words)
    try:
        test = find.expression()
    except _FindFault as fault:
        return ctx.fail(str(fault))
    for root in roots or ["."]:
        if ctx.files.exists(ctx.path(root)):
            find.walk(root, test)
        else:
            find.code = ctx.fail(f"'{root}': No such file or directory")
    for command_words, paths in find.batches:
        if paths and ctx.run([*command_words, *paths], b""):
            find.code = 1
    return find.code


class _FindCall:
    """Parses an expression into tests, and walks."""

    def __init__(self, ctx: CommandContext, words: list[str]) -> None:
        self.ctx, self.words = ctx, words
        self.nesting = 0
        self.low, self.high = 0, 1 << 30
        self.deletes = "-delete" in words
        self.prints = not {"-print", "-print0", "-exec"} & set(words)
        """Without one of these, what matches is printed."""
        self.batches: list[tuple[list[str], list[str]]] = []
        """Commands of ``-exec ... +`` with the paths that they get."""
        self.code = 0

    def walk(self, root: str, test: FindTest) -> None:
        """Ask about `root` and all that is below it."""
        files, waiting = self.ctx.files, [(root, 0, False)]
        while waiting:
            path, depth, seen = waiting.pop()
            self.ctx.spend(2)
            whole = self.ctx.path(path)
            if not files.exists(whole):
                continue
            here = _FoundFile(path, whole, files.stat(whole))
            below = []
            if here.stat.is_dir and not seen and depth < self.high:
                names = [posixpath.join(path, name) for name in reversed(files.list(whole))]
                below = [(name, depth + 1, False) for name in names]
                if self.deletes:  # a folder comes after what it holds
                    waiting += [(path, depth, True), *below]
                    continue
            if depth >= self.low and test(here) and self.prints:
                self.ctx.out(path + "\n")
            waiting += below

    # -- parsing --

    def expression(self) -> FindTest:
        if not self.words:
            return lambda here: True
        test = self._either()
        if self.words:
            raise _FindFault(f"bad arg '{self.words[0]}'")
        return test

    def _value(self, option: str) -> str:
        if not self.words:
            raise _FindFault(f"'{option}' needs 1 arg")
        return self.words.pop(0)

    def _either(self) -> FindTest:
        tests = [self._both()]
        while self.words[:1] in (["-o"], ["-or"]):
            self.words.pop(0)
            tests.append(self._both())
        return lambda here: any(test(here) for test in tests)

    def _both(self) -> FindTest:
        tests = list[FindTest]()
        while self.words and self.words[0] not in ("-o", "-or", ")"):
            if self.words[0] in ("-a", "-and"):
                self.words.pop(0)
                continue
            tests.append(self._not())
        return lambda here: all(test(here) for test in tests)

    def _not(self) -> FindTest:
        negated = False
        while self.words[:1] in (["!"], ["-not"]):
            negated = not negated
            self.words.pop(0)
        test = self._primary()
        return (lambda here: not test(here)) if negated else test

    def _primary(self) -> FindTest:
        option = self._value("find")
        if option == "(":
            self.nesting += 1
            if self.nesting > MAX_DEPTH:
                raise _FindFault("nested too deeply")
            inner = self._either()
            if self._value("(") != ")":
                raise _FindFault("need )")
            self.nesting -= 1
            return inner
        reader = {
            "-name": self._named, "-iname": self._named, "-path": self._named, "-type": self._typed,
            "-size": self._sized, "-mtime": self._aged, "-mmin": self._aged, "-empty": self._empty,
            "-maxdepth": self._depth, "-mindepth": self._depth, "-print": self._print,
            "-print0": self._print, "-delete": self._delete, "-exec": self._exec,
        }.get(option)  # fmt: skip
        if reader is None:
            raise _FindFault(f"bad arg '{option}'")
        return reader(option)

    # -- tests --

    def _named(self, option: str) -> FindTest:
        pattern, lower = self._value(option), option == "-iname"
        match = compile_glob(pattern.lower() if lower else pattern).fullmatch

        def test(here: _FoundFile) -> bool:
            text = here.path
            if option != "-path":
                text = posixpath.basename(text.rstrip("/")) or text
            return match(text.lower() if lower else text) is not None

        return test

    def _typed(self, option: str) -> FindTest:
        value = self._value(option)
        kinds = {"f": bits.S_ISREG, "d": bits.S_ISDIR, "l": bits.S_ISLNK, "c": bits.S_ISCHR}
        if value not in kinds:
            raise _FindFault(f"bad -type '{value}'")
        return lambda here: kinds[value](here.stat.mode)

    def _number(self, option: str, units: str) -> tuple[Callable[[float], bool], str]:
        """Whether a number is as a value such as ``+10k`` says, and its unit."""
        value = self._value(option)
        found = re.fullmatch(rf"([-+]?)(\d{{1,12}})([{units}]?)", value, re.ASCII)
        if found is None:
            raise _FindFault(f"not integer: {value}")
        sign, wanted = found[1], int(found[2])
        if sign == "+":
            return lambda number: number > wanted, found[3]
        return lambda number: number < wanted if sign else number == wanted, found[3]

    def _sized(self, option: str) -> FindTest:
        fits, unit = self._number(option, "ckMG")
        size = {"": 512, "c": 1, "k": 1024, "M": 1 << 20, "G": 1 << 30}[unit]
        return lambda here: fits(-(-here.stat.size // size))

    def _aged(self, option: str) -> FindTest:
        fits, _ = self._number(option, "0")
        unit, now = 60 if option == "-mmin" else 86_400, self.ctx.machine.clock.seconds()
        return lambda here: fits(int((now - here.stat.mtime) // unit))

    def _empty(self, option: str) -> FindTest:
        files = self.ctx.files
        return lambda here: not (files.list(here.whole) if here.stat.is_dir else here.stat.size)

    def _depth(self, option: str) -> FindTest:
        value = self._value(option)
        if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
            raise _FindFault(f"not integer: {value}")
        if option == "-maxdepth":
            self.high = int(value)
        else:
            self.low = int(value)
        return lambda here: True

    # -- actions --

    def _print(self, option: str) -> FindTest:
        ends = "\0" if option == "-print0" else "\n"

        def act(here: _FoundFile) -> bool:
            self.ctx.out(here.path + ends)
            return True

        return act

    def _delete(self, option: str) -> FindTest:
        def act(here: _FoundFile) -> bool:
            remove = self.ctx.files.rmdir if here.stat.is_dir else self.ctx.files.remove
            try:
                remove(here.whole)
            except OSError as error:
                self.code = self.ctx.fail(f"{here.path}: {error.strerror}")
                return False
            return True

        return act

    def _exec(self, option: str) -> FindTest:
        argv = list[str]()
        while (word := self._value(option)) != ";" and (word != "+" or argv[-1:] != ["{}"]):
            argv.append(word)
        if not argv:
            raise _FindFault(f"'{option}' needs 1 arg")
        if word == ";":
            return lambda here: (
                self.ctx.run([each.replace("{}", here.path) for each in argv], b"") == 0
            )
        paths = list[str]()
        self.batches.append((argv[:-1], paths))

        def collect(here: _FoundFile) -> bool:
            paths.append(here.path)
            return True

        return collect
