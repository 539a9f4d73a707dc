"""Data that lies beside the code: TOML files, each of which is read once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_table(package: str, name: str) -> Mapping[str, Any]:
    """What ``NAME.toml`` in a package's folder holds, its lists as tuples.

    It is shared: not to be changed.
    """
    text = files(package).joinpath(f"{name}.toml").read_text("utf-8")
    written: dict[str, Any] = _frozen(tomllib.loads(text))
    return written


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return {key: _frozen(inner) for key, inner in value.items()}
    return value
