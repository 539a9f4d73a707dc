"""What the families show and no code: lists and tables in TOML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ui_gym.contract.tables import read_table


def table(name: str) -> Mapping[str, Any]:
    """What ``<name>.toml`` holds; see `read_table`."""
    return read_table(__package__, name)
