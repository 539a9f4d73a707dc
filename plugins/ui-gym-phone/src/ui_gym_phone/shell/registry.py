"""Registry: commands by name, and what a command gets to work with.

A command is a function ``(ctx, argv) -> exit code`` in a module of `ui_gym_phone.shell.commands`;
all of these are imported when the first command is looked up.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import posixpath
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol

from ui_gym_phone.shell.budget import Budget
from ui_gym_phone.state.files import Files

Command = Callable[["Context", list[str]], int]

_commands: dict[str, Command] = {}
_loaded = False


class MachineClock(Protocol):
    """The machine's virtual time."""

    def seconds(self) -> float:
        """Seconds since 1970."""

    def advance(self, seconds: float) -> None:
        """Let time pass."""

    def set(self, ms: int) -> None:
        """Set the time, in milliseconds since 1970."""

    @property
    def local(self) -> datetime:
        """The time of day that the machine shows, with its zone."""


class Machine(Protocol):
    """What a shell runs on: the phone."""

    @property
    def files(self) -> Files: ...

    @property
    def clock(self) -> MachineClock: ...


class Runner(Protocol):
    """The shell as a command sees it."""

    budget: Budget

    def run_command(
        self, argv: list[str], stdin: bytes | None, environment: dict[str, str]
    ) -> int: ...

    def run_line(
        self, line: str, params: Sequence[str], stdin: bytes | None, environment: dict[str, str]
    ) -> int: ...

    def capture_line(
        self, line: str, stdin: bytes | None, environment: dict[str, str]
    ) -> tuple[int, bytes]: ...

    def write(self, fd: int, data: bytes) -> None: ...

    def read_stdin(self) -> bytes: ...


class Context:
    """What one command gets. `argv[0]` is the name that it was called by."""

    __slots__ = ("argv", "cwd", "env", "machine", "runner")

    def __init__(
        self, machine: Any, runner: Runner, argv: list[str], cwd: str, env: dict[str, str]
    ) -> None:
        self.machine = machine
        self.runner = runner
        self.argv = argv
        self.cwd = cwd
        self.env = env
        """The exported variables."""

    @property
    def files(self) -> Files:
        files: Files = self.machine.files
        return files

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
        if name == "-" or path in ("/dev/stdin", "/proc/self/fd/0"):
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
        if path in ("/dev/tty", "/dev/stdout", "/proc/self/fd/1"):
            self.out(data)
        elif path in ("/dev/stderr", "/proc/self/fd/2"):
            self.err(data)
        else:
            self.runner.budget.wrote(len(data))
            self.files.write(path, data)

    def run(self, argv: list[str], stdin: bytes | None = None) -> int:
        """Run a command, as `xargs` does; None lets it have what is left of this one's input."""
        return self.runner.run_command(argv, stdin, self.env)

    def run_with(self, argv: list[str], environment: dict[str, str]) -> int:
        """Run a command with another environment, as `env` does."""
        return self.runner.run_command(argv, None, environment)

    def shell(self, line: str, params: Sequence[str] = ("sh",), stdin: bytes | None = None) -> int:
        """Run a line in a shell of its own, as `sh -c` does; `params` are $0, $1..."""
        return self.runner.run_line(line, params, stdin, self.env)

    def capture(self, line: str, stdin: bytes | None = None) -> tuple[int, bytes]:
        """Run a line in a shell of its own: its exit code and what it wrote."""
        return self.runner.capture_line(line, stdin, self.env)

    def spend(self, steps: int = 1) -> None:
        """Count work that a long loop does."""
        self.runner.budget.spend(steps)

    def _endless(self, path: str, size: int | None) -> bytes:
        size = self.runner.budget.limits.text if size is None else size
        self.runner.budget.check_text(size)
        if path == "/dev/zero":
            return bytes(size)
        import random

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
