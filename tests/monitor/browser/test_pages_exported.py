"""The single file opens by its own, with the network cut off."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from all_views import only_run, views
from test_pages import COLOURS
from watched_page import WatchedPage, file_url

from ui_gym_agents.monitor.app import MonitorServer


@pytest.fixture
def exported(shown: MonitorServer, tmp_path: Path) -> Path:
    file = tmp_path / "run.html"
    answer = httpx.get(f"{shown.url}/api/runs/{only_run(shown)}/page.html", timeout=60)
    file.write_bytes(answer.content)
    return file


def test_it_shows_the_run_and_plays_an_episode_offline(
    page: WatchedPage, shown: MonitorServer, exported: Path
) -> None:
    page.cut_off()
    page.open(f"{file_url(exported)}{views(shown)['run'][0]}")
    page.until_seen("What happened", "2 of 2")
    page.until(f"({COLOURS})('canvas') > 3")
    page.go(views(shown)["episodes"][0])
    page.until("document.querySelectorAll('a.row').length > 0")
    page.click("a.row")
    page.until_seen("turn 1 of 2")
    page.until(f"({COLOURS})('.screen canvas') > 1")
    page.press("Space")  # plays to the end
    page.until_seen("the end")
    assert page.console == []
    assert [url for url in page.urls() if not url.startswith("file:")] == []
    assert len(page.urls()) == 1


def test_nothing_can_be_changed_in_it(
    page: WatchedPage, shown: MonitorServer, exported: Path
) -> None:
    page.open(f"{file_url(exported)}{views(shown)['episode'][0]}")
    page.until_seen("exported page")
    page.press("o")
    assert page.seen("form.override") == []
