"""The example with TorchRL runs, and its PPO finds buttons more often than clicks at random."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torchrl", reason="tox -e torchrl")

pytestmark = pytest.mark.nightly

EXAMPLE = Path(__file__).parents[2] / "examples" / "torchrl_grid.py"


def test_torchrl_learns_in_a_vector_env() -> None:
    told = subprocess.run(
        [sys.executable, str(EXAMPLE), "--iterations", "40"],
        capture_output=True, text=True, timeout=1500,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr[-3000:]
    returns = [float(value) for value in re.findall(r"return ([0-9.]+)", told.stdout)]
    assert len(returns) == 40
    first, last = sum(returns[:6]) / 6, sum(returns[-10:]) / 10
    assert last > first + 0.05, returns
