"""Failures of a trainer's code, told in one line; the traceback goes to the run's log."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from ui_gym.errors import UIGymError
from ui_gym_agents.files import NoDescriptor, limit_of, telling_of
from ui_gym_agents.training.run_directory import RunDirectory


class TrainingError(UIGymError):
    """Training cannot go on: the trainer failed, or its loss is no number any more."""


@contextmanager
def blaming(what: str, directory: RunDirectory) -> Iterator[None]:
    """Turn an exception of foreign code into a TrainingError that begins with `what`.

    Errors that ui-gym raises on purpose pass: they say already what happened and what to do. A full
    disk is nobody's fault: `NotWritten`.
    """
    try:
        with telling_of(directory.path):
            yield
    except Exception as error:
        directory.let_go()  # the run ends, and has to tell of it
        known = isinstance(error, UIGymError)
        if not known or isinstance(error, NoDescriptor):  # by whom so many were opened
            directory.log(traceback.format_exc().rstrip(), logging.ERROR)
        if known:
            raise
        said = ": ".join(filter(None, (type(error).__name__, str(error), limit_of(error))))
        raise TrainingError(
            f"{what}: {said} (the traceback is in {directory.path / 'log.txt'})"
        ) from error
