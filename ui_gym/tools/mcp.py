"""The command ``ui-gym mcp``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class OfferedTools(StrEnum):
    """What a model does actions with."""

    ACT = "act"
    ACTIONS = "actions"


def mcp(
    tasks: Annotated[list[str], typer.Argument(help="Ids or names, such as UI/DataEntry-v0.")],
    http: Annotated[
        int | None,
        typer.Option(
            metavar="PORT",
            help="Serve at http://127.0.0.1:PORT/mcp, rather than on standard input and output.",
        ),
    ] = None,
    tools: Annotated[
        OfferedTools,
        typer.Option(help="act: one tool that reads written actions; actions: a tool for each."),
    ] = OfferedTools.ACT,
    seed: Annotated[
        int | None, typer.Option(help="The one episode that is played, once. [agents choose]")
    ] = None,
    score: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the score of the one episode here."),
    ] = None,
    level: Annotated[int | None, typer.Option(help="The tasks' level of difficulty.")] = None,
    compact: Annotated[
        bool, typer.Option(help="Small screens, where the tasks have them.")
    ] = False,
    device: Annotated[str, typer.Option(help="What the tasks are played on.")] = "auto",
) -> None:
    """Lend tasks to any agent that speaks the Model Context Protocol.

    It has the tools start_task, screenshot, act and finish; with [bold]--tools actions[/bold]
    click, type, scroll and so on in place of act. One agent plays one episode at a time.
    An agent starts it by itself, on standard input and output: give it this command. With
    [bold]--http 8000[/bold] agents of this machine find it at http://127.0.0.1:8000/mcp.

    Example: [bold]ui-gym mcp UI/DataEntry-v0[/bold]
    """
    from ui_gym.tools.mcp_server import TaskServer, serve_tasks

    given = {"level": level, "compact": compact or None, "device": device}
    arguments = {name: value for name, value in given.items() if value is not None}
    served = TaskServer(
        tasks, arguments, each=tools is OfferedTools.ACTIONS, seed=seed, score=score
    )
    if http is not None:
        sys.stderr.write(f"http://127.0.0.1:{http}/mcp; Ctrl-C ends it\n")
    serve_tasks(served, http)
