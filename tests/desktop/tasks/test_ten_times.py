"""Ten times the same bytes beside four busy processes: a busy machine is slower, and no more.

``pytest -m nightly tests/desktop/tasks/test_ten_times.py -k round0`` plays a tenth of it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from ui_gym.contract.device import DevicePool
from ui_gym.testing import check_ui_env

pytestmark = pytest.mark.nightly

ROUNDS, PROCESSES = 10, 4

TASKS = (
    "DesktopTypeAndSave", "DesktopMoveFile", "DesktopSortFiles", "DesktopArchiveFolder",
    "DesktopCalculate", "DesktopEnterCell",
)  # fmt: skip
"""One of each program, and those that once failed on a busy machine."""

COMPUTE = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(100_000))"
"""Ends with its parent, should that be killed."""


@pytest.fixture(scope="module", autouse=True)
def busy() -> Iterator[None]:
    """Other processes compute all the while."""
    others = [subprocess.Popen([sys.executable, "-c", COMPUTE]) for _ in range(PROCESSES)]
    try:
        yield
        assert [other.poll() for other in others] == [None] * PROCESSES
    finally:
        for other in others:
            other.kill()
        for other in others:
            other.wait(10)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("round_", range(ROUNDS), ids=lambda n: f"round{n}")
def test_a_busy_machine_gives_the_same_bytes(round_: int, name: str, pool: DevicePool) -> None:
    check_ui_env(name, seeds=range(1), pool=pool)
