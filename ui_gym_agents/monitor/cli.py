"""`ui-gym-monitor`: what agents saw and did, while they learn, in a browser."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ui_gym.errors import UserError
from ui_gym_agents import command

app = typer.Typer(add_completion=False, rich_markup_mode="rich")

DEFAULT_PORT = 8700
FAREWELL = 1.0
"""Seconds between two looks at whether the process lives that the monitor goes with."""


@app.command()
def monitor(
    places: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FOLDER]...",
            help="Runs, evaluations, folders of them, OSWorld results, Inspect logs. [runs]",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen; others than this need a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="0: any that is free.")] = DEFAULT_PORT,
    name: Annotated[list[str] | None, typer.Option(help="Another name of this host.")] = None,
    allow_control: Annotated[
        bool, typer.Option(help="Let the page stop, evaluate and save runs.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one run as a single HTML file, and end."),
    ] = None,
    episode: Annotated[
        str | None, typer.Option(help="With --export: this episode alone, by its id in the page.")
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Show the slots of a `ui-gym serve` too: ws://HOST:7000."),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="Where the index and thumbnails are kept. [~/.cache/ui-gym/monitor]"),
    ] = None,
    with_: Annotated[
        int | None,
        typer.Option("--with", metavar="PID", help="End when this process does."),
    ] = None,
) -> None:
    """Watch runs in a browser: curves, groups, and every episode's pictures.

    It reads what runs write, and takes about a hundredth of a core. Beyond this machine it needs a
    token: set UI_GYM_MONITOR_TOKEN, and open the address that is printed.

    Example: [bold]ui-gym-monitor runs[/bold],
    [bold]ui-gym-monitor runs/grpo-20260101-120000 --export run.html[/bold]
    """
    from ui_gym_agents.monitor.index import VERSION, MonitorIndex
    from ui_gym_agents.monitor.library import Library, Shelf

    shelves = [Shelf(place) for place in _existing(places)]
    shelves += _databases(shelves) + [_server(url) for url in server or ()]
    folder = cache or _cache()
    # Monitors of several versions may run at once: each has an index of its own.
    index = MonitorIndex(folder / f"index-{VERSION}.sqlite")
    console = Console(highlight=False, soft_wrap=True)
    if index.in_memory:
        console.print(f"nothing can be kept in {folder}: the index is in memory", style="dim")
    library = Library(shelves, index)
    try:
        if export is not None:
            _export(library, export, episode, console)
            return
        _serve(library, console, folder, host, port, name or (), allow_control, with_)
    finally:
        index.close()


def _serve(
    library: Any, console: Console, folder: Path, host: str, port: int, names: Sequence[str],
    control: bool, with_: int | None,
) -> None:  # fmt: skip
    from ui_gym.remote.guard import token_in
    from ui_gym.remote.stopping import until_stopped
    from ui_gym_agents.monitor.app import TOKEN, MonitorServer

    with (
        until_stopped() as stop,
        MonitorServer(
            library, control=control, host=host, port=port, token=token_in(TOKEN), names=names,
            thumbnails=folder / "thumbnails",
        ) as server,
    ):  # fmt: skip
        # The address stands alone on its line: programs that start a monitor read it.
        # What they do with it is a log's, perhaps, and a token is not for logs.
        sys.stdout.write(f"{server.entrance if with_ is None else server.url}\n")
        sys.stdout.flush()
        if with_ is None:
            console.print("Ctrl-C ends it", style="dim")
        else:
            _end_with(with_, stop.signalled)
        stop.started()
        stop.wait()


def _end_with(process: int, end: Any) -> None:
    """Call `end` when a process is over."""

    def watch() -> None:
        while _lives(process):
            time.sleep(FAREWELL)
        end()

    threading.Thread(target=watch, name="monitor-with", daemon=True).start()


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _export(library: Any, out: Path, episode: str | None, console: Console) -> None:
    from ui_gym_agents.files import replacing
    from ui_gym_agents.monitor import single_file
    from ui_gym_agents.monitor.api import MonitorApi

    library.look()
    found = library.all()
    if len(found) != 1:
        names = ", ".join(shelved.source.place for shelved in found[:10]) or "none"
        raise UserError(f"--export takes one run, and there are {len(found)} here: {names}")
    source = found[0].source
    try:
        with replacing(out) as part, part.open("w", encoding="utf-8") as file:
            get = MonitorApi(library).answer
            for text in single_file.page(get, source.picture, source.id, episode=episode or ""):
                file.write(text)
    except OSError as error:
        raise UserError(f"{out} cannot be written: {error}") from error
    console.print(f"{out}: {out.stat().st_size / 1e6:.1f} MB; it opens in any browser, offline")


def _existing(places: Sequence[Path] | None) -> list[Path]:
    """The places that are there; the default need not be."""
    if not places:
        return [Path("runs")]
    for place in places:
        if not place.exists():
            raise UserError(f"{place} is not there; name a run, or a folder of runs")
    return list(places)


def _databases(shelves: Sequence[Any]) -> list[Any]:
    """The runs of the database that the environment names, if it names one."""
    names = ("UI_GYM_DATABASE_URL", "DATABASE_URL", "POSTGRES_HOST")
    if not any(os.environ.get(name) for name in names):
        return []
    from ui_gym_agents.monitor.sources.database import DatabaseShelf

    return [DatabaseShelf(shelves)]


def _server(url: str) -> Any:
    from ui_gym_agents.monitor.servers import ServerShelf

    return ServerShelf(url)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "ui-gym" / "monitor"


def main() -> int:
    """The command. Returns the exit status: 0, 1 (failed), 2 (usage), 130 (interrupted)."""
    return command.run(app)


if __name__ == "__main__":
    sys.exit(main())
