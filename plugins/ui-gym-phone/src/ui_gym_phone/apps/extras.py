"""Extras: what an intent brought, read without trust: a shell can hand over anything."""

from __future__ import annotations

from ui_gym_phone.ui.app import Ui


def row_id(ui: Ui) -> int:
    """The extra `id`, the row that a screen is about; 0 is none."""
    return number(ui, "id")


def number(ui: Ui, key: str, default: int = 0) -> int:
    """A whole number; `default` where there is none."""
    try:
        return int(str(ui.extras.get(key, default)))
    except ValueError:
        return default


def text(ui: Ui, key: str) -> str:
    """A text; empty where there is none."""
    return str(ui.extras.get(key, "") or "")
