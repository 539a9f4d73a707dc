"""What the commands of Android's framework have in common: subcommands, options, refusals."""

from __future__ import annotations

from collections.abc import Callable

from ui_gym_phone.data import table
from ui_gym_phone.shell import options
from ui_gym_phone.shell.registry import Command, CommandContext, CommandFault, command
from ui_gym_phone.state.phone import Phone

FAILED = 255
"""What a command of Android's framework exits with when it cannot do it: -1."""

_YES = frozenset(("enable", "on", "true", "yes", "1", "enabled"))
_NO = frozenset(("disable", "off", "false", "no", "0", "disabled"))


def usage(command: str) -> str:
    """What a command prints to help, as Android words it."""
    found: str = table("shell_usage")[command]
    return found


class Subcommands:
    """A command ``NAME VERB [options] [words]``; its verbs are registered by calling this."""

    def __init__(self, name: str, title: str | None = None, indent: str = "  ") -> None:
        self.name, self._title, self._indent = name, title, indent
        self._verbs: dict[str, Command] = {}

    def __call__(
        self, *verbs: str, flags: str = "", valued: str = "", needs: str = ""
    ) -> Callable[[Command], Command]:
        """Registers a function as subcommands. `flags` and `valued` are its options without and
        with a value; `needs` is what it says where it gets no words."""

        def register(function: Command) -> Command:
            def run(ctx: CommandContext) -> None:
                if flags or valued or needs:
                    ctx.options, ctx.words, ctx.unknown = options.android(ctx.words, flags, valued)
                if needs and not ctx.words:
                    raise refused(ctx, needs)
                function(ctx)

            self._verbs.update(dict.fromkeys(verbs, run))
            return function

        return register

    def add(self, **functions: Command) -> None:
        """Register functions that take their words as they are; ``_`` stands for a dash."""
        self._verbs.update({name.replace("_", "-"): each for name, each in functions.items()})

    @property
    def help_text(self) -> str:
        """Android's own words, or a list of the verbs under a title."""
        if self._title is None:
            return usage(self.name)
        return self._title + "".join(f"{self._indent}{verb}\n" for verb in self._verbs)

    def run(self, ctx: CommandContext) -> None:
        """Run the verb that is the first word."""
        if not ctx.words or ctx.words[0] in ("help", "-h", "--help"):
            ctx.out(self.help_text)
            ctx.code = 0 if ctx.words else FAILED
        elif ctx.words[0] not in self._verbs:
            raise refused(ctx, f"Unknown command: {ctx.words[0]}\n{self.help_text[:-1]}")
        else:
            ctx.verb, *ctx.words = ctx.words
            self._verbs[ctx.verb](ctx)


def framework_command(name: str) -> Subcommands:
    """A command of the shell that has verbs."""
    verbs = Subcommands(name)
    command(name)(verbs.run)
    return verbs


def refused(ctx: CommandContext, message: str) -> CommandFault:
    """Say on the standard error why not; the result is to be raised."""
    return ctx.ended(f"{message}\n", FAILED)


def thrown(ctx: CommandContext, doing: str, exception: str, message: str) -> CommandFault:
    """Say that a Java exception was thrown, as framework commands do."""
    return refused(
        ctx, f"\nException occurred while executing '{doing}':\njava.lang.{exception}: {message}"
    )


def quiet(ctx: CommandContext) -> None:
    """A command that has no effect that could be seen."""


def says(text: str, code: int = 0) -> Command:
    """A command that always says the same."""

    def run(ctx: CommandContext) -> None:
        ctx.out(text)
        ctx.code = code

    return run


def boolean(words: list[str]) -> bool | None:
    """What the first word says that switches; None where it says nothing."""
    word = words[0].lower() if words else ""
    return True if word in _YES else False if word in _NO else None


def switch(set_: Callable[[Phone, bool], None], complaint: str = "") -> Command:
    """A command ``X enable|disable`` of something that can be switched."""

    def run(ctx: CommandContext) -> None:
        on = boolean(ctx.words)
        if on is None:
            raise refused(ctx, complaint or f"usage: {ctx.verb} [enable|disable]")
        set_(ctx.phone, on)

    return run
