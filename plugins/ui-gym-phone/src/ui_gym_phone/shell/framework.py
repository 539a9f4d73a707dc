"""What the commands of Android's framework have in common: subcommands, options, refusals."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ui_gym_phone.data import table
from ui_gym_phone.shell.registry import Command, CommandContext
from ui_gym_phone.state.phone import Phone

FAILED = 255
"""What a command of Android's framework exits with when it cannot do it: -1."""

_YES = frozenset(("enable", "on", "true", "yes", "1", "enabled"))
_NO = frozenset(("disable", "off", "false", "no", "0", "disabled"))


def usage(command: str) -> str:
    """What a command prints to help, as Android words it."""
    found: str = table("shell_usage")[command]
    return found


def subcommand(
    ctx: CommandContext, argv: list[str], commands: Mapping[str, Command], help_text: str
) -> int:
    """Run the function of ``argv[1]`` with the words from there on, as framework commands do."""
    words = argv[1:]
    if not words or words[0] in ("help", "-h", "--help"):
        ctx.out(help_text)
        return 0 if words else FAILED
    function = commands.get(words[0])
    if function is None:
        ctx.err(f"Unknown command: {words[0]}\n{help_text}")
        return FAILED
    return function(ctx, words)


def thrown(ctx: CommandContext, doing: str, exception: str, message: str) -> int:
    """Say that a Java exception was thrown, as framework commands do; returns the exit code."""
    ctx.err(f"\nException occurred while executing '{doing}':\njava.lang.{exception}: {message}\n")
    return FAILED


def refused(ctx: CommandContext, message: str) -> int:
    """Say on the standard error why not; returns the exit code."""
    ctx.err(f"{message}\n")
    return FAILED


def quiet(ctx: CommandContext, argv: list[str]) -> int:
    """A command that has no effect that could be seen."""
    return 0


def says(text: str, code: int = 0) -> Command:
    """A command that always says the same."""

    def run(ctx: CommandContext, argv: list[str]) -> int:
        ctx.out(text)
        return code

    return run


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


def boolean(word: str) -> bool | None:
    """What a word that switches says; None where it says nothing."""
    return True if word.lower() in _YES else False if word.lower() in _NO else None


def switch(set_: Callable[[Phone, bool], None]) -> Command:
    """A command ``X enable|disable`` of something that can be switched."""

    def run(ctx: CommandContext, argv: list[str]) -> int:
        on = boolean(argv[1]) if len(argv) > 1 else None
        if on is None:
            return refused(ctx, f"usage: {argv[0]} [enable|disable]")
        set_(ctx.phone, on)
        return 0

    return run
