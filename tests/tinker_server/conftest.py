"""A server of `tiny-clerk` for all tests that leave it as it is, and servers of one's own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tinker

sys.path.insert(0, str(Path(__file__).parents[1] / "policy"))
sys.path.insert(0, str(Path(__file__).parent))

from clients import TWO_PICTURES, MakeServer, client_of, trainer_of

from tests.policy.tiny_models import folders
from ui_gym_agents.policy import VLMPolicy, load_policy
from ui_gym_tinker.server import TinkerServer


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinkerServer]:
    with TinkerServer(checkpoints=tmp_path_factory.mktemp("checkpoints")) as found:
        yield found


@pytest.fixture
def client(server: TinkerServer) -> Iterator[tinker.ServiceClient]:
    with client_of(server) as found:
        yield found


@pytest.fixture
def trainer(client: tinker.ServiceClient) -> Any:
    return trainer_of(client)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[MakeServer]:
    """Makes servers of one's own, and ends them."""
    made: list[TinkerServer] = []

    def start(*models: str, **settings: Any) -> TinkerServer:
        settings.setdefault("checkpoints", tmp_path / f"checkpoints-{len(made)}")
        found = TinkerServer(models or ["tiny-clerk"], **settings)
        made.append(found)
        found.start()
        return found

    yield start
    for one in made:
        one.close()


@pytest.fixture(scope="session")
def bare() -> VLMPolicy:
    """The model that `server` has, in this process, without an adapter; not to be changed."""
    return load_policy("tiny-clerk", threads=1, prompt=TWO_PICTURES, max_new_tokens=8)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    return folders(tmp_path_factory)
