"""ls, stat, du, df, pwd, realpath: what tells of files."""

from __future__ import annotations

import posixpath
import re
import stat as bits
import zlib
from datetime import datetime

from ui_gym_phone.shell.commands.system import UIDS
from ui_gym_phone.shell.globs import normal
from ui_gym_phone.shell.options import CommandOptions
from ui_gym_phone.shell.registry import CommandContext, command, message_of
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


@command("ls")
def _ls(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "1CAFRSadhlrtuZ", long={"color": "C", "full-time": "u"})
    listing, names, folders, code = _Listing(ctx, options, argv), list[str](), list[str](), 0
    for name in options.arguments or ["."]:
        try:
            stat = ctx.files.stat(ctx.path(name))
        except OSError as error:
            error.filename = name
            code = ctx.fail(message_of(error))
            continue
        (folders if stat.is_dir and "d" not in options else names).append(name)
    listing.show(listing.order(names, ""), "")
    headed, first = len(options.arguments) > 1 or "R" in options, not names
    folders = listing.order(folders, "")[::-1]
    while folders:
        folder = folders.pop()
        ctx.spend()
        if headed:
            ctx.out(f"{'' if first else chr(10)}{folder}:\n")
        first = False
        inside = listing.inside(folder)
        listing.show(inside, folder, total=True)
        if "R" in options:
            below = [posixpath.join(folder, name) for name in inside if name not in (".", "..")]
            folders += [path for path in reversed(below) if ctx.files.is_dir(ctx.path(path))]
    return code


class _Listing:
    """Shows names in the way that the options ask for."""

    def __init__(self, ctx: CommandContext, options: CommandOptions, argv: list[str]) -> None:
        self.ctx, self.options = ctx, options
        full = len(options.values.get("l", ())) > 1 or "--full-time" in argv
        self.form = "%Y-%m-%d %H:%M" + ":%S.000000000 %z" * full

    def inside(self, folder: str) -> list[str]:
        """The names in a folder, in order."""
        names = self.ctx.files.list(self.ctx.path(folder))
        if not {"a", "A"} & self.options.values.keys():
            names = [name for name in names if not name.startswith(".")]
        return self.order([".", ".."] * ("a" in self.options) + names, folder)

    def stat(self, folder: str, name: str) -> Stat:
        return self.ctx.files.stat(self.ctx.path(posixpath.join(folder, name)))

    def order(self, names: list[str], folder: str) -> list[str]:
        ordered = sorted(names)
        if "S" in self.options:
            ordered.sort(key=lambda name: -self.stat(folder, name).size)
        elif "t" in self.options:
            ordered.sort(key=lambda name: -self.stat(folder, name).mtime)
        return ordered[::-1] if "r" in self.options else ordered

    def show(self, names: list[str], folder: str, *, total: bool = False) -> None:
        stats = [self.stat(folder, name) for name in names]
        self.ctx.spend(len(names))
        shown = [
            name + ("/" if s.is_dir else "*" * bool(s.mode & 0o111)) * ("F" in self.options)
            for name, s in zip(names, stats, strict=True)
        ]
        if "l" in self.options or "full-time" in self.form:
            size = sum(map(kilobytes, stats))
            shown_size = human(size * 1024) if "h" in self.options else size
            self.ctx.out(f"total {shown_size}\n" if total else "")
            shown = self._long(shown, stats)
        self.ctx.out("".join(text + "\n" for text in shown))

    def _long(self, shown: list[str], stats: list[Stat]) -> list[str]:
        size = human if "h" in self.options else str
        rows = [
            ["2" if s.is_dir else "1", s.owner, s.group, size(s.size),
             _time(self.ctx, s, self.form)]
            for s in stats
        ]  # fmt: skip
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

_FORM = (
    "  File: %n\n  Size: %s\t Blocks: %b\t IO Blocks: 512\t %F\nDevice: fe2dh/65069d\t Inode: %i\t "
    "Links: %h\nAccess: (0%a/%A)\tUid: (%5u/%8U)\tGid: (%5g/%8G)\nAccess: %y\nModify: %y\n"
    "Change: %y\n"
)


@command("stat")
def _stat(ctx: CommandContext, argv: list[str]) -> int:
    options, code = CommandOptions(ctx, argv, "c:", long={"format": "c"}), 0
    options.need(1)
    for name in options.arguments:
        ctx.spend()
        if not ctx.files.exists(ctx.path(name)):
            code = ctx.fail(f"'{name}': No such file or directory")
            continue
        stat = ctx.files.stat(ctx.path(name))
        ctx.out(_filled(ctx, options.text("c", _FORM), name, stat) + "\n" * ("c" in options))
    return code


def _filled(ctx: CommandContext, form: str, name: str, stat: Stat) -> str:
    kind = "directory" if stat.is_dir else "regular file" if stat.size else "regular empty file"
    moment = _time(ctx, stat, "%Y-%m-%d %H:%M:%S.000000000 %z")
    path = ctx.files.canonical(ctx.path(name)).encode("utf-8", "surrogateescape")
    values = {
        "n": name, "N": name, "s": stat.size, "a": f"{stat.mode & 0o7777:o}",
        "A": bits.filemode(stat.mode), "U": stat.owner, "G": stat.group,
        "u": UIDS.get(stat.owner, 0), "g": UIDS.get(stat.group, 0), "b": kilobytes(stat) * 2,
        "F": "character device" if bits.S_ISCHR(stat.mode) else kind, "Y": int(stat.mtime),
        "X": int(stat.mtime), "y": moment, "x": moment, "h": 2 if stat.is_dir else 1,
        "i": 1000 + zlib.crc32(path) % 1_000_000, "%": "%",
    }  # fmt: skip

    def each(found: re.Match[str]) -> str:
        return str(values.get(found[2], "?")).rjust(min(100, int(found[1] or 0)))

    return re.sub(r"%(\d{0,4})(.)", each, form, flags=re.DOTALL)


@command("du")
def _du(ctx: CommandContext, argv: list[str]) -> int:
    options, code = CommandOptions(ctx, argv, "d:hksm"), 0
    show = human if "h" in options else lambda size: str(
        -(-size // (1 << 20 if "m" in options else 1024))
    )  # fmt: skip
    for name in options.arguments or ["."]:
        root = ctx.path(name).rstrip("/") or "/"
        if not ctx.files.exists(root):
            code = ctx.fail(f"{name}: No such file or directory")
            continue
        deepest, sizes = 0 if "s" in options else options.number("d", 1 << 20), dict[str, int]()
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
                shown = f"{name.rstrip('/')}/{below}" if below else name
                ctx.out(f"{show(sizes[path])}\t{shown}\n")
    return code


@command("df")
def _df(ctx: CommandContext, argv: list[str]) -> int:
    options = CommandOptions(ctx, argv, "hk")
    quota, used = ctx.files.quota, ctx.files.used
    devices = {
        "/": ("/dev/block/dm-0", 1 << 30, 1 << 30), "/dev": ("tmpfs", 1 << 30, 1 << 20),
        "/data": ("/dev/block/dm-2", quota, used), "/storage/emulated": ("/dev/fuse", quota, used),
    }  # fmt: skip
    places, code = list(devices), 0
    if options.arguments:
        there = [name for name in options.arguments if ctx.files.exists(ctx.path(name))]
        for name in sorted(set(options.arguments) - set(there)):
            code = ctx.fail(f"'{name}': No such file or directory")
        places = [_place(ctx.files.canonical(ctx.path(name))) for name in there]
    show = human if "h" in options else lambda size: str(size // 1024)
    head = ("Size", "Used", "Avail") if "h" in options else ("1K-blocks", "Used", "Available")
    table = [("Filesystem", *head, "Use%", "Mounted on")]
    for place in places:
        device, size, taken = devices[place]
        percent = f"{-(-100 * taken // size)}%"
        table.append((device, show(size), show(taken), show(size - taken), percent, place))
    widths = [max(len(row[column]) for row in table) for column in range(6)]
    for row in table:
        middle = " ".join(row[column].rjust(widths[column]) for column in range(1, 5))
        ctx.out(f"{row[0].ljust(widths[0])} {middle} {row[5]}\n")
    return code


def _place(path: str) -> str:
    """Where the device that a path is on is mounted."""
    if path.startswith(("/sdcard", "/storage")):
        return "/storage/emulated"
    return next((place for place in ("/data", "/dev") if path.startswith(place)), "/")


@command("pwd")
def _pwd(ctx: CommandContext, argv: list[str]) -> int:
    ctx.out(ctx.cwd + "\n")
    return 0


@command("realpath")
def _realpath(ctx: CommandContext, argv: list[str]) -> int:
    options, code = CommandOptions(ctx, argv, ""), 0
    options.need(1)
    for name in options.arguments:
        path = ctx.files.canonical(normal(ctx.cwd, name))
        if path == "/sdcard" or path.startswith("/sdcard/"):
            path = "/storage/emulated/0" + path[len("/sdcard") :]
        if ctx.files.exists(posixpath.dirname(path)):
            ctx.out(path + "\n")
        else:
            code = ctx.fail(f"{name}: No such file or directory")
    return code
