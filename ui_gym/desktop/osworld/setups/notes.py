"""What went wrong in setup steps without breaking the machine."""

from __future__ import annotations

from ui_gym.desktop.osworld.registry import EvaluationContext

_NOTES = "notes of setup steps"


def note(context: EvaluationContext, text: str) -> None:
    """Add a sentence, for people."""
    context.memory.setdefault(_NOTES, []).append(text)


def notes(context: EvaluationContext) -> list[str]:
    """The sentences so far."""
    return list(context.memory.get(_NOTES, ()))
