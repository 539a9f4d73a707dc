"""Pages to which something is missing: the server, a folder, runs, what an address names."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urlsplit

from all_views import only_run
from made_runs import MadeRun
from watched_page import WatchedPage

from ui_gym_agents.monitor.app import MonitorServer
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.library import Library, Shelf


def test_a_page_gets_what_comes_after_the_server_was_restarted(
    page: WatchedPage, runs: Path, run: MadeRun
) -> None:
    with MonitorServer(Library([Shelf(runs)], MonitorIndex(None))) as first:
        port = urlsplit(first.url).port
        page.open(f"{first.url}/#/run/{only_run(first)}")
        page.until_seen("2 of 2", "live")
        page.js("window.same = true")
    page.until_seen("no connection")
    run.step(3)
    with MonitorServer(Library([Shelf(runs)], MonitorIndex(None)), port=port):
        page.until_seen("3 of 2", "live")
        run.step(4)
        page.until_seen("4 of 2")
        assert page.js("window.same")


def test_a_vanished_folder_is_told_and_what_is_known_stays(
    page: WatchedPage, live: MonitorServer, run: MadeRun
) -> None:
    page.open(f"{live.url}/#/run/{only_run(live)}")
    page.until_seen("2 of 2")
    shutil.rmtree(run.folder)
    page.until_seen("gone", "Could not be read whole.", "2 of 2")
    assert page.seen(".pill") == ["gone"]


def test_an_empty_folder_says_how_to_begin(page: WatchedPage, serve, tmp_path: Path) -> None:
    (tmp_path / "none yet").mkdir()
    server = serve(tmp_path / "none yet")
    page.open(f"{server.url}/")
    page.until_seen("No runs yet", "none yet", "ui-gym-train")
    MadeRun(tmp_path / "none yet" / "first").whole()
    page.until_seen("1 of 1 run")


def test_filters_that_leave_nothing_say_so(page: WatchedPage, shown: MonitorServer) -> None:
    page.open(f"{shown.url}/#/run/{only_run(shown)}/episodes?q=zebra")
    page.until_seen("No episode matches")


def test_what_is_not_there_is_told_with_a_way_on(page: WatchedPage, shown: MonitorServer) -> None:
    for hash, text in (
        ("#/run/0123456789ab", "there is no run '0123456789ab'"),
        (f"#/run/{only_run(shown)}/episode/0123456789", "there is no episode '0123456789'"),
        (f"#/run/{only_run(shown)}/episodes?step=odd", "step is no whole number"),
        ("#/odd/page", "There is no such page"),
    ):
        page.open(f"{shown.url}/{hash}")
        page.until_seen(text)
        assert page.js("document.querySelectorAll('.state button, .state a').length") == 1


def test_a_server_that_fell_silent_is_told(page: WatchedPage, runs: Path, run: MadeRun) -> None:
    with MonitorServer(Library([Shelf(runs)], MonitorIndex(None))) as server:
        id = only_run(server)
        page.open(f"{server.url}/")
        page.until_seen("1 of 1 run")
    page.go(f"#/run/{id}")
    page.until("document.querySelector('[role=alert]') !== null")
    assert page.seen("header a.home") != []
