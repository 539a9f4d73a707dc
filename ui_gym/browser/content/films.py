"""Films of a video player, and how it may be set."""

from __future__ import annotations

from typing import NamedTuple

from ui_gym.browser.content.data import table


class ShownFilm(NamedTuple):
    title: str
    by: str
    chapters: tuple[str, ...]
    lines: tuple[str, ...]
    """What is spoken, in each language; nothing in the first, which stands for none."""


FILMS = tuple(ShownFilm(**written) for written in table("films")["films"])
MOST_CHAPTERS = 6

SETTINGS = ("subtitles", "speed", "volume")
OPTIONS: tuple[tuple[str, ...], ...] = (
    table("films")["languages"],
    table("films")["speeds"],
    tuple(f"{percent} %" for percent in range(0, 101, 10)),
)
"""What each of the settings can be, as the page shows it."""
COMPACT_OPTIONS: tuple[tuple[str, ...], ...] = (
    ("English", "German", "French"),
    ("Slow", "Normal", "Fast"),
    tuple(str(step) for step in range(10)),
)
FACTORS = {"Slow": 0.5, "Normal": 1.0, "Fast": 2.0}


def factor(speed: str) -> float:
    """How many seconds of the film go by in one second."""
    return FACTORS[speed] if speed in FACTORS else float(speed.rstrip("×"))


def clock(seconds: int) -> str:
    """``2:05``."""
    return f"{seconds // 60}:{seconds % 60:02}"


def told(setting: str, option: str) -> str:
    """How a goal says what a setting is to be."""
    if setting == "subtitles":
        return "no subtitles" if option == "Off" else f"{option} subtitles"
    return f"the speed at {option}" if setting == "speed" else f"the volume at {option}"
