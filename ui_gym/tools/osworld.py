"""``ui-gym osworld``: look at OSWorld's task files, fetch what they need, play one; a server."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ui_gym.contract.action import Finish
from ui_gym.desktop.http.cli import serve
from ui_gym.errors import UserError
from ui_gym.tools.terminal import ShownColumn, print_table

if TYPE_CHECKING:
    from ui_gym.desktop.osworld.cache import FileCache
    from ui_gym.desktop.osworld.coverage import Coverage
    from ui_gym.desktop.osworld.fetching import Fetched
    from ui_gym.playing.env import UIEnv

SHOWN = 12
"""How many of the things that are lacking are shown to people."""

app = typer.Typer(
    name="osworld",
    help="OSWorld's task files and machines.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.command()(serve)

Where = Annotated[
    list[Path],
    typer.Argument(metavar="PATH...", help="Task files, folders of them, or meta files."),
]
Cache = Annotated[
    Path | None, typer.Option(help="The file cache, if not UI_GYM_OSWORLD_CACHE.", metavar="DIR")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


@app.command()
def coverage(paths: Where, cache: Cache = None, as_json: Json = False) -> None:
    """Tell which task files can be played, and what the others need: files to be fetched, an
    application, a machine of OSWorld's (GNOME, sudo), the live web, or what is lacking here.

    Example: [bold]ui-gym osworld coverage evaluation_examples/test_all.json[/bold]
    """
    from ui_gym.desktop.osworld.cache import FileCache
    from ui_gym.desktop.osworld.coverage import cover

    found = cover(_files(paths), FileCache(cache))
    if as_json:
        sys.stdout.write(json.dumps(found.to_json(), indent=2) + "\n")
        return
    _print_coverage(found, Console())


@app.command()
def fetch(paths: Where, cache: Cache = None) -> None:
    """Bring the files that tasks need into the file cache; what is there already stays.

    Example: [bold]ui-gym osworld fetch evaluation_examples/examples[/bold]
    """
    from ui_gym.desktop.osworld.cache import FileCache
    from ui_gym.desktop.osworld.coverage import cover

    target = FileCache(cache)
    tasks = cover(_files(paths), target).tasks
    wanted = list(dict.fromkeys(url for task in tasks for url in task.missing))
    wanted = [url for url in wanted if not url.startswith("file:")]
    console = Console()
    problems = [one for one in _shown(wanted, target, console) if one.problem]
    console.print(f"{len(wanted) - len(problems)} files fetched to {target.folder}", soft_wrap=True)
    for one in problems:
        console.print(Text(f"{one.url}: {one.problem}", style="red"), soft_wrap=True)
    if problems:
        raise typer.Exit(1)


@app.command()
def run(
    task: Annotated[Path, typer.Argument(metavar="TASK.json", help="A task file.")],
    actions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What to do, a step a line; without it, nothing is."),
    ] = None,
    device: Annotated[str, typer.Option(help="x11, osworld:URL or qemu:IMAGE.")] = "auto",
    dialect: Annotated[str, typer.Option(help="How actions are written.")] = "canonical",
    size: Annotated[str, typer.Option(help="Of the screen, WIDTHxHEIGHT.")] = "1920x1080",
    max_steps: Annotated[int | None, typer.Option(help="Steps until it is cut.")] = None,
    timeout: Annotated[float, typer.Option(help="Of one wait on the device, seconds.")] = 60.0,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Play a task file with written-down actions, and judge it; exit code 1 if it is not solved.

    Example: [bold]ui-gym osworld run task.json --actions steps.txt[/bold]
    """
    from ui_gym.playing.env import UIEnv

    lines = [] if actions is None else _lines(actions)
    arguments: dict[str, Any] = {} if cache is None else {"cache": str(cache)}
    env = UIEnv(
        "UI/OSWorld-v0",
        task_file=str(task),
        device=device,
        dialect=dialect,
        viewport=_size(size),
        max_steps=max_steps,
        timeout=timeout,
        **arguments,
    )
    console = Console(stderr=as_json)
    with contextlib.closing(env):
        info = _play(env, lines, console)
    if as_json:
        told = {key: info[key] for key in ("score", "success", "step", "notes", "details")}
        sys.stdout.write(json.dumps(told | {"failure": info["failure"]}, indent=2) + "\n")
    else:
        console.print(f"score {info['score']:g} after {info['step']} steps: {info['notes']}")
    if not info["success"]:
        raise typer.Exit(1)


def _shown(wanted: Sequence[str], target: FileCache, console: Console) -> Iterator[Fetched]:
    """Fetch, with a bar that counts files and the bytes of this session."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from ui_gym.desktop.osworld.fetching import fetch as bring

    bytes_of: dict[str, int] = {}
    columns = (TextColumn("{task.fields[amount]}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=len(wanted), amount="")

        def grow(url: str, done: int, total: int | None) -> None:
            bytes_of[url] = done
            progress.update(bar, amount=f"{sum(list(bytes_of.values())) / 1e6:.1f} MB")

        for one in bring(wanted, target, grow):
            progress.advance(bar)
            yield one


def _play(env: UIEnv, lines: Sequence[str], console: Console) -> dict[str, Any]:
    """An episode of these actions, which ends at the latest after the last one."""
    observation, info = env.reset(seed=0, options={"ground_truth": True})
    console.print(Text(observation["goal"], style="bold"))
    for noted in info["ground_truth"].hidden["setup_notes"]:
        console.print(Text(f"setup: {noted}", style="dim"))
    ending = env.dialect.render([Finish()], env.size, "")
    for line in [*lines, ending]:
        observation, _, terminated, truncated, info = env.step(line)
        console.print(Text(f"{info['step']:3}  {line}"))
        if observation["feedback"]:
            console.print(Text(f"     {observation['feedback']}", style="yellow"))
        if info["failure"]:
            console.print(Text(f"     {info['failure']}", style="red"))
        if terminated or truncated:
            break
    return info


def _files(paths: Sequence[Path]) -> list[Path]:
    from ui_gym.desktop.osworld.taskfile import find

    return list(dict.fromkeys(file for path in paths for file in find(path)))


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the actions {path} cannot be read: {error}") from error
    return [line for line in text.splitlines() if line.strip()]


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise UserError(f"size is WIDTHxHEIGHT, such as 1920x1080, not {text!r}")
    return int(width), int(height)


def _print_coverage(found: Coverage, console: Console) -> None:
    from ui_gym.desktop.osworld.coverage import STATES

    columns = [ShownColumn("domain"), ShownColumn("files", right=True)]
    columns += [ShownColumn(name, rank, right=True) for rank, name in enumerate(STATES, start=1)]
    rows = [
        [name, str(counts.total()), *(str(counts[state] or "") for state in STATES)]
        for name, counts in sorted(found.domains().items())
    ]
    print_table(console, columns, rows)
    tasks = found.tasks
    loads = sum(task.loads for task in tasks)
    nothing = sum(task.needs_nothing for task in tasks)
    files = sum(task.files for task in tasks)
    absent = sum(len(task.missing) for task in tasks)
    console.print(
        f"{loads} of {len(tasks)} load, {found.count('ready')} are ready; {nothing} need no more "
        f"than their applications; {files - absent} of {files} files are there; "
        f"{sum(task.infeasible for task in tasks)} are infeasible",
        soft_wrap=True,
    )
    for name, count in found.absent():
        console.print(f"{count:4} need {name}", highlight=False, soft_wrap=True)
    lacking = found.lacking()
    for name, count in lacking[:SHOWN]:
        console.print(f"{count:4} lack {name}", highlight=False, soft_wrap=True)
    if len(lacking) > SHOWN:
        console.print(f"     and {len(lacking) - SHOWN} more; --json has them all", soft_wrap=True)
    for task in tasks:
        if task.problem:
            console.print(Text(task.problem, style="red"), soft_wrap=True)
