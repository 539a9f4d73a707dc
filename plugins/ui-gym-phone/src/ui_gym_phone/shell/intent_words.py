"""The words that name an intent on a command line (AOSP ``Intent.parseCommandArgs``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ui_gym_phone.state.intents import ACTION, CATEGORY, Intent


def _truth(value: str) -> bool:
    if value.lower() in ("true", "t", "1"):
        return True
    if value.lower() in ("false", "f", "0"):
        return False
    raise ValueError(value)


def _parts(read: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    return lambda value: [read(part) for part in value.split(",")]


_whole: Callable[[str], int] = lambda value: int(value, 0)  # noqa: E731

_EXTRAS: dict[str, Callable[[str], Any]] = {
    "-e": str, "--es": str, "--ei": _whole, "--el": _whole, "--ef": float, "--ed": float,
    "--ez": _truth, "--eu": str, "--ecn": str, "--eia": _parts(_whole), "--eial": _parts(_whole),
    "--ela": _parts(_whole), "--elal": _parts(_whole), "--efa": _parts(float),
    "--efal": _parts(float), "--esa": _parts(str), "--esal": _parts(str),
}  # fmt: skip
_VALUED = ("-a", "-d", "-t", "-c", "-p", "-n", "-f", "-i", "--selector")
_IGNORED = (
    "-i", "--user", "--display", "--windowingMode", "--activityType", "--task", "-R", "-P",
    "--receiver-permission", "--start-profiler", "--sampling",
)  # fmt: skip
_FLAGS = {
    "--activity-brought-to-front": 0x00400000,
    "--activity-clear-top": 0x04000000,
    "--activity-clear-when-task-reset": 0x00080000,
    "--activity-clear-task": 0x00008000,
    "--activity-exclude-from-recents": 0x00800000,
    "--activity-multiple-task": 0x08000000,
    "--activity-no-animation": 0x00010000,
    "--activity-no-history": 0x40000000,
    "--activity-reorder-to-front": 0x00020000,
    "--activity-reset-task-if-needed": 0x00200000,
    "--activity-single-top": 0x20000000,
    "--activity-task-on-home": 0x00004000,
    "--include-stopped-packages": 0x00000020,
    "--grant-read-uri-permission": 0x00000001,
    "--grant-write-uri-permission": 0x00000002,
    "--receiver-foreground": 0x10000000,
}
CLEAR_TASK = 0x00008000
CLEAR_TOP = 0x04000000


def read(words: list[str]) -> tuple[Intent | None, str]:
    """(intent, "") of the words, or (None, what is wrong)."""
    intent = Intent()
    left = list(words)
    while left:
        word = left.pop(0)
        if word in _FLAGS:
            intent.flags |= _FLAGS[word]
        elif word in _EXTRAS or word == "--esn":
            need = 1 if word == "--esn" else 2
            if len(left) < need:
                return None, f'Error: Argument expected after "{left[-1] if left else word}"'
            key = left.pop(0)
            try:
                intent.extras[key] = None if need == 1 else _EXTRAS[word](left.pop(0))
            except ValueError as error:
                return None, f"Error: Invalid value of extra {key}: {error}"
        elif word in _VALUED or word in _IGNORED:
            if not left:
                return None, f'Error: Argument expected after "{word}"'
            fault = _set(intent, word, left.pop(0))
            if fault:
                return None, fault
        elif word.startswith("-"):
            return None, f"Error: Unknown option: {word}"
        else:
            _free(intent, word)
    return intent, ""


def _set(intent: Intent, word: str, value: str) -> str:
    """Set one field; returns what is wrong with it."""
    if word == "-a":
        intent.action = value
    elif word == "-d":
        intent.data = value
    elif word == "-t":
        intent.type = value
    elif word == "-c":
        intent.categories = (*intent.categories, value)
    elif word == "-p":
        intent.package = value
    elif word == "-n":
        intent.component = component(value)
        if intent.component is None:
            return f"Error: Bad component name: {value}"
    elif word == "-f":
        try:
            intent.flags |= int(value, 0)
        except ValueError:
            return f"Error: Bad flags: {value}"
    return ""


def _free(intent: Intent, word: str) -> None:
    """A word by itself: a URI, a component, or a package whose main activity is meant."""
    if ":" in word:
        intent.data = word
        intent.action = intent.action or ACTION + "VIEW"
    elif "/" in word:
        intent.component = component(word)
    else:
        intent.package = word
        intent.action = intent.action or ACTION + "MAIN"
        intent.categories = intent.categories or (CATEGORY + "LAUNCHER",)


def component(name: str) -> tuple[str, str] | None:
    """(package, full class) of ``package/.Class``; None where it is none."""
    package, slash, cls = name.partition("/")
    if not (package and slash and cls):
        return None
    return package, package + cls if cls.startswith(".") else cls
