"""The monitor over HTTP: who is let in, what is answered, what changes tell, what faults do."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from made_runs import MadeRun
from PIL import Image
from waiting import eventually

from ui_gym.errors import UserError
from ui_gym_agents import overrides
from ui_gym_agents.episode import Purpose
from ui_gym_agents.monitor.app import MUTATION, MonitorServer
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.library import Library, Shelf
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training import control

TOKEN = "a-token-of-32-characters-or-more"
CHANGING = dict([MUTATION])


@pytest.fixture
def server(run: MadeRun, library: Library) -> Iterator[MonitorServer]:
    with MonitorServer(library, control=True) as made:
        yield made


@pytest.fixture
def client(server: MonitorServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url) as made:
        assert eventually(lambda: _episodes(made) == 12)
        yield made


def _run(client: httpx.Client) -> str:
    return str(client.get("/api/runs").json()["runs"][0]["id"])


def _episodes(client: httpx.Client) -> int:
    return sum(run["episodes"] for run in client.get("/api/runs").json()["runs"])


def _first(client: httpx.Client, **filters: str) -> dict:
    return dict(
        client.get(f"/api/runs/{_run(client)}/episodes", params=filters).json()["episodes"][0]
    )


# -- who is let in --


def test_pages_come_with_a_strict_policy(client: httpx.Client) -> None:
    for path in ("/", "/api/runs", "/static/main.js", "/api/odd"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"},
     {"Sec-Fetch-Site": "cross-site"}],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/api/runs", "/api/events", "/static/main.js", "/login"])
def test_pages_of_others_are_refused(client: httpx.Client, path: str, headers: dict) -> None:
    assert client.get(path, headers=headers).status_code == 403


def test_beyond_this_machine_it_needs_a_token(library: Library) -> None:
    with pytest.raises(UserError, match="UI_GYM_MONITOR_TOKEN"):
        MonitorServer(library, host="0.0.0.0")


def test_the_token_comes_by_the_printed_address(run: MadeRun, library: Library) -> None:
    with MonitorServer(library, token=TOKEN) as server, httpx.Client(base_url=server.url) as client:
        assert client.get("/api/runs").status_code == 401
        assert client.get("/login", params={"token": "wrong" * 5}).status_code == 401
        assert client.get("/api/runs").status_code == 401
        entered = client.get(server.entrance)
        assert entered.status_code == 303
        assert TOKEN not in entered.headers["location"]
        said = entered.headers["set-cookie"].lower()
        assert "httponly" in said
        assert "samesite=strict" in said
        assert client.get("/api/runs").status_code == 200
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert httpx.get(f"{server.url}/api/runs", headers=bearer).status_code == 200


@pytest.mark.parametrize("what", ["overrides", "control"])
def test_changes_need_a_header_that_other_pages_cannot_send(
    client: httpx.Client, what: str
) -> None:
    path = f"/api/runs/{_run(client)}/{what}"
    assert client.post(path, json={"what": "stop"}).status_code == 403
    assert client.get(path).status_code in (404, 405)


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/api/runs/..%2f..",
     "/api/runs/{run}/pictures/..%2f..%2fconfig.yaml", "/api/runs/{run}/pictures/" + "A" * 64,
     "/api/runs/{run}/pictures/" + "0" * 64, "/static/vendor"],
)  # fmt: skip
def test_no_path_leads_to_other_files(client: httpx.Client, path: str) -> None:
    assert client.get(path.format(run=_run(client))).status_code == 404


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"verdict": 1}', b"x" * 100_000])
def test_bad_changes_are_refused(client: httpx.Client, body: bytes) -> None:
    path = f"/api/runs/{_run(client)}/overrides"
    assert client.post(path, content=body, headers=CHANGING).status_code in (400, 413)


# -- answers --


def test_pictures_are_kept_for_ever_and_thumbnails_are_small(client: httpx.Client) -> None:
    one, run = _first(client), _run(client)
    whole = client.get(f"/api/runs/{run}/pictures/{one['first']}")
    assert whole.headers["content-type"] == "image/webp"
    assert "immutable" in whole.headers["cache-control"]
    small = client.get(f"/api/runs/{run}/pictures/{one['first']}", params={"thumb": "1"})
    assert Image.open(io.BytesIO(small.content)).size == (160, 120)
    again = {"If-None-Match": whole.headers["etag"]}
    unchanged = client.get(f"/api/runs/{run}/pictures/{one['first']}", headers=again)
    assert unchanged.status_code == 304


def test_answers_are_compressed(client: httpx.Client) -> None:
    answer = client.get(f"/api/runs/{_run(client)}")
    assert answer.headers["content-encoding"] == "gzip"
    plain = client.get(f"/api/runs/{_run(client)}", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == {**answer.json(), "heartbeat": plain.json()["heartbeat"]}


def test_filtered_episodes_are_a_folder_that_learners_read(
    client: httpx.Client, tmp_path: Path
) -> None:
    answer = client.get(
        f"/api/runs/{_run(client)}/episodes.zip", params={"kind": "step", "won": "1"}
    )
    assert 'filename="first-episodes.zip"' in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as file:
        file.extractall(tmp_path)
    store = EpisodeStore(tmp_path)
    found = list(store)
    assert [(one.success, one.purpose.kind) for one in found] == [(True, "step")] * 2
    assert store.screenshots.get(found[0].turns[0].screenshot_id).shape == (120, 160, 3)


def test_metrics_as_a_table(client: httpx.Client) -> None:
    text = client.get(f"/api/runs/{_run(client)}/metrics.csv").text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["step"], row["loss"], row["kl"]) for row in rows] == [
        ("1", "0.5", ""),
        ("2", "0.25", ""),
    ]


# -- overrides and orders --


def _override(client: httpx.Client, id: str, verdict: str, **more: str) -> httpx.Response:
    said = {"episode": id, "verdict": verdict, "reason": "it was right", "who": "Ada", **more}
    return client.post(f"/api/runs/{_run(client)}/overrides", json=said, headers=CHANGING)


def test_a_verdict_stands_beside_the_judge_s_and_can_be_withdrawn(
    client: httpx.Client, run: MadeRun
) -> None:
    one = _first(client, won="0", kind="step")
    assert _override(client, one["id"], "success").status_code == 200
    told = client.get(f"/api/runs/{_run(client)}/episodes/{one['id']}").json()
    assert (told["override"], told["success"], told["judge"]["success"]) == (
        "success",
        False,
        False,
    )
    assert [(o["who"], o["reason"]) for o in told["overrides"]] == [("Ada", "it was right")]
    assert len(overrides.read(run.folder)) == 1
    _override(client, one["id"], "withdrawn", reason="I was wrong")
    told = client.get(f"/api/runs/{_run(client)}/episodes/{one['id']}").json()
    assert told["override"] is None
    assert [o["verdict"] for o in told["overrides"]] == ["success", "withdrawn"]
    assert overrides.read(run.folder) == {}


@pytest.mark.parametrize(
    "change", [{"verdict": "odd"}, {"reason": ""}, {"who": " "}, {"reason": "x" * 3000}]
)
def test_a_verdict_needs_a_reason_and_a_name(client: httpx.Client, change: dict) -> None:
    said = {"verdict": "success", **change}
    assert _override(client, _first(client)["id"], **said).status_code == 400
    assert _override(client, "odd", "success").status_code == 404


def test_orders_are_written_where_the_run_looks(client: httpx.Client, run: MadeRun) -> None:
    listening = control.RunControl(run.folder)
    path = f"/api/runs/{_run(client)}/control"
    assert client.post(path, json={"what": "save"}, headers=CHANGING).json() == {"asked": "save"}
    assert listening.asked() == ["save"]
    assert client.post(path, json={"what": "rm"}, headers=CHANGING).status_code == 400


def test_orders_are_off_unless_allowed(run: MadeRun, library: Library) -> None:
    with MonitorServer(library) as server, httpx.Client(base_url=server.url) as client:
        assert eventually(lambda: _episodes(client) == 12)
        path = f"/api/runs/{_run(client)}/control"
        refused = client.post(path, json={"what": "stop"}, headers=CHANGING)
        assert "--allow-control" in refused.json()["error"]
    assert not (run.folder / control.FILE).exists()


# -- changes --


def _changes(url: str, last: str = "") -> Iterator[dict]:
    """The changes that a page is told of, with their ids."""
    headers = {"Last-Event-ID": last} if last else {}
    with httpx.stream("GET", f"{url}/api/events", headers=headers, timeout=30) as stream:
        found: dict = {}
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            if line:
                found[name] = value
            elif "event" in found:
                yield {"id": found["id"], **json.loads(found["data"])}
                found = {}
            elif found:
                yield {"id": found.get("id", ""), "run": ""}
                found = {}


def test_what_is_new_is_told(client: httpx.Client, server: MonitorServer, run: MadeRun) -> None:
    changes = _changes(server.url)
    assert next(changes)["run"] == ""
    run.tell.step_finished(3, {"loss": 0.1}, 30.0)
    told = next(change for change in changes if change.get("step") == 3)
    assert told["run"] == _run(client)
    steps = client.get(f"/api/runs/{_run(client)}/steps", params={"after": "2"}).json()
    assert [row[0] for row in steps["rows"]] == [3]


def test_a_new_run_is_told(server: MonitorServer, client: httpx.Client, runs: Path) -> None:
    changes = _changes(server.url)
    next(changes)
    MadeRun(runs / "second").whole()
    assert any(change["run"] == "*" for change in changes)
    assert eventually(lambda: _episodes(client) == 24)


def test_a_page_that_comes_back_is_told_what_it_missed(
    run: MadeRun, client: httpx.Client, server: MonitorServer
) -> None:
    changes = _changes(server.url)
    next(changes)
    run.step(3)
    last = next(changes)["id"]
    changes.close()
    run.step(4)
    assert eventually(lambda: client.get("/api/runs").json()["runs"][0]["step"] == 4)
    assert next(c for c in _changes(server.url, last) if c["run"])["run"] == _run(client)


def test_after_a_restart_a_page_loads_all_anew(run: MadeRun, runs: Path) -> None:
    def monitor() -> MonitorServer:
        return MonitorServer(Library([Shelf(runs)], MonitorIndex(None)))

    with monitor() as first:
        last = next(_changes(first.url))["id"]
    time.sleep(0.01)  # ids are milliseconds
    with monitor() as second:
        assert any(change["run"] == "*" for change in _changes(second.url, last))


def test_watchers_do_not_hold_up_the_end(server: MonitorServer) -> None:
    changes = _changes(server.url)
    next(changes)
    ended = threading.Thread(target=server.close)
    ended.start()
    ended.join(20)
    assert not ended.is_alive()


# -- faults --


def test_a_folder_that_vanishes_is_told(client: httpx.Client, run: MadeRun) -> None:
    one = _first(client)
    shutil.rmtree(run.folder)
    assert eventually(lambda: client.get("/api/runs").json()["runs"][0]["status"] == "gone")
    assert _episodes(client) == 12
    missing = client.get(f"/api/runs/{_run(client)}/episodes/{one['id']}")
    assert missing.status_code in (400, 503)
    assert missing.json()["error"]
    assert _override(client, one["id"], "success").status_code in (400, 503)
    assert not run.folder.exists()


LIMITED = """
import resource, sys
from pathlib import Path
from ui_gym_agents import overrides
folder, size = Path(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    overrides.append(folder, overrides.Override("now", "1", "f:0:9", "failure", "r" * 500, "me"))
except overrides.files.NoRoom as error:
    print("no room", folder.name)
"""


def test_a_full_disk_loses_no_verdict(client: httpx.Client, run: MadeRun) -> None:
    _override(client, _first(client)["id"], "success")
    before = (run.folder / overrides.FILE).read_bytes()
    arguments = [sys.executable, "-c", LIMITED, str(run.folder), str(len(before) + 10)]
    said = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert said.stdout == "no room first\n"
    assert (run.folder / overrides.FILE).read_bytes() == before


def test_ten_thousand_files_beside_a_run_are_no_trouble(client: httpx.Client, runs: Path) -> None:
    (runs / "many").mkdir()
    for number in range(10_000):
        (runs / "many" / f"{number}.txt").touch()
    made = MadeRun(runs / "second")
    made.whole()
    assert eventually(lambda: _episodes(client) == 24)


def test_a_port_that_is_taken_is_told(library: Library) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UserError, match="--port"):
            MonitorServer(library, port=taken.getsockname()[1])


def test_the_monitor_writes_nothing_into_a_run(client: httpx.Client, run: MadeRun) -> None:
    run_id = _run(client)
    before = {path: path.stat().st_mtime_ns for path in run.folder.rglob("*")}
    for path in ("", "/steps", "/episodes", "/failures", "/groups", "/seeds", "/workers",
                 "/episodes.zip", "/metrics.csv", "/page.html"):  # fmt: skip
        assert client.get(f"/api/runs/{run_id}{path}").status_code == 200
    assert {path: path.stat().st_mtime_ns for path in run.folder.rglob("*")} == before


# -- the command --


def _command(*arguments: str, cache: Path) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "ui_gym_agents.monitor.cli", *arguments, "--port", "0",
            "--cache", str(cache)]  # fmt: skip
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_command_prints_its_address_and_ends_by_ctrl_c(run: MadeRun, tmp_path: Path) -> None:
    process = _command(str(run.folder), cache=tmp_path / "cache")
    address = process.stdout.readline().strip()
    with httpx.Client(base_url=address) as client:
        assert eventually(lambda: _episodes(client) == 12)
    process.send_signal(2)
    assert process.wait(20) == 0
    assert process.stderr.read() == ""


def test_the_command_ends_with_the_process_it_goes_with(run: MadeRun, tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = _command(str(run.folder), "--with", str(other.pid), cache=tmp_path / "cache")
    assert process.stdout.readline().startswith("http://127.0.0.1:")
    other.communicate(b"\n")
    assert process.wait(20) == 0


def test_beside_a_run_no_token_is_printed(
    run: MadeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UI_GYM_MONITOR_TOKEN", TOKEN)
    process = _command(str(run.folder), "--with", str(os.getpid()), cache=tmp_path / "cache")
    address = process.stdout.readline().strip()
    assert TOKEN not in address
    assert httpx.get(f"{address}/api/runs").status_code == 401
    process.send_signal(2)
    assert process.wait(20) == 0
    assert TOKEN not in process.stdout.read() + process.stderr.read()


def test_the_command_names_what_is_not_there(tmp_path: Path) -> None:
    process = _command(str(tmp_path / "odd"), cache=tmp_path / "cache")
    assert process.wait(20) == 2
    assert "odd is not there" in process.stderr.read()


def test_a_run_goes_into_one_file(run: MadeRun, tmp_path: Path) -> None:
    out = tmp_path / "run.html"
    process = _command(str(run.folder), "--export", str(out), cache=tmp_path / "cache")
    assert process.wait(30) == 0, process.stderr.read()
    text = out.read_text()
    assert "Enter Iris." in text
    assert "http://127.0.0.1" not in text


def test_an_old_index_of_a_run_that_was_played_on_is_brought_up(runs: Path, tmp_path: Path) -> None:
    made = MadeRun(runs / "first")
    made.begin()
    made.step(1)
    path = tmp_path / "index.sqlite"
    for expected in (2, 4):
        index = MonitorIndex(path)
        with (
            MonitorServer(Library([Shelf(runs)], index)) as server,
            httpx.Client(base_url=server.url) as client,
        ):
            assert eventually(
                lambda expected=expected, client=client: _episodes(client) == expected
            )
        index.close()
        made.episode("x", Purpose("step", 1))
        made.episode("y", Purpose("step", 1))
