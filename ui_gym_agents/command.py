"""What this package's commands share: how they end, how they complain, how arguments are read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from ui_gym.errors import UIGymError, UserError
from ui_gym.extras import remedy
from ui_gym_agents.files import limit_of

INTERRUPTED = 130
"""The exit status after Ctrl-C."""


class Interrupted(UIGymError):
    """Ctrl-C, with what a command has to say of it."""


def run(app: typer.Typer, arguments: Sequence[str] | None = None) -> int:
    """Run a command of typer's. The exit status: see `finish`."""

    def work() -> Any:
        # Typer turns Ctrl-C into a returned status, or into Abort, as its version has it.
        status = app(args=arguments, standalone_mode=False)
        if status == INTERRUPTED:
            raise KeyboardInterrupt
        return status

    return finish(work)


def finish(work: Callable[[], Any], *, told_elsewhere: bool = False) -> int:
    """Do `work`. The exit status: its own, 1 (failed), 2 (usage), 130 (interrupted).

    With `told_elsewhere`, a mistake of the user is another process's to tell.
    """
    try:
        return int(work() or 0)
    except Interrupted as error:
        complain(str(error))
        return INTERRUPTED
    except UIGymError as error:
        if isinstance(error, UserError) and told_elsewhere:
            return 2
        for line in getattr(error, "problems", [str(error)]):
            complain(line)
        return 2 if isinstance(error, UserError) else 1
    except (typer.Abort, KeyboardInterrupt):
        complain("interrupted")
        return INTERRUPTED
    except ModuleNotFoundError as error:
        missing = remedy(error)
        if missing is None:
            raise
        complain(missing)
        return 1
    except BrokenPipeError:  # The reader went away, as in `... | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        show = getattr(error, "show", None)  # a usage error of the command line
        if show is None:
            limit = limit_of(error)
            if not limit:
                raise
            complain(": ".join(filter(None, (type(error).__name__, str(error), limit))))
            return 1
        show()
        return 2


def complain(text: str) -> None:
    """Say in red what went wrong, on the standard error."""
    Console(stderr=True).print(Text(f"error: {text}", style="red"), soft_wrap=True)


def read_arguments(given: Sequence[str]) -> dict[str, Any]:
    """``NAME=JSON`` pairs of ``--set``; what is no JSON is a string."""
    arguments = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise UserError(f"--set takes NAME=VALUE, not {pair!r}")
        try:
            arguments[name] = json.loads(text)
        except ValueError:
            arguments[name] = text
    return arguments
