"""The command ``ui-gym serve``."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ui_gym.errors import UserError
from ui_gym.tools.monitor_child import FLAG, MonitorChild

MONITOR = "ui-gym-monitor"
"""The command of the distribution's learning part, which this one does not import."""


def serve(
    host: Annotated[str, typer.Option(help="Where to listen; others than this need a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="0: any that is free.")] = 7000,
    slots: Annotated[int, typer.Option(min=1, help="How many envs it lends in all.")] = 64,
    sessions: Annotated[int, typer.Option(min=1, help="How many clients' vector envs.")] = 32,
    task: Annotated[
        list[str] | None,
        typer.Option(help="What may be played: an id, a name, a suite; may repeat. [all]"),
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option(
            help="A device with an address that clients may ask for, such as adb:emulator-5554; "
            "may repeat, and * is any."
        ),
    ] = None,
    custom: Annotated[
        list[str] | None,
        typer.Option("--import", metavar="MODULE", help="A module that registers tasks."),
    ] = None,
    processes: Annotated[
        int,
        typer.Option(
            min=1,
            help="Servers, with a Python each, at the ports from --port on; slots are shared out. "
            "Phones and other slots that are played in Python want one for each core.",
        ),
    ] = 1,
    workers: Annotated[str, typer.Option(help="What plays them here: threads, processes:4.")] = (
        "threads"
    ),
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds that a session waits for a client that was lost.")
    ] = 60.0,
    name: Annotated[
        list[str] | None, typer.Option(help="Another name of this host, or NAME:PORT if forwarded.")
    ] = None,
    certificate: Annotated[Path | None, typer.Option(help="For TLS (wss://), a PEM file.")] = None,
    key: Annotated[Path | None, typer.Option(help="The certificate's private key.")] = None,
    monitor: Annotated[
        int | None,
        typer.Option(
            FLAG,
            metavar="[PORT]",
            min=0,
            max=65535,
            help="Show the slots in a browser meanwhile; without a port, at any that is free.",
        ),
    ] = None,
) -> None:
    """Serve slots to vector envs of other machines, until Ctrl-C.

    There, they are played by [bold]gym.make_vec("UI/DataEntry-v0", num_envs=32,
    workers="ws://HOST:7000")[/bold] or [bold]ui-gym-train --env.workers ws://HOST:7000[/bold].
    Beyond this machine a token is demanded: set the environment variable UI_GYM_SERVER_TOKEN, here
    and there. The first Ctrl-C lets open episodes end, for two minutes at most; the second ends
    all.

    Example: [bold]ui-gym serve --host 0.0.0.0 --slots 32[/bold]
    """
    from ui_gym.remote import wire
    from ui_gym.remote.guard import token_in
    from ui_gym.remote.lending import ServerLimits
    from ui_gym.remote.server import EnvServer
    from ui_gym.remote.serving import import_all, serve_here, serve_in_processes
    from ui_gym.remote.stopping import until_stopped

    console = Console(highlight=False, soft_wrap=True)
    limits = ServerLimits(slots=slots, sessions=sessions, grace=grace)
    settings: dict[str, Any] = {
        "host": host, "token": token_in(wire.TOKEN), "names": name or (), "tasks": task or (),
        "devices": device or (), "workers": workers, "certificate": certificate, "key": key,
    }  # fmt: skip

    command = [] if monitor is None else _monitor_command(monitor)
    children = ExitStack()

    def begun(text: str) -> None:
        if command:
            addresses = map(reached, text.rpartition(":")[0].split(","))
            shown = [word for address in addresses for word in ("--server", address)]
            children.enter_context(MonitorChild([*command, *shown], console.print))
        console.print(f"{text}, {', '.join(task or ['all tasks'])}")
        if settings["token"]:
            console.print(f"clients need the token of {wire.TOKEN}", style="dim")
        console.print("Ctrl-C ends it", style="dim")

    with children, until_stopped() as stop:
        if processes > 1:
            own = settings | {"modules": custom or ()}
            serve_in_processes(processes, port, limits, own, stop, begun, console.print)
            return
        import_all(custom or ())
        with EnvServer(port=port, limits=limits, **settings) as server:
            begun(f"{server.address}: {slots} slots")
            serve_here(server, stop, console.print)


def _monitor_command(port: int) -> list[str]:
    """What starts a monitor that ends with this process.

    Raises:
        UserError: it is not installed.
    """
    beside = Path(sys.executable).with_name(MONITOR)
    found = str(beside) if beside.exists() else shutil.which(MONITOR)
    if found is None:
        raise UserError(
            f"{FLAG} needs the command {MONITOR}; to get it: pip install 'ui-gym[agents]'"
        )
    return [found, "--port", str(port), "--with", str(os.getpid())]


def reached(address: str) -> str:
    """An address as this machine reaches it: one that means all of its own is none to ask."""
    return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
