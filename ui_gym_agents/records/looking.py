"""Commands of `ui-gym-records` that look: which trainings there are, how one went, two beside."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from ui_gym.tools.terminal import print_lines
from ui_gym_agents.evaluation.report.statistics import percent
from ui_gym_agents.records import common

REFRESH = 2.0
"""Seconds between two looks of ``show --watch``."""

LEADING = ("success", "reward", "loss", "episodes", "turns", "grad_norm", "time_step")
"""Metrics of a step that are shown, in this order, where a trainer gives them."""

WATCHED_STEPS = 12
"""How many of the last steps ``show --watch`` shows in a terminal."""


def ls(
    runs: common.Runs = common.RUNS, database: common.Database = None, as_json: common.Json = False
) -> None:
    """List the trainings, the newest first.

    [dim]Examples:[/dim]

      ui-gym-records ls

      ui-gym-records ls --runs /data/runs --json

      UI_GYM_DATABASE_URL=postgresql://me@db/ui ui-gym-records ls
    """
    from ui_gym_agents.records import queries

    found = [t for _, c in common.connections(runs, database) for t in queries.trainings(c)]
    found.sort(key=lambda training: training["created_at"], reverse=True)
    if as_json:
        common.print_json(found)
        return
    if not found:
        common.say(f"there are no records in {database or runs}; --runs names another folder")
        return
    rows = [
        (
            t["name"], t["plugin"], t["status"], f"{t['step']}/{t['steps']}", t["rollouts"],
            percent(t["baseline"], ""), percent(t["success"], ""), common.moment(t["created_at"]),
        )
        for t in found
    ]  # fmt: skip
    common.table(
        ["run", "plugin", "status", "steps", "rollouts", "before", "success", "begun"], rows
    )


def show(
    run: common.Name,
    runs: common.Runs = common.RUNS,
    database: common.Database = None,
    as_json: common.Json = False,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Show it anew until the run ends; see the exit status."),
    ] = False,
    limit: Annotated[
        float | None,
        typer.Option(min=0, help="With --watch: seconds after which to stop looking; 0: one look."),
    ] = None,
) -> None:
    """Show a training: where it ran, its steps, evaluations and troubles.

    With --watch, the exit status says how it stands: 0 where it finished or still runs, 1 where it
    failed, was interrupted, or is lost (it gives no sign of life).

    [dim]Examples:[/dim]

      ui-gym-records show grpo-20260101-120000

      ui-gym-records show runs/grpo-20260101-120000 --json

      ui-gym-records show grpo-20260101-120000 --watch

      ui-gym-records show grpo-20260101-120000 --watch --limit 0 || mail -s trouble me
    """
    if watch:
        status = _watch(run, runs, database, limit, quiet=as_json)
    told = _told(run, runs, database)
    if as_json:
        common.print_json(told)
    elif not watch:
        _print(told, Console())
    if watch and status not in ("finished", "running"):
        raise typer.Exit(1)


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="A run's name, folder, or id's start.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    metric: Annotated[
        list[str] | None,
        typer.Option(help="A metric of steps; may be given again. [success, reward, loss]"),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="A row for every so many steps, with their means; by default so many that there "
            "are at most 30 rows.",
        ),
    ] = None,
    runs: common.Runs = common.RUNS,
    database: common.Database = None,
    as_json: common.Json = False,
) -> None:
    """Put two trainings beside each other: settings that differ, curves by step, last intervals.

    [dim]Examples:[/dim]

      ui-gym-records compare grpo-20260101-120000 grpo-20260102-120000

      ui-gym-records compare runs/a runs/b --metric success --metric kl --every 10

      ui-gym-records compare runs/a runs/b --json
    """
    from ui_gym_agents.records import comparison

    pair = (_told(first, runs, database), _told(second, runs, database))
    found = comparison.compare(*pair, metrics=metric or (), every=every)
    if as_json:
        common.print_json(found)
        return
    a, b = (told["name"] for told in pair)
    if a == b:
        a, b = "A", "B"
    for heading, differing in (("setting", found["settings"]), ("ran on", found["facts"])):
        if differing:
            common.table(
                [heading, a, b], [(name, *map(_plain, both)) for name, both in differing.items()]
            )
    if not found["settings"]:
        common.say("their settings are the same")
    names = list(found["curves"])
    if names:
        columns = [f"{name} {which}" for name in names for which in (a, b)]
        common.table(
            ["steps", *columns],
            [
                (label, *(_figure(v) for name in names for v in found["curves"][name][row]))
                for row, label in enumerate(found["steps"])
            ],
        )
    if found["evaluations"]:
        common.table(
            ["evaluation", a, b, "b - a"],
            [
                (mode, *(_measured(m) for m in of["runs"]), _points(of["difference"]))
                for mode, of in found["evaluations"].items()
            ],
        )


# -- one training --


def _told(run: str, runs: Path, database: str | None) -> dict[str, Any]:
    """All that the records say of a training, as `show --json` prints it."""
    from ui_gym_agents.records import queries

    with common.found(run, runs, database) as (connection, training):
        details = queries.details(connection, training.id)
        told = {**training._mapping, "steps_planned": training.steps}
        return {**told, "status": queries.status(training), **details}


def _print(told: Mapping[str, Any], console: Console, *, last: int | None = None) -> None:
    """Print a training; of its steps the `last` ones (None: all)."""
    status, steps = told["status"], told["steps"]
    where = f"{told['step']}/{told['steps_planned']} steps"
    common.say(f"{told['name']}  {status}  {where}  {told['directory']}", console)
    if told["error"]:
        common.say(f"error: {told['error']}", console)
    if last is None:
        for line in _ran_on(told):
            common.say(line, console)
    measured = [("baseline", 0, m) for m in told["baselines"]]
    measured += [(m["kind"], m["step"], m) for m in told["evaluations"]]
    if measured:
        common.table(
            ["evaluation", "step", "mode", "status", "success", "low", "high", "episodes"],
            [
                (kind, step, m["mode"], m["status"],
                 *(percent(m[rate], "") for rate in ("success", "low", "high")),
                 m["n"] if m["n"] is not None else "")
                for kind, step, m in measured
            ],
            console,
        )  # fmt: skip
    if steps:
        _steps_table(steps if last is None else steps[-last:], console)
    for title, counts in (
        ("failures of devices", told["failures"]),
        ("actions that failed", told["action_errors"]),
        ("faults that were met", told["faults"]),
    ):
        if counts:
            said = ", ".join(f"{what} ({n})" for what, n in counts.items())
            common.say(f"{title}: {said}", console)
    for alert in told["alerts"]:
        common.say(f"alert at {common.moment(alert['at'])}: {alert['message']}", console)


def _ran_on(told: Mapping[str, Any]) -> list[str]:
    """Where and by which code a training ran, a line each."""
    facts = told["facts"] or {}
    machine = facts.get("machine") or {}
    parts = [told["host"], machine.get("cpu"), *machine.get("gpus", ())]
    if machine:
        parts.append(f"{machine['cores']} cores, {machine['memory'] / 2**30:.0f} GiB")
    versions = {"Python": facts.get("python"), **(facts.get("versions") or {})}
    code = [f"{name} {of}" for name, of in versions.items() if of]
    code += [f"at {facts['code']}"] if facts.get("code") else []
    lines = {
        "on": ", ".join(filter(None, parts)),
        "code": ", ".join(code),
        "begun in a folder at": facts.get("revision") or "",
        "by": facts.get("command", ""),
    }
    return [f"{title}: {said}" for title, said in lines.items() if said]


def _steps_table(steps: list[Mapping[str, Any]], console: Console) -> None:
    names = [n for n in LEADING if any(n in (step["metrics"] or {}) for step in steps)]
    rows = []
    for step in steps:
        metrics = step["metrics"] or {}
        values = [_figure(metrics.get(n)) for n in names]
        rows.append((step["number"], step["status"], *values, step["checkpoint"] or ""))
    common.table(["step", "status", *names, "checkpoint"], rows, console)


def _watch(run: str, runs: Path, database: str | None, limit: float | None, *, quiet: bool) -> str:
    """Look until the training ends, or for `limit` seconds; returns its status.

    In a terminal it is drawn anew each time; anywhere else, a line says what changed.
    """
    begun = time.monotonic()
    console, pause = Console(), threading.Event()
    drawn = console.is_terminal and not quiet
    said = ""
    with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
        while True:
            told = _told(run, runs, database)
            if drawn:
                live.update(Text.from_ansi(_as_drawn(told, console)), refresh=True)
            line = _in_a_line(told)
            if not drawn and not quiet and line != said:
                print_lines(console, [line])
            said = line
            left = None if limit is None else limit - (time.monotonic() - begun)
            if told["status"] != "running" or (left is not None and left <= 0):
                return str(told["status"])
            pause.wait(REFRESH if left is None else min(REFRESH, left))


def _as_drawn(told: Mapping[str, Any], console: Console) -> str:
    with console.capture() as captured:
        _print(told, console, last=WATCHED_STEPS)
    return captured.get()


def _in_a_line(told: Mapping[str, Any]) -> str:
    where = f"{told['step']}/{told['steps_planned']}"
    success = percent(told["success"], "")
    alerts = f"{len(told['alerts'])} alerts" if told["alerts"] else ""
    said = (told["name"], told["status"], where, told["phase"], success, alerts, told["error"])
    return "\t".join(filter(None, said))


# -- words --


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _plain(value: Any) -> str:
    return "-" if value is None else str(value)


def _measured(found: Mapping[str, Any] | None) -> str:
    """An evaluation's rate, interval and size, in one cell."""
    if found is None:
        return "-"
    rate, low, high = (100 * found[name] for name in ("success", "low", "high"))
    return f"{rate:.1f} % ({low:.1f} to {high:.1f} %, {found['n']} at step {found['step']})"


def _points(difference: Mapping[str, float] | None) -> str:
    """A difference of rates with its interval, in points of a hundred."""
    if difference is None:
        return ""
    d, low, high = (100 * difference[name] for name in ("points", "low", "high"))
    return f"{d:+.1f} ({low:+.1f} to {high:+.1f})"
