"""Commands of `ui-gym-records` about room: what runs take (`du`), and giving it back (`gc`)."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from ui_gym.errors import UIGymError, UserError
from ui_gym_agents.records import common

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def du(runs: common.Runs = common.RUNS, as_json: common.Json = False) -> None:
    """Show how much room each run takes, the largest first.

    [dim]Examples:[/dim]

      ui-gym-records du

      ui-gym-records du --runs /data/runs --json
    """
    from ui_gym_agents.records import space

    found = [space.measure(run) for run in space.runs_in(runs)]
    found.sort(key=lambda run: run.total, reverse=True)
    if as_json:
        common.print_json([run.to_json() for run in found])
        return
    if not found:
        common.say(f"there are no runs in {runs}; --runs names another folder")
        return
    kinds = ("pictures", "episodes", "checkpoints", "database", "other", "total")
    rows: list[tuple[Any, ...]] = [
        (run.run, *(size(getattr(run, kind)) for kind in kinds), run.files) for run in found
    ]
    if len(found) > 1:
        sums = (size(sum(getattr(run, kind) for run in found)) for kind in kinds)
        rows.append(("all", *sums, sum(run.files for run in found)))
    common.table(["run", *kinds, "files"], rows)


def gc(
    keep: Annotated[
        int | None,
        typer.Option(min=0, help="Delete all runs but the newest so many. [none is deleted]"),
    ] = None,
    pictures_older: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help="Delete the pictures of runs in which nothing happened for so long: 30d, 12h, 2w.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; else only show it.")] = False,
    runs: common.Runs = common.RUNS,
    database: common.Database = None,
    as_json: common.Json = False,
) -> None:
    """Give room back: old runs, with their records, and pictures of old runs.

    Without --yes, nothing is changed, and what would go is shown. A run that is in use is left
    alone. Of a deleted run, the newest checkpoint stays, with the settings and curves that belong
    to it.

    [dim]Examples:[/dim]

      ui-gym-records gc --keep 10 --pictures-older 30d

      ui-gym-records gc --keep 10 --yes
    """
    from ui_gym_agents.records import space

    if keep is None and pictures_older is None:
        raise UserError("say what may go: --keep N, --pictures-older AGE, or both")
    age = None if pictures_older is None else duration(pictures_older)
    found = space.plan(space.runs_in(runs), keep, age)
    failed = [line for removal in found.removals if yes and (line := _do(removal, database))]
    if as_json:
        told = {"done": yes, "removals": [r.to_json() for r in found.removals]}
        common.print_json({**told, "passed": found.passed, "failed": failed})
    else:
        _print(found, yes)
    if failed:
        raise UIGymError("; ".join(failed))


def duration(text: str) -> timedelta:
    """The time that ``30d``, ``12h``, ``45m``, ``10s`` or ``2w`` says. `UserError` otherwise."""
    match = re.fullmatch(r"(\d{1,6})([smhdw])", text.strip())
    if match is None:
        raise UserError(f"{text!r} is no age; one is like 30d, 12h or 2w")
    return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


def size(count: float) -> str:
    """Bytes as people read them: ``812 B``, ``1.4 MB``."""
    unit = "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"


def _do(removal: Any, database: str | None) -> str | None:
    """Remove something; returns what went wrong. The records go first: a database that is away
    leaves a run whole."""
    from ui_gym_agents.records import space

    try:
        with space.holding(removal.run):
            if removal.records:
                _forget(removal.run, database)
            space.remove(removal)
    except (UIGymError, OSError) as error:
        return f"{removal.run.name}: {error}"
    return None


def _forget(run: Path, database: str | None) -> None:
    """Take the records of a run out of a database that is not the run's own file."""
    from ui_gym_agents.records import queries, target
    from ui_gym_agents.records.database import open_database, reachable
    from ui_gym_agents.training import event_log

    training = event_log.identity(run)
    found = common.chosen(database) or target.resolve(_setting(run), run)
    if training is None or found is None:
        return
    if found.is_own:  # the file of its folder, which goes as such
        return
    with reachable(found):
        engine = open_database(found)
        with engine.begin() as connection:
            queries.forget(connection, training)
        engine.dispose()


def _setting(run: Path) -> str:
    """Where a run was told to keep its records."""
    import yaml

    config = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8")) or {}
    return str(config.get("run", {}).get("records", "auto"))


def _print(found: Any, done: bool) -> None:
    for name, reason in found.passed.items():
        common.say(f"{name} is left alone: {reason}")
    removals = found.removals
    if not removals:
        common.say("there is nothing to give back")
        return
    common.table(
        ["run", "what", "bytes", "files"],
        [(r.run.name, r.what, size(r.bytes), r.files) for r in removals],
    )
    total = f"{size(sum(r.bytes for r in removals))} in {sum(r.files for r in removals)} files"
    common.say(f"{total} given back" if done else f"{total}; nothing was deleted: --yes does it")
