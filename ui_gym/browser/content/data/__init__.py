"""What the families show and no code: lists and tables in TOML, which are read once."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


@cache
def table(name: str) -> dict[str, Any]:
    """What ``<name>.toml`` holds, its lists as tuples. It is shared: not to be changed."""
    written: dict[str, Any] = _frozen(tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8")))
    return written


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(part) for key, part in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
