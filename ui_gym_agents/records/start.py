"""How a run gets its recorder. Imports no SQLAlchemy before it is needed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from ui_gym.errors import UserError
from ui_gym_agents.training.listeners import RunListener

NEEDED = ("sqlalchemy", "alembic")


def check(setting: str) -> None:
    """Refuse a setting that must not be shown or kept. `UserError` says what to do instead."""
    if not _missing(setting) and setting not in ("auto", "off"):
        from ui_gym_agents.records import target

        target.check_setting(setting)


def prepare(setting: str) -> None:
    """Find out, before anything is built or written, whether records can be kept.

    Raises:
        UserError: the setting is wrong, or a shared database cannot be used.
    """
    if _missing(setting):
        return
    from ui_gym_agents.records import target
    from ui_gym_agents.records.database import open_database

    found = target.resolve(setting, Path())
    if found is not None and not found.is_own:
        open_database(found).dispose()


def recorders(setting: str, directory: Path, note: Callable[[str], None]) -> list[RunListener]:
    """The recorder of the run in `directory`, or none.

    Raises:
        UserError: the database cannot be used.
    """
    missing = _missing(setting)
    if missing:
        note(f"no records are kept: {missing} is not installed (pip install 'ui-gym[agents]')")
        return []
    from ui_gym_agents.records import target
    from ui_gym_agents.records.recorder import RunRecorder

    found = target.resolve(setting, directory)
    return [] if found is None else [RunRecorder(found, directory, note)]


def _missing(setting: str) -> str | None:
    """What is not installed, where the run can do without; `UserError` where it cannot."""
    if setting == "off":
        return None
    missing = next((name for name in NEEDED if find_spec(name) is None), None)
    if missing and setting != "auto":
        raise UserError(f"--run.records needs {missing}; to get it: pip install 'ui-gym[agents]'")
    return missing
