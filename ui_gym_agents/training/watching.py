"""The monitor beside a run or an evaluation, where ``--monitor`` asks for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ui_gym.tools.monitor_child import MonitorChild

MODULE = "ui_gym_agents.monitor.cli"


@contextmanager
def watched(folder: Path, port: int | None, note: Callable[[str], None]) -> Iterator[None]:
    """Show `folder` in a monitor at `port` (0: any that is free; None: in none) meanwhile.

    `note` gets the address, or the reason why there is none, which stops nothing.
    """
    if port is None:
        yield
        return
    command = [sys.executable, "-m", MODULE, str(folder), "--port", str(port)]
    try:
        monitor = MonitorChild([*command, "--with", str(os.getpid())], note)
    except OSError as error:
        note(f"warning: the monitor did not start ({error}); all else goes on")
        yield
        return
    with monitor:
        yield
