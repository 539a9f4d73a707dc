"""Registry: commands by name, and what a command gets to work with.

A command is a function ``(ctx, argv) -> exit code`` in a module of `ui_gym_phone.shell.commands`;
all of these are imported when the first command is looked up.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import posixpath
import random
from collections.abc import Callable, Sequence
from typing import Protocol

from ui_gym_phone.shell.budget import Budget
from ui_gym_phone.state.clock import Clock
from ui_gym_phone.state.files import Files
from ui_gym_phone.state.phone import Phone

Command = Callable[["CommandContext", list[str]], int]

_commands: dict[str, Command] = {}
_loaded = False


class ShellMachine(Protocol):
    """What a shell runs on: a phone with a screen that can be touched. Coordinates are device
    pixels. Commands that are not Android's own need no more than its files and its clock."""

    @property
    def phone(self) -> Phone: ...

    @property
    def files(self) -> Files: ...

    @property
    def clock(self) -> Clock: ...

    def tap(self, x: int, y: int, count: int = 1) -> None:
        """Touch a point, `count` times."""

    def swipe(self, x1: int, y1: int, x2: int, y2: int, ms: int = 300) -> None:
        """Move a finger; one that hardly moves, for half a second or more, is a long press."""

    def text(self, text: str) -> None:
        """Type into the field that has the caret."""

    def key(self, code: int, *held: int) -> None:
        """Press a key by Android's number while others are held."""

    def pixels(self) -> tuple[int, int, bytes]:
        """The screen: width, height, and its RGBA bytes."""

    def ui_tree(self) -> str:
        """What uiautomator tells of the screen: XML."""


class CommandRunner(Protocol):
    """The shell as a command sees it."""

    budget: Budget

    def run_command(
        self, argv: list[str], stdin: bytes | None, environment: dict[str, str]
    ) -> int: ...

    def run_line(self, line: str, params: Sequence[str], environment: dict[str, str]) -> int: ...

    def write(self, fd: int, data: bytes) -> None: ...

    def read_stdin(self) -> bytes: ...


class CommandContext:
    """What one command gets. `argv[0]` is the name that it was called by."""

    __slots__ = ("argv", "cwd", "env", "machine", "runner")

    def __init__(
        self, machine: ShellMachine, runner: CommandRunner, argv: list[str], cwd: str,
        env: dict[str, str],
    ) -> None:  # fmt: skip
        self.machine = machine
        self.runner = runner
        self.argv = argv
        self.cwd = cwd
        self.env = env
        """The exported variables."""

    @property
    def phone(self) -> Phone:
        return self.machine.phone

    @property
    def files(self) -> Files:
        return self.machine.files

    @property
    def stdin(self) -> bytes:
        """What is left of the standard input; reading it uses it up."""
        return self.runner.read_stdin()

    def out(self, data: str | bytes) -> None:
        """Write to the standard output."""
        self.runner.write(1, encode(data))

    def err(self, data: str | bytes) -> None:
        """Write to the standard error."""
        self.runner.write(2, encode(data))

    def fail(self, message: str, code: int = 1) -> int:
        """Say ``name: message`` as toybox does, and return `code`."""
        self.err(f"{posixpath.basename(self.argv[0])}: {message}\n")
        return code

    def path(self, name: str) -> str:
        """`name` made absolute, from the current directory."""
        return name if name.startswith("/") else posixpath.join(self.cwd, name)

    def read(self, name: str, size: int | None = None) -> bytes:
        """A file's bytes; ``-`` and /dev/stdin are the standard input.

        `size` is the most that is wanted: only that much of an endless device is made.
        """
        path = self.path(name)
        if name == "-" or path == "/dev/stdin":
            return self.stdin
        if path in ("/dev/zero", "/dev/urandom", "/dev/random"):
            return self._endless(path, size)
        try:
            data = self.files.read(path)
        except OSError as error:
            error.filename = name  # as it was typed
            raise
        self.runner.budget.spend(len(data) >> 14)
        return data

    def write(self, name: str, data: bytes) -> None:
        """Write a file; /dev/tty, /dev/stdout and /dev/stderr are the command's own outputs."""
        path = self.path(name)
        if path in ("/dev/tty", "/dev/stdout"):
            self.out(data)
        elif path == "/dev/stderr":
            self.err(data)
        else:
            self.runner.budget.wrote(len(data))
            self.files.write(path, data)

    def run(self, argv: list[str], stdin: bytes | None = None) -> int:
        """Run a command, as `xargs` does; None lets it have what is left of this one's input."""
        return self.runner.run_command(argv, stdin, self.env)

    def shell(self, line: str, params: Sequence[str] = ("sh",)) -> int:
        """Run a line in a shell of its own, as `sh -c` does; `params` are $0, $1..."""
        return self.runner.run_line(line, params, self.env)

    def spend(self, steps: int = 1) -> None:
        """Count work that a long loop does."""
        self.runner.budget.spend(steps)

    def _endless(self, path: str, size: int | None) -> bytes:
        size = self.runner.budget.limits.text if size is None else size
        self.runner.budget.check_text(size)
        if path == "/dev/zero":
            return bytes(size)
        return random.Random(self.machine.clock.seconds()).randbytes(size)


def command(*names: str) -> Callable[[Command], Command]:
    """Registers a function as the commands `names`."""

    def register(function: Command) -> Command:
        for name in names:
            _commands[name] = function
        return function

    return register


def lookup(name: str) -> Command | None:
    """The command of a name, without a folder."""
    _load()
    return _commands.get(name)


def names() -> list[str]:
    """All commands, sorted."""
    _load()
    return sorted(_commands)


def _load() -> None:
    global _loaded
    if _loaded:
        return
    from ui_gym_phone.shell import commands

    for module in pkgutil.iter_modules(commands.__path__):
        importlib.import_module(f"{commands.__name__}.{module.name}")
    _loaded = True


def encode(data: str | bytes) -> bytes:
    """Bytes of a text; bytes that were no UTF-8 become themselves again."""
    if isinstance(data, bytes):
        return data
    try:
        return data.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair, which no bytes stand for
        return data.encode("utf-8", "replace")


def decode(data: bytes) -> str:
    """Text of bytes, of which none is lost."""
    return data.decode("utf-8", "surrogateescape")


def message_of(error: OSError) -> str:
    """``path: reason``, as toybox and the shell put it."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    return f"{error.filename}: {reason}" if error.filename else reason
