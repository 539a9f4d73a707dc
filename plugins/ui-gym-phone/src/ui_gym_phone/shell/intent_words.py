"""The words that name an intent on a command line (AOSP ``Intent.parseCommandArgs``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ui_gym_phone.data import table
from ui_gym_phone.state.intents import ACTION, CATEGORY, Intent


def _truth(value: str) -> bool:
    if value.lower() in ("true", "t", "1"):
        return True
    if value.lower() in ("false", "f", "0"):
        return False
    raise ValueError(value)


def _whole(value: str) -> int:
    return int(value, 0)


def _parts(read: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    return lambda value: [read(part) for part in value.split(",")]


_EXTRAS: dict[str, Callable[[str], Any]] = {
    "-e": str, "--es": str, "--ei": _whole, "--el": _whole, "--ef": float, "--ed": float,
    "--ez": _truth, "--eu": str, "--ecn": str, "--eia": _parts(_whole), "--ela": _parts(_whole),
    "--efa": _parts(float), "--esa": _parts(str), "--esal": _parts(str),
}  # fmt: skip
_FIELDS = {"-a": "action", "-d": "data", "-t": "type", "-p": "package"}
_IGNORED = ("-i", "--user", "--display", "--windowingMode", "-R", "--receiver-permission")
CLEAR_TASK = 0x00008000
CLEAR_TOP = 0x04000000


class IntentFault(Exception):
    """Words that are no intent; the message is Android's."""


def read(words: list[str]) -> Intent:
    """The intent of the words. Raises `IntentFault`."""
    intent, left, flags = Intent(), list(words), table("shell_names")["intent_flags"]

    def value(word: str) -> str:
        if not left:
            raise IntentFault(f'Error: Argument expected after "{word}"')
        return left.pop(0)

    while left:
        word = left.pop(0)
        if word in flags:
            intent.flags |= flags[word]
        elif word == "--esn":
            intent.extras[value(word)] = None
        elif word in _EXTRAS:
            key = value(word)
            try:
                intent.extras[key] = _EXTRAS[word](value(key))
            except ValueError as error:
                raise IntentFault(f"Error: Invalid value of extra {key}: {error}") from None
        elif word in _FIELDS:
            setattr(intent, _FIELDS[word], value(word))
        elif word == "-c":
            intent.categories = (*intent.categories, value(word))
        elif word == "-n":
            name = value(word)
            intent.component = component(name)
            if intent.component is None:
                raise IntentFault(f"Error: Bad component name: {name}")
        elif word == "-f":
            given = value(word)
            try:
                intent.flags |= int(given, 0)
            except ValueError:
                raise IntentFault(f"Error: Bad flags: {given}") from None
        elif word in _IGNORED:
            value(word)
        elif word.startswith("-"):
            raise IntentFault(f"Error: Unknown option: {word}")
        else:
            _free(intent, word)
    return intent


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
