"""What the commands of `ui-gym-records` share: which run is meant, where its records are, words."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ui_gym.errors import UserError
from ui_gym.tools.terminal import ShownColumn, print_table

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Runs = Annotated[Path, typer.Option(help="The folder of runs, or one run.")]
Database = Annotated[
    str | None,
    typer.Option(
        help="A database's URL, without password; by default that of UI_GYM_DATABASE_URL, "
        "DATABASE_URL or POSTGRES_*, else the file in each run's folder."
    ),
]
Name = Annotated[str, typer.Argument(metavar="RUN", help="A run's name, folder, or id's start.")]
Names = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="Runs' names, or their directories.")
]
RUNS = Path("runs")


# -- which database --


def chosen(database: str | None) -> Any:
    """The database that is asked for or that the environment names, if any."""
    from ui_gym_agents.records import target

    return target.parse(database, "--database") if database else target.from_environment()


def targets(runs: Path, database: str | None) -> list[Any]:
    """The databases that may hold records of `runs`."""
    from ui_gym_agents.records import target

    asked = chosen(database)
    if asked is not None:
        return [asked]
    files = [runs / target.FILE, *sorted(runs.glob(f"*/{target.FILE}"))]
    return [target.of_file(file) for file in files if file.exists()]


def connections(runs: Path, database: str | None) -> Iterator[tuple[Any, Any]]:
    """Each database with a connection to it, for reading."""
    from ui_gym_agents.records.database import open_database, reachable

    for found in targets(runs, database):
        engine = open_database(found)
        with reachable(found), engine.connect() as connection:
            yield found, connection


@contextmanager
def found(name: str, runs: Path, database: str | None) -> Iterator[tuple[Any, Any]]:
    """A connection, and the training that `name` means."""
    from ui_gym_agents.records import queries, target

    folder = Path(name)
    if (folder / target.FILE).exists() and chosen(database) is None:
        runs = folder
    known: UserError | None = None
    for _, connection in connections(runs, database):
        try:
            training = queries.find(connection, folder.name if folder.is_dir() else name)
        except UserError as error:
            known = known or error
            continue
        yield connection, training
        return
    where = database or runs
    raise known or UserError(f"there are no records in {where}; --runs names another folder")


def folders(names: list[str], runs: Path) -> list[Path]:
    """The directories of runs, each by its path or by its name in `runs`."""
    return [Path(name) if Path(name).is_dir() else runs / name for name in names]


# -- words --


RANKS = {
    "before": 1, "mode": 1, "task": 1, "rollouts": 2, "episodes": 2, "begun": 3, "low": 3,
    "high": 3, "turns": 3, "files": 3, "plugin": 4, "checkpoint": 4, "grad_norm": 4, "status": 5,
}  # fmt: skip
"""Columns that a narrow terminal goes without, those of the highest number first."""


def table(headings: list[str], rows: list[tuple[Any, ...]], console: Console | None = None) -> None:
    """Print rows under headings, as the terminal can take them."""
    cut = {"run": 16, "episode": 12, "task": 12, "setting": 16}
    columns = [ShownColumn(h, rank=RANKS.get(h, 0), least=cut.get(h)) for h in headings]
    print_table(console or Console(), columns, [tuple(map(str, row)) for row in rows])


def moment(at: datetime) -> str:
    """A time as people here read it."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def print_json(value: Any) -> None:
    """Print plain values and what databases give, for programs."""

    def plain(item: Any) -> Any:
        return item.isoformat() if isinstance(item, datetime) else dict(item)

    sys.stdout.write(json.dumps(value, indent=1, default=plain) + "\n")


def say(text: str, console: Console | None = None) -> None:
    """Print a line, which stays one."""
    (console or Console()).print(Text(text), soft_wrap=True)
