"""What the phone is made of and no code: tables in TOML, and SQL, which are read when asked for."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


@cache
def table(name: str) -> dict[str, Any]:
    """What ``<name>.toml`` holds. It is shared: not to be changed."""
    return tomllib.loads(text(f"{name}.toml"))


def text(name: str) -> str:
    """What a file holds."""
    return (_FOLDER / name).read_text("utf-8")
