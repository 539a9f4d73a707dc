"""What every test of a getter starts from."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake import FakeDesktop
from getter_case import Cloud

from ui_gym.desktop.osworld.registry import EvaluationContext


@pytest.fixture
def context(desktop: FakeDesktop, tmp_path: Path) -> EvaluationContext:
    folder = tmp_path / "episode"
    folder.mkdir()
    return EvaluationContext(desktop, Cloud(tmp_path / "cloud"), folder, (1920, 1080))
