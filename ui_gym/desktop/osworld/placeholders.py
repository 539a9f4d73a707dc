"""What stands in a task file for something that only the machine knows."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from ui_gym.desktop.osworld.registry import EvaluationContext

HOME = "/home/user"
"""The home folder on OSWorld's machines, which task files name in full."""

_HOME = re.compile(r"(?<![\w.-])/home/user(?![\w-])")

T = TypeVar("T")


def at_home(value: T, home: str) -> T:
    """`value` with OSWorld's home folder replaced by `home`, in all texts of it. Addresses stay."""
    if home == HOME:
        return value
    replaced: Any = _replaced(value, home)
    return replaced  # type: ignore[no-any-return]


def _replaced(value: Any, home: str) -> Any:
    if isinstance(value, str):
        if value.startswith(("http://", "https://")):
            return value
        return _HOME.sub(lambda _: home, value)
    if isinstance(value, dict):
        return {key: _replaced(one, home) for key, one in value.items()}
    if isinstance(value, list):
        return [_replaced(one, home) for one in value]
    return value


def filled(text: str, context: EvaluationContext) -> str:
    """A command with OSWorld's placeholders filled in: the user's password, and the width and
    height of the screen, whole and halved, in pixels."""
    width, height = context.size
    for name, value in (
        ("CLIENT_PASSWORD", context.password),
        ("SCREEN_WIDTH_HALF", width // 2),
        ("SCREEN_HEIGHT_HALF", height // 2),
        ("SCREEN_WIDTH", width),
        ("SCREEN_HEIGHT", height),
    ):
        text = text.replace(f"{{{name}}}", str(value))
    return text


def expanded(path: str, home: str) -> str:
    """A path of the machine with ``~`` and ``$HOME`` replaced; a relative one is of the home."""
    for start in ("~", "$HOME", "${HOME}"):
        if path == start or path.startswith(f"{start}/"):
            return home + path[len(start) :]
    return path
