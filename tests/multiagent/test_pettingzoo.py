"""PettingZoo's own checkers, with every warning an error."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
    state_test,
)
from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec

from ui_gym.multiagent import shared_board_v0, shared_inbox_v0
from ui_gym.multiagent.classic import ClassicTeam
from ui_gym.xvfb import XServer

pytestmark = pytest.mark.filterwarnings("error")

CYCLES = 4

WORDS = "(Observation|Action) space for each agent probably should be|Observation is not a NumPy"
"""What `api_test` warns of where agents read and write words, as nothing but numbers would do."""

Keep = Callable[[Any], Any]


def board(**arguments: Any) -> Any:
    cycles = {"max_cycles": CYCLES} | arguments
    return shared_board_v0.parallel_env(document="kanban", compact=True, **cycles)


def inbox(**arguments: Any) -> Any:
    cycles = {"max_cycles": CYCLES} | arguments
    return shared_inbox_v0.env(mails=1, viewport=(640, 400), **cycles)


def classic(**arguments: Any) -> ClassicTeam:
    return ClassicTeam(board(**arguments), 10, 8)


def turns(make: Callable[..., Any]) -> Callable[..., Any]:
    """The same env, whose agents act one after another."""
    return lambda **arguments: parallel_to_aec(make(**arguments))


def at_once(make: Callable[..., Any]) -> Callable[..., Any]:
    """The same env, whose agents act at once."""
    return lambda **arguments: aec_to_parallel(make(**arguments))


PARALLEL = {"board": board, "inbox": at_once(inbox), "classic": classic}
AEC = {"board": turns(board), "inbox": inbox, "classic": turns(classic)}


MOST = ["board", "inbox", pytest.param("classic", marks=pytest.mark.nightly)]
"""What a checker runs on: what is but a wrapper of another is left to the night."""
ONE = ["board", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("inbox", "classic"))]


@pytest.fixture
def keep() -> Iterator[Keep]:
    """Closes in the end what it is given, which some of the checkers leave open."""
    made: list[Any] = []

    def kept(env: Any) -> Any:
        made.append(env)
        return env

    yield kept
    for env in made:
        env.close()


@pytest.mark.parametrize("name", PARALLEL)
def test_parallel_api(name: str, keep: Keep) -> None:
    parallel_api_test(keep(PARALLEL[name]()), num_cycles=CYCLES)


@pytest.mark.parametrize("name", ONE)
def test_parallel_seeds(name: str) -> None:
    parallel_seed_test(PARALLEL[name], num_cycles=CYCLES)


@pytest.mark.parametrize("name", AEC)
def test_api(name: str, keep: Keep) -> None:
    with warnings.catch_warnings():
        if name != "classic":
            warnings.filterwarnings("ignore", WORDS)
        api_test(keep(AEC[name]()), num_cycles=CYCLES)


@pytest.mark.parametrize("name", MOST)
def test_seeds(name: str) -> None:
    seed_test(AEC[name], num_cycles=CYCLES)


@pytest.mark.parametrize("name", MOST)
def test_state(name: str, keep: Keep) -> None:
    state_test(keep(AEC[name]()), keep(PARALLEL[name]()), num_cycles=CYCLES)


@pytest.mark.parametrize("name", MOST)
def test_max_cycles(name: str, keep: Keep) -> None:
    doors = {
        "env": lambda **more: keep(AEC[name](**more)),
        "parallel_env": lambda **more: keep(PARALLEL[name](**more)),
    }
    max_cycles_test(SimpleNamespace(**doors))


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A screen for the windows of the mode ``human``."""
    server = XServer((1400, 900))
    monkeypatch.setenv("DISPLAY", server.display)
    yield
    server.close()


@pytest.mark.parametrize("name", MOST[:2])
def test_render(name: str, keep: Keep, display: None) -> None:
    render_test(lambda render_mode: keep(AEC[name](render_mode=render_mode)))
