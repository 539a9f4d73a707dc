"""The tiny policy of the SFT tests, built once a session, and recordings for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model."""
    from sft_helpers import build_model

    return build_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def clicker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model that knows how to click, and does not look."""
    from spots import build_clicker

    return build_clicker(tmp_path_factory.mktemp("clicker"))


@pytest.fixture
def runs(tmp_path: Path, tiny: Path) -> Iterator[Any]:
    """Trainers on the tiny model."""
    from sft_helpers import Runs

    found = Runs(tmp_path, tiny)
    yield found
    found.close()


@pytest.fixture
def recorded(tmp_path: Path, tiny: Path) -> Path:
    """A folder of eight episodes of two turns, seven of them successes."""
    from sft_helpers import make_policy, record

    from ui_gym_agents.store import EpisodeStore

    folder = tmp_path / "other"
    store = EpisodeStore(folder)
    policy = make_policy(tiny)
    for number in range(8):
        record(store, policy, number, success=number != 5)
    return folder
