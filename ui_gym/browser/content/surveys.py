"""Questionnaires for pages: what is asked, and the answers to choose from."""

from __future__ import annotations

from ui_gym.browser.content.data import table

_SCALES = table("surveys")["scales"]
SURVEYS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    subject: tuple((asked, _SCALES.get(answers, answers)) for asked, answers in written)
    for subject, written in table("surveys")["surveys"].items()
}
"""By subject: the questions, each with its answers."""
