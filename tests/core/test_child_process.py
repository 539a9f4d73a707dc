"""Child processes, and what they need of the machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ui_gym.child_process import FILES

START = """
import resource
from ui_gym.child_process import ChildProcess
ChildProcess(["true"]).close()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def started(limit: str) -> subprocess.CompletedProcess[str]:
    """A child process is started, and ended, after a line of shell that sets a limit."""
    command = f'{limit}; exec "$0" -c "$1"'
    return subprocess.run(
        ["sh", "-c", command, sys.executable, START], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("limit", "then"), [("ulimit -Sn 64", FILES), ("ulimit -Sn 300", 300), (":", None)]
)
def test_a_low_limit_of_open_files_is_raised(limit: str, then: int | None) -> None:
    done = started(limit)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == then or then is None


def test_a_limit_that_cannot_be_raised_is_named() -> None:
    done = started("ulimit -n 64")
    assert done.returncode == 1
    assert "a process may open 64 files here, and a device needs 256: raise the" in done.stderr
