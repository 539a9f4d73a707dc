"""mkdir, rm, mv, cp, touch, chmod: what changes files."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable

from ui_gym_phone.shell.commands.dates import DateFault, parse_stamp
from ui_gym_phone.shell.options import CommandOptions
from ui_gym_phone.shell.registry import CommandContext, command


def _reason(error: OSError) -> str:
    return os.strerror(error.errno or 0)


def _each(
    ctx: CommandContext, names: list[str], action: Callable[[str], None],
    message: str = "{name}: {why}",
) -> int:  # fmt: skip
    """Do something to every name; 1 where one failed, which is complained of."""
    code = 0
    for name in names:
        ctx.spend()
        try:
            action(name)
        except OSError as error:
            code = ctx.fail(message.format(name=name, why=_reason(error)))
    return code


@command("mkdir")
def _mkdir(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "p", long={"parents": "p"})
    options.need(1)

    def make(name: str) -> None:
        ctx.files.mkdir(ctx.path(name), parents="p" in options)

    return _each(ctx, options.arguments, make, "'{name}': {why}")


@command("rmdir")
def _rmdir(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "")
    options.need(1)
    return _each(ctx, options.arguments, lambda name: ctx.files.rmdir(ctx.path(name)))


@command("rm")
def _rm(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "frR")
    if "f" not in options:
        options.need(1)
    recursive, code = bool({"r", "R"} & options.values.keys()), 0
    for name in options.arguments:
        path = ctx.path(name)
        ctx.spend()
        if name.rstrip("/").rpartition("/")[2] in (".", ".."):
            code = 1 if recursive else ctx.fail(f"{name}: Is a directory")
            continue
        if not ctx.files.exists(path) and "f" in options:
            continue
        below = list(ctx.files.walk(path)) if recursive and ctx.files.is_dir(path) else [path]
        ctx.spend(len(below))
        for each in reversed(below):  # all that can be removed is: what stays is told of
            try:
                if recursive and ctx.files.is_dir(each):
                    ctx.files.rmdir(each)
                else:
                    ctx.files.remove(each)
            except OSError as error:
                code = ctx.fail(f"{name}{each[len(path) :]}: {_reason(error)}")
    return code


@command("mv")
def _mv(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "nf")
    names, target, into = _operands(ctx, options)

    def move(name: str) -> None:
        goal = _goal(ctx, name, target, into)
        if "n" not in options or not ctx.files.exists(goal):
            ctx.files.rename(ctx.path(name), goal)

    return _each(ctx, names, move, "bad '{name}': {why}")


@command("cp")
def _cp(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "Rafnrp", long={"recursive": "r"})
    names, target, into = _operands(ctx, options)
    recursive, code = bool({"r", "R", "a"} & options.values.keys()), 0
    for name in names:
        goal, path = _goal(ctx, name, target, into), ctx.path(name)
        shown = posixpath.join(target, posixpath.basename(name)) if into else target
        source, there = ctx.files.canonical(path), ctx.files.canonical(goal)
        ctx.spend()
        try:
            if not ctx.files.exists(path):
                code = ctx.fail(f"bad '{name}': No such file or directory")
            elif there == source or (
                ctx.files.is_dir(path) and there.startswith(source + "/") and not name.endswith(".")
            ):
                code = ctx.fail(f"'{shown}' is '{name}'")
            elif ctx.files.is_dir(path) and not recursive:
                code = ctx.fail(f"Skipped dir '{shown}': No such file or directory")
            else:
                _copy(ctx, options, source, goal)
        except OSError as error:
            code = ctx.fail(f"{shown}: {_reason(error)}")
    return code


def _copy(ctx: CommandContext, options: CommandOptions, source: str, goal: str) -> None:
    """Copy a file or a folder with all that is in it."""
    for each in list(ctx.files.walk(source)):
        ctx.spend()
        there = goal + each[len(source) :]
        if ctx.files.is_dir(each):
            ctx.files.mkdir(there, parents=True)
        elif "n" not in options or not ctx.files.exists(there):
            ctx.runner.budget.wrote(ctx.files.stat(each).size)
            ctx.files.copy(each, there, keep_time=bool({"a", "p"} & options.values.keys()))


def _operands(ctx: CommandContext, options: CommandOptions) -> tuple[list[str], str, bool]:
    """The sources, the target, and whether that is a folder to put them into."""
    if len(options.arguments) < 2:
        raise options.fault("Needs 2 arguments")
    *names, target = options.arguments
    into = ctx.files.is_dir(ctx.path(target))
    if len(names) > 1 and not into:
        raise options.fault(f"'{target}' not directory")
    return names, target, into


def _goal(ctx: CommandContext, name: str, target: str, into: bool) -> str:
    path = ctx.path(target)
    return posixpath.join(path, posixpath.basename(name.rstrip("/"))) if into else path


@command("touch")
def _touch(ctx: CommandContext, argv: list[str]) -> int:
    """``touch [-c] [-t STAMP] FILE...``"""
    options, when = CommandOptions(ctx, argv, "camt:"), None
    options.need(1)
    if "t" in options:
        try:
            now = ctx.machine.clock.local
            when = parse_stamp(options.text("t"), now, year_first=True).timestamp()
        except DateFault as fault:
            raise options.fault(f"bad date {fault}") from None

    def touch(name: str) -> None:
        if "c" not in options or ctx.files.exists(ctx.path(name)):
            ctx.files.touch(ctx.path(name), when)

    return _each(ctx, options.arguments, touch, "'{name}': {why}")


@command("chmod")
def _chmod(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "Rf")
    if len(options.arguments) < 2:
        raise options.help("Need 2 arguments")
    text, *names = options.arguments
    if _mode(text, 0) is None:
        raise options.fault(f"bad mode '{text}'")

    def change(name: str) -> None:
        root = ctx.path(name)
        ctx.files.stat(root)
        for path in list(ctx.files.walk(root)) if "R" in options else [root]:
            ctx.spend()
            ctx.files.chmod(path, _mode(text, ctx.files.stat(path).mode & 0o7777) or 0)

    return _each(ctx, names, change)


def _mode(text: str, old: int) -> int | None:
    """What `chmod` makes of permission bits; None where the text is no mode."""
    if re.fullmatch(r"[0-7]{1,4}", text):
        return int(text, 8)
    for clause in text.split(","):
        found = re.fullmatch(r"([ugoa]*)([-+=])([rwx]*)", clause)
        if found is None:
            return None
        who, sign, what = found.groups()
        mask = sum({"u": 0o700, "g": 0o070, "o": 0o007}[each] for each in set(who) - {"a"})
        mask = 0o777 if not who or "a" in who else mask
        bits = sum({"r": 0o444, "w": 0o222, "x": 0o111}[each] for each in set(what)) & mask
        old = old | bits if sign == "+" else old & ~bits if sign == "-" else (old & ~mask) | bits
    return old
