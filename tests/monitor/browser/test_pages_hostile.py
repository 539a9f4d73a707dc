"""Whatever agents, tasks, judges and people write is shown as text, and does nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from all_views import ask
from made_runs import MadeRun
from waiting import eventually
from watched_page import WatchedPage, file_url

from ui_gym_agents.episode import Purpose
from ui_gym_agents.monitor.app import MUTATION, MonitorServer

PAYLOADS = (
    "<script>window.ran=1</script>",
    "<img src=x onerror=\"window.ran=1\">",
    "<svg onload=alert(1)>",
    "\"><script>alert(2)</script>",
    "'><img src=//evil.example/x onerror=alert(3)>",
    "javascript:window.ran=2",
    "<a href=\"javascript:window.ran=3\">here</a>",
    "<iframe srcdoc=\"<script>parent.ran=4</script>\"></iframe>",
    "<iframe src=\"http://evil.example/\"></iframe>",
    "<style>@import 'http://evil.example/x.css'</style>",
    "<link rel=stylesheet href=http://evil.example/y.css>",
    "<base href=http://evil.example/>",
    "<meta http-equiv=refresh content=\"0;url=http://evil.example/\">",
    "<form action=http://evil.example><button autofocus onfocus=alert(4)>",
    "<details open ontoggle=alert(5)>",
    "</title><script>alert(6)</script>",
    "</script><script>window.ran=5</script>",
    "${window.ran=6}",
    "{{constructor.constructor('window.ran=7')()}}",
    "<math><mtext><img src=x onerror=alert(7)>",
    "<!--<script>window.ran=8</script>",
    "__proto__",
)  # fmt: skip
NAMES = [text.replace("/", "∕") for text in PAYLOADS]
"""As a folder or a group may be called."""
STEP = Purpose("step", 1)


@pytest.fixture(scope="module")
def hostile(serve, tmp_path_factory: pytest.TempPathFactory) -> MonitorServer:
    """A monitor over runs in which everything that somebody may write is a payload."""
    folder = tmp_path_factory.mktemp("hostile")
    made = MadeRun(folder / "a run")
    made.begin()
    for number, text in enumerate(PAYLOADS):
        made.episode(
            f"g{number}", STEP, goal=text, notes=text, task=text, group=NAMES[number],
            success=False, said=f"{text}\n",
        )  # fmt: skip
        made.episode(f"f{number}", STEP, task=text, success=False, failure=text)
    made.tell.step_finished(1, {"success": 0.0, **dict.fromkeys(PAYLOADS, 1.0)}, 1.0)
    for name in NAMES:
        MadeRun(folder / name).begin()
    server = serve(folder)
    assert eventually(lambda: len(ask(server, "runs")["runs"]) == len(NAMES) + 1)
    run = _run(server)
    for number, text in enumerate(PAYLOADS):
        said = {"episode": _episodes(server)["g0"], "verdict": "success", "reason": text,
                "who": f"{text[:60]} {number}"}  # fmt: skip
        answer = httpx.post(
            f"{server.url}/api/runs/{run}/overrides", json=said, headers=dict([MUTATION])
        )
        assert answer.status_code == 200, answer.text
    return server


@pytest.fixture
def harmless(page: WatchedPage, hostile: MonitorServer) -> Iterator[WatchedPage]:
    """The page, which at the end has done nothing that a payload asked for."""
    yield page
    assert page.js("window.ran") is None
    assert page.dialogs == []
    # Also nothing that the policy had to stop.
    assert page.console == []
    assert [url for url in page.urls() if not url.startswith((hostile.url, "file:"))] == []


def _run(server: MonitorServer) -> str:
    runs = ask(server, "runs")["runs"]
    return str(next(run["id"] for run in runs if run["name"] == "a run"))


def _episodes(server: MonitorServer) -> dict[str, str]:
    """The monitor's ids by the run's own."""
    found = ask(server, f"runs/{_run(server)}/episodes", limit=100)["episodes"]
    return {one["episode"]: one["id"] for one in found}


def _until_all_are_text(page: WatchedPage, texts: tuple[str, ...] | list[str]) -> None:
    def missing() -> list[str]:
        page.js("document.querySelector('.more button')?.click()")  # a list comes in pages
        shown = page.js("document.querySelector('main')?.textContent ?? ''")  # none as it loads
        return [text for text in texts if text not in shown]

    assert eventually(lambda: not missing()), missing()


def test_names_of_runs(harmless: WatchedPage, hostile: MonitorServer) -> None:
    harmless.open(f"{hostile.url}/")
    _until_all_are_text(harmless, NAMES)
    for number in range(3):
        harmless.open(f"{hostile.url}/")
        harmless.until("document.querySelectorAll('a.row').length > 20")
        harmless.js(f"document.querySelectorAll('a.row')[{number}].click()")
        harmless.until("document.querySelector('h1') !== null")


def test_goals_tasks_notes_and_faults_in_lists(
    harmless: WatchedPage, hostile: MonitorServer
) -> None:
    run = _run(hostile)
    for view in ("episodes", "failures", "groups", ""):
        harmless.open(f"{hostile.url}/#/run/{run}/{view}")
        if view == "":
            harmless.until_seen("What happened")
        _until_all_are_text(harmless, PAYLOADS[:-1])


def test_what_was_said_and_reasons_of_overrides(
    harmless: WatchedPage, hostile: MonitorServer
) -> None:
    run, ids = _run(hostile), _episodes(hostile)
    harmless.open(f"{hostile.url}/#/run/{run}/episode/{ids['g0']}")
    _until_all_are_text(harmless, PAYLOADS)
    for number, text in enumerate(PAYLOADS):
        harmless.go(f"#/run/{run}/episode/{ids[f'g{number}']}")
        harmless.until("document.querySelector('.position') !== null")
        _until_all_are_text(harmless, [text])


def test_names_of_groups(harmless: WatchedPage, hostile: MonitorServer) -> None:
    run = _run(hostile)
    harmless.open(f"{hostile.url}/#/run/{run}/groups")
    harmless.until("document.querySelectorAll('a.row').length > 20")
    links = harmless.js("[...document.querySelectorAll('a.row')].map((a) => a.hash)")
    for link, text in zip(links, PAYLOADS, strict=True):
        harmless.go(link)
        harmless.until("document.querySelector('.screen canvas') !== null")
        _until_all_are_text(harmless, [text])


def test_the_address_itself(harmless: WatchedPage, hostile: MonitorServer) -> None:
    run = _run(hostile)
    for text in PAYLOADS:
        asked = f"?q={text}&task={text}&group={text}"
        harmless.open(f"{hostile.url}/#/run/{run}/episodes{asked}".replace(" ", "%20"))
        harmless.until("document.querySelector('.state, table') !== null")


def test_the_exported_page(harmless: WatchedPage, hostile: MonitorServer, tmp_path: Path) -> None:
    run = _run(hostile)
    file = tmp_path / "page.html"
    file.write_bytes(httpx.get(f"{hostile.url}/api/runs/{run}/page.html", timeout=60).content)
    harmless.cut_off()
    harmless.open(f"{file_url(file)}#/run/{run}/episodes")
    _until_all_are_text(harmless, PAYLOADS[:1])
