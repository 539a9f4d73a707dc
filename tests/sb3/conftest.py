"""The trainer on the paint suite: whole runs in this process, in a folder of their own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import paint  # noqa: F401 - registers the suite
from sb3_helpers import SMALL, Train

from ui_gym_agents.training import cli


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Networks as small as these gain nothing from more, and the cores are others', too."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Train:
    """Runs `ui-gym-train` and returns the run's folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(name: str, *arguments: str, small: tuple[str, ...] = SMALL, status: int = 0) -> Path:
        folder = tmp_path / name
        given = ("--resume", str(folder)) if folder.exists() else ("--run.directory", str(folder))
        assert cli.main([*small, *given, *arguments]) == status
        return folder

    return run
