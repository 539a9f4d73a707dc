"""Fixtures of teams: envs that are closed, and a check that they leave nothing behind."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from multiagent_helpers import Make
from waiting import eventually

if importlib.util.find_spec("pettingzoo") is None:  # the extra `multi` is not installed
    collect_ignore_glob = ["test_[!d]*.py"]


def left_behind() -> list[Any]:
    """Child processes, and threads of ours."""
    children = [p for p in psutil.Process().children(recursive=True) if p.is_running()]
    alive = [p for p in children if p.status() != psutil.STATUS_ZOMBIE]
    return [*alive, *(t for t in threading.enumerate() if t.name.startswith(("cdp", "ui-gym")))]


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No process and no thread outlives a module's envs."""
    before = set(map(str, left_behind()))
    yield
    assert eventually(lambda: not set(map(str, left_behind())) - before), left_behind()


KEPT = 3
"""How many boards are kept open at a time."""


@pytest.fixture(scope="module")
def make() -> Iterator[Make]:
    """Gives a board with these arguments, the last one that was made if it is still open: browsers
    take long to start. All are closed in the end."""
    from ui_gym.multiagent.board import SharedBoard

    made: dict[str, SharedBoard] = {}

    def make_env(document: Any = "kanban", **arguments: Any) -> Any:
        key = repr((document, sorted(arguments.items())))
        board = made.pop(key, None) or SharedBoard(document, **arguments)
        made[key] = board
        for old in list(made)[:-KEPT]:
            made.pop(old).close()
        return board

    yield make_env
    for env in made.values():
        env.close()
