"""`ui-gym-records`: what was trained, how it went, and taking it elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ui_gym.errors import UIGymError, UserError
from ui_gym.tools.terminal import ShownColumn, print_table
from ui_gym_agents import command
from ui_gym_agents.evaluation.report.statistics import percent
from ui_gym_agents.files import replacing

app = typer.Typer(
    add_completion=False, rich_markup_mode="rich", no_args_is_help=True,
    help="The records of trainings: list, show, export, trackio, import, replay, rebuild, upgrade.",
)  # fmt: skip

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


@app.command("ls")
def ls(runs: Runs = RUNS, database: Database = None, as_json: Json = False) -> None:
    """List the trainings, the newest first.

    [dim]Examples:[/dim]

      ui-gym-records ls

      ui-gym-records ls --runs /data/runs --json

      UI_GYM_DATABASE_URL=postgresql://me@db/ui ui-gym-records ls
    """
    from ui_gym_agents.records import queries

    found = [t for _, c in _connections(runs, database) for t in queries.trainings(c)]
    found.sort(key=lambda training: training["created_at"], reverse=True)
    if as_json:
        _print_json(found)
        return
    if not found:
        _say(f"there are no records in {database or runs}; --runs names another folder")
        return
    rows = [
        (
            t["name"], t["plugin"], t["status"], f"{t['step']}/{t['steps']}", t["rollouts"],
            percent(t["baseline"], ""), percent(t["success"], ""), _moment(t["created_at"]),
        )
        for t in found
    ]  # fmt: skip
    _table(["run", "plugin", "status", "steps", "rollouts", "before", "success", "begun"], rows)


@app.command("show")
def show(run: Name, runs: Runs = RUNS, database: Database = None, as_json: Json = False) -> None:
    """Show a training: its steps, evaluations and troubles.

    [dim]Examples:[/dim]

      ui-gym-records show grpo-20260101-120000

      ui-gym-records show runs/grpo-20260101-120000 --json
    """
    from ui_gym_agents.records import queries

    with _found(run, runs, database) as (connection, training):
        details = queries.details(connection, training.id)
        status = queries.status(training)
    if as_json:
        _print_json({**training._mapping, "status": status, **details})
        return
    _say(f"{training.name}  {status}  {training.step}/{training.steps} steps  {training.directory}")
    if training.error:
        _say(f"error: {training.error}")
    measured = [("baseline", 0, m) for m in details["baselines"]]
    measured += [(m["kind"], m["step"], m) for m in details["evaluations"]]
    if measured:
        _table(
            ["evaluation", "step", "mode", "status", "success", "low", "high", "episodes"],
            [
                (kind, step, m["mode"], m["status"],
                 *(percent(m[rate], "") for rate in ("success", "low", "high")),
                 m["n"] if m["n"] is not None else "")
                for kind, step, m in measured
            ],
        )  # fmt: skip
    if details["steps"]:
        _steps_table(details["steps"])
    for title, counts in (
        ("failures of devices", details["failures"]),
        ("actions that failed", details["action_errors"]),
    ):
        if counts:
            _say(f"{title}: " + ", ".join(f"{what} ({n})" for what, n in counts.items()))


@app.command("export")
def export(
    run: Name,
    out: Annotated[Path, typer.Argument(help="A file: .jsonl, .parquet or .zip.")],
    runs: Runs = RUNS,
    database: Database = None,
) -> None:
    """Write a training's episodes to a file; its ending says how.

    [bold].jsonl[/bold] an episode a line. [bold].parquet[/bold] a turn a row, with pictures, for
    Hugging Face datasets. [bold].zip[/bold] all of it, for `import` and `replay`.

    [dim]Examples:[/dim]

      ui-gym-records export grpo-20260101-120000 episodes.jsonl

      ui-gym-records export grpo-20260101-120000 turns.parquet

      ui-gym-records export grpo-20260101-120000 run.zip
    """
    from ui_gym_agents.records.export import WRITERS

    write = WRITERS.get(out.suffix)
    if write is None:
        raise UserError(f"{out}: the name ends in none of {', '.join(WRITERS)}")
    with _found(run, runs, database) as (connection, training):
        try:
            with replacing(out) as part:
                count = write(connection, training, part)
        except OSError as error:
            raise UserError(f"{out} cannot be written: {error}") from error
    _say(f"{out}: {count} {'turns' if out.suffix == '.parquet' else 'episodes'}")


@app.command("trackio")
def trackio(
    run: Name,
    project: Annotated[
        str | None, typer.Option(help="In trackio. [the project of the training's own logger]")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="At most so many, the first ones.")] = 1000,
    runs: Runs = RUNS,
    database: Database = None,
) -> None:
    """Log a training's episodes to trackio as traces with pictures; `trackio show` shows them.

    They go to the run of the same name, beside its curves. Done again, they are there twice.

    [dim]Example:[/dim]

      ui-gym-records trackio grpo-20260101-120000 --episodes 200
    """
    from ui_gym_agents.records.traces import write_traces

    with _found(run, runs, database) as (connection, training):
        count = write_traces(connection, training, project, episodes)
    _say(f"{count} episodes are traces of the run {training.name}: trackio show")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A ZIP of `export`.")],
    into: Annotated[
        Path | None, typer.Option(help="A new folder for the run; by default runs/NAME.")
    ] = None,
    database: Database = None,
) -> None:
    """Read in an exported training: its records, and its pictures into a folder.

    [dim]Examples:[/dim]

      ui-gym-records import run.zip

      ui-gym-records import run.zip --into /data/runs/theirs
    """
    from ui_gym_agents.records import archive, queries, target
    from ui_gym_agents.records.database import open_database, reachable
    from ui_gym_agents.records.ingest import ingest

    with archive.opened(file) as opened:
        directory = into or RUNS / Path(str(opened.manifest["run"])).name
        if directory.exists() and any(directory.iterdir()):
            raise UserError(f"{directory} is not empty; name a new folder with --into")
        found = _chosen(database) or target.of_file(directory / target.FILE)
        with reachable(found):
            engine = open_database(found)
            with engine.connect() as connection:
                if queries.has(connection, opened.manifest["training"]):
                    raise UserError(f"the training of {file} is in {found} already")
            opened.extract(directory)
            ingest(engine, directory)
    _say(f"{file} is in {directory} and in {found}")


@app.command("replay")
def replay(
    file: Annotated[Path, typer.Argument(help="A ZIP of `export`.")],
    episodes: Annotated[int, typer.Option(min=1, help="At most so many episodes.")] = 10,
    as_json: Json = False,
) -> None:
    """Play the recorded actions of an export again, and compare the outcome.

    Exit status 1 where a goal or a verdict differs.

    [dim]Example:[/dim]

      ui-gym-records replay run.zip --episodes 20
    """
    from itertools import islice

    from ui_gym_agents.records import archive

    with archive.opened(file) as opened:
        config = opened.manifest["config"]
        chosen = [e for e in opened.episodes() if e.failure is None and e.turns]
        played = list(archive.replay(config, list(islice(chosen, episodes))))
    if as_json:
        _print_json(
            [
                {"episode": p.episode.id, "task": p.episode.task, "same": p.same,
                 "score": p.score, "recorded_score": p.episode.score}
                for p in played
            ]
        )  # fmt: skip
    else:
        _table(
            ["episode", "task", "recorded", "again", "same"],
            [
                (p.episode.id, p.episode.task, f"{p.episode.score:g}", f"{p.score:g}",
                 "yes" if p.same else "NO")
                for p in played
            ],
        )  # fmt: skip
    if not all(p.same for p in played):
        raise UIGymError(
            f"{sum(not p.same for p in played)} of {len(played)} episodes ended otherwise: the "
            "tasks or the browser have changed since"
        )


@app.command("rebuild")
def rebuild(names: Names, runs: Runs = RUNS, database: Database = None) -> None:
    """Make the records of runs anew from their directories.

    [dim]Examples:[/dim]

      ui-gym-records rebuild grpo-20260101-120000

      ui-gym-records rebuild runs/* --database sqlite:///all.sqlite
    """
    for folder in _folders(names, runs):
        found, count = _take_in(folder, database, anew=True)
        _say(f"{folder}: {count} episodes are in {found}")


@app.command("flush")
def flush(names: Names, runs: Runs = RUNS, database: Database = None) -> None:
    """Write what the database of runs does not hold yet, because it was away.

    [dim]Example:[/dim]

      ui-gym-records flush runs/*
    """
    for folder in _folders(names, runs):
        found, count = _take_in(folder, database)
        _say(f"{folder}: all is in {found}; {count} episodes were not")


@app.command("upgrade")
def upgrade(runs: Runs = RUNS, database: Database = None) -> None:
    """Bring the database's tables to what this ui-gym needs.

    [dim]Examples:[/dim]

      UI_GYM_DATABASE_URL=postgresql://me@db/ui ui-gym-records upgrade

      ui-gym-records upgrade --runs runs
    """
    from ui_gym_agents.records.database import HEAD, open_database

    for found in _targets(runs, database):
        open_database(found, upgrade_it=True).dispose()
        _say(f"{found} has revision {HEAD}")


def main(arguments: list[str] | None = None) -> int:
    """The command. Returns the exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    return command.run(app, arguments)


# -- which database --


def _chosen(database: str | None) -> Any:
    """The database that is asked for or that the environment names, if any."""
    from ui_gym_agents.records import target

    return target.parse(database, "--database") if database else target.from_environment()


def _targets(runs: Path, database: str | None) -> list[Any]:
    from ui_gym_agents.records import target

    chosen = _chosen(database)
    if chosen is not None:
        return [chosen]
    files = [runs / target.FILE, *sorted(runs.glob(f"*/{target.FILE}"))]
    return [target.of_file(file) for file in files if file.exists()]


def _connections(runs: Path, database: str | None) -> Iterator[tuple[Any, Any]]:
    """Each database with a connection to it, for reading."""
    from ui_gym_agents.records.database import open_database, reachable

    for found in _targets(runs, database):
        engine = open_database(found)
        with reachable(found), engine.connect() as connection:
            yield found, connection


@contextmanager
def _found(name: str, runs: Path, database: str | None) -> Iterator[tuple[Any, Any]]:
    """A connection, and the training that `name` means."""
    from ui_gym_agents.records import queries, target

    folder = Path(name)
    if (folder / target.FILE).exists() and _chosen(database) is None:
        runs = folder
    known: UserError | None = None
    for _, connection in _connections(runs, database):
        try:
            training = queries.find(connection, folder.name if folder.is_dir() else name)
        except UserError as error:
            known = known or error
            continue
        yield connection, training
        return
    where = database or runs
    raise known or UserError(f"there are no records in {where}; --runs names another folder")


def _folders(names: list[str], runs: Path) -> list[Path]:
    """The directories of runs, each by its path or by its name in `runs`."""
    return [Path(name) if Path(name).is_dir() else runs / name for name in names]


def _take_in(folder: Path, database: str | None, *, anew: bool = False) -> tuple[Any, int]:
    """Bring what is missing of the run in `folder` into its database, or all of it `anew`.

    Returns the database, and how many episodes came.
    """
    from ui_gym_agents.records import queries, target
    from ui_gym_agents.records.database import open_database, reachable
    from ui_gym_agents.records.ingest import ingest
    from ui_gym_agents.training import event_log
    from ui_gym_agents.training.run_directory import RunDirectory

    if not folder.is_dir() or (training := event_log.identity(folder)) is None:
        raise UserError(f"{folder} is no run's directory: it has no {event_log.FILE}")
    found = _chosen(database) or target.of_file(folder / target.FILE)
    directory = RunDirectory(folder)  # Locked: the run itself must not be at it.
    try:
        with reachable(found):
            engine = open_database(found)
            if anew:
                with engine.begin() as connection:
                    queries.forget(connection, training)
            return found, ingest(
                engine,
                folder,
                lambda line, error: _say(
                    f"{folder / line.file}, before byte {line.end}: {type(error).__name__}"
                ),
            )
    finally:
        directory.close()


# -- words --


def _steps_table(steps: list[Mapping[str, Any]]) -> None:
    leading = ("success", "reward", "loss", "episodes", "turns", "grad_norm", "time_step")
    names = [n for n in leading if any(n in (step["metrics"] or {}) for step in steps)]
    rows = []
    for step in steps:
        metrics = step["metrics"] or {}
        values = [f"{metrics[n]:.4g}" if metrics.get(n) is not None else "" for n in names]
        rows.append((step["number"], step["status"], *values, step["checkpoint"] or ""))
    _table(["step", "status", *names, "checkpoint"], rows)


RANKS = {
    "before": 1, "mode": 1, "task": 1, "rollouts": 2, "episodes": 2, "begun": 3, "low": 3,
    "high": 3, "turns": 3, "plugin": 4, "checkpoint": 4, "grad_norm": 4, "status": 5,
}  # fmt: skip
"""Columns that a narrow terminal goes without, those of the highest number first."""


def _table(headings: list[str], rows: list[tuple[Any, ...]]) -> None:
    cut = {"run": 16, "episode": 12, "task": 12}
    columns = [ShownColumn(h, rank=RANKS.get(h, 0), least=cut.get(h)) for h in headings]
    print_table(Console(), columns, [tuple(map(str, row)) for row in rows])


def _moment(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def _print_json(value: Any) -> None:
    def plain(item: Any) -> Any:
        return item.isoformat() if isinstance(item, datetime) else dict(item)

    sys.stdout.write(json.dumps(value, indent=1, default=plain) + "\n")


def _say(text: str) -> None:
    Console().print(Text(text), soft_wrap=True)


if __name__ == "__main__":
    sys.exit(main())
