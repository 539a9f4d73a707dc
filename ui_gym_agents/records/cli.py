"""`ui-gym-records`: what was trained, how it went, and taking it elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ui_gym.errors import UIGymError, UserError
from ui_gym_agents import command
from ui_gym_agents.files import replacing
from ui_gym_agents.records import common, looking, tidying

app = typer.Typer(
    add_completion=False, rich_markup_mode="rich", no_args_is_help=True,
    help="The records of trainings: list, show, compare, export, trackio, import, replay, rebuild, "
    "upgrade; and the room that runs take: du, gc.",
)  # fmt: skip

app.command("ls")(looking.ls)
app.command("show")(looking.show)
app.command("compare")(looking.compare)
app.command("du")(tidying.du)
app.command("gc")(tidying.gc)


@app.command("export")
def export(
    run: common.Name,
    out: Annotated[Path, typer.Argument(help="A file: .jsonl, .parquet or .zip.")],
    runs: common.Runs = common.RUNS,
    database: common.Database = None,
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
    with common.found(run, runs, database) as (connection, training):
        try:
            with replacing(out) as part:
                count = write(connection, training, part)
        except OSError as error:
            raise UserError(f"{out} cannot be written: {error}") from error
    common.say(f"{out}: {count} {'turns' if out.suffix == '.parquet' else 'episodes'}")


@app.command("trackio")
def trackio(
    run: common.Name,
    project: Annotated[
        str | None, typer.Option(help="In trackio. [the project of the training's own logger]")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="At most so many, the first ones.")] = 1000,
    runs: common.Runs = common.RUNS,
    database: common.Database = None,
) -> None:
    """Log a training's episodes to trackio as traces with pictures; `trackio show` shows them.

    They go to the run of the same name, beside its curves. Done again, they are there twice.

    [dim]Example:[/dim]

      ui-gym-records trackio grpo-20260101-120000 --episodes 200
    """
    from ui_gym_agents.records.traces import write_traces

    with common.found(run, runs, database) as (connection, training):
        count = write_traces(connection, training, project, episodes)
    common.say(f"{count} episodes are traces of the run {training.name}: trackio show")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A ZIP of `export`.")],
    into: Annotated[
        Path | None, typer.Option(help="A new folder for the run; by default runs/NAME.")
    ] = None,
    database: common.Database = None,
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
        name = Path(str(opened.manifest.get("run", ""))).name
        if into is None and name in ("", ".."):
            raise UserError(f"{file} names no run; say where it is to lie with --into")
        directory = into or common.RUNS / name
        if directory.exists() and any(directory.iterdir()):
            raise UserError(f"{directory} is not empty; name a new folder with --into")
        found = common.chosen(database) or target.of_file(directory / target.FILE)
        with reachable(found):
            engine = open_database(found)
            with engine.connect() as connection:
                if queries.has(connection, opened.manifest["training"]):
                    raise UserError(f"the training of {file} is in {found} already")
            opened.extract(directory)
            ingest(engine, directory)
    common.say(f"{file} is in {directory} and in {found}")


@app.command("replay")
def replay(
    file: Annotated[Path, typer.Argument(help="A ZIP of `export`.")],
    episodes: Annotated[int, typer.Option(min=1, help="At most so many episodes.")] = 10,
    device: Annotated[
        str | None, typer.Option(help="What is played on. [what the training was played on]")
    ] = None,
    as_json: common.Json = False,
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
        played = list(archive.replay(config, list(islice(chosen, episodes)), device))
    if as_json:
        common.print_json(
            [
                {"episode": p.episode.id, "task": p.episode.task, "same": p.same,
                 "score": p.score, "recorded_score": p.episode.score}
                for p in played
            ]
        )  # fmt: skip
    else:
        common.table(
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
def rebuild(
    names: common.Names, runs: common.Runs = common.RUNS, database: common.Database = None
) -> None:
    """Make the records of runs anew from their directories.

    [dim]Examples:[/dim]

      ui-gym-records rebuild grpo-20260101-120000

      ui-gym-records rebuild runs/* --database sqlite:///all.sqlite
    """
    for folder in common.folders(names, runs):
        found, count = _take_in(folder, database, anew=True)
        common.say(f"{folder}: {count} episodes are in {found}")


@app.command("flush")
def flush(
    names: common.Names, runs: common.Runs = common.RUNS, database: common.Database = None
) -> None:
    """Write what the database of runs does not hold yet, because it was away.

    [dim]Example:[/dim]

      ui-gym-records flush runs/*
    """
    for folder in common.folders(names, runs):
        found, count = _take_in(folder, database)
        common.say(f"{folder}: all is in {found}; {count} episodes were not")


@app.command("upgrade")
def upgrade(runs: common.Runs = common.RUNS, database: common.Database = None) -> None:
    """Bring the database's tables to what this ui-gym needs.

    [dim]Examples:[/dim]

      UI_GYM_DATABASE_URL=postgresql://me@db/ui ui-gym-records upgrade

      ui-gym-records upgrade --runs runs
    """
    from ui_gym_agents.records.database import HEAD, open_database

    for found in common.targets(runs, database):
        open_database(found, upgrade_it=True).dispose()
        common.say(f"{found} has revision {HEAD}")


def main(arguments: list[str] | None = None) -> int:
    """The command. Returns the exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    return command.run(app, arguments)


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
    found = common.chosen(database) or target.of_file(folder / target.FILE)
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
                lambda line, error: common.say(
                    f"{folder / line.file}, before byte {line.end}: {type(error).__name__}"
                ),
            )
    finally:
        directory.close()


if __name__ == "__main__":
    sys.exit(main())
