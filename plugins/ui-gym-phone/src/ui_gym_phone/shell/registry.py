"""Registry: commands by name, and what a command gets to work with.

A command is a function that takes a `CommandContext`, in a module of `ui_gym_phone.shell.commands`;
all of these are imported when the first command is looked up.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import posixpath
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ui_gym_phone.shell import options
from ui_gym_phone.shell.budget import Budget
from ui_gym_phone.shell.session import ShellSession
from ui_gym_phone.shell.streams import Streams
from ui_gym_phone.shell.syntax import ShellNode
from ui_gym_phone.state.clock import Clock
from ui_gym_phone.state.files import Files
from ui_gym_phone.state.phone import Phone

Command = Callable[["CommandContext"], None]
ShellBuiltin = Callable[["RunningShell", list[str]], int]
"""A command that changes the shell itself; it gives the exit code."""

BUILTINS: dict[str, ShellBuiltin] = {}


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


class RunningShell(Protocol):
    """A shell in the middle of a line, as its commands see it."""

    machine: ShellMachine
    session: ShellSession
    budget: Budget
    streams: Streams
    files: Files
    """The machine's files, as the shell's user may use them."""
    loops: int
    """How many loops are running."""
    frames: list[dict[str, str | None]]
    """Of each function that runs, the variables that it made its own, as they were before."""

    def write(self, fd: int, data: bytes) -> None: ...

    def read_stdin(self, size: int | None = None) -> bytes: ...

    def complain(self, message: str) -> None:
        """Say something in the shell's own name."""

    def assign(self, name: str, value: str) -> None:
        """Set a variable."""

    def capture(self, body: ShellNode) -> str:
        """What ``$(...)`` stands for."""

    def external(self, argv: list[str], environment: dict[str, str]) -> int:
        """Run a command of the machine."""

    def run_command(
        self, argv: list[str], stdin: bytes | None, environment: dict[str, str]
    ) -> int: ...

    def run_line(
        self, line: str, params: Sequence[str], environment: dict[str, str], who: str = ""
    ) -> int: ...

    def run_file(self, data: bytes, params: Sequence[str], environment: dict[str, str]) -> int: ...

    def run_script(
        self, params: Sequence[str], environment: dict[str, str], who: str = ""
    ) -> int: ...

    def output_of(self, argv: list[str], environment: dict[str, str]) -> str: ...

    def commands(self, text: str, file: str = "") -> int:
        """Run the commands of a text, or of a `file`, in this shell itself."""


class CommandFault(Exception):
    """A command ends here; what is wrong was written, and the context has the exit code."""


class CommandContext:
    """One call of a command. `argv[0]` is the name that it was called by."""

    def __init__(self, shell: RunningShell, argv: list[str], env: dict[str, str]) -> None:
        self.shell, self.machine, self.cwd = shell, shell.machine, shell.session.cwd
        self.argv = argv
        self.env = env
        """The exported variables."""
        self.verb = ""
        """The subcommand that runs, of a command that has some."""
        self.words = argv[1:]
        """The arguments without the options."""
        self.options: options.Values = {}
        """The values of each option that was given; without its dash for toybox' commands."""
        self.unknown = ""
        """The first option that a command of Android's does not know, or that lacks its value."""
        self.code = 0
        """What it exits with."""
        self.failing = 1
        """What it exits with where something is wrong."""

    @property
    def phone(self) -> Phone:
        return self.machine.phone

    @property
    def files(self) -> Files:
        return self.shell.files

    @property
    def user(self) -> str:
        """Who runs the command."""
        return self.shell.session.user

    # -- options --

    def given(self, letters: str) -> bool:
        """Whether one of the options was given."""
        return any(letter in self.options for letter in letters)

    def text(self, name: str, default: str = "") -> str:
        """The last value of an option."""
        return self.options[name][-1] if name in self.options else default

    def number(self, name: str, default: int) -> int:
        """The last value of an option as toybox reads numbers."""
        return self.parse_number(self.text(name)) if name in self.options else default

    def parse_number(self, text: str) -> int:
        """A number as toybox reads it."""
        value = options.number(text)
        if value is None:
            raise self.fault(f"not integer: {text}")
        return value

    # -- what it says --

    def out(self, data: str | bytes) -> None:
        """Write to the standard output."""
        self.shell.write(1, encode(data))

    def err(self, data: str | bytes) -> None:
        """Write to the standard error."""
        self.shell.write(2, encode(data))

    def fail(self, message: str, code: int | None = None) -> None:
        """Say ``name: message`` as toybox does; the command exits with `code`."""
        self.code = self.failing if code is None else code
        self.err(f"{posixpath.basename(self.argv[0])}: {message}\n")

    def fault(self, message: str, code: int | None = None) -> CommandFault:
        """As `fail`; the result is to be raised."""
        self.fail(message, code)
        return CommandFault()

    def ended(self, words: str, code: int = 1) -> CommandFault:
        """Say something on the standard error as it is; the result is to be raised."""
        self.err(words)
        self.code = code
        return CommandFault()

    def misused(self, message: str) -> CommandFault:
        """As `fault`, with toybox' hint."""
        return self.fault(f'{message} (see "{posixpath.basename(self.argv[0])} --help")')

    # -- files --

    def path(self, name: str) -> str:
        """`name` made absolute, from the current directory."""
        return name if name.startswith("/") else posixpath.join(self.cwd, name)

    def read(self, name: str, size: int | None = None) -> bytes:
        """A file's bytes; ``-`` and /dev/stdin are the standard input.

        `size` is the most that is wanted: only that much of an endless device is made, and no more
        of the standard input is waited for.
        """
        path = self.path(name)
        if name == "-" or path == "/dev/stdin":
            return self.shell.read_stdin(size)
        if path in ("/dev/zero", "/dev/urandom", "/dev/random"):
            size = self.shell.budget.limits.text if size is None else size
            self.shell.budget.check_text(size)
            noise = random.Random(self.machine.clock.seconds())
            return bytes(size) if path == "/dev/zero" else noise.randbytes(size)
        try:
            data = self.files.read(path)
        except OSError as error:
            error.filename = name  # as it was typed
            raise
        self.spend(len(data) >> 14)
        return data

    def read_each(self, names: list[str]) -> Iterator[tuple[str, bytes]]:
        """(name, bytes) of the files, or of the standard input where none is named. A file that
        cannot be read is complained of."""
        for name in names or ["-"]:
            try:
                yield name, self.read(name)
            except OSError as error:
                self.fail(message_of(error))

    def write(self, name: str, data: bytes) -> None:
        """Write a file; /dev/tty, /dev/stdout and /dev/stderr are the command's own outputs."""
        path = self.path(name)
        if path in ("/dev/tty", "/dev/stdout"):
            self.out(data)
        elif path == "/dev/stderr":
            self.err(data)
        else:
            self.shell.budget.wrote(len(data))
            self.files.write(path, data)

    # -- the shell --

    @property
    def stdin(self) -> bytes:
        """What is left of the standard input; reading it uses it up."""
        return self.shell.read_stdin()

    def run(self, argv: list[str], stdin: bytes | None = None) -> int:
        """Run a command, as `xargs` does; None lets it have what is left of this one's input."""
        return self.shell.run_command(argv, stdin, self.env)

    def output_of(self, argv: list[str]) -> str:
        """What a command writes to its standard output."""
        return self.shell.output_of(argv, self.env)

    def run_line(self, line: str, params: Sequence[str] = ("sh",), who: str = "") -> int:
        """Run a line in a shell of its own, as `sh -c` does; `params` are $0, $1... `who` runs it:
        a user, or the one of a package."""
        return self.shell.run_line(line, params, self.env | _environment(who), who)

    def run_file(self, data: bytes, params: Sequence[str]) -> int:
        """Run what a file holds, whose name is the first of `params`."""
        return self.shell.run_file(data, params, self.env)

    def run_script(self, params: Sequence[str] = ("sh",), who: str = "") -> int:
        """Run the commands that the standard input holds, in a shell of its own."""
        return self.shell.run_script(params, self.env | _environment(who), who)

    def spend(self, steps: int = 1) -> None:
        """Count work that a long loop does."""
        self.shell.budget.spend(steps)


def _environment(who: str) -> dict[str, str]:
    """The variables that tell who somebody is."""
    return {"USER": who, "LOGNAME": who} if who else {}


@dataclass(frozen=True)
class RegisteredCommand:
    """A command with the options that it takes; None leaves all words to the command."""

    function: Command
    taken: options.ToyboxOptions | None = None

    def run(self, ctx: CommandContext) -> int:
        """Run it; the exit code."""
        try:
            if self.taken is not None:
                ctx.failing = self.taken.code
                try:
                    ctx.options, ctx.words = self.taken.read(ctx.argv[1:])
                except ValueError as error:
                    raise ctx.misused(str(error)) from None
            self.function(ctx)
        except CommandFault:
            pass
        except OSError as error:
            ctx.fail(message_of(error))
        return ctx.code & 255


_commands: dict[str, RegisteredCommand] = {}
_loaded: list[str] = []
_loading = threading.RLock()
"""Phones of several slots may ask for the first command at the same time."""


def command(
    *names: str, taken: options.ToyboxOptions | None = None
) -> Callable[[Command], Command]:
    """Registers a function as the commands `names`."""

    def register(function: Command) -> Command:
        _commands.update(dict.fromkeys(names, RegisteredCommand(function, taken)))
        return function

    return register


def toybox(
    *names: str, flags: str = "", long: Mapping[str, str] | None = None, least: int = 0,
    permute: bool = True, code: int = 1,
) -> Callable[[Command], Command]:  # fmt: skip
    """As `command`, for one with toybox' options (`options.ToyboxOptions`)."""
    return command(*names, taken=options.ToyboxOptions(flags, long or {}, least, permute, code))


def lookup(name: str) -> RegisteredCommand | None:
    """The command of a name, without a folder."""
    _load()
    return _commands.get(name)


def names() -> list[str]:
    """All commands, sorted."""
    _load()
    return sorted(_commands)


def _load() -> None:
    if _loaded:
        return
    from ui_gym_phone.shell import commands

    with _loading:
        found = [module.name for module in pkgutil.iter_modules(commands.__path__)]
        for name in found:
            importlib.import_module(f"{commands.__name__}.{name}")
        _loaded[:] = found  # only now: all commands are there


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


def lines_of(data: bytes) -> list[str]:
    """The lines of a text, without their newlines."""
    return decode(data.removesuffix(b"\n")).split("\n") if data else []


def message_of(error: OSError) -> str:
    """``path: reason``, as toybox and the shell put it."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    return f"{error.filename}: {reason}" if error.filename else reason
