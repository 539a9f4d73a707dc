"""pm: the package manager (AOSP ``PackageManagerShellCommand``)."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

from ui_gym_phone.data import table
from ui_gym_phone.shell.framework import (
    options,
    refused,
    subcommand,
    thrown,
    usage,
)
from ui_gym_phone.shell.registry import CommandContext, command
from ui_gym_phone.state.packages import PERMISSIONS, Package
from ui_gym_phone.state.phone import LAUNCHER, SYSTEM_UI

MANIFEST = "ui-gym.json"
"""The file within an APK that says what the built-in phone installs: an object with ``package``
and ``label``, and perhaps ``version``, ``icon``, ``colour`` and ``permissions``."""

MAX_MANIFEST = 65_536

_PREFIX = "android.permission."
_NEEDED = (LAUNCHER, SYSTEM_UI, "com.android.settings")
"""What the phone cannot do without."""


@command("pm")
def pm(ctx: CommandContext, argv: list[str]) -> int:
    commands = {
        "list": _list, "path": _path, "install": _install, "uninstall": _uninstall,
        "clear": _clear, "grant": _grant, "revoke": _grant, "enable": _enable,
        "disable": _enable, "disable-user": _enable, "default-state": _enable, "dump": _dump,
    }  # fmt: skip
    return subcommand(ctx, argv, commands, usage("pm"))


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


def _list(ctx: CommandContext, argv: list[str]) -> int:
    kind = argv[1] if len(argv) > 1 else ""
    if kind in ("packages", "package"):
        return _list_packages(ctx, argv[1:])
    if kind == "features":
        ctx.out("".join(f"feature:{name}\n" for name in table("shell_names")["features"]))
    elif kind == "permissions":
        names = "".join(f"permission:{_PREFIX}{name}\n" for name in sorted(PERMISSIONS))
        ctx.out(f"All Permissions:\n\n{names}")
    elif kind == "users":
        ctx.out("Users:\n\tUserInfo{0:Owner:c13} running\n")
    elif kind not in ("instrumentation", "libraries", "permission-groups"):
        return refused(ctx, f"Error: unknown list type '{kind}'" if kind else "Error: no list type")
    return 0


def _list_packages(ctx: CommandContext, argv: list[str]) -> int:
    flags = "-f -d -e -s -3 -i -l -u -U -a --show-versioncode"
    found, words, unknown = options(argv[1:], flags, "--user --uid")
    if unknown:
        return refused(ctx, f"Error: Unknown option: {unknown}")
    for package in ctx.phone.packages:
        if (words and words[0] not in package.name) or not _listed(package, found):
            continue
        where = f"{apk_path(package)}=" if "-f" in found else ""
        line = f"package:{where}{package.name}"
        if "--show-versioncode" in found:
            line += f" versionCode:{version_code(package)}"
        if "-i" in found:
            line += f"  installer={'null' if package.system else 'com.android.vending'}"
        if "-U" in found:
            line += f" uid:{package.uid}"
        ctx.out(line + "\n")
    return 0


def _listed(package: Package, found: dict[str, str]) -> bool:
    return not (
        ("-3" in found and package.system)
        or ("-s" in found and not package.system)
        or ("-d" in found and package.enabled)
        or ("-e" in found and not package.enabled)
        or ("--uid" in found and found["--uid"] != str(package.uid))
    )


def _path(ctx: CommandContext, argv: list[str]) -> int:
    _, words, _ = options(argv[1:], values="--user")
    if not words:
        return refused(ctx, "Error: no package specified")
    package = ctx.phone.packages.get(words[0])
    if package is None:
        return 1
    ctx.out(f"package:{apk_path(package)}\n")
    return 0


def _dump(ctx: CommandContext, argv: list[str]) -> int:
    if len(argv) < 2:
        return refused(ctx, "Error: no package specified")
    return ctx.run(["dumpsys", "package", argv[1]])


# -- install, uninstall, clear --


def _install(ctx: CommandContext, argv: list[str]) -> int:
    flags = "-r -t -d -g -f -l -R --full --dont-kill --force-queryable"
    _, words, unknown = options(argv[1:], flags, "--user -i -S --abi")
    if unknown:
        return _failure(ctx, f"Error: Unknown option {unknown}")
    name = words[0] if words else "-"
    try:
        data = ctx.read(name)
    except OSError:
        hint = "Consider using a file under /data/local/tmp/"
        return _failure(ctx, f"Error: Unable to open file: {name}\n{hint}")
    told = manifest(data)
    if isinstance(told, str):
        shown = "base.apk" if name == "-" else name
        return _failure(ctx, f"Failure [{told} Failed to parse {shown}]")
    there = ctx.phone.packages.get(told.name)
    if there is not None and there.system:
        return _failure(ctx, f"Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: {told.name}]")
    ctx.phone.install(told)
    ctx.out("Success\n")
    return 0


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


def _uninstall(ctx: CommandContext, argv: list[str]) -> int:
    _, words, _ = options(argv[1:], "-k", "--user --versionCode")
    if not words:
        return refused(ctx, "Error: package name not specified")
    if not ctx.phone.uninstall(words[0]):
        return _failure(ctx, "Failure [DELETE_FAILED_INTERNAL_ERROR]")
    ctx.out("Success\n")
    return 0


def _clear(ctx: CommandContext, argv: list[str]) -> int:
    _, words, _ = options(argv[1:], "--cache-only", "--user")
    if not words:
        return refused(ctx, "Error: no package specified")
    package = ctx.phone.packages.get(words[0])
    if package is not None and "--cache-only" in argv:
        package.cache_size = 0
    elif package is None or not ctx.phone.clear_data(words[0]):
        return _failure(ctx, "Failed")
    ctx.out("Success\n")
    return 0


# -- permissions and states --


def _grant(ctx: CommandContext, argv: list[str]) -> int:
    verb = argv[0]
    _, words, _ = options(argv[1:], "--all-permissions", "--user")
    if not words:
        return refused(ctx, "Error: no package specified")
    package = ctx.phone.packages.get(words[0])
    if package is None:
        return thrown(ctx, verb, "IllegalArgumentException", f"Unknown package: {words[0]}")
    names = [w.removeprefix(_PREFIX) for w in words[1:]]
    if "--all-permissions" in argv:
        names = [*package.permissions]
    elif not names:
        return refused(ctx, "Error: no permission specified")
    for name in names:
        if name not in package.permissions:
            return thrown(
                ctx, verb, "SecurityException",
                f"Package {package.name} has not requested permission {_whole(name)}",
            )  # fmt: skip
        package.permissions[name] = verb == "grant"
    return 0


def _whole(permission: str) -> str:
    return permission if "." in permission else _PREFIX + permission


_STATES = {
    "enable": "enabled",
    "disable": "disabled",
    "disable-user": "disabled-user",
    "default-state": "default",
}


def _enable(ctx: CommandContext, argv: list[str]) -> int:
    verb = argv[0]
    _, words, _ = options(argv[1:], values="--user")
    if not words:
        return refused(ctx, "Error: no package or component specified")
    package = ctx.phone.packages.get(words[0])
    if package is None:
        return thrown(ctx, verb, "IllegalArgumentException", f"Unknown package: {words[0]}")
    on = verb in ("enable", "default-state")
    if not on:
        if package.name in _NEEDED:
            why = f"Cannot disable a protected package: {package.name}"
            return thrown(ctx, verb, "SecurityException", why)
        ctx.phone.force_stop(package.name)
    package.enabled = on
    ctx.out(f"Package {package.name} new state: {_STATES[verb]}\n")
    return 0


def _failure(ctx: CommandContext, message: str) -> int:
    ctx.out(f"{message}\n")
    return 1
