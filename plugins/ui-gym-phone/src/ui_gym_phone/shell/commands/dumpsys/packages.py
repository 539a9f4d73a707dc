"""dumpsys package: one package, or all."""

from __future__ import annotations

from ui_gym_phone.shell.commands.dumpsys.services import mark, service, word
from ui_gym_phone.shell.commands.packages import apk_path, version_code
from ui_gym_phone.state.packages import Package
from ui_gym_phone.state.phone import Phone


@service("package")
def package(phone: Phone, words: list[str]) -> str:
    wanted = next((w for w in words if not w.startswith("-")), None)
    if wanted is None:
        return "Packages:\n" + "".join(_package(p) for p in phone.packages)
    found = phone.packages.get(wanted)
    if found is None:
        return f"Unable to find package: {wanted}\n"
    main = f"{found.name}/{found.main}"
    table = (
        "Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:\n"
        f"        {mark(main)} {main} filter {mark('filter ' + main)}\n"
        '          Action: "android.intent.action.MAIN"\n'
        '          Category: "android.intent.category.LAUNCHER"\n\n'
    )
    return (table if found.launchable else "") + "Packages:\n" + _package(found)


def _package(found: Package) -> str:
    folder = apk_path(found).rpartition("/")[0]
    requested = "".join(f"      {_whole(name)}\n" for name in found.permissions)
    flags = "[ SYSTEM HAS_CODE ALLOW_CLEAR_USER_DATA ]" if found.system else (
        "[ HAS_CODE ALLOW_CLEAR_USER_DATA ]"
    )  # fmt: skip
    granted = "".join(
        f"        {_whole(name)}: granted={word(on)}, flags=[ USER_SET]\n"
        for name, on in found.permissions.items()
    )
    return (
        f"  Package [{found.name}] ({mark(found.name)}):\n"
        f"    userId={found.uid}\n"
        f"    pkg=Package{{{mark('pkg ' + found.name)} {found.name}}}\n"
        f"    codePath={folder}\n"
        f"    dataDir=/data/user/0/{found.name}\n"
        f"    versionCode={version_code(found)} minSdk=26 targetSdk=34\n"
        f"    versionName={found.version}\n"
        f"    pkgFlags={flags}\n"
        + (f"    requested permissions:\n{requested}" if requested else "")
        + "    install permissions:\n"
        "      android.permission.INTERNET: granted=true\n"
        f"    User 0: ceDataInode=0 installed=true hidden=false suspended=false"
        f" distractionFlags=0 stopped={word(found.stopped)} notLaunched=false"
        f" enabled={0 if found.enabled else 3} instant=false virtual=false\n"
        + (f"      runtime permissions:\n{granted}" if granted else "")
        + "\n"
    )


def _whole(permission: str) -> str:
    return permission if "." in permission else f"android.permission.{permission}"
