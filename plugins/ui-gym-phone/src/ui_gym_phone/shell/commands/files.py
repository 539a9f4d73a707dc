"""mkdir, rm, mv, cp, touch, chmod: what changes files."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable

from ui_gym_phone.shell.commands.dates import parse_stamp
from ui_gym_phone.shell.registry import CommandContext, toybox


def _reason(error: OSError) -> str:
    return os.strerror(error.errno or 0)


def _each(ctx: CommandContext, action: Callable[[str], None], message: str) -> None:
    """Do something to every argument; what fails is complained of."""
    for name in ctx.words:
        ctx.spend()
        try:
            action(name)
        except OSError as error:
            ctx.fail(message.format(name=name, why=_reason(error)))


@toybox("mkdir", flags="p", long={"parents": "p"}, least=1)
def _mkdir(ctx: CommandContext) -> None:
    def make(name: str) -> None:
        ctx.files.mkdir(ctx.path(name), parents="p" in ctx.options)

    _each(ctx, make, "'{name}': {why}")


@toybox("rmdir", least=1)
def _rmdir(ctx: CommandContext) -> None:
    _each(ctx, lambda name: ctx.files.rmdir(ctx.path(name)), "{name}: {why}")


@toybox("rm", flags="frR", least=1)
def _rm(ctx: CommandContext) -> None:
    recursive = ctx.given("rR")
    for name in ctx.words:
        path = ctx.path(name)
        ctx.spend()
        if name.rstrip("/").rpartition("/")[2] in (".", ".."):
            ctx.code = 1
            if not recursive:
                ctx.fail(f"{name}: Is a directory")
            continue
        if not ctx.files.exists(path) and "f" in ctx.options:
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
                ctx.fail(f"{name}{each[len(path) :]}: {_reason(error)}")


@toybox("mv", flags="nf")
def _mv(ctx: CommandContext) -> None:
    target, into = _target(ctx)

    def move(name: str) -> None:
        goal = _goal(ctx, name, target, into)
        if "n" not in ctx.options or not ctx.files.exists(goal):
            ctx.files.rename(ctx.path(name), goal)

    _each(ctx, move, "bad '{name}': {why}")


@toybox("cp", flags="Rafnrp", long={"recursive": "r"})
def _cp(ctx: CommandContext) -> None:
    target, into = _target(ctx)
    for name in ctx.words:
        goal, path = _goal(ctx, name, target, into), ctx.path(name)
        shown = posixpath.join(target, posixpath.basename(name)) if into else target
        source, there = ctx.files.canonical(path), ctx.files.canonical(goal)
        is_dir = ctx.files.is_dir(path)
        within = is_dir and there.startswith(source + "/") and not name.endswith(".")
        ctx.spend()
        try:
            if not ctx.files.exists(path):
                ctx.fail(f"bad '{name}': No such file or directory")
            elif there == source or within:
                ctx.fail(f"'{shown}' is '{name}'")
            elif is_dir and not ctx.given("rRa"):
                ctx.fail(f"Skipped dir '{shown}': No such file or directory")
            else:
                _copy(ctx, source, goal)
        except OSError as error:
            ctx.fail(f"{shown}: {_reason(error)}")


def _copy(ctx: CommandContext, source: str, goal: str) -> None:
    """Copy a file or a folder with all that is in it."""
    for each in list(ctx.files.walk(source)):
        ctx.spend()
        there = goal + each[len(source) :]
        if ctx.files.is_dir(each):
            ctx.files.mkdir(there, parents=True)
        elif "n" not in ctx.options or not ctx.files.exists(there):
            ctx.shell.budget.wrote(ctx.files.stat(each).size)
            ctx.files.copy(each, there, keep_time=ctx.given("ap"))


def _target(ctx: CommandContext) -> tuple[str, bool]:
    """The last argument, which is taken from them, and whether it is a folder to put into."""
    if len(ctx.words) < 2:
        raise ctx.fault("Needs 2 arguments")
    target = ctx.words.pop()
    into = ctx.files.is_dir(ctx.path(target))
    if len(ctx.words) > 1 and not into:
        raise ctx.fault(f"'{target}' not directory")
    return target, into


def _goal(ctx: CommandContext, name: str, target: str, into: bool) -> str:
    path = ctx.path(target)
    return posixpath.join(path, posixpath.basename(name.rstrip("/"))) if into else path


@toybox("touch", flags="camt:", least=1)
def _touch(ctx: CommandContext) -> None:
    """``touch [-c] [-t STAMP] FILE...``"""
    when = None
    if "t" in ctx.options:
        try:
            now = ctx.machine.clock.local
            when = parse_stamp(ctx.text("t"), now, year_first=True).timestamp()
        except ValueError as fault:
            raise ctx.fault(f"bad date {fault}") from None

    def touch(name: str) -> None:
        if "c" not in ctx.options or ctx.files.exists(ctx.path(name)):
            ctx.files.touch(ctx.path(name), when)

    _each(ctx, touch, "'{name}': {why}")


@toybox("chmod", flags="Rf")
def _chmod(ctx: CommandContext) -> None:
    if len(ctx.words) < 2:
        raise ctx.misused("Need 2 arguments")
    text = ctx.words.pop(0)
    if mode_of(text, 0) is None:
        raise ctx.fault(f"bad mode '{text}'")

    def change(name: str) -> None:
        root = ctx.path(name)
        ctx.files.stat(root)
        for path in list(ctx.files.walk(root)) if "R" in ctx.options else [root]:
            ctx.spend()
            ctx.files.chmod(path, mode_of(text, ctx.files.stat(path).mode & 0o7777) or 0)

    _each(ctx, change, "{name}: {why}")


def mode_of(text: str, old: int) -> int | None:
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
