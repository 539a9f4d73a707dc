"""A phone with a few apps, whose shell is asked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from command_bench import Bench, phone_with_apps


@pytest.fixture
def sh() -> Bench:
    """A phone's shell: `sh(line)` runs a line."""
    return Bench(phone_with_apps())
