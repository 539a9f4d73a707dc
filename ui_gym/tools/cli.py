"""The command ``ui-gym``: look at tasks, play them, check them, and see what a machine lacks."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ui_gym.errors import UIGymError, UserError, nearest
from ui_gym.extras import remedy
from ui_gym.tools.export import app as export
from ui_gym.tools.mcp import mcp
from ui_gym.tools.monitor_child import with_port
from ui_gym.tools.osworld import app as osworld
from ui_gym.tools.serve import serve
from ui_gym.tools.terminal import ShownColumn, print_table

if TYPE_CHECKING:
    from ui_gym.contract.spec import TaskSpec
    from ui_gym.tools.play import PlayedEpisode

app = typer.Typer(
    name="ui-gym",
    help="User-interface tasks as Gymnasium environments.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(osworld, name="osworld")
app.add_typer(export, name="export")
app.command()(mcp)
app.command()(serve)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="An argument of the task or the env."),
]
TaskId = Annotated[str, typer.Argument(metavar="TASK", help="An id or a name: UI/Login-v0, Login.")]


def main(args: Sequence[str] | None = None) -> None:
    """Run the command; exit codes 0, 1 (failed), 2 (a mistake in the call), 130 (interrupted)."""
    try:
        app(args=with_port(sys.argv[1:] if args is None else args))
    except UIGymError as error:
        Console(stderr=True).print(
            Text(f"error: {error}", style="red"), soft_wrap=True, highlight=False
        )
        sys.exit(2 if isinstance(error, UserError) else 1)
    except ModuleNotFoundError as error:
        missing = remedy(error)
        if missing is None:
            raise
        Console(stderr=True).print(Text(f"error: {missing}", style="red"), soft_wrap=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


@app.command("list")
def list_tasks(
    suite: Annotated[str | None, typer.Option(help="Only this suite, such as browser.")] = None,
    category: Annotated[str | None, typer.Option(help="Only this category.")] = None,
    difficulty: Annotated[str | None, typer.Option(help="easy, medium or hard.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only with this tag, such as miniwob.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also each task of collections, such as MiniWoB++.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the tasks that there are; a collection is one line, unless its tag is asked for.

    Example: [bold]ui-gym list --suite browser --difficulty easy[/bold]
    """
    found = _tasks()
    for field, value in (("suite", suite), ("category", category), ("difficulty", difficulty)):
        if value is not None:
            known = {getattr(spec, field) for spec in _tasks()}
            if value not in known:
                raise UserError(f"there is no {field} {value!r}. {nearest(value, known)}")
            found = [spec for spec in found if getattr(spec, field) == value]
    if tag is not None:
        found = _tagged(found, tag)
    folded = [] if everything or tag else [spec for spec in found if spec.collection]
    found = [spec for spec in found if spec not in folded]
    if as_json:
        return _print_json([{"id": spec.id, **asdict(spec)} for spec in found])
    columns = (
        ShownColumn("task", style="bold"),
        ShownColumn("suite", rank=3),
        ShownColumn("category", rank=2),
        ShownColumn("difficulty", rank=1),
        ShownColumn("steps", rank=4, right=True),
        ShownColumn("what to do", least=24),
    )
    rows: list[tuple[str | Text, ...]] = [
        (s.id, s.suite, s.category, _level(s), str(s.max_steps), s.summary) for s in found
    ]
    for name in dict.fromkeys(spec.collection for spec in folded):
        members = [spec for spec in folded if spec.collection == name]
        prefix = os.path.commonprefix([spec.id for spec in members])  # noqa: RUF071  of letters
        many = f"{len(members)} tasks" if len(members) > 1 else "a task"
        rows.append(
            (f"{prefix}*", members[0].suite, "", "", "", f"{many}: ui-gym list --tag {name}")
        )
    print_table(Console(), columns, rows)
    return None


@app.command()
def show(
    task: TaskId,
    seed: Annotated[int, typer.Option(help="Of the example.")] = 0,
    settings: Settings = None,
    screenshot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the first screenshot here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Describe a task: what it says of itself, its arguments, its spaces, an example.

    Example: [bold]ui-gym show DataEntry --set compact=True --screenshot first.png[/bold]
    """
    from ui_gym.tools.play import first_screenshot
    from ui_gym.tools.show import describe, print_description

    arguments = _settings(settings)
    description = describe(task, seed, arguments)
    if screenshot is not None:
        first_screenshot(description.id, seed, arguments, screenshot)
    if as_json:
        written = {"screenshot": str(screenshot)} if screenshot else {}
        return _print_json(asdict(description) | written)
    console = Console()
    print_description(description, console)
    if screenshot is not None:
        console.print(f"screenshot: {screenshot}", soft_wrap=True, highlight=False)
    return None


@app.command()
def play(
    task: TaskId,
    agent: Annotated[str, typer.Option(help="oracle, random, or me (you type the actions).")] = (
        "oracle"
    ),
    seed: Annotated[int, typer.Option(help="Of the episode.")] = 0,
    split: Annotated[str, typer.Option(help="train or heldout.")] = "train",
    dialect: Annotated[str, typer.Option(help="How actions are written.")] = "canonical",
    mistakes: Annotated[
        list[str] | None,
        typer.Option("--mistake", metavar="NAME=RATE", help="One that the oracle makes."),
    ] = None,
    settings: Settings = None,
    out: Annotated[Path, typer.Option(help="The folder for the pictures.")] = Path("films"),
    as_json: Json = False,
) -> None:
    """Play one episode and film it.

    Example: [bold]ui-gym play DataEntry --agent oracle --seed 3 --set compact=True[/bold]
    """
    from ui_gym.tools.play import print_outcome, print_steps, record

    errors = Console(stderr=True)
    console = errors if as_json else Console()
    played = record(
        task,
        agent=agent,
        seed=seed,
        split=split,
        dialect=dialect,
        mistakes=_rates(mistakes),
        arguments=_settings(settings),
        out=out,
        console=console,
    )
    if as_json:
        _print_json(_played_json(played))
    else:
        print_steps(played, console)
        print_outcome(played, console)
    if played.failure:
        raise typer.Exit(1)


@app.command()
def check(
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="[TASK]...", help="Ids or names.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every task that there is, without collections.")
    ] = False,
    tag: Annotated[str | None, typer.Option(help="All with this tag, such as miniwob.")] = None,
    as_json: Json = False,
) -> None:
    """Check that tasks keep their contract; exit code 1 if one does not.

    Example: [bold]ui-gym check UI/Login-v0 DataEntry[/bold]
    """
    from ui_gym.contract import registry

    if (bool(tasks), everything, tag is not None).count(True) != 1:
        raise UserError("name the tasks to check, or give --all; `ui-gym list` shows them")
    if tag is not None:
        ids = [spec.id for spec in _tagged(_tasks(), tag)]
    elif everything:
        ids = [spec.id for spec in registry.specs()]
    else:
        ids = [registry.spec(task).id for task in tasks or ()]
    from ui_gym.testing import check_ui_env

    console = Console()
    reports: dict[str, list[dict[str, Any]]] = {}
    for task in ids:
        report = check_ui_env(task, raise_on_failure=False)
        reports[task] = [
            {"name": c.name, "ok": bool(c.ok), "detail": str(c.detail)} for c in report.checks
        ]
        if not as_json:
            _print_checks(console, task, reports[task])
    failed = [task for task, checks in reports.items() if not all(c["ok"] for c in checks)]
    if as_json:
        _print_json(reports)
    else:
        summary = f"{len(ids) - len(failed)} of {len(ids)} tasks are sound"
        console.print(Text(summary, style="red" if failed else "green"), soft_wrap=True)
    if failed:
        raise typer.Exit(1)


@app.command()
def doctor(
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Look at a server of slots instead: ws://HOST:7000."),
    ] = None,
    as_json: Json = False,
) -> None:
    """See what this machine has and lacks, and how to get it; exit code 1 if it lacks a need.

    Example: [bold]ui-gym doctor[/bold], [bold]ui-gym doctor --server ws://alice:7000[/bold]
    """
    from ui_gym.tools.doctor import examine, examine_server, findings_table

    console = Console()
    findings = list(examine() if server is None else examine_server(server))
    if as_json:
        _print_json([asdict(finding) for finding in findings])
    elif console.is_terminal:
        console.print(findings_table(findings))
    else:
        rows = [(f.status, f.name, f.found, f.remedy) for f in findings]
        print_table(console, [ShownColumn()] * 4, rows)
    if any(finding.status == "fail" for finding in findings):
        raise typer.Exit(1)


@app.command()
def phone(
    port: Annotated[int, typer.Option(help="The first port; 0: any that is free.")] = 5555,
    count: Annotated[int, typer.Option(min=1, max=64, help="How many phones.")] = 1,
    size: Annotated[str, typer.Option(help="Width and height of the screen in pixels.")] = (
        "1080x2400"
    ),
) -> None:
    """Serve built-in phones to any `adb`, until Ctrl-C. To this machine alone.

    From an odd port on, every second one is a phone's, and the one below it its emulator console
    (`adb emu`).

    Example: [bold]ui-gym phone[/bold], and in another terminal [bold]adb connect
    127.0.0.1:5555[/bold], [bold]adb shell[/bold], or
    [bold]ui-gym play AndroidWifi --set device=adb-direct:127.0.0.1:5555[/bold]
    """
    from ui_gym.playing import devices

    console = Console()
    width, height = _pixels(size)
    with devices.load("phone").serve(port, count, (width, height)) as ports:
        for each in ports:
            console.print(f"a phone of {width}x{height} pixels: adb connect 127.0.0.1:{each}")
        console.print("Ctrl-C switches off", style="dim")
        threading.Event().wait()


# -- what the commands share --


def _pixels(size: str) -> tuple[int, int]:
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise UserError(f"a size is written as 1080x2400, not {size!r}")
    return int(width), int(height)


def _tasks() -> list[TaskSpec]:
    from ui_gym.contract import registry

    return list(registry.specs(collections=True))


def _tagged(tasks: Iterable[TaskSpec], tag: str) -> list[TaskSpec]:
    known = {tag for spec in _tasks() for tag in spec.tags}
    if tag not in known:
        raise UserError(f"there is no tag {tag!r}. {nearest(tag, known)}")
    return [spec for spec in tasks if tag in spec.tags]


def _level(spec: TaskSpec) -> Text:
    colors = {"easy": "green", "medium": "yellow", "hard": "red"}
    return Text(spec.difficulty, style=colors.get(spec.difficulty, ""))


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def _settings(pairs: Iterable[str] | None) -> dict[str, Any]:
    """``key=value`` pairs; values are Python literals, or else text."""
    import ast

    found: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key.strip().isidentifier():
            raise UserError(f"--set takes KEY=VALUE, as in --set compact=True, not {pair!r}")
        try:
            found[key.strip()] = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            found[key.strip()] = value
    return found


def _rates(pairs: Iterable[str] | None) -> dict[str, float]:
    found: dict[str, float] = {}
    for pair in pairs or ():
        name, _, rate = pair.partition("=")
        try:
            found[name] = float(rate or 1)
        except ValueError:
            raise UserError(
                f"--mistake takes NAME=RATE, as in --mistake row=0.5, not {pair!r}"
            ) from None
    return found


def _played_json(played: PlayedEpisode) -> dict[str, Any]:
    unsaid = ("frames", "elements")
    value = {name: value for name, value in vars(played).items() if name not in unsaid}
    return value | {"steps": [asdict(step) for step in played.steps]}


def _print_checks(console: Console, task: str, checks: Sequence[dict[str, Any]]) -> None:
    """A check a row; in a terminal with its detail in full, over as many lines as that takes."""
    marks = {True: Text("ok", style="green"), False: Text("FAIL", style="bold red")}
    if not console.is_terminal:
        rows = [(task, "ok" if c["ok"] else "FAIL", c["name"], c["detail"]) for c in checks]
        return print_table(console, [ShownColumn()] * 4, rows)
    table = Table(box=None, pad_edge=False, title=task, title_justify="left", show_header=False)
    table.add_column(width=4)
    table.add_column()
    table.add_column(ratio=1, style="dim")
    for found in checks:
        table.add_row(marks[found["ok"]], Text(found["name"]), Text(found["detail"]))
    return console.print(table)


if __name__ == "__main__":
    main()
