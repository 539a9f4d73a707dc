"""find: an expression over the files below a folder."""

from __future__ import annotations

import posixpath
import re
import stat as bits
from collections.abc import Callable
from typing import NamedTuple

from ui_gym_phone.shell.conditions import ConditionFault, ConditionParser
from ui_gym_phone.shell.globs import compile_glob
from ui_gym_phone.shell.registry import CommandContext, command
from ui_gym_phone.state.files import Stat


class _FoundFile(NamedTuple):
    """The file that the expression is asked about; `path` is how it is shown."""

    path: str
    whole: str
    stat: Stat


FindTest = Callable[[_FoundFile], bool]


@command("find")
def _find(ctx: CommandContext) -> None:
    words, roots = ctx.words, list[str]()
    while words and words[0][:1] not in ("-", "(", "!", ")"):
        roots.append(words.pop(0))
    find = _FindCall(ctx, words)
    try:
        test: FindTest = find.either() if words else lambda here: True
        if find.left:
            raise ConditionFault(f"bad arg '{find.left[0]}'")
    except ConditionFault as fault:
        raise ctx.fault(str(fault)) from None
    for root in roots or ["."]:
        if ctx.files.exists(ctx.path(root)):
            find.walk(root, test)
        else:
            ctx.fail(f"'{root}': No such file or directory")
    for command_words, paths in find.batches:
        if paths and ctx.run([*command_words, *paths], b""):
            ctx.code = 1


class _FindCall(ConditionParser[_FoundFile]):
    """Parses an expression into tests, and walks."""

    implied = True

    def __init__(self, ctx: CommandContext, words: list[str]) -> None:
        super().__init__(words)
        self.ctx = ctx
        self.low, self.high = 0, 1 << 30
        self.deletes = "-delete" in words
        self.prints = not {"-print", "-print0", "-exec"} & set(words)
        """Without one of these, what matches is printed."""
        self.batches: list[tuple[list[str], list[str]]] = []
        """Commands of ``-exec ... +`` with the paths that they get."""

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

    def primary(self, word: str) -> FindTest:
        reader = {
            "-name": self._named, "-iname": self._named, "-path": self._named, "-type": self._typed,
            "-size": self._sized, "-mtime": self._aged, "-mmin": self._aged, "-empty": self._empty,
            "-maxdepth": self._depth_bound, "-mindepth": self._depth_bound, "-print": self._print,
            "-print0": self._print, "-delete": self._delete, "-exec": self._exec,
        }.get(word)  # fmt: skip
        if reader is None:
            raise ConditionFault(f"bad arg '{word}'")
        return reader(word)

    def _value(self, option: str) -> str:
        return self.take(f"'{option}' needs 1 arg")

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
            raise ConditionFault(f"bad -type '{value}'")
        return lambda here: kinds[value](here.stat.mode)

    def _number(self, option: str, units: str) -> tuple[Callable[[float], bool], str]:
        """Whether a number is as a value such as ``+10k`` says, and its unit."""
        value = self._value(option)
        found = re.fullmatch(rf"([-+]?)(\d{{1,12}})([{units}]?)", value, re.ASCII)
        if found is None:
            raise ConditionFault(f"not integer: {value}")
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

    def _depth_bound(self, option: str) -> FindTest:
        value = self._value(option)
        if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
            raise ConditionFault(f"not integer: {value}")
        if option == "-maxdepth":
            self.high = int(value)
        else:
            self.low = int(value)
        return lambda here: True

    # -- actions --

    def _print(self, option: str) -> FindTest:
        def act(here: _FoundFile) -> bool:
            self.ctx.out(here.path + ("\0" if option == "-print0" else "\n"))
            return True

        return act

    def _delete(self, option: str) -> FindTest:
        def act(here: _FoundFile) -> bool:
            remove = self.ctx.files.rmdir if here.stat.is_dir else self.ctx.files.remove
            try:
                remove(here.whole)
            except OSError as error:
                self.ctx.fail(f"{here.path}: {error.strerror}")
                return False
            return True

        return act

    def _exec(self, option: str) -> FindTest:
        argv = list[str]()
        while (word := self._value(option)) != ";" and (word != "+" or argv[-1:] != ["{}"]):
            argv.append(word)
        if not argv:
            raise ConditionFault(f"'{option}' needs 1 arg")
        paths = list[str]()
        if word == "+":
            self.batches.append((argv[:-1], paths))

        def act(here: _FoundFile) -> bool:
            paths.append(here.path)
            words = [each.replace("{}", here.path) for each in argv]
            return word == "+" or self.ctx.run(words, b"") == 0

        return act
