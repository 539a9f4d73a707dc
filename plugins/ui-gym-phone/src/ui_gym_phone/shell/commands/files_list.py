"""ls, stat, du, df and what tells where a file is."""

from __future__ import annotations

import posixpath
import re

from ui_gym_phone.shell.expansion import normal
from ui_gym_phone.shell.listing import UIDS, human, kilobytes, kind_of, mode_of, time_of
from ui_gym_phone.shell.options import Options
from ui_gym_phone.shell.registry import Context, command, message_of
from ui_gym_phone.state.files import Stat

SORTS = "StXU"


@command("ls")
def _ls(ctx: Context, argv: list[str]) -> int:
    options = Options(
        ctx, argv, "ZgoACFHLNRSUXabcdfhiklmnpqrstuwx1", long={"color": "N", "full-time": "l"}
    )
    listing = _Listing(ctx, options)
    names, folders, code = list[str](), list[str](), 0
    for name in options.arguments or ["."]:
        try:
            stat = ctx.files.stat(ctx.path(name))
        except OSError as error:
            error.filename = name
            code = ctx.fail(message_of(error))
            continue
        (folders if stat.is_dir and "d" not in options else names).append(name)
    listing.show(names, "")
    headed = len(options.arguments) > 1 or "R" in options
    first = not names
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

    def __init__(self, ctx: Context, options: Options) -> None:
        self.ctx, self.options = ctx, options

    def inside(self, folder: str) -> list[str]:
        """The names in a folder, in order."""
        names = self.ctx.files.list(self.ctx.path(folder))
        if not {"a", "A", "f"} & self.options.values.keys():
            names = [name for name in names if not name.startswith(".")]
        if {"a", "f"} & self.options.values.keys():
            names = [".", "..", *names]
        return self.order(names, folder)

    def stat(self, folder: str, name: str) -> Stat:
        return self.ctx.files.stat(self.ctx.path(posixpath.join(folder, name)))

    def order(self, names: list[str], folder: str) -> list[str]:
        options = self.options
        ordered = sorted(names)
        if "S" in options:
            ordered.sort(key=lambda name: -self.stat(folder, name).size)
        elif "t" in options:
            ordered.sort(key=lambda name: -self.stat(folder, name).mtime)
        return ordered[::-1] if "r" in options else ordered

    def show(self, names: list[str], folder: str, *, total: bool = False) -> None:
        options = self.options
        stats = [self.stat(folder, name) for name in names]
        self.ctx.spend(len(names))
        detailed = {"l", "g", "o", "n"} & options.values.keys()
        if total and (detailed or "s" in options):
            self.ctx.out(f"total {sum(map(kilobytes, stats))}\n")
        shown = [self._name(name, stat) for name, stat in zip(names, stats, strict=True)]
        if detailed:
            shown = self._long(shown, stats)
        if "s" in options:
            shown = [f"{kilobytes(stat)} {text}" for text, stat in zip(shown, stats, strict=True)]
        if "i" in options:
            shown = [f"{_inode(folder + name)} {text}" for text, name in
                     zip(shown, names, strict=True)]  # fmt: skip
        if not shown:
            return
        if "m" in options and not detailed:
            self.ctx.out(", ".join(shown) + "\n")
        elif {"C", "x"} & options.values.keys() and not detailed:
            self.ctx.out("  ".join(shown) + "\n")
        else:
            self.ctx.out("".join(text + "\n" for text in shown))

    def _name(self, name: str, stat: Stat) -> str:
        if stat.is_dir and {"F", "p"} & self.options.values.keys():
            return name + "/"
        return name + "*" * ("F" in self.options and bool(stat.mode & 0o111) and not stat.is_dir)

    def _long(self, shown: list[str], stats: list[Stat]) -> list[str]:
        options, zone = self.options, self.ctx.machine.clock.local.tzinfo
        rows = list[list[str]]()
        for stat in stats:
            owner, group = stat.owner, stat.group
            if "n" in options:
                owner, group = str(UIDS.get(owner, 0)), str(UIDS.get(group, 0))
            owners = [owner] * ("g" not in options) + [group] * ("o" not in options)
            size = human(stat.size) if "h" in options else str(stat.size)
            links = str(2 if stat.is_dir else 1)
            rows.append([links, *owners, size, time_of(stat.mtime, zone, "%Y-%m-%d %H:%M")])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = list[str]()
        for row, name, stat in zip(rows, shown, stats, strict=True):
            cells = [
                cell.ljust(width) if 0 < index < len(row) - 2 else cell.rjust(width)
                for index, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append(" ".join([mode_of(stat), *cells, name]))
        return lines


def _inode(path: str) -> int:
    """A number that stays a path's own."""
    import zlib

    return 1000 + zlib.crc32(path.encode("utf-8", "surrogateescape")) % 1_000_000


@command("stat")
def _stat(ctx: Context, argv: list[str]) -> int:
    options, code = Options(ctx, argv, "c:ftL", long={"format": "c"}), 0
    options.need(1)
    for name in options.arguments:
        ctx.spend()
        path = ctx.path(name)
        if not ctx.files.exists(path):
            code = ctx.fail(f"'{name}': No such file or directory")
            continue
        if "f" in options:
            ctx.out(_filesystem(ctx, name))
            continue
        stat = ctx.files.stat(path)
        form = options.text("c") if "c" in options else _FORM
        ctx.out(_filled(ctx, form, name, stat) + "\n" * ("c" in options))
    return code


_FORM = (
    "  File: %N\n  Size: %s\t Blocks: %b\t IO Blocks: %B\t %F\nDevice: fe2dh/65069d\t Inode: %i\t "
    "Links: %h\nAccess: (0%a/%A)\tUid: (%5u/%8U)\tGid: (%5g/%8G)\nAccess: %x\nModify: %y\n"
    "Change: %z\n"
)


def _filesystem(ctx: Context, name: str) -> str:
    free = (ctx.files.quota - ctx.files.used) // 4096
    return (
        f'  File: "{name}"\n    ID: 0 Namelen: 255    Type: f2fs\nBlock Size: 4096    Fundamental '
        f"block size: 4096\nBlocks: Total: {ctx.files.quota // 4096}\tFree: {free}\tAvailable: "
        f"{free}\nInodes: Total: 50000\tFree: 49000\n"
    )


def _filled(ctx: Context, form: str, name: str, stat: Stat) -> str:
    zone = ctx.machine.clock.local.tzinfo
    moment = time_of(stat.mtime, zone, "%Y-%m-%d %H:%M:%S.000000000 %z")
    values = {
        "n": name, "N": name, "s": stat.size, "a": f"{stat.mode & 0o7777:o}", "A": mode_of(stat),
        "U": stat.owner, "G": stat.group, "u": UIDS.get(stat.owner, 0),
        "g": UIDS.get(stat.group, 0), "F": kind_of(stat), "Y": int(stat.mtime),
        "X": int(stat.mtime), "Z": int(stat.mtime), "y": moment, "x": moment, "z": moment,
        "h": 2 if stat.is_dir else 1, "i": _inode(ctx.files.canonical(ctx.path(name))),
        "b": kilobytes(stat) * 2, "B": 512, "d": 65069, "D": "fe2d", "f": f"{stat.mode:x}",
        "t": 0, "T": 0, "m": "/", "o": 4096, "%": "%",
    }  # fmt: skip

    def each(found: re.Match[str]) -> str:
        return str(values.get(found[2], "?")).rjust(min(100, int(found[1] or 0)))

    return re.sub(r"%(\d{0,4})(.)", each, form, flags=re.DOTALL)


@command("du")
def _du(ctx: Context, argv: list[str]) -> int:
    options, code, grand = Options(ctx, argv, "d:achklmHLsxb"), 0, 0
    for name in options.arguments or ["."]:
        if not ctx.files.exists(ctx.path(name)):
            code = ctx.fail(f"{name}: No such file or directory")
            continue
        sizes, root = dict[str, int](), ctx.path(name).rstrip("/") or "/"
        paths = list(ctx.files.walk(root))
        ctx.spend(len(paths))
        for path in reversed(paths):  # what is below comes before what it is in
            stat = ctx.files.stat(path)
            own = stat.size if "b" in options else kilobytes(stat) * 1024
            sizes[path] = sizes.get(path, 0) + own
            above = posixpath.dirname(path)
            if path != root:
                sizes[above] = sizes.get(above, 0) + sizes[path]
        grand += sizes[root]
        deepest = 0 if "s" in options else options.number("d", 1 << 20)
        for path in _post_order(ctx, root):
            below = path[len(root) :].strip("/")
            depth = below.count("/") + 1 if below else 0
            wanted = ctx.files.is_dir(path) or "a" in options or not depth
            if depth <= deepest and wanted:
                shown = f"{name.rstrip('/')}/{below}" if below else name
                ctx.out(f"{_amount(options, sizes[path])}\t{shown}\n")
    if "c" in options:
        ctx.out(f"{_amount(options, grand)}\ttotal\n")
    return code


def _post_order(ctx: Context, root: str) -> list[str]:
    """All paths, a folder after what it holds."""
    result, waiting = list[str](), [root]
    while waiting:  # the reverse of this order, read backwards
        path = waiting.pop()
        result.append(path)
        if ctx.files.is_dir(path):
            waiting += [posixpath.join(path, name) for name in ctx.files.list(path)]
    return result[::-1]


def _amount(options: Options, size: int) -> str:
    if "h" in options:
        return human(size)
    if "b" in options:
        return str(size)
    return str(-(-size // (1 << 20 if "m" in options else 1024)))


@command("df")
def _df(ctx: Context, argv: list[str]) -> int:
    options, code = Options(ctx, argv, "HPkhit:a"), 0
    quota, used = ctx.files.quota, ctx.files.used
    rows = [
        ("/dev/block/dm-0", 1 << 30, 1 << 30, "/"),
        ("tmpfs", 1 << 30, 1 << 20, "/dev"),
        ("/dev/block/dm-2", quota, used, "/data"),
        ("/dev/fuse", quota, used, "/storage/emulated"),
    ]
    if options.arguments:
        chosen = list[tuple[str, int, int, str]]()
        for name in options.arguments:
            if not ctx.files.exists(ctx.path(name)):
                code = ctx.fail(f"'{name}': No such file or directory")
                continue
            path = ctx.files.canonical(ctx.path(name))
            place = 3 if path.startswith(("/sdcard", "/storage")) else 2
            chosen.append(rows[place] if path.startswith(("/sdcard", "/storage", "/data")) else
                          rows[1] if path.startswith("/dev") else rows[0])  # fmt: skip
        rows = chosen
    show = human if "h" in options else lambda size: str(size // 1024)
    table = [("Filesystem", "Size" if "h" in options else "1K-blocks", "Used",
              "Avail" if "h" in options else "Available", "Use%", "Mounted on")]  # fmt: skip
    for device, size, taken, place_name in rows:
        percent = -(-100 * taken // size)
        table.append((device, show(size), show(taken), show(size - taken), f"{percent}%",
                      place_name))  # fmt: skip
    widths = [max(len(row[column]) for row in table) for column in range(6)]
    for row in table:
        middle = " ".join(row[column].rjust(widths[column]) for column in range(1, 5))
        ctx.out(f"{row[0].ljust(widths[0])} {middle} {row[5]}\n")
    return code


@command("readlink")
def _readlink(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "fenmqz")
    options.need(1)
    if not {"f", "e", "m"} & options.values.keys():
        return 1  # there are no links here
    return _resolve(ctx, options.arguments, must_exist="e" in options, quiet=True)


@command("realpath")
def _realpath(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "emqz")
    options.need(1)
    return _resolve(ctx, options.arguments, must_exist="e" in options, quiet="q" in options)


def _resolve(ctx: Context, names: list[str], *, must_exist: bool, quiet: bool) -> int:
    code = 0
    for name in names:
        path = ctx.files.canonical(normal(ctx.cwd, name))
        if path == "/sdcard" or path.startswith("/sdcard/"):
            path = "/storage/emulated/0" + path[len("/sdcard") :]
        needed = path if must_exist else posixpath.dirname(path)
        if ctx.files.exists(needed):
            ctx.out(path + "\n")
        else:
            code = 1 if quiet else ctx.fail(f"{name}: No such file or directory")
    return code


@command("pwd")
def _pwd(ctx: Context, argv: list[str]) -> int:
    ctx.out(ctx.cwd + "\n")
    return 0


@command("file")
def _file(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "bhLs")
    options.need(1)
    width = max(map(len, options.arguments))
    for name in options.arguments:
        lead = "" if "b" in options else f"{name}:".ljust(width + 1) + " "
        path = ctx.path(name)
        if not ctx.files.exists(path):
            ctx.out(f"{lead}cannot open: No such file or directory\n")
            continue
        kind = "directory" if ctx.files.is_dir(path) else _contents(ctx.read(name))
        ctx.out(f"{lead}{kind}\n")
    return 0


def _contents(data: bytes) -> str:
    if not data:
        return "empty"
    for start, kind in (
        (b"\x89PNG\r\n\x1a\n", "PNG image data"),
        (b"\xff\xd8\xff", "JPEG image data"),
        (b"PK\x03\x04", "Zip archive data"),
        (b"SQLite format 3\0", "SQLite 3.x database"),
        (b"%PDF", "PDF document"),
    ):
        if data.startswith(start):
            return kind
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "data"
    return "data" if "\0" in text else "ASCII text" if text.isascii() else "UTF-8 text"
