"""Ingest: the files of a run into a database, live or later, from where its bookmarks stand.

The files are the truth, and the database is an index of them that this module builds: the event log
and the files of episodes, which are only ever appended to. How far each was read stands in the
database itself (`models.BookmarkRow`), written in the transaction that writes the rows, so that
nothing is lost or doubled by an outage, a kill, or reading again from the start.

`ui_gym_agents.training.run_lines` gives the lines in an order in which what a resumed run makes
void is dropped before what is played anew is taken in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError

from ui_gym.errors import UserError
from ui_gym_agents import files, store
from ui_gym_agents.records.database import own_words
from ui_gym_agents.records.models import TABLES
from ui_gym_agents.records.rows import Rows
from ui_gym_agents.training import event_log
from ui_gym_agents.training.run_lines import FileLine, unread

BATCH = 256
"""Most lines in one transaction."""
REFUSED = "records.refused.jsonl"
"""In a run's folder: which of its lines the database does not take, for a person to look at."""

Refuse = Callable[[FileLine, BaseException], None]


def ingest(engine: Engine, directory: Path, refuse: Refuse | None = None) -> int:
    """Take in what the database does not hold yet; returns how many episodes came.

    A line that the database will not take for its content goes to `REFUSED` and to `refuse`, and
    holds up nothing.

    Raises:
        SQLAlchemyError, OSError: the database is away; what is missing comes with the next call.
        UserError: the folder holds no run, or its log is damaged.
    """
    training = event_log.identity(directory)
    if training is None:
        raise UserError(
            f"{directory} holds no run: {directory / event_log.FILE} is not there, or empty"
        )
    with engine.connect() as connection:
        marks = bookmarks(connection, training)
    lines = unread(directory, marks)
    count = 0
    while batch := list(islice(lines, BATCH)):
        count += _take_in(engine, training, directory, batch, refuse)
    return count


def bookmarks(connection: Connection, training: str) -> dict[str, int]:
    """How far each file of a training was read."""
    table = TABLES["bookmark"]
    query = select(table.c.file, table.c.position).where(table.c.training_id == training)
    return {row.file: row.position for row in connection.execute(query)}


def _take_in(
    engine: Engine, training: str, directory: Path, batch: Sequence[FileLine], refuse: Refuse | None
) -> int:
    """Take in lines in one transaction; those that are refused one by one are passed over."""
    try:
        return _write(engine, training, directory, batch)
    except (DataError, IntegrityError) as error:
        trouble: Exception = error
    except (SQLAlchemyError, OSError):
        raise
    except Exception as error:  # a damaged line, or a value that no column can hold
        trouble = error
    if len(batch) > 1:
        return sum(_take_in(engine, training, directory, [line], refuse) for line in batch)
    (line,) = batch
    said = f"{type(trouble).__name__}: {own_words(trouble)}"
    told = {"file": line.file, "end": line.end, "error": said}
    files.append(directory / REFUSED, [json.dumps(told)])
    if refuse is not None:
        refuse(line, trouble)
    with engine.begin() as connection:
        rows = Rows(connection, training, directory)
        rows.mark(line.file, line.end)
        rows.finish()
    return 0


def _write(engine: Engine, training: str, directory: Path, batch: Sequence[FileLine]) -> int:
    with engine.begin() as connection:
        rows = Rows(connection, training, directory)
        for line in batch:
            value = json.loads(line.text)
            if line.file == event_log.FILE:
                rows.event(value)
            else:
                rows.episode(store.from_json(value))
        for file, end in {line.file: line.end for line in batch}.items():
            rows.mark(file, end)
        rows.finish()
    return sum(line.file != event_log.FILE for line in batch)
