"""Who looks after a run that nobody watches: alerts, room on the disk, commands of the user."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ui_gym_agents.training.alerts import Alerts, Tell
from ui_gym_agents.training.commands import Commands
from ui_gym_agents.training.disk import DiskWatch
from ui_gym_agents.training.listeners import RunListener
from ui_gym_agents.training.settings import RunSettings


def guards(
    settings: RunSettings, directory: Path, note: Callable[[str], None], tell: Tell
) -> list[RunListener]:
    """The listeners that look after the run in `directory`; `tell` gives an alert to all listeners.

    They belong behind the others: at the end, a command finds what those have written.
    """

    def noted(step: int, rule: str, message: str) -> None:
        note(f"alert: {message}")
        tell(step, rule, message)

    commands = Commands(directory, note, on_end=settings.on_end, on_alert=settings.on_alert)
    return [DiskWatch(directory, noted), Alerts(settings, noted), commands]
