"""Runs as a trainer writes them, and a monitor over them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from made_runs import MadeRun

from ui_gym_agents.monitor.api import MonitorApi
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.library import Library, Shelf


@pytest.fixture(autouse=True)
def no_database_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UI_GYM_DATABASE_URL", "DATABASE_URL", "POSTGRES_HOST"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder for runs."""
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


@pytest.fixture
def run(runs: Path) -> MadeRun:
    """A run with a whole story."""
    made = MadeRun(runs / "first")
    made.whole()
    return made


@pytest.fixture
def index(tmp_path: Path) -> Iterator[MonitorIndex]:
    made = MonitorIndex(tmp_path / "index.sqlite")
    yield made
    made.close()


@pytest.fixture
def library(runs: Path, index: MonitorIndex) -> Library:
    """All that lies in the folder of runs; `look` takes in what is new."""
    return Library([Shelf(runs)], index)


@pytest.fixture
def api(library: Library) -> MonitorApi:
    return MonitorApi(library)
