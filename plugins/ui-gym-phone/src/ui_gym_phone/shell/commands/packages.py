"""pm: the package manager (AOSP ``PackageManagerShellCommand``)."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

from ui_gym_phone.data import table
from ui_gym_phone.shell.framework import framework_command, refused, thrown
from ui_gym_phone.shell.registry import CommandContext, CommandFault
from ui_gym_phone.state.packages import PERMISSIONS, Package
from ui_gym_phone.state.phone import LAUNCHER, SYSTEM_UI

MANIFEST = "ui-gym.json"
"""The file within an APK that says what the built-in phone installs: an object with ``package``
and ``label``, and perhaps ``version``, ``icon``, ``colour`` and ``permissions``."""

MAX_MANIFEST = 65_536

_PREFIX = "android.permission."
_NEEDED = (LAUNCHER, SYSTEM_UI, "com.android.settings")
"""What the phone cannot do without."""


pm = framework_command("pm")


def apk_path(package: Package) -> str:
    """Where a package's APK lies: the parts that Android makes up follow from its name."""
    if package.system:
        folder = package.label.replace(" ", "")
        return f"/system/app/{folder}/{folder}.apk"
    first, second = (
        hashlib.sha256(f"{package.name} {i}".encode()).hexdigest()[:22] for i in range(2)
    )
    return f"/data/app/~~{first}==/{package.name}-{second}==/base.apk"


def version_code(package: Package) -> int:
    """A number that grows with the version: ``2.4.1`` -> 20401."""
    parts = [int(p[:4]) if p.isdecimal() else 0 for p in package.version.split(".")[:3]]
    parts += [0] * (3 - len(parts))
    return max(1, parts[0] * 10_000 + parts[1] * 100 + parts[2])


# -- list --


@pm("list", flags="-f -d -e -s -3 -i -l -u -U -a --show-versioncode", valued="--user --uid",
    needs="Error: no list type")  # fmt: skip
def _list(ctx: CommandContext) -> None:
    kind, *ctx.words = ctx.words
    if kind in ("packages", "package"):
        _list_packages(ctx)
    elif kind == "features":
        ctx.out("".join(f"feature:{name}\n" for name in table("shell_names")["features"]))
    elif kind == "permissions":
        names = "".join(f"permission:{_PREFIX}{name}\n" for name in sorted(PERMISSIONS))
        ctx.out(f"All Permissions:\n\n{names}")
    elif kind == "users":
        ctx.out("Users:\n\tUserInfo{0:Owner:4c13} running\n")
    elif kind not in ("instrumentation", "libraries", "permission-groups"):
        raise refused(ctx, f"Error: unknown list type '{kind}'")


def _list_packages(ctx: CommandContext) -> None:
    if ctx.unknown:
        raise refused(ctx, f"Error: Unknown option: {ctx.unknown}")
    for package in ctx.phone.packages:
        if (ctx.words and ctx.words[0] not in package.name) or not _listed(package, ctx):
            continue
        where = f"{apk_path(package)}=" if "-f" in ctx.options else ""
        line = f"package:{where}{package.name}"
        if "--show-versioncode" in ctx.options:
            line += f" versionCode:{version_code(package)}"
        if "-i" in ctx.options:
            line += f"  installer={'null' if package.system else 'com.android.vending'}"
        if "-U" in ctx.options:
            line += f" uid:{package.uid}"
        ctx.out(line + "\n")


def _listed(package: Package, ctx: CommandContext) -> bool:
    return not (
        ("-3" in ctx.options and package.system)
        or ("-s" in ctx.options and not package.system)
        or ("-d" in ctx.options and package.enabled)
        or ("-e" in ctx.options and not package.enabled)
        or ctx.text("--uid", str(package.uid)) != str(package.uid)
    )


@pm("path", valued="--user", needs="Error: no package specified")
def _path(ctx: CommandContext) -> None:
    package = ctx.phone.packages.get(ctx.words[0])
    if package is None:
        ctx.code = 1
    else:
        ctx.out(f"package:{apk_path(package)}\n")


@pm("dump")
def _dump(ctx: CommandContext) -> None:
    if not ctx.words:
        raise refused(ctx, "Error: no package specified")
    ctx.code = ctx.run(["dumpsys", "package", ctx.words[0]])


# -- install, uninstall, clear --


def _failed(ctx: CommandContext, message: str) -> CommandFault:
    """Say on the standard output why not; the result is to be raised."""
    ctx.out(f"{message}\n")
    ctx.code = 1
    return CommandFault()


@pm("install", flags="-r -t -d -g -f -l -R --full --dont-kill --force-queryable",
    valued="--user -i -S --abi")  # fmt: skip
def _install(ctx: CommandContext) -> None:
    if ctx.unknown:
        raise _failed(ctx, f"Error: Unknown option {ctx.unknown}")
    name = [*ctx.words, "-"][0]
    try:
        data = ctx.read(name, _size(ctx))
    except OSError:
        hint = "Consider using a file under /data/local/tmp/"
        raise _failed(ctx, f"Error: Unable to open file: {name}\n{hint}") from None
    _put(ctx, data, "base.apk" if name == "-" else name)


def _size(ctx: CommandContext) -> int | None:
    """How many bytes a client says that it sends: it does not end its stream after them."""
    told = ctx.text("-S")
    return int(told) if told.isdecimal() and len(told) < 12 else None


def _put(ctx: CommandContext, data: bytes, shown: str) -> None:
    """Install what an APK holds."""
    told = manifest(data)
    if isinstance(told, str):
        raise _failed(ctx, f"Failure [{told} Failed to parse {shown}]")
    there = ctx.phone.packages.get(told.name)
    if there is not None and there.system:
        raise _failed(ctx, f"Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: {told.name}]")
    ctx.phone.install(told)
    ctx.out("Success\n")


# -- sessions: `adb install-multiple` --

_SESSIONS = "/data/app"


def _session(ctx: CommandContext, word: str) -> str:
    """The folder in which a session keeps what it was given."""
    folder = f"{_SESSIONS}/vmdl{word}.tmp"
    if not word.isdecimal() or not ctx.machine.files.is_dir(folder):
        raise thrown(ctx, ctx.verb, "SecurityException", f"Caller has no access to session {word}")
    return folder


@pm("install-create", flags="-r -t -d -g -f -l -R --full --dont-kill --multi-package --staged",
    valued="--user -i -S -p --abi --install-location")  # fmt: skip
def _create(ctx: CommandContext) -> None:
    taken = [n for n in ctx.machine.files.list(_SESSIONS) if n.startswith("vmdl")]
    number = 1_000_001 + len(taken) + ctx.phone.clock.ms // 1000 % 1_000_000
    while f"vmdl{number}.tmp" in taken:
        number += 1
    ctx.machine.files.mkdir(f"{_SESSIONS}/vmdl{number}.tmp")
    ctx.out(f"Success: created install session [{number}]\n")


@pm("install-write", valued="-S", needs="Error: no session given")
def _write(ctx: CommandContext) -> None:
    """``install-write [-S BYTES] SESSION NAME [PATH|-]``."""
    folder = _session(ctx, ctx.words[0])
    name = ctx.words[1] if len(ctx.words) > 1 else "base.apk"
    path = ctx.words[2] if len(ctx.words) > 2 else "-"
    data = ctx.read(path, _size(ctx))
    ctx.machine.files.write(f"{folder}/{name.replace('/', '_')}", data)
    ctx.out(f"Success: streamed {len(data)} bytes\n")


@pm("install-commit", flags="-i", valued="--user", needs="Error: no session given")
def _commit(ctx: CommandContext) -> None:
    """The first APK that says what it is gets installed; the others are parts of it."""
    folder, files = _session(ctx, ctx.words[0]), ctx.machine.files
    apks = {name: files.read(f"{folder}/{name}") for name in files.list(folder)}
    files.rmtree(folder)
    if not apks:
        raise _failed(ctx, "Failure [INSTALL_FAILED_INVALID_APK: No packages staged]")
    base = next(
        (n for n, data in apks.items() if isinstance(manifest(data), Package)), next(iter(apks))
    )
    _put(ctx, apks[base], base)


@pm("install-abandon", needs="Error: no session given")
def _abandon(ctx: CommandContext) -> None:
    ctx.machine.files.rmtree(_session(ctx, ctx.words[0]))
    ctx.out("Success\n")


def manifest(apk: bytes) -> Package | str:
    """The package that an APK holds, or why there is none: Android's code of the error."""
    if not apk.startswith(b"PK"):
        return "INSTALL_PARSE_FAILED_NOT_APK:"
    try:
        with zipfile.ZipFile(io.BytesIO(apk)) as file, file.open(MANIFEST) as entry:
            text = entry.read(MAX_MANIFEST + 1)
        told = json.loads(text) if len(text) <= MAX_MANIFEST else None
    except KeyError:
        return "INSTALL_PARSE_FAILED_UNEXPECTED_EXCEPTION:"
    except (OSError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile):
        told = None
    if not isinstance(told, dict) or not _sound(told):
        return "INSTALL_PARSE_FAILED_MANIFEST_MALFORMED:"
    permissions = [str(p).removeprefix(_PREFIX) for p in told.get("permissions", [])]
    return Package(
        told["package"], told["label"], system=False, version=str(told.get("version", "1.0")),
        icon=str(told.get("icon", "android")), colour=str(told.get("colour", "#5f6368")),
        permissions=dict.fromkeys(permissions, False), stopped=True, app_size=len(apk),
        data_size=0, cache_size=0,
    )  # fmt: skip


def _sound(told: dict[str, Any]) -> bool:
    name, label = told.get("package"), told.get("label")
    permissions = told.get("permissions", [])
    named = isinstance(name, str) and "." in name and name.replace(".", "").isidentifier()
    return named and isinstance(label, str) and isinstance(permissions, list)


@pm("uninstall", flags="-k", valued="--user --versionCode",
    needs="Error: package name not specified")  # fmt: skip
def _uninstall(ctx: CommandContext) -> None:
    if not ctx.phone.uninstall(ctx.words[0]):
        raise _failed(ctx, "Failure [DELETE_FAILED_INTERNAL_ERROR]")
    ctx.out("Success\n")


@pm("clear", flags="--cache-only", valued="--user", needs="Error: no package specified")
def _clear(ctx: CommandContext) -> None:
    package = ctx.phone.packages.get(ctx.words[0])
    if package is not None and "--cache-only" in ctx.options:
        package.cache_size = 0
    elif package is None or not ctx.phone.clear_data(ctx.words[0]):
        raise _failed(ctx, "Failed")
    ctx.out("Success\n")


# -- permissions and states --


def _known(ctx: CommandContext) -> Package:
    """The package that is named."""
    package = ctx.phone.packages.get(ctx.words[0])
    if package is None:
        why = f"Unknown package: {ctx.words[0]}"
        raise thrown(ctx, ctx.verb, "IllegalArgumentException", why)
    return package


@pm("grant", "revoke", flags="--all-permissions", valued="--user",
    needs="Error: no package specified")  # fmt: skip
def _grant(ctx: CommandContext) -> None:
    package = _known(ctx)
    names = [w.removeprefix(_PREFIX) for w in ctx.words[1:]]
    if "--all-permissions" in ctx.options:
        names = [*package.permissions]
    elif not names:
        raise refused(ctx, "Error: no permission specified")
    for name in names:
        if name not in package.permissions:
            whole = name if "." in name else _PREFIX + name
            why = f"Package {package.name} has not requested permission {whole}"
            raise thrown(ctx, ctx.verb, "SecurityException", why)
        package.grant(name, ctx.verb == "grant")


_STATES = {
    "enable": "enabled",
    "disable": "disabled",
    "disable-user": "disabled-user",
    "default-state": "default",
}


@pm(*_STATES, valued="--user", needs="Error: no package or component specified")
def _enable(ctx: CommandContext) -> None:
    package = _known(ctx)
    package_on = ctx.verb in ("enable", "default-state")
    if not package_on:
        if package.name in _NEEDED:
            why = f"Cannot disable a protected package: {package.name}"
            raise thrown(ctx, ctx.verb, "SecurityException", why)
        ctx.phone.force_stop(package.name)
    package.enabled = package_on
    ctx.out(f"Package {package.name} new state: {_STATES[ctx.verb]}\n")
