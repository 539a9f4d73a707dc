"""The examples with others' PPO run, and it finds buttons more often than clicks at random."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "library"), [("torchrl", "torchrl"), ("rllib", "ray.rllib.algorithms.ppo")]
)
def test_ppo_learns_in_a_vector_env(name: str, library: str) -> None:
    pytest.importorskip(library, reason=f"see examples/{name}_grid.py")
    told = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}_grid.py"), "--iterations", "40"],
        capture_output=True, text=True, timeout=1500,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr[-3000:]
    returns = [float(value) for value in re.findall(r"return ([0-9.]+)", told.stdout)]
    assert len(returns) == 40
    first, last = sum(returns[:6]) / 6, sum(returns[-10:]) / 10
    assert last > first + 0.05, returns
