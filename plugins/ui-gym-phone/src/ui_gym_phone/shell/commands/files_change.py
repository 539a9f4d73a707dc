"""mkdir, rm, mv, cp, touch, chmod and the other commands that change files."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable
from datetime import datetime

from ui_gym_phone.shell.dates import DateFault, parse_date, parse_stamp
from ui_gym_phone.shell.options import Options
from ui_gym_phone.shell.registry import Context, command


def _reason(error: OSError) -> str:
    return os.strerror(error.errno or 0)


def _each(
    ctx: Context, names: list[str], action: Callable[[str], None], message: str = "{name}: {why}"
) -> int:
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
def _mkdir(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "vpm:", long={"parents": "p", "mode": "m", "verbose": "v"})
    options.need(1)
    mode = _mode(options.text("m"), 0o777) if "m" in options else None
    if "m" in options and mode is None:
        raise options.fault(f"bad mode '{options.text('m')}'")

    def make(name: str) -> None:
        ctx.files.mkdir(ctx.path(name), parents="p" in options)
        if mode is not None:
            ctx.files.chmod(ctx.path(name), mode)
        if "v" in options:
            ctx.out(f"mkdir: created directory '{name}'\n")

    return _each(ctx, options.arguments, make, "'{name}': {why}")


@command("rmdir")
def _rmdir(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "p", long={"ignore-fail-on-non-empty": "p"})
    options.need(1)
    return _each(ctx, options.arguments, lambda name: ctx.files.rmdir(ctx.path(name)))


@command("rm", "unlink")
def _rm(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "firRv", long={"force": "f", "recursive": "r"})
    if "f" not in options:
        options.need(1)
    recursive = bool({"r", "R"} & options.values.keys())
    code = 0
    for name in options.arguments:
        path = ctx.path(name)
        ctx.spend()
        if name.rstrip("/").rpartition("/")[2] in (".", ".."):
            code = ctx.fail(f"{name}: Is a directory") if not recursive else 1
            continue
        if not ctx.files.exists(path) and "f" in options:
            continue
        try:
            if recursive and ctx.files.is_dir(path):
                code = max(code, _remove_tree(ctx, name, path))
            else:
                ctx.files.remove(path)
        except OSError as error:
            code = ctx.fail(f"{name}: {_reason(error)}")
    return code


def _remove_tree(ctx: Context, name: str, path: str) -> int:
    """Remove all that can be removed, as rm does: what stays is told of."""
    code, paths = 0, list(ctx.files.walk(path))
    ctx.spend(len(paths))
    for each in reversed(paths):
        try:
            if ctx.files.is_dir(each):
                ctx.files.rmdir(each)
            else:
                ctx.files.remove(each)
        except OSError as error:
            code = ctx.fail(f"{name}{each[len(path) :]}: {_reason(error)}")
    return code


@command("mv")
def _mv(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "vnfit:T", long={"force": "f"})
    names, target, into = _operands(ctx, options)

    def move(name: str) -> None:
        goal = _goal(ctx, name, target, into)
        if "n" in options and ctx.files.exists(goal):
            return
        ctx.files.rename(ctx.path(name), goal)
        if "v" in options:
            ctx.out(f"mv '{name}'\n")

    return _each(ctx, names, move, "bad '{name}': {why}")


@command("cp")
def _cp(ctx: Context, argv: list[str]) -> int:
    options = Options(
        ctx, argv, "DHLPRadfilnprst:Tuv", long={"recursive": "r", "preserve": "p", "archive": "a"}
    )
    names, target, into = _operands(ctx, options)
    recursive = bool({"r", "R", "a"} & options.values.keys())
    code = 0
    for name in names:
        goal, path = _goal(ctx, name, target, into), ctx.path(name)
        ctx.spend()
        try:
            source = ctx.files.canonical(path)
            if not ctx.files.exists(path):
                code = ctx.fail(f"bad '{name}': No such file or directory")
            elif ctx.files.canonical(goal) == source or (
                ctx.files.is_dir(path) and ctx.files.canonical(goal).startswith(source + "/")
            ):
                code = ctx.fail(f"'{posixpath.join(target, posixpath.basename(name))}' is '{name}'"
                                if into else f"'{target}' is '{name}'")  # fmt: skip
            elif ctx.files.is_dir(path):
                if recursive:
                    _copy_tree(ctx, options, path, goal)
                else:
                    shown = posixpath.join(target, posixpath.basename(name)) if into else target
                    code = ctx.fail(f"Skipped dir '{shown}': No such file or directory")
            else:
                _copy_file(ctx, options, path, goal)
                if "v" in options:
                    ctx.out(f"cp '{name}'\n")
        except OSError as error:
            shown = posixpath.join(target, posixpath.basename(name)) if into else target
            code = ctx.fail(f"{shown}: {_reason(error)}")
    return code


def _copy_file(ctx: Context, options: Options, path: str, goal: str) -> None:
    if "n" in options and ctx.files.exists(goal):
        return
    keeps = bool({"a", "p"} & options.values.keys())
    ctx.runner.budget.wrote(ctx.files.stat(path).size)
    ctx.files.copy(path, goal, keep_time=keeps)


def _copy_tree(ctx: Context, options: Options, path: str, goal: str) -> None:
    root = path.rstrip("/")
    for each in list(ctx.files.walk(root)):
        ctx.spend()
        there = goal + each[len(root) :]
        if ctx.files.is_dir(each):
            ctx.files.mkdir(there, parents=True)
        else:
            _copy_file(ctx, options, each, there)


def _operands(ctx: Context, options: Options) -> tuple[list[str], str, bool]:
    """The sources, the target, and whether that is a folder to put them into."""
    names = list(options.arguments)
    if len(names) < 2 - ("t" in options):
        raise options.fault("Needs 2 arguments" if "t" not in options else "Needs 1 argument")
    target = options.text("t") if "t" in options else names.pop()
    into = ctx.files.is_dir(ctx.path(target)) and "T" not in options
    if len(names) > 1 and not into:
        raise options.fault(f"'{target}' not directory")
    return names, target, into


def _goal(ctx: Context, name: str, target: str, into: bool) -> str:
    path = ctx.path(target)
    return posixpath.join(path, posixpath.basename(name.rstrip("/"))) if into else path


@command("touch")
def _touch(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "acd:fhmr:t:", long={"date": "d", "reference": "r"})
    options.need(1)
    when = _touched(ctx, options)

    def touch(name: str) -> None:
        if "c" not in options or ctx.files.exists(ctx.path(name)):
            ctx.files.touch(ctx.path(name), when)

    return _each(ctx, options.arguments, touch, "'{name}': {why}")


def _touched(ctx: Context, options: Options) -> float | None:
    """The time to set; None for now."""
    try:
        if "r" in options:
            return ctx.files.stat(ctx.path(options.text("r"))).mtime
        if "d" in options:
            return parse_date(options.text("d"), ctx.machine.clock.local)
        if "t" in options:
            now: datetime = ctx.machine.clock.local
            return parse_stamp(options.text("t"), now, year_first=True).timestamp()
    except DateFault as fault:
        raise options.fault(f"bad date {fault}") from None
    except OSError as error:
        raise options.fault(f"-r {options.text('r')}: {_reason(error)}") from None
    return None


# -- modes --


@command("chmod")
def _chmod(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, [argv[0], *_protected(argv[1:])], "vRf")
    if len(options.arguments) < 2:
        raise options.help("Need 2 arguments")
    text = options.arguments[0].lstrip("\0")
    if _mode(text, 0) is None:
        raise options.fault(f"bad mode '{text}'")

    def change(name: str) -> None:
        root = ctx.path(name)
        ctx.files.stat(root)
        for path in list(ctx.files.walk(root)) if "R" in options else [root]:
            ctx.spend()
            old = ctx.files.stat(path)
            mode = _mode(text, old.mode & 0o7777, old.is_dir)
            ctx.files.chmod(path, mode or 0)

    return _each(ctx, options.arguments[1:], change)


def _protected(arguments: list[str]) -> list[str]:
    """A mode such as ``-x`` is no option."""
    return ["\0" + each if re.fullmatch(r"-[rwxXst]+", each) else each for each in arguments]


def _mode(text: str, old: int, folder: bool = False) -> int | None:
    """What `chmod` makes of permission bits; None where the text is no mode."""
    if re.fullmatch(r"[0-7]{1,4}", text):
        return int(text, 8)
    for clause in text.split(","):
        found = re.fullmatch(r"([ugoa]*)([-+=])([rwxXst]*)", clause)
        if found is None:
            return None
        who, sign, what = found.groups()
        mask = sum({"u": 0o700, "g": 0o070, "o": 0o007}[each] for each in set(who) - {"a"})
        mask = 0o777 if not who or "a" in who else mask
        bits = sum({"r": 0o444, "w": 0o222, "x": 0o111}.get(each, 0) for each in set(what))
        if "X" in what and (folder or old & 0o111):
            bits |= 0o111
        bits &= mask
        old = old | bits if sign == "+" else old & ~bits if sign == "-" else (old & ~mask) | bits
    return old


@command("chown", "chgrp")
def _chown(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "HLPRfhv")
    if len(options.arguments) < 2:
        raise options.help("Need 2 arguments")
    return _each(ctx, options.arguments[1:], lambda name: (ctx.files.stat(ctx.path(name)), None)[1])


@command("chcon", "restorecon", "sync", "fsync")
def _nothing(ctx: Context, argv: list[str]) -> int:
    return 0


@command("ln")
def _ln(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "rt:Tvnfs")
    options.need(1)
    names = options.arguments
    kind = "symbolic" if "s" in options else "hard"
    target = names[-1] if len(names) > 1 else posixpath.basename(names[0])
    return ctx.fail(
        f"cannot create {kind} link from '{names[0]}' to '{target}': Operation not permitted"
    )


@command("truncate")
def _truncate(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "cs:", long={"size": "s"})
    options.need(1)
    if "s" not in options:
        raise options.help("Needs -s")
    text = options.text("s")
    amount = options.parse_number(text.lstrip("<>"))

    def cut(name: str) -> None:
        path = ctx.path(name)
        if "c" in options and not ctx.files.exists(path):
            return
        data = ctx.files.read(path) if ctx.files.exists(path) else b""
        size = {"+": len(data) + amount, "-": len(data) + amount, "<": min(len(data), amount),
                ">": max(len(data), amount)}.get(text[0], amount)  # fmt: skip
        size = max(0, size)
        if size > ctx.files.quota:
            raise OSError(27, os.strerror(27), name)  # EFBIG
        ctx.runner.budget.wrote(max(0, size - len(data)))
        ctx.files.write(path, data[:size] + bytes(max(0, size - len(data))))

    return _each(ctx, options.arguments, cut)


@command("mktemp")
def _mktemp(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "dqutp:")
    template = options.arguments[0] if options.arguments else "tmp.XXXXXXXXXX"
    folder = options.text("p") or ctx.env.get("TMPDIR", "/data/local/tmp")
    if options.arguments and "p" not in options and "t" not in options:
        folder = ""
    stem, number = template.rstrip("X"), ctx.files.used % 9973
    width = len(template) - len(stem)
    name = posixpath.join(folder, template)
    while width > 2:
        ctx.spend()
        name = posixpath.join(folder, f"{stem}{number:0{width}d}")
        if not ctx.files.exists(ctx.path(name)):
            break
        number += 1
    if "u" not in options:
        if "d" in options:
            ctx.files.mkdir(ctx.path(name))
        else:
            ctx.files.write(ctx.path(name), b"", 0o600)
    ctx.out(name + "\n")
    return 0


@command("dd")
def _dd(ctx: Context, argv: list[str]) -> int:
    values = {"bs": "512", "count": "", "skip": "0", "seek": "0", "if": "-", "of": "", "conv": ""}
    for each in argv[1:]:
        name, equals, value = each.partition("=")
        if not equals or name not in (*values, "status", "ibs", "obs", "iflag", "oflag"):
            return ctx.fail(f"unrecognized operand '{each}'")
        values["bs" if name in ("ibs", "obs") else name] = value
    options = Options(ctx, ["dd"], "")
    size, skip, seek = (options.parse_number(values[name]) for name in ("bs", "skip", "seek"))
    count = options.parse_number(values["count"]) if values["count"] else None
    if size <= 0 or skip < 0 or seek < 0 or (count or 0) < 0:
        return ctx.fail("invalid number")
    wanted = None if count is None else (skip + count) * size
    try:
        data = ctx.read(values["if"], wanted)
    except OSError as error:
        return ctx.fail(f"{values['if']}: {_reason(error)}")
    data = data[skip * size : wanted]
    if values["of"]:
        path, old = ctx.path(values["of"]), b""
        if ctx.files.exists(path):
            old = ctx.files.read(path)
        lead = (old[: seek * size]).ljust(min(seek * size, ctx.files.quota + 1), b"\0")
        rest = old[len(lead) + len(data) :] if "notrunc" in values["conv"] else b""
        ctx.write(values["of"], lead + data + rest)
    else:
        ctx.out(data)
    if values.get("status") != "none":
        whole, part = divmod(len(data), size)
        ctx.err(f"{whole}+{int(part > 0)} records in\n{whole}+{int(part > 0)} records out\n"
                f"{len(data)} bytes copied, 0.001 s, {len(data)} K/s\n")  # fmt: skip
    return 0


@command("tar", "gzip", "gunzip", "zcat", "unzip", "zip", "mount", "umount", "mkfifo", "mknod")
def _refused(ctx: Context, argv: list[str]) -> int:
    return ctx.fail("not available on this phone")
