"""The paint suite, an in-memory third party's, and envs over it that leave nothing behind."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

import paint
import tiers
from waiting import eventually

from ui_gym.playing.env import UIEnv
from ui_gym.playing.vector import UIVectorEnv
from ui_gym.remote.server import EnvServer

# A busy machine is no fault of what is tested.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--budget",
        type=float,
        metavar="SECONDS",
        help="tell of tests without `nightly` that take longer on an otherwise quiet machine",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    tiers.choose(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    return tiers.workers()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["markexpr"] = node.config.option.markexpr


def pytest_configure(config: pytest.Config) -> None:
    if config.option.budget and not hasattr(config, "workerinput"):
        config.pluginmanager.register(tiers.Budget(config.option.budget))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tiers.mark(items)


@pytest.fixture
def faults() -> paint.Faults:
    return paint.Faults()


@pytest.fixture
def pool(faults: paint.Faults) -> paint.PaintPool:
    return paint.PaintPool((96, 64), faults)


@pytest.fixture
def make(pool: paint.PaintPool) -> Iterator[Callable[..., UIEnv]]:
    """Makes envs on the fixture's pool, closes them, and checks that no device is still lent."""
    made: list[UIEnv] = []

    def make_env(task: Any = "PaintText", **arguments: Any) -> UIEnv:
        made.append(UIEnv(task, **{"pool": pool} | arguments))
        return made[-1]

    yield make_env
    for env in made:
        env.close()
    assert pool.lent == []


ROADS = (
    "threads", "processes:2", "ws", pytest.param("ray?slots=2", marks=pytest.mark.nightly),
)  # fmt: skip
"""All that may play slots: a vector env is the same on each."""


@pytest.fixture(scope="module")
def rays_end() -> Iterator[None]:
    """A cluster of Ray that envs began here is no concern of another module's tests."""
    yield
    if ray := sys.modules.get("ray"):
        ray.shutdown()


@pytest.fixture(params=ROADS)
def on_road(request: pytest.FixtureRequest, rays_end: None) -> Iterator[Callable[..., UIVectorEnv]]:
    """Makes vector envs of the paint suite whose slots are played in one of all ways, closes them,
    and checks that nothing is left. Faults are asked for in the device's name (`paint`)."""
    made: list[UIVectorEnv] = []
    with contextlib.ExitStack() as stack:
        workers = request.param
        if workers == "ws":
            server = stack.enter_context(EnvServer(port=0, devices=["*"]))
            workers = server.address

        def make_env(num_envs: int = 3, task: Any = "PaintText", **arguments: Any) -> UIVectorEnv:
            made.append(UIVectorEnv(num_envs, task, **{"workers": workers} | arguments))
            return made[-1]

        yield make_env
        for env in made:
            env.close()
        if request.param == "ws":
            assert eventually(lambda: server.free == server.limits.slots)


@pytest.fixture
def make_vector(pool: paint.PaintPool) -> Iterator[Callable[..., UIVectorEnv]]:
    """As `make`, for vector envs."""
    made: list[UIVectorEnv] = []

    def make_env(num_envs: int = 3, task: Any = "PaintText", **arguments: Any) -> UIVectorEnv:
        made.append(UIVectorEnv(num_envs, task, **{"pool": pool} | arguments))
        return made[-1]

    yield make_env
    for env in made:
        env.close()
    assert pool.lent == []
