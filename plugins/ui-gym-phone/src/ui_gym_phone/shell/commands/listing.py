"""ls, stat, du, df, pwd, realpath: what tells of files."""

from __future__ import annotations

import posixpath
import re
import stat as bits
import zlib
from datetime import datetime

from ui_gym_phone.data import table
from ui_gym_phone.shell.globs import normal
from ui_gym_phone.shell.registry import CommandContext, command, message_of, toybox
from ui_gym_phone.state import hardware
from ui_gym_phone.state.files import Stat

BLOCK = 4096


def kilobytes(stat: Stat) -> int:
    """What it takes on the disk, in units of 1024 bytes."""
    return -(-stat.size // BLOCK) * (BLOCK // 1024)


def human(size: int) -> str:
    """A number of bytes in at most four characters: ``1.5K``."""
    if size < 1000:
        return str(size)
    value, units = size / 1024, "KMGTP"
    while value >= 999 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{value:.1f}{units[0]}" if value < 9.95 else f"{value:.0f}{units[0]}"


def _time(ctx: CommandContext, stat: Stat, form: str) -> str:
    """When a file was changed, as the phone shows it; a time out of all calendars is 1970."""
    zone = ctx.machine.clock.local.tzinfo
    try:
        return datetime.fromtimestamp(stat.mtime, zone).strftime(form)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, zone).strftime(form)


# -- ls --


@toybox("ls", flags="1CAFRSadhlrtuZ", long={"color": "C", "full-time": "u"})
def _ls(ctx: CommandContext) -> None:
    names, folders = list[str](), list[str]()
    for name in ctx.words or ["."]:
        try:
            stat = ctx.files.stat(ctx.path(name))
        except OSError as error:
            error.filename = name
            ctx.fail(message_of(error))
            continue
        (folders if stat.is_dir and "d" not in ctx.options else names).append(name)
    _show(ctx, _ordered(ctx, names, ""), "")
    headed, first = len(ctx.words) > 1 or "R" in ctx.options, not names
    folders = _ordered(ctx, folders, "")[::-1]
    while folders:
        folder = folders.pop()
        ctx.spend()
        if headed:
            ctx.out(f"{'' if first else chr(10)}{folder}:\n")
        first = False
        inside = ctx.files.list(ctx.path(folder))
        if not ctx.given("aA"):
            inside = [name for name in inside if not name.startswith(".")]
        inside = _ordered(ctx, [".", ".."] * ("a" in ctx.options) + inside, folder)
        _show(ctx, inside, folder, total=True)
        if "R" in ctx.options:
            below = [posixpath.join(folder, name) for name in inside if name not in (".", "..")]
            folders += [path for path in reversed(below) if ctx.files.is_dir(ctx.path(path))]


def _stat_in(ctx: CommandContext, folder: str, name: str) -> Stat:
    return ctx.files.stat(ctx.path(posixpath.join(folder, name)))


def _ordered(ctx: CommandContext, names: list[str], folder: str) -> list[str]:
    ordered = sorted(names)
    if "S" in ctx.options:
        ordered.sort(key=lambda name: -_stat_in(ctx, folder, name).size)
    elif "t" in ctx.options:
        ordered.sort(key=lambda name: -_stat_in(ctx, folder, name).mtime)
    return ordered[::-1] if "r" in ctx.options else ordered


def _show(ctx: CommandContext, names: list[str], folder: str, *, total: bool = False) -> None:
    """Show names in the way that the options ask for."""
    stats = [_stat_in(ctx, folder, name) for name in names]
    ctx.spend(len(names))
    shown = [
        name + ("/" if s.is_dir else "*" * bool(s.mode & 0o111)) * ("F" in ctx.options)
        for name, s in zip(names, stats, strict=True)
    ]
    if "l" in ctx.options or "--full-time" in ctx.argv:
        size = sum(map(kilobytes, stats))
        shown_size = human(size * 1024) if "h" in ctx.options else size
        ctx.out(f"total {shown_size}\n" if total else "")
        shown = _long(ctx, shown, stats)
    ctx.out("".join(text + "\n" for text in shown))


def _long(ctx: CommandContext, shown: list[str], stats: list[Stat]) -> list[str]:
    size = human if "h" in ctx.options else str
    full = len(ctx.options.get("l", ())) > 1 or "--full-time" in ctx.argv
    form = "%Y-%m-%d %H:%M" + ":%S.000000000 %z" * full
    rows = [
        ["2" if s.is_dir else "1", s.owner, s.group, size(s.size), _time(ctx, s, form)]
        for s in stats
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = list[str]()
    for row, name, stat in zip(rows, shown, stats, strict=True):
        cells = [
            cell.ljust(width) if index in (1, 2) else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(" ".join([bits.filemode(stat.mode), *cells, name]))
    return lines


# -- stat, du, df --


@toybox("stat", flags="c:", long={"format": "c"}, least=1)
def _stat(ctx: CommandContext) -> None:
    form = ctx.text("c", table("shell_names")["stat"])
    for name in ctx.words:
        ctx.spend()
        if not ctx.files.exists(ctx.path(name)):
            ctx.fail(f"'{name}': No such file or directory")
            continue
        stat = ctx.files.stat(ctx.path(name))
        ctx.out(_filled(ctx, form, name, stat) + "\n" * ("c" in ctx.options))


def told(ctx: CommandContext, name: str, stat: Stat) -> dict[str, str | int]:
    """What a format of `stat` tells of a file, by its letters."""
    kind = "directory" if stat.is_dir else "regular file" if stat.size else "regular empty file"
    moment = _time(ctx, stat, "%Y-%m-%d %H:%M:%S.000000000 %z")
    path = ctx.files.canonical(ctx.path(name)).encode("utf-8", "surrogateescape")
    uids = table("shell_names")["uids"]
    return {
        "n": name, "N": name, "s": stat.size, "a": f"{stat.mode & 0o7777:o}",
        "A": bits.filemode(stat.mode), "U": stat.owner, "G": stat.group,
        "u": uids.get(stat.owner, 0), "g": uids.get(stat.group, 0), "b": kilobytes(stat) * 2,
        "F": "character device" if bits.S_ISCHR(stat.mode) else kind, "Y": int(stat.mtime),
        "X": int(stat.mtime), "y": moment, "x": moment, "h": 2 if stat.is_dir else 1,
        "i": 1000 + zlib.crc32(path) % 1_000_000, "%": "%",
    }  # fmt: skip


def _filled(ctx: CommandContext, form: str, name: str, stat: Stat) -> str:
    values = told(ctx, name, stat)

    def each(found: re.Match[str]) -> str:
        return str(values.get(found[2], "?")).rjust(min(100, int(found[1] or 0)))

    return re.sub(r"%(\d{0,4})(.)", each, form, flags=re.DOTALL)


@toybox("du", flags="d:hksm")
def _du(ctx: CommandContext) -> None:
    unit = 1 << 20 if "m" in ctx.options else 1024
    for name in ctx.words or ["."]:
        root = ctx.path(name).rstrip("/") or "/"
        if not ctx.files.exists(root):
            ctx.fail(f"{name}: No such file or directory")
            continue
        deepest, sizes = 0 if "s" in ctx.options else ctx.number("d", 1 << 20), dict[str, int]()
        paths = list(ctx.files.walk(root))
        ctx.spend(len(paths))
        for path in reversed(paths):  # what is below comes before what it is in
            sizes[path] = sizes.get(path, 0) + kilobytes(ctx.files.stat(path)) * 1024
            above = posixpath.dirname(path)
            if path != root:
                sizes[above] = sizes.get(above, 0) + sizes[path]
            below = path[len(root) :].strip("/")
            depth = below.count("/") + 1 if below else 0
            if depth <= deepest and (ctx.files.is_dir(path) or not depth):
                size = human(sizes[path]) if "h" in ctx.options else str(-(-sizes[path] // unit))
                ctx.out(f"{size}\t{name.rstrip('/') + '/' + below if below else name}\n")


@toybox("df", flags="hk")
def _df(ctx: CommandContext) -> None:
    size = hardware.STORAGE_BYTES - hardware.SYSTEM_BYTES
    used = hardware.used_bytes(ctx.phone) - hardware.SYSTEM_BYTES
    devices = {
        "/": ("/dev/block/dm-0", hardware.SYSTEM_BYTES, hardware.SYSTEM_BYTES),
        "/dev": ("tmpfs", 1 << 30, 1 << 20),
        "/data": ("/dev/block/dm-2", size, used), "/storage/emulated": ("/dev/fuse", size, used),
    }  # fmt: skip
    places = list(devices)
    if ctx.words:
        there = [name for name in ctx.words if ctx.files.exists(ctx.path(name))]
        for name in sorted(set(ctx.words) - set(there)):
            ctx.fail(f"'{name}': No such file or directory")
        places = [_place(ctx.files.canonical(ctx.path(name))) for name in there]
    show = human if "h" in ctx.options else lambda size: str(size // 1024)
    head = ("Size", "Used", "Avail") if "h" in ctx.options else ("1K-blocks", "Used", "Available")
    table = [("Filesystem", *head, "Use%", "Mounted on")]
    for place in places:
        device, size, taken = devices[place]
        percent = f"{-(-100 * taken // size)}%"
        table.append((device, show(size), show(taken), show(size - taken), percent, place))
    widths = [max(len(row[column]) for row in table) for column in range(6)]
    for row in table:
        middle = " ".join(row[column].rjust(widths[column]) for column in range(1, 5))
        ctx.out(f"{row[0].ljust(widths[0])} {middle} {row[5]}\n")


def _place(path: str) -> str:
    """Where the device that a path is on is mounted."""
    if path.startswith(("/sdcard", "/storage")):
        return "/storage/emulated"
    return next((place for place in ("/data", "/dev") if path.startswith(place)), "/")


@command("pwd")
def _pwd(ctx: CommandContext) -> None:
    ctx.out(ctx.cwd + "\n")


@toybox("realpath", least=1)
def _realpath(ctx: CommandContext) -> None:
    for name in ctx.words:
        path = ctx.files.canonical(normal(ctx.cwd, name))
        if path == "/sdcard" or path.startswith("/sdcard/"):
            path = "/storage/emulated/0" + path[len("/sdcard") :]
        if ctx.files.exists(posixpath.dirname(path)):
            ctx.out(path + "\n")
        else:
            ctx.fail(f"{name}: No such file or directory")
