"""The fake desktop, for every test of OSWorld's files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake import FakeDesktop


@pytest.fixture
def desktop(tmp_path: Path) -> FakeDesktop:
    home = tmp_path / "home"
    home.mkdir()
    return FakeDesktop(home)
