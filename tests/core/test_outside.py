"""What envs leave as it was: the folders that all programs of a machine share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import ui_gym  # noqa: F401 - registers the ids
from ui_gym.playing.env import UIEnv

SHARED = ("/tmp", tempfile.gettempdir(), "/var/tmp", "/dev/shm", "/tmp/.X11-unix")

SERVER = "from ui_gym.xvfb import XServer; XServer((320, 240), user=12345, timeout=3)"
"""A server that runs as somebody else."""


def kept() -> dict[str, tuple[int, int, int]]:
    """Mode, owner and group of the folders that all share."""
    states = {name: Path(name).stat() for name in SHARED if Path(name).is_dir()}
    return {name: (state.st_mode, state.st_uid, state.st_gid) for name, state in states.items()}


@pytest.mark.parametrize("task", ["ClickButton", "AndroidOpenApp", "DesktopDeleteFile"])
def test_no_folder_of_the_machine_is_changed(task: str) -> None:
    before = kept()
    env = UIEnv(task)
    try:
        _, info = env.reset(seed=1, options={"oracle": True})
        during = kept()
        env.step(info["oracle"]["action_text"])
    finally:
        env.close()
    # The first X server of a machine makes the folder of their sockets.
    assert {name: during[name] for name in before} == before
    assert {name: state for name, state in kept().items() if name in before} == before


@pytest.mark.skipif(
    os.geteuid() != 0
    or shutil.which("unshare") is None
    or Path(__file__).is_relative_to("/tmp")
    or Path(sys.executable).is_relative_to("/tmp"),
    reason="needs root, and a /tmp in which this code does not lie",
)
def test_a_server_that_may_not_write_says_where() -> None:
    own = f"mount -t tmpfs -o mode=755 tmpfs /tmp && exec {sys.executable} -c '{SERVER}'"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", own], env={**os.environ, "TMPDIR": "/var/tmp"},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    if "mount:" in done.stderr:
        pytest.skip("this machine lets nobody mount")
    assert "/tmp has the mode 755, and the server, which runs as user 12345, must" in done.stderr
