"""Presets: what a known model wants, as data.

A preset is a TOML file in this folder, and its name is the file's. ``summary`` is a line of help;
the tables ``env`` and ``policy`` hold settings of a run by their keys, ``trainer.NAME`` those of
the trainer NAME. A preset goes before the defaults and after everything that was set by hand.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ui_gym.errors import UserError, nearest

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Preset:
    """What one model wants; `settings` by dotted key, `trainers` by the trainer's name."""

    name: str
    summary: str
    settings: dict[str, Any]
    trainers: dict[str, dict[str, Any]]

    def of(self, plugin: str) -> dict[str, Any]:
        """The settings of a run with a trainer, by dotted key."""
        own = {f"trainer.{key}": value for key, value in self.trainers.get(plugin, {}).items()}
        return {**self.settings, **own}


def names() -> list[str]:
    """The names of all presets."""
    return sorted(path.name.removesuffix(".toml") for path in FOLDER.glob("*.toml"))


def load(name: str) -> Preset:
    """A preset by its name.

    Raises:
        UserError: there is none; the message names the nearest.
    """
    if name not in names():
        raise UserError(f"there is no preset {name!r}. {nearest(name, names())}")
    found = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    summary = found.pop("summary")
    trainers = found.pop("trainer", {})
    settings = {f"{section}.{key}": v for section, keys in found.items() for key, v in keys.items()}
    return Preset(name, summary, settings, trainers)


def described() -> str:
    """A line for each preset: its name and what it is."""
    return "\n".join(f"  {name:<18} {load(name).summary}" for name in names())
