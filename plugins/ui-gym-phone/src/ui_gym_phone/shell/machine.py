"""Machine: what Android's own commands need of the phone that they run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from ui_gym_phone.shell.registry import Command, Context
from ui_gym_phone.state.clock import Clock
from ui_gym_phone.state.files import Files
from ui_gym_phone.state.phone import Phone

FAILED = 255
"""What a command of Android's framework exits with when it cannot do it: -1."""


class Machine(Protocol):
    """A phone with a screen that can be touched. Coordinates are device pixels."""

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


def machine_of(ctx: Context) -> Machine:
    """The machine of a command."""
    machine: Machine = ctx.machine
    return machine


def phone_of(ctx: Context) -> Phone:
    """The phone of a command."""
    phone: Phone = ctx.machine.phone
    return phone


def subcommand(ctx: Context, argv: list[str], table: Mapping[str, Command], usage: str) -> int:
    """Run the function of ``argv[1]`` with the words from there on, as framework commands do."""
    words = argv[1:]
    if not words or words[0] in ("help", "-h", "--help"):
        ctx.out(usage)
        return 0 if words else FAILED
    function = table.get(words[0])
    if function is None:
        ctx.err(f"Unknown command: {words[0]}\n{usage}")
        return FAILED
    return function(ctx, words)


def thrown(ctx: Context, doing: str, exception: str, message: str) -> int:
    """Say that a Java exception was thrown, as framework commands do; returns the exit code."""
    ctx.err(f"\nException occurred while executing '{doing}':\njava.lang.{exception}: {message}\n")
    return FAILED


def refused(ctx: Context, message: str) -> int:
    """Say on the standard error why not; returns the exit code."""
    ctx.err(f"{message}\n")
    return FAILED


def options(
    argv: list[str], flags: str = "", values: str = ""
) -> tuple[dict[str, str], list[str], str]:
    """(options with their values, other words, the first option that is not known or lacks its
    value). `flags` and `values` list the options without and with a value, parted by blanks."""
    found: dict[str, str] = {}
    rest: list[str] = []
    known, valued = flags.split(), values.split()
    words = iter(argv)
    for word in words:
        if word in known:
            found[word] = ""
        elif word in valued:
            value = next(words, None)
            if value is None:
                return found, rest, word
            found[word] = value
        elif word.startswith("-") and len(word) > 1 and not _numeric(word):
            return found, rest, word
        else:
            rest.append(word)
    return found, rest, ""


def _numeric(word: str) -> bool:
    return word[1:].replace(".", "", 1).isdecimal()


def boolean(word: str, yes: str = "enable on true yes 1 enabled", no: str = "") -> bool | None:
    """What a word that switches says; None where it says nothing."""
    if word.lower() in yes.split():
        return True
    return False if word.lower() in (no or "disable off false no 0 disabled").split() else None


def switch(set_: Callable[[Phone, bool], None]) -> Command:
    """A command ``X enable|disable`` of something that can be switched."""

    def run(ctx: Context, argv: list[str]) -> int:
        on = boolean(argv[1]) if len(argv) > 1 else None
        if on is None:
            return refused(ctx, f"usage: {argv[0]} [enable|disable]")
        set_(phone_of(ctx), on)
        return 0

    return run
