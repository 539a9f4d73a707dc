"""pm: the package manager (AOSP ``PackageManagerShellCommand``)."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

from ui_gym_phone.shell.machine import (
    FAILED,
    options,
    phone_of,
    refused,
    subcommand,
    thrown,
)
from ui_gym_phone.shell.registry import Context, command
from ui_gym_phone.state import intents
from ui_gym_phone.state.packages import PERMISSIONS, Package
from ui_gym_phone.state.phone import LAUNCHER, SYSTEM_UI

USAGE = """Package manager (package) commands:
  help
  path [--user USER_ID] PACKAGE
  dump PACKAGE
  list features
  list packages [-f] [-d] [-e] [-s] [-3] [-i] [-l] [-u] [-U] [--show-versioncode] [FILTER]
  list permissions [-g] [-f] [-d] [-u] [-s] [GROUP]
  list users
  resolve-activity [--brief] [--components] INTENT
  install [-r] [-t] [-d] [-g] [-i PACKAGE] [--user USER_ID] [PATH]
  uninstall [-k] [--user USER_ID] PACKAGE
  clear [--user USER_ID] PACKAGE
  enable [--user USER_ID] PACKAGE
  disable-user [--user USER_ID] PACKAGE
  default-state [--user USER_ID] PACKAGE
  grant [--user USER_ID] PACKAGE PERMISSION
  revoke [--user USER_ID] PACKAGE PERMISSION
  trim-caches DESIRED_FREE_SPACE
"""

MANIFEST = "ui-gym.json"
"""The file within an APK that says what the built-in phone installs: an object with ``package``
and ``label``, and perhaps ``version``, ``icon``, ``colour`` and ``permissions``."""

MAX_MANIFEST = 65_536

FEATURES = (
    "reqGlEsVersion=0x30002", "android.hardware.bluetooth", "android.hardware.camera",
    "android.hardware.faketouch", "android.hardware.location", "android.hardware.microphone",
    "android.hardware.screen.portrait", "android.hardware.telephony",
    "android.hardware.touchscreen", "android.hardware.wifi", "android.software.input_methods",
)  # fmt: skip

_PREFIX = "android.permission."
_NEEDED = (LAUNCHER, SYSTEM_UI, "com.android.settings")
"""What the phone cannot do without."""


@command("pm")
def pm(ctx: Context, argv: list[str]) -> int:
    table = {
        "list": _list, "path": _path, "install": _install, "uninstall": _uninstall,
        "clear": _clear, "grant": _grant, "revoke": _grant, "enable": _enable,
        "disable": _enable, "disable-user": _enable, "default-state": _enable, "dump": _dump,
        "resolve-activity": _resolve, "trim-caches": _trim, "has-feature": _has_feature,
        "reset-permissions": _reset_permissions, "get-install-location": _install_location,
    }  # fmt: skip
    return subcommand(ctx, argv, table, USAGE)


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


def _list(ctx: Context, argv: list[str]) -> int:
    kind = argv[1] if len(argv) > 1 else ""
    if kind in ("packages", "package"):
        return _list_packages(ctx, argv[1:])
    if kind == "features":
        ctx.out("".join(f"feature:{name}\n" for name in FEATURES))
    elif kind == "permissions":
        names = "".join(f"permission:{_PREFIX}{name}\n" for name in sorted(PERMISSIONS))
        ctx.out(f"All Permissions:\n\n{names}")
    elif kind == "users":
        ctx.out("Users:\n\tUserInfo{0:Owner:c13} running\n")
    elif kind not in ("instrumentation", "libraries", "permission-groups"):
        return refused(ctx, f"Error: unknown list type '{kind}'" if kind else "Error: no list type")
    return 0


def _list_packages(ctx: Context, argv: list[str]) -> int:
    found, words, unknown = options(
        argv[1:], "-f -d -e -s -3 -i -l -u -U -a --show-versioncode --apex-only", "--user --uid"
    )
    if unknown:
        return refused(ctx, f"Error: Unknown option: {unknown}")
    for package in phone_of(ctx).packages:
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
        or "--apex-only" in found
    )


def _path(ctx: Context, argv: list[str]) -> int:
    _, words, _ = options(argv[1:], values="--user")
    if not words:
        return refused(ctx, "Error: no package specified")
    package = phone_of(ctx).packages.get(words[0])
    if package is None:
        return 1
    ctx.out(f"package:{apk_path(package)}\n")
    return 0


def _dump(ctx: Context, argv: list[str]) -> int:
    if len(argv) < 2:
        return refused(ctx, "Error: no package specified")
    return ctx.run(["dumpsys", "package", argv[1]])


# -- install, uninstall, clear --


def _install(ctx: Context, argv: list[str]) -> int:
    _, words, unknown = options(
        argv[1:], "-r -t -d -g -f -l -R --full --dont-kill --force-queryable", "--user -i -S --abi"
    )
    if unknown:
        return _failure(ctx, f"Error: Unknown option {unknown}", 1)
    name = words[0] if words else "-"
    try:
        data = ctx.read(name)
    except OSError:
        return _failure(
            ctx,
            f"Error: Unable to open file: {name}\nConsider using a file under /data/local/tmp/",
            1,
        )
    shown = "base.apk" if name == "-" else name
    told = manifest(data)
    if isinstance(told, str):
        return _failure(ctx, f"Failure [{told} Failed to parse {shown}]", 1)
    phone = phone_of(ctx)
    there = phone.packages.get(told.name)
    if there is not None and there.system:
        return _failure(ctx, f"Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: {told.name}]", 1)
    phone.install(told)
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


def _uninstall(ctx: Context, argv: list[str]) -> int:
    _, words, _ = options(argv[1:], "-k", "--user --versionCode")
    if not words:
        return refused(ctx, "Error: package name not specified")
    if not phone_of(ctx).uninstall(words[0]):
        return _failure(ctx, "Failure [DELETE_FAILED_INTERNAL_ERROR]", 1)
    ctx.out("Success\n")
    return 0


def _clear(ctx: Context, argv: list[str]) -> int:
    _, words, _ = options(argv[1:], "--cache-only", "--user")
    if not words:
        return refused(ctx, "Error: no package specified")
    phone = phone_of(ctx)
    package = phone.packages.get(words[0])
    if package is not None and "--cache-only" in argv:
        package.cache_size = 0
    elif package is None or not phone.clear_data(words[0]):
        return _failure(ctx, "Failed", 1)
    ctx.out("Success\n")
    return 0


def _trim(ctx: Context, argv: list[str]) -> int:
    for package in phone_of(ctx).packages:
        package.cache_size = 0
    return 0


# -- permissions and states --


def _grant(ctx: Context, argv: list[str]) -> int:
    verb = argv[0]
    _, words, _ = options(argv[1:], "--all-permissions", "--user")
    if not words:
        return refused(ctx, "Error: no package specified")
    package = phone_of(ctx).packages.get(words[0])
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


def _reset_permissions(ctx: Context, argv: list[str]) -> int:
    for package in phone_of(ctx).packages:
        if not package.system:
            package.permissions = dict.fromkeys(package.permissions, False)
    return 0


_STATES = {
    "enable": "enabled",
    "disable": "disabled",
    "disable-user": "disabled-user",
    "default-state": "default",
}


def _enable(ctx: Context, argv: list[str]) -> int:
    verb = argv[0]
    _, words, _ = options(argv[1:], values="--user")
    if not words:
        return refused(ctx, "Error: no package or component specified")
    phone = phone_of(ctx)
    package = phone.packages.get(words[0])
    if package is None:
        return thrown(ctx, verb, "IllegalArgumentException", f"Unknown package: {words[0]}")
    on = verb in ("enable", "default-state")
    if not on and package.name in _NEEDED:
        return thrown(
            ctx, verb, "SecurityException", f"Cannot disable a protected package: {package.name}"
        )
    if not on:
        phone.force_stop(package.name)
    package.enabled = on
    ctx.out(f"Package {package.name} new state: {_STATES[verb]}\n")
    return 0


# -- what is there --


def _resolve(ctx: Context, argv: list[str]) -> int:
    from ui_gym_phone.shell.intent_words import read

    brief = "--brief" in argv or "--components" in argv
    intent, fault = read([w for w in argv[1:] if w not in ("--brief", "--components")])
    if intent is None:
        return refused(ctx, fault)
    phone = phone_of(ctx)
    target = intents.resolve(phone, intent)
    if intents.home(intent):
        target = intents.IntentTarget(LAUNCHER, phone.launcher.cls, {})
    if target is None:
        ctx.out("No activity found\n")
        return 0
    if "--components" not in argv:
        ctx.out("priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n")
    name = phone.packages[target.package].component(target.cls)
    if brief:
        ctx.out(f"{intents.short_component(target.package, name)}\n")
    else:
        ctx.out(f"ActivityInfo:\n  name={name}\n  packageName={target.package}\n")
    return 0


def _has_feature(ctx: Context, argv: list[str]) -> int:
    there = len(argv) > 1 and argv[1] in FEATURES
    ctx.out(f"{str(there).lower()}\n")
    return 0 if there else 1


def _install_location(ctx: Context, argv: list[str]) -> int:
    ctx.out("0[auto]\n")
    return 0


def _failure(ctx: Context, message: str, code: int = FAILED) -> int:
    ctx.out(f"{message}\n")
    return code
