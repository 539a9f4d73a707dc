"""find: an expression over the files below a folder, and what is done to those that match."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping

from ui_gym_phone.shell.commands.find_filters import FindFilters, FindTest, FoundFile
from ui_gym_phone.shell.commands.listing import told
from ui_gym_phone.shell.commands.printing import unescaped
from ui_gym_phone.shell.conditions import ConditionFault
from ui_gym_phone.shell.registry import CommandContext, command

ACTIONS = frozenset(("-print", "-print0", "-printf", "-exec", "-execdir", "-ok", "-okdir"))
"""Without one of these, what matches is printed."""

_FORMAT = re.compile(r"%([-0]?\d{0,3})(T?.|$)", re.DOTALL)


class _Quit(Exception):
    """``-quit``: the walk ends here."""


@command("find")
def _find(ctx: CommandContext) -> None:
    words, roots = ctx.words, list[str]()
    while words and words[0] in ("-H", "-L"):  # there are no links
        words.pop(0)
    while words and words[0][:1] not in ("-", "(", "!", ")"):
        roots.append(words.pop(0))
    find = _FindCall(ctx, words)
    try:
        test: FindTest = find.either() if words else lambda here: True
        if find.left:
            raise ConditionFault(f"bad arg '{find.left[0]}'")
    except ConditionFault as fault:
        raise ctx.fault(str(fault)) from None
    try:
        for root in roots or ["."]:
            if ctx.files.exists(ctx.path(root)):
                find.walk(root, test)
            else:
                ctx.fail(f"'{root}': No such file or directory")
    except _Quit:
        pass
    find.finish()


class _FindCall(FindFilters):
    """Walks, and acts."""

    def __init__(self, ctx: CommandContext, words: list[str]) -> None:
        super().__init__(ctx, words)
        self.deep = bool({"-delete", "-depth", "-d"} & set(words))
        """Whether a folder comes after what it holds."""
        self.prints = not ACTIONS & set(words)
        self._batches: list[tuple[list[str], dict[str, list[str]]]] = []
        """Commands of ``-exec ... +`` with the paths that they get, by where they run."""

    def walk(self, root: str, test: FindTest) -> None:
        """Ask about `root` and all that is below it."""
        files, waiting = self.ctx.files, [(root, 0, False)]
        while waiting:
            path, depth, seen = waiting.pop()
            self.ctx.spend(2)
            whole = self.ctx.path(path)
            if not files.exists(whole):
                continue
            here = FoundFile(path, whole, root, files.stat(whole))
            below = []
            if here.stat.is_dir and not seen and depth < self.high:
                names = [posixpath.join(path, name) for name in reversed(files.list(whole))]
                below = [(name, depth + 1, False) for name in names]
                if self.deep:
                    waiting += [(path, depth, True), *below]
                    continue
            if depth >= self.low and test(here) and self.prints:
                self.ctx.out(path + "\n")
            if not here.pruned:
                waiting += below

    def finish(self) -> None:
        """Run what waited for all of its paths."""
        for argv, places in self._batches:
            for folder, paths in places.items():
                if self._run([*argv, *paths], folder):
                    self.ctx.code = 1

    def _run(self, argv: list[str], folder: str) -> int:
        session = self.ctx.shell.session
        before = session.cwd
        session.cwd = folder or before
        try:
            return self.ctx.run(argv, b"")
        finally:
            session.cwd = before

    def primary(self, word: str) -> FindTest:
        return self._quit if word == "-quit" else super().primary(word)

    def readers(self) -> Mapping[str, Callable[[str], FindTest]]:
        return {
            **super().readers(), "-print": self._print, "-print0": self._print,
            "-printf": self._printf, "-delete": self._delete, "-exec": self._exec,
            "-execdir": self._exec, "-ok": self._exec, "-okdir": self._exec,
        }  # fmt: skip

    @staticmethod
    def _quit(here: FoundFile) -> bool:
        raise _Quit

    def _print(self, option: str) -> FindTest:
        def act(here: FoundFile) -> bool:
            self.ctx.out(here.path + ("\0" if option == "-print0" else "\n"))
            return True

        return act

    def _printf(self, option: str) -> FindTest:
        form, _ = unescaped(self.value(option))
        for _, letter in _FORMAT.findall(form):
            if letter not in (*"bfgGilmMpPsuUZ%", "T@"):
                why = f"T: %{letter}" if letter[:1] == "T" else letter
                raise ConditionFault(f"bad -printf %{why}")

        def act(here: FoundFile) -> bool:
            values = self._told(here)
            self.ctx.out(_FORMAT.sub(lambda found: _placed(found[1], values[found[2]]), form))
            return True

        return act

    def _told(self, here: FoundFile) -> dict[str, str]:
        known = told(self.ctx, here.path, here.stat)
        below = here.path.removeprefix(here.root).lstrip("/")
        return {letter: str(known[letter]) for letter in "bis%"} | {
            "f": here.name, "g": str(known["G"]), "G": str(known["g"]), "l": "",
            "m": str(known["a"]), "M": str(known["A"]), "p": here.path, "P": below,
            "T@": f"{known['Y']}.0", "u": str(known["U"]), "U": str(known["u"]), "Z": "?",
        }  # fmt: skip

    def _delete(self, option: str) -> FindTest:
        def act(here: FoundFile) -> bool:
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
        if self.left[:1] in ([], [";"]):
            raise ConditionFault(f"'{option[1:]}' needs 1 arg")
        missing = "\\;" if "{}" in self.left else "{}"
        while (word := self.take(f"-exec without {missing}")) != ";":
            if word == "+" and argv[-1:] == ["{}"]:
                break
            argv.append(word)
        there, asks, collects = option.endswith("dir"), option.startswith("-ok"), word == "+"
        places = dict[str, list[str]]()
        if collects:
            self._batches.append((argv[:-1], places))

        def act(here: FoundFile) -> bool:
            folder = posixpath.dirname(here.whole.rstrip("/")) or "/" if there else ""
            path = here.name if there else here.path
            if asks and not self._agreed(f"[{argv[0]}] {path}"):
                return False
            if collects:
                places.setdefault(folder, []).append(path)
                return True
            return self._run(_with_path(argv, path), folder) == 0

        return act

    def _agreed(self, question: str) -> bool:
        """Ask a person, whose answer is the next letter of the standard input."""
        self.ctx.err(f"{question} (y/N):")
        while letter := self.ctx.shell.read_stdin(1).lower():
            if letter in b"yn\n":
                return letter == b"y"
        return False


def _placed(width: str, value: str) -> str:
    """A value in a field of printf's `width`."""
    size = int(width.lstrip("-0") or 0)
    return value.ljust(size) if width.startswith("-") else value.rjust(size)


def _with_path(argv: list[str], path: str) -> list[str]:
    """The words with the path in the place of the last ``{}``, if there is one."""
    if "{}" not in argv:
        return argv
    place = len(argv) - 1 - argv[::-1].index("{}")
    return [*argv[:place], path, *argv[place + 1 :]]
