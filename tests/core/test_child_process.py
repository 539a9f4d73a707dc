"""Child processes, and what they need of the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ui_gym.child_process import FILES

START = """
import resource, sys
from pathlib import Path
from ui_gym.child_process import ChildProcess
ChildProcess(["true"], folder=Path(sys.argv[1])).close()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def started(limit: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A child process with a folder is started, and ended, after a line of shell that sets a limit.

    The folder goes with it, also where it cannot be started.
    """
    folder.mkdir()
    command = f'{limit}; exec "$0" -c "$1" "$2"'
    words = ["sh", "-c", command, sys.executable, START, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert not folder.exists()
    return done


@pytest.mark.parametrize(
    ("limit", "then"), [("ulimit -Sn 64", FILES), ("ulimit -Sn 300", 300), (":", None)]
)
def test_a_low_limit_of_open_files_is_raised(limit: str, then: int | None, tmp_path: Path) -> None:
    done = started(limit, tmp_path / "own")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == then or then is None


def test_a_limit_that_cannot_be_raised_is_named(tmp_path: Path) -> None:
    done = started("ulimit -n 64", tmp_path / "own")
    assert done.returncode == 1
    assert "a process may open 64 files here, and a device needs 256: raise the" in done.stderr
