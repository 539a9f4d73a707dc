"""A command of this package as a child: on some cores, and no longer there than its parent.

``python -m ui_gym_agents.bench.child CORES COMMAND [ARGUMENTS]``, with the numbers of CORES divided
by commas. When its standard input closes, be it because the parent died, it is ended as by SIGTERM:
a run saves then. What it used goes to the file that `USAGE` names.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
import threading
from pathlib import Path

COMMANDS = {
    "ui-gym-train": "ui_gym_agents.training.cli",
    "ui-gym-eval": "ui_gym_agents.evaluation.cli",
}
USAGE = "UI_GYM_BENCH_USAGE"
"""The variable with the file that gets the CPU seconds of the command and its own children."""


def main() -> int:
    """The command's exit status."""
    cores, command, *arguments = sys.argv[1:]
    if hasattr(os, "sched_setaffinity"):  # Linux only
        os.sched_setaffinity(0, map(int, cores.split(",")))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.argv = [command, *arguments]
    usage = os.environ.pop(USAGE, None)
    try:
        return int(importlib.import_module(COMMANDS[command]).main())
    finally:
        if usage is not None:
            Path(usage).write_text(repr(_cpu_seconds()))


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _cpu_seconds() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    sys.exit(main())
