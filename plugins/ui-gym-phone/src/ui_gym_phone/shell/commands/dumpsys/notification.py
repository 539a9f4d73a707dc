"""dumpsys notification: what is posted."""

from __future__ import annotations

from ui_gym_phone.shell.commands.dumpsys.services import mark, service
from ui_gym_phone.state.activities import Notification
from ui_gym_phone.state.phone import Phone

_ZEN = {
    "0": "ZEN_MODE_OFF",
    "1": "ZEN_MODE_IMPORTANT_INTERRUPTIONS",
    "2": "ZEN_MODE_NO_INTERRUPTIONS",
    "3": "ZEN_MODE_ALARMS",
}


@service("notification")
def notification(phone: Phone, words: list[str]) -> str:
    """What is written is only told with ``--noredact``, as on Android."""
    plain = "--noredact" in words
    mode = phone.setting("global", "zen_mode")
    return (
        "Current Notification Manager state:\n  Notification List:\n"
        + "".join(_record(phone, posted, plain) for posted in phone.notifications)
        + "\n  Zen Mode:\n"
        + f"    mInterruptionFilter={'1' if mode == '0' else '2'}\n"
        + f"    mZenMode={_ZEN.get(mode, mode)}\n"
    )


def uid(phone: Phone, package: str) -> int:
    found = phone.packages.get(package)
    return found.uid if found else 2000


def key(phone: Phone, posted: Notification) -> str:
    """The whole key of a notification, with its user's number at the end."""
    return f"{posted.key}|{uid(phone, posted.package)}"


def _record(phone: Phone, posted: Notification, plain: bool) -> str:
    number = uid(phone, posted.package)
    whole = key(phone, posted)
    flags = 0x2 if posted.ongoing else 0x10
    return (
        f"    NotificationRecord(0x{int(mark(whole), 16):08x}: pkg={posted.package}"
        f" user=UserHandle{{0}} id={posted.id} tag={posted.tag or 'null'} importance=3"
        f" key={whole}: Notification(channel={posted.channel} shortcut=null contentView=null"
        f" vibrate=null sound=null defaults=0x0 flags=0x{flags:x} color=0x00000000 vis=PRIVATE))\n"
        f"      uid={number} userId=0\n"
        f"      opPkg={posted.package}\n"
        f"      mCreationTimeMs={posted.when_ms}\n"
        "      extras={\n"
        f"        android.title=String {_shown(posted.title, plain)}\n"
        f"        android.text=String {_shown(posted.text, plain)}\n"
        "      }\n"
    )


def _shown(text: str, plain: bool) -> str:
    return f"({text})" if plain else f"[length={len(text)}]"
