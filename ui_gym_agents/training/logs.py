"""The log of a run: ``log.txt``, which takes in what Python's own logging is told as well.

The lines are text, or JSON (``at`` in UTC, ``level``, ``message``), from a level on. Of other
packages' loggers, only warnings and worse are kept: what they say below that is about themselves.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunSettings

OURS = "ui_gym"
"""What the names of our loggers begin with, those of plugins too."""


def configure(directory: RunDirectory, settings: RunSettings) -> None:
    """Have a run's folder log as its settings say."""
    directory.log_level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    directory.log_format = settings.log_format


class RunLogHandler(logging.Handler):
    """Writes what is logged into the log of a run."""

    def __init__(self, directory: RunDirectory) -> None:
        super().__init__(directory.log_level)
        self._directory = directory

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING or record.name.startswith(OURS)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._directory.log(f"{record.name}: {self.format(record)}", record.levelno)
        except Exception:
            self.handleError(record)


@contextmanager
def logging_into(directory: RunDirectory) -> Iterator[None]:
    """Take into a run's log what is logged meanwhile, and Python's own warnings.

    Warnings go to the standard error as well, as they do where nobody configures logging.
    """
    root = logging.getLogger()
    handlers: list[logging.Handler] = [RunLogHandler(directory)]
    if not root.handlers:
        shown = logging.StreamHandler()
        shown.setLevel(logging.WARNING)
        handlers.append(shown)
    before = root.level
    root.setLevel(min(before, directory.log_level))
    for handler in handlers:
        root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        for handler in handlers:
            root.removeHandler(handler)
        root.setLevel(before)
