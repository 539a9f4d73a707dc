"""A local server with the tiny clicker, and trainers on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tinker_server"))
sys.path.insert(0, str(Path(__file__).parent))

from tinker_runs import Make

from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig
from ui_gym_tinker import TinkerConfig, TinkerTrainer
from ui_gym_tinker.server import TinkerServer

SMALL = {"groups": 2, "group_size": 4, "lr": 1e-3, "episode_tokens": 5.0}


@pytest.fixture(scope="session")
def clicker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model that knows how to click, and does not look."""
    from spots import build_clicker

    return build_clicker(tmp_path_factory.mktemp("clicker"))


@pytest.fixture(scope="session")
def server(clicker: Path) -> Iterator[TinkerServer]:
    with TinkerServer(models={"clicker": clicker}) as serving:
        yield serving


@pytest.fixture
def connected(server: TinkerServer, monkeypatch: pytest.MonkeyPatch) -> TinkerServer:
    """The server, as the environment names it."""
    monkeypatch.setenv("TINKER_BASE_URL", server.url)
    monkeypatch.setenv("TINKER_API_KEY", server.key)
    return server


@pytest.fixture
def make(tmp_path: Path, clicker: Path) -> Iterator[Make]:
    """Makes trainers on `PaintSpot`; what they write is in ``run0``, ``run1``..."""
    closing: list[Any] = []

    def go(
        *, seed: int = 0, steps: int = 4, policy: dict[str, Any] | None = None,
        note: Callable[[str], None] = print, **settings: Any,
    ) -> TinkerTrainer:  # fmt: skip
        directory = RunDirectory(tmp_path / f"run{len(closing)}")
        config = RunConfig.model_validate(
            {
                "plugin": "tinker",
                "tasks": {"ids": ["PaintSpot"]},
                "env": {"num_envs": 4},
                "policy": {"model": str(clicker), "max_new_tokens": 6, **(policy or {})},
                "run": {"seed": seed, "steps": steps, "keep_pictures": 0},
            }
        )
        context = TrainerContext(directory, config, note=note)
        closing.extend([directory, context])
        given = SMALL | {"base_model": "clicker"} | settings
        trainer = TinkerTrainer(TinkerConfig(**given), context)
        closing.append(trainer)
        assert trainer.model is not None  # made now: faults are for what comes then
        return trainer

    yield go
    for one in reversed(closing):
        one.close()
