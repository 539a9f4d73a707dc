"""What went wrong in setup steps without breaking the machine."""

from __future__ import annotations

from ui_gym.desktop.osworld.registry import Context

_NOTES = "notes of setup steps"


def note(context: Context, text: str) -> None:
    """Add a sentence, for people."""
    context.memory.setdefault(_NOTES, []).append(text)


def notes(context: Context) -> list[str]:
    """The sentences so far."""
    return list(context.memory.get(_NOTES, ()))
