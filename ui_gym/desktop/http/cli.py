"""The command ``ui-gym osworld serve``."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from ui_gym.contract.device import DeviceOptions
from ui_gym.desktop.device import SessionSpec
from ui_gym.desktop.http.address import TOKEN, token
from ui_gym.errors import UserError
from ui_gym.remote.stopping import until_stopped


def serve(
    host: Annotated[str, typer.Option(help="Where to listen; others than this need a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="0: any that is free.")] = 5000,
    size: Annotated[str, typer.Option(help="Width and height of the screen in pixels.")] = (
        "1920x1080"
    ),
    device: Annotated[str, typer.Option(help="The desktop that is served.")] = "x11",
    launch: Annotated[
        list[str] | None,
        typer.Option(metavar="COMMAND", help="A program that is open at the start; may repeat."),
    ] = None,
    allow_execute: Annotated[
        bool,
        typer.Option("--allow-execute", help="Run clients' commands in the desktop's sandbox."),
    ] = False,
    accessibility: Annotated[
        bool, typer.Option("--accessibility", help="Have programs tell their elements.")
    ] = False,
    forward: Annotated[
        list[str] | None,
        typer.Option(metavar="PORT[=LOCAL]", help="Make a port of the desktop one of this host."),
    ] = None,
    name: Annotated[
        list[str] | None, typer.Option(help="Another name of this host, or NAME:PORT if forwarded.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds of any single wait.")] = 20.0,
) -> None:
    """Serve a desktop by OSWorld's HTTP interface, until Ctrl-C.

    OSWorld's clients and runners connect as to one of its virtual machines, and so does
    [bold]device="osworld:http://127.0.0.1:5000"[/bold]. A token, if clients need one, is taken from
    the environment variable UI_GYM_OSWORLD_TOKEN.

    Example: [bold]ui-gym osworld serve --launch mousepad --allow-execute[/bold]
    """
    from ui_gym.desktop.http.forward import Forwarder
    from ui_gym.desktop.http.server import DesktopServer
    from ui_gym.desktop.pool import desktop_pool

    console = Console(highlight=False, soft_wrap=True)
    session = SessionSpec(launch=_commands(launch or ()), accessible=accessibility)
    ports = [_forward(text) for text in forward or ()]
    with until_stopped() as stop, contextlib.ExitStack() as stack:
        pool = desktop_pool(DeviceOptions(device, _pixels(size), timeout))
        stack.callback(pool.close)
        server = stack.enter_context(
            DesktopServer(
                pool,
                session,
                host=host,
                port=port,
                token=token(),
                names=name or (),
                allow_execute=allow_execute,
            )
        )
        console.print(f"{server.address}: {device}, {size} pixels, commands {_word(allow_execute)}")
        if token():
            console.print(f"clients need the token of {TOKEN}", style="dim")
        for far, near in ports:
            forwarder = Forwarder(lambda p: server.desktop.device.connect(p), far, near)
            stack.callback(forwarder.close)
            console.print(f"127.0.0.1:{forwarder.port}: the desktop's port {far}")
        stop.started()
        console.print("Ctrl-C ends it", style="dim")
        stop.wait()


def _pixels(size: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", size)
    if match is None:
        raise UserError(f"a size is written as 1920x1080, not {size!r}")
    return int(match[1]), int(match[2])


def _commands(lines: Sequence[str]) -> list[list[str]]:
    try:
        words = [shlex.split(line) for line in lines]
    except ValueError as error:
        raise UserError(f"--launch: {error}") from None
    if not all(words):
        raise UserError("--launch names a program, as in --launch mousepad")
    return words


def _forward(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,5})(?:=(\d{1,5}))?", text)
    if match is None or not 0 < int(match[1]) < 65536:
        raise UserError(f"--forward is a port, or PORT=LOCAL, not {text!r}")
    return int(match[1]), int(match[2] or match[1])


def _word(allowed: bool) -> str:
    return "allowed" if allowed else "refused (--allow-execute)"
