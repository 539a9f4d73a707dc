"""One Chromium for all tests of the pages, and a tab of its own for each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from made_runs import MadeRun
from watched_page import Browser, WatchedPage

from ui_gym_agents.monitor.app import MonitorServer
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.library import Library, Shelf

Serve = Callable[..., MonitorServer]
"""The type of the fixture `serve`."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    made = Browser()
    yield made
    made.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[WatchedPage]:
    with browser.tab() as made:
        yield made


@pytest.fixture(scope="session")
def serve() -> Iterator[Serve]:
    """Starts monitors over folders; they end with the tests."""
    with ExitStack() as stack:

        def start(folder: Path, **arguments: object) -> MonitorServer:
            index = MonitorIndex(None)
            stack.callback(index.close)
            server = MonitorServer(Library([Shelf(folder)], index), **arguments)
            return stack.enter_context(server)

        yield start


@pytest.fixture(scope="session")
def shown(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> MonitorServer:
    """A monitor over a whole run, which no test changes."""
    folder = tmp_path_factory.mktemp("runs")
    MadeRun(folder / "first").whole()
    return serve(folder)


@pytest.fixture
def live(serve: Serve, runs: Path, run: MadeRun) -> MonitorServer:
    """A monitor over a run of the test's own: `run`."""
    return serve(runs)
