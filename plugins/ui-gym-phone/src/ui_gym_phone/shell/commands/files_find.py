"""find: an expression over the files below a folder."""

from __future__ import annotations

import posixpath
import re
import stat as bits
from collections.abc import Callable
from dataclasses import dataclass

from ui_gym_phone.shell.globs import compile_glob
from ui_gym_phone.shell.listing import mode_of
from ui_gym_phone.shell.registry import Context, command
from ui_gym_phone.state.files import Stat

MAX_DEPTH = 30
"""Brackets inside each other."""


class _FindFault(Exception):
    """An expression that is none."""


class _Quit(Exception):
    """`-quit`."""


@dataclass
class _Here:
    """The file that the expression is asked about."""

    path: str
    """As it is shown."""
    whole: str
    stat: Stat
    depth: int
    pruned: bool = False


Test = Callable[[_Here], bool]

_ACTIONS = ("-print", "-print0", "-exec", "-execdir", "-printf", "-ok")
"""Without one of these, what matches is printed."""


@command("find")
def _find(ctx: Context, argv: list[str]) -> int:
    words = [each for each in argv[1:] if each not in ("-H", "-L")]
    roots = list[str]()
    while words and words[0][:1] not in ("-", "(", "!", ")"):
        roots.append(words.pop(0))
    acts = any(each in _ACTIONS for each in words)
    find = _Find(ctx, words)
    try:
        test = find.expression()
    except _FindFault as fault:
        return ctx.fail(str(fault))
    code = 0
    try:
        for root in roots or ["."]:
            if not ctx.files.exists(ctx.path(root)):
                code = ctx.fail(f"'{root}': No such file or directory")
                continue
            find.walk(root, test, acts)
        find.finish()
    except _Quit:
        find.finish()
    return code or find.code


class _Find:
    """Parses an expression into tests, and walks."""

    def __init__(self, ctx: Context, words: list[str]) -> None:
        self.ctx, self.words = ctx, words
        self.index = 0
        self.nesting = 0
        self.low, self.high = 0, 1 << 30
        self.folders_last = "-depth" in words or "-delete" in words
        self.batches: list[tuple[list[str], list[str]]] = []
        """Commands of ``-exec ... +`` with the paths that they get."""
        self.code = 0

    def walk(self, root: str, test: Test, acts: bool) -> None:
        """Ask about `root` and all that is below it."""
        files, waiting = self.ctx.files, [(root, 0, False)]
        while waiting:
            path, depth, left = waiting.pop()
            self.ctx.spend(2)
            whole = self.ctx.path(path)
            if not files.exists(whole):
                continue
            here = _Here(path, whole, files.stat(whole), depth)
            if here.stat.is_dir and not left and self.folders_last and depth < self.high:
                waiting.append((path, depth, True))
                waiting += self._below(path, whole, depth)
                continue
            if depth >= self.low and test(here) and not acts:
                self.ctx.out(path + "\n")
            if here.stat.is_dir and not left and depth < self.high and not here.pruned:
                waiting += self._below(path, whole, depth)

    def _below(self, path: str, whole: str, depth: int) -> list[tuple[str, int, bool]]:
        if not self.ctx.files.is_dir(whole):
            return []
        names = reversed(self.ctx.files.list(whole))
        return [(posixpath.join(path, name), depth + 1, False) for name in names]

    def finish(self) -> None:
        """Run the commands that wanted all paths at once."""
        for argv, paths in self.batches:
            if paths and self.ctx.run([*argv, *paths], b""):
                self.code = 1
            paths.clear()

    # -- parsing --

    def expression(self) -> Test:
        if not self.words:
            return lambda here: True
        test = self._either()
        if self.index < len(self.words):
            raise _FindFault(f"bad arg '{self.words[self.index]}'")
        return test

    def _peek(self) -> str:
        return self.words[self.index] if self.index < len(self.words) else ""

    def _value(self, option: str) -> str:
        if self.index >= len(self.words):
            raise _FindFault(f"'{option}' needs 1 arg")
        self.index += 1
        return self.words[self.index - 1]

    def _either(self) -> Test:
        tests = [self._both()]
        while self._peek() in ("-o", "-or"):
            self.index += 1
            tests.append(self._both())
        return tests[0] if len(tests) == 1 else lambda here: any(test(here) for test in tests)

    def _both(self) -> Test:
        tests = list[Test]()
        while self._peek() not in ("", "-o", "-or", ")"):
            if self._peek() in ("-a", "-and"):
                self.index += 1
                continue
            tests.append(self._not())
        return tests[0] if len(tests) == 1 else lambda here: all(test(here) for test in tests)

    def _not(self) -> Test:
        negated = False
        while self._peek() in ("!", "-not"):
            negated = not negated
            self.index += 1
        test = self._primary()
        return (lambda here: not test(here)) if negated else test

    def _primary(self) -> Test:
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
        reader = getattr(self, "read_" + option[1:].replace("-", "_"), None)
        if not option.startswith("-") or reader is None:
            raise _FindFault(f"bad arg '{option}'")
        test: Test = reader(option)
        return test

    # -- tests --

    def _named(self, option: str, *, whole: bool) -> Test:
        pattern = self._value(option)
        lower = option.startswith("-i")
        match = compile_glob(pattern.lower() if lower else pattern).fullmatch

        def test(here: _Here) -> bool:
            text = here.path if whole else posixpath.basename(here.path.rstrip("/")) or here.path
            return match(text.lower() if lower else text) is not None

        return test

    def read_name(self, option: str) -> Test:
        return self._named(option, whole=False)

    read_iname = read_name

    def read_path(self, option: str) -> Test:
        return self._named(option, whole=True)

    read_ipath = read_wholename = read_iwholename = read_path

    def read_type(self, option: str) -> Test:
        value = self._value(option)
        wanted = value.split(",")
        kinds = {"f": bits.S_ISREG, "d": bits.S_ISDIR, "c": bits.S_ISCHR}
        if not set(wanted) <= set("fdclbps"):
            raise _FindFault(f"bad -type '{value}'")
        return lambda here: any(each in kinds and kinds[each](here.stat.mode) for each in wanted)

    def _number(self, option: str, units: dict[str, int], default: str) -> tuple[str, int, int]:
        """The sign, the number and the unit of a value such as ``+10k``."""
        value = self._value(option)
        found = re.fullmatch(r"([-+]?)(\d{1,12})([a-zA-Z]?)", value, re.ASCII)
        if found is None or (found[3] or default) not in units:
            raise _FindFault(f"not integer: {value}")
        return found[1], int(found[2]), units[found[3] or default]

    def read_size(self, option: str) -> Test:
        units = {"b": 512, "c": 1, "k": 1024, "M": 1 << 20, "G": 1 << 30}
        sign, number, unit = self._number(option, units, "b")
        return lambda here: _compared(sign, -(-here.stat.size // unit), number)

    def _age(self, option: str, seconds: int) -> Test:
        sign, number, _ = self._number(option, {"": 1}, "")
        now = self.ctx.machine.clock.seconds()
        return lambda here: _compared(sign, int((now - here.stat.mtime) // seconds), number)

    def read_mtime(self, option: str) -> Test:
        return self._age(option, 86_400)

    read_atime = read_ctime = read_mtime

    def read_mmin(self, option: str) -> Test:
        return self._age(option, 60)

    read_amin = read_cmin = read_mmin

    def read_newer(self, option: str) -> Test:
        name = self._value(option)
        path = self.ctx.path(name)
        if not self.ctx.files.exists(path):
            raise _FindFault(f"'{name}': No such file or directory")
        moment = self.ctx.files.stat(path).mtime
        return lambda here: here.stat.mtime > moment

    def read_perm(self, option: str) -> Test:
        value = self._value(option)
        found = re.fullmatch(r"([-/]?)([0-7]{1,4})", value)
        if found is None:
            raise _FindFault(f"bad mode '{value}'")
        sign, wanted = found[1], int(found[2], 8)

        def test(here: _Here) -> bool:
            mode = here.stat.mode & 0o7777
            if sign == "-":
                return mode & wanted == wanted
            return bool(mode & wanted) if sign else mode == wanted

        return test

    def read_empty(self, option: str) -> Test:
        files = self.ctx.files
        return lambda here: not (files.list(here.whole) if here.stat.is_dir else here.stat.size)

    def read_user(self, option: str) -> Test:
        name = self._value(option)
        return lambda here: here.stat.owner == name

    def read_group(self, option: str) -> Test:
        name = self._value(option)
        return lambda here: here.stat.group == name

    def read_true(self, option: str) -> Test:
        return lambda here: True

    read_depth = read_xdev = read_mount = read_follow = read_noleaf = read_true

    def read_false(self, option: str) -> Test:
        return lambda here: False

    def read_maxdepth(self, option: str) -> Test:
        self.high = self._number(option, {"": 1}, "")[1]
        return lambda here: True

    def read_mindepth(self, option: str) -> Test:
        self.low = self._number(option, {"": 1}, "")[1]
        return lambda here: True

    # -- actions --

    def read_print(self, option: str) -> Test:
        ends = "\0" if option == "-print0" else "\n"

        def act(here: _Here) -> bool:
            self.ctx.out(here.path + ends)
            return True

        return act

    read_print0 = read_print

    def read_printf(self, option: str) -> Test:
        from ui_gym_phone.shell import escapes

        form = escapes.in_format(self._value(option))

        def act(here: _Here) -> bool:
            values = {
                "p": here.path, "f": posixpath.basename(here.path), "s": here.stat.size,
                "h": posixpath.dirname(here.path) or ".", "m": f"{here.stat.mode & 0o7777:o}",
                "M": mode_of(here.stat), "u": here.stat.owner, "g": here.stat.group,
                "d": here.depth, "y": "d" if here.stat.is_dir else "f", "%": "%",
                "P": here.path.partition("/")[2], "T@": f"{here.stat.mtime:.10f}",
            }  # fmt: skip
            filled = re.sub(r"%(T@|.)", lambda found: str(values.get(found[1], found[0])), form)
            self.ctx.out(filled)
            return True

        return act

    def read_prune(self, option: str) -> Test:
        def act(here: _Here) -> bool:
            here.pruned = True
            return True

        return act

    def read_quit(self, option: str) -> Test:
        def act(here: _Here) -> bool:
            raise _Quit

        return act

    def read_delete(self, option: str) -> Test:
        def act(here: _Here) -> bool:
            try:
                if here.stat.is_dir:
                    self.ctx.files.rmdir(here.whole)
                else:
                    self.ctx.files.remove(here.whole)
            except OSError as error:
                self.code = self.ctx.fail(f"{here.path}: {error.strerror}")
                return False
            return True

        return act

    def read_exec(self, option: str) -> Test:
        argv = list[str]()
        while True:
            word = self._value(option)
            if word == ";" or (word == "+" and argv[-1:] == ["{}"]):
                break
            argv.append(word)
        if not argv:
            raise _FindFault(f"'{option}' needs 1 arg")
        if word == "+":
            paths = list[str]()
            self.batches.append((argv[:-1], paths))

            def collect(here: _Here) -> bool:
                paths.append(here.path)
                return True

            return collect

        def act(here: _Here) -> bool:
            return self.ctx.run([each.replace("{}", here.path) for each in argv], b"") == 0

        return act

    read_execdir = read_ok = read_exec


def _compared(sign: str, value: int, number: int) -> bool:
    if sign == "+":
        return value > number
    return value < number if sign == "-" else value == number
