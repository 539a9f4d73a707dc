"""What a second reading found: damaged files, other processes, odd questions, odd tokens."""

from __future__ import annotations

import gc
import itertools
import json
import multiprocessing
import sqlite3
import subprocess
import sys
import threading
import tracemalloc
from multiprocessing.synchronize import Barrier
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from made_runs import MadeRun, clicks
from waiting import eventually

from ui_gym.errors import UserError
from ui_gym_agents import overrides
from ui_gym_agents.episode import Purpose
from ui_gym_agents.monitor.api import MonitorApi, NotFound
from ui_gym_agents.monitor.app import MUTATION, MonitorServer
from ui_gym_agents.monitor.index import VERSION, MonitorIndex
from ui_gym_agents.monitor.library import Library, Shelf
from ui_gym_agents.monitor.live import EVERYTHING, Changes
from ui_gym_agents.monitor.sources import Picture
from ui_gym_agents.monitor.thumbnails import Thumbnails
from ui_gym_agents.monitor.whats import whats_of
from ui_gym_agents.store import EpisodeStore, to_json

STEP = Purpose("step", 1)


def told(api: MonitorApi, name: str = "first") -> dict:
    """A run by its name, after a look."""
    api.library.look()
    return next(run for run in api.answer("runs", {})["runs"] if run["name"] == name)


# -- lines that nobody should have written --


@pytest.mark.parametrize(
    "changed",
    [{"seed": 2**70}, {"goal": ["a", "list"]}, {"params": "DEEP"}],
    ids=["large", "odd", "deep"],
)  # fmt: skip
def test_a_line_that_the_index_cannot_hold_is_refused_alone(
    run: MadeRun, api: MonitorApi, changed: dict
) -> None:
    line = json.dumps({**to_json(run.episode("1-8.0", STEP)), **changed})
    with (run.folder / "episodes" / "episodes.jsonl").open("a") as file:
        file.write(line.replace('"DEEP"', "[" * 100_000 + "]" * 100_000) + "\n")
    run.episode("1-9.0", STEP)
    found = told(api)
    assert found["episodes"] == 14
    assert "1 lines cannot be read" in found["trouble"]


def test_half_a_character_in_a_note_is_no_reason_to_refuse(run: MadeRun, api: MonitorApi) -> None:
    run.episode("1-9.0", STEP, notes="typed '\ud83d'", goal="\ud83d", success=False)
    found = told(api)
    assert (found["episodes"], found["trouble"]) == (13, "")


@pytest.mark.parametrize("where", ["[1]", "{}", "null", "7"])
def test_an_odd_verdict_is_none(run: MadeRun, api: MonitorApi, where: str) -> None:
    line = (
        f'{{"at": "", "episode": "x", "where": {where}, "verdict": "success", "reason": "r", '
        '"who": "w"}\n'
    )
    (run.folder / overrides.FILE).write_text(line)
    assert told(api)["episodes"] == 12
    assert overrides.read(run.folder) == {}


@pytest.mark.parametrize("text", ["[1]", '"x"', "7"])
def test_odd_settings_of_one_evaluation_do_not_hide_the_list(
    run: MadeRun, runs: Path, api: MonitorApi, text: str
) -> None:
    EpisodeStore(runs / "eval").add([run.episode("a", STEP)])
    (runs / "eval" / "evaluation.json").write_text(text)
    assert told(api)["episodes"] == 13
    assert "evaluation.json" in told(api, "eval")["trouble"]


def test_a_source_in_trouble_does_not_stop_the_others(
    run: MadeRun, runs: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    MadeRun(runs / "second").whole()
    first, _ = sorted(Shelf(runs).sources(), key=lambda source: source.place)
    broken = [sqlite3.OperationalError("disk I/O error"), KeyError("x"), RuntimeError("odd")]
    refresh = type(first).refresh

    def sometimes(source: object, index: MonitorIndex) -> bool:
        if source.id == first.id and broken:
            raise broken.pop()
        return refresh(source, index)

    monkeypatch.setattr(type(first), "refresh", sometimes)
    library.start()
    try:
        api = MonitorApi(library)
        assert eventually(
            lambda: [r["episodes"] for r in api.answer("runs", {})["runs"]] == [12, 12]
        )
    finally:
        library.close()


def test_what_could_not_be_written_is_read_again(
    run: MadeRun, api: MonitorApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = next(iter(Shelf(run.folder).sources()))
    index = api.index
    assert source.refresh(index)
    run.episode("1-9.0", STEP)

    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as now:
        now.setattr(index, "add", full)
        with pytest.raises(sqlite3.OperationalError):
            source.refresh(index)
    assert source.refresh(index)
    assert index.row("select count(*) as n from episode")["n"] == 13


def test_an_index_that_is_full_says_so(index: MonitorIndex) -> None:
    index.execute("pragma max_page_count = 60")
    with pytest.raises(sqlite3.OperationalError, match="full"), index.writing():
        index.put_moment("run", "now", "kind", 0, "text" * 1_000_000)


# -- several at one index --


ATTEMPTS = 10


def _opened(folder: Path, together: Barrier, told: multiprocessing.Queue[tuple[bool, int]]) -> None:
    for attempt in range(ATTEMPTS):
        together.wait()
        index = MonitorIndex(folder / f"{attempt}.sqlite")
        with index.writing():
            index.put_run(str(multiprocessing.current_process().pid))
        together.wait()
        told.put((index.in_memory, len(index.rows("select id from run"))))


def test_monitors_that_start_at_once_share_one_index(tmp_path: Path) -> None:
    # Fresh processes: a fork of this one, which has threads, may hang.
    context = multiprocessing.get_context("spawn")
    together, told = context.Barrier(4, timeout=60), context.Queue()
    several = [context.Process(target=_opened, args=(tmp_path, together, told)) for _ in range(4)]
    for one in several:
        one.start()
    assert [told.get(timeout=60) for _ in range(4 * ATTEMPTS)] == [(False, 4)] * 4 * ATTEMPTS
    for one in several:
        one.join()


def test_a_closed_index_holds_up_nobody(index: MonitorIndex) -> None:
    index.close()
    ended = threading.Event()

    def ask() -> None:
        with pytest.raises(sqlite3.ProgrammingError):
            index.rows("select 1")
        ended.set()

    threading.Thread(target=ask, daemon=True).start()
    assert ended.wait(10)


def test_runs_of_other_folders_are_not_told(run: MadeRun, runs: Path, tmp_path: Path) -> None:
    index = MonitorIndex(tmp_path / "shared.sqlite")
    MonitorApi(Library([Shelf(runs)], index)).library.look()
    (tmp_path / "others").mkdir()
    MadeRun(tmp_path / "others" / "mine").whole()
    api = MonitorApi(Library([Shelf(tmp_path / "others")], index))
    mine = told(api, "mine")["id"]
    assert {choice["run"] for choice in api.answer("compare/choices", {})["choices"]} == {mine}
    other = next(iter(Shelf(run.folder).sources())).id
    with pytest.raises(NotFound):
        api.answer("compare", {"a": f"{mine}/final/2/greedy", "b": f"{other}/final/2/greedy"})


def test_monitors_of_several_versions_have_an_index_each(run: MadeRun, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    other = cache / "index.sqlite"  # as it was once called
    other.write_bytes(b"of another version")
    line = ["ui_gym_agents.monitor.cli", str(run.folder), "--cache", str(cache)]
    export = ["--export", str(tmp_path / "run.html")]
    subprocess.run([sys.executable, "-m", *line, *export], check=True, capture_output=True)
    assert other.read_bytes() == b"of another version"
    assert MonitorIndex(cache / f"index-{VERSION}.sqlite").rows("select 1 from episode")


# -- questions --


@pytest.mark.parametrize("limit", ["-1", "-5", "-9999"])
def test_a_page_is_never_without_an_end(run: MadeRun, api: MonitorApi, limit: str) -> None:
    path = f"runs/{told(api)['id']}/episodes"
    assert len(api.answer(path, {"limit": limit})["episodes"]) == 1


@pytest.mark.parametrize("after", ["nan:1", "1:" + "9" * 30, "x:1", "1:"])
def test_odd_cursors_are_told(run: MadeRun, api: MonitorApi, after: str) -> None:
    path = f"runs/{told(api)['id']}/episodes"
    for order in ("new", "worst"):
        try:
            api.answer(path, {"after": after, "order": order})
        except UserError:
            continue


@pytest.mark.parametrize("step", ["²", "9" * 30, "-1", ""])
def test_odd_sides_of_a_comparison_are_told(run: MadeRun, api: MonitorApi, step: str) -> None:
    id = told(api)["id"]
    with pytest.raises(UserError):
        api.answer("compare", {"a": f"{id}/final/{step}/greedy", "b": f"{id}/final/2/greedy"})


def test_odd_requests_are_answered_as_such(run: MadeRun, library: Library) -> None:
    with MonitorServer(library) as server, httpx.Client(base_url=server.url) as client:
        path = f"/api/runs/{library.all()[0].source.id}/overrides"
        deep = client.post(path, content=b"[" * 60_000, headers=dict([MUTATION]))
        assert deep.status_code == 400
        with client.stream("GET", "/api/events", headers={"Last-Event-ID": b"\xb2"}) as stream:
            assert stream.status_code == 200


# -- tokens --


def test_a_token_of_any_characters_opens_the_page(run: MadeRun, library: Library) -> None:
    token = 'a+b/c==&#%41;"\\,d?e'
    with MonitorServer(library, token=token) as server, httpx.Client() as client:
        assert client.get(server.entrance).status_code == 303
        assert client.get(f"{server.url}/api/runs").status_code == 200


def test_two_monitors_at_one_host_keep_their_own_cookies(runs: Path) -> None:
    def monitor(token: str) -> MonitorServer:
        return MonitorServer(Library([Shelf(runs)], MonitorIndex(None)), token=token)

    with monitor("a" * 20) as one, monitor("b" * 20) as other, httpx.Client() as client:
        for server in (one, other):
            client.get(server.entrance)
        assert urlsplit(one.url).hostname == urlsplit(other.url).hostname
        for server in (one, other):
            assert client.get(f"{server.url}/api/runs").status_code == 200


# -- changes --


def test_after_the_clock_went_back_a_page_loads_all_anew() -> None:
    changes = Changes()
    assert changes.since(changes.began + 10**9) == [(changes.began, EVERYTHING)]


def test_of_more_runs_than_are_remembered_none_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui_gym_agents.monitor.live.MOST", 2)
    changes = Changes()
    began = changes.began
    for run in "abc":
        changes.tell(run)
    last = changes._last
    assert [run for _, run in changes.since(began)] == [EVERYTHING]
    assert [run for _, run in changes.since(last - 1)] == ["c"]


def test_a_page_that_left_is_not_waited_for(run: MadeRun, library: Library) -> None:
    with MonitorServer(library) as server:
        for _ in range(3):
            with httpx.stream("GET", f"{server.url}/api/events") as stream:
                next(stream.iter_lines())
        assert eventually(lambda: not server.changes._waiting)


# -- memory --


def test_answers_are_not_kept_in_memory(
    run: MadeRun, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MonitorServer(library) as server, httpx.Client(base_url=server.url) as client:
        gc.collect()
        monkeypatch.setattr(
            MonitorApi, "answer", lambda *_: {"text": str(next(count)) + "x" * 1_000_000}
        )
        count = itertools.count()
        client.get("/api/runs")
        tracemalloc.start()
        for _ in range(20):
            client.get("/api/runs")
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    assert kept < 8_000_000


# -- pictures --


class _Damaged:
    id = "x"

    def picture(self, key: str) -> Picture:
        import io

        from PIL import Image

        out = io.BytesIO()
        Image.new("RGB", (300, 300)).save(out, "PNG")
        data = bytearray(out.getvalue())
        data[data.index(b"IDAT") + 8] ^= 0xFF
        data[data.index(b"IDAT") : data.index(b"IDAT") + 4] = b"\x00\x01\x02\x03"
        return Picture("image/png", bytes(data))


def test_a_damaged_picture_is_told_as_such() -> None:
    with pytest.raises((OSError, UserError)):
        Thumbnails(None).get("0" * 64, _Damaged())  # type: ignore[arg-type]


# -- figures --


def test_the_rate_counts_steps_that_are_over(runs: Path, api: MonitorApi) -> None:
    made = MadeRun(runs / "first")
    made.begin()
    made.step(1)  # 10 s
    made.tell.step_begun(2, 2)
    for member in range(6):
        made.episode(f"2-0.{member}", Purpose("step", 2))
    assert told(api)["per_hour"] == pytest.approx(2 * 360)
    made.step(2)
    made.begin(resumed=1)
    assert told(api)["per_hour"] == pytest.approx(2 * 360)


def test_an_evaluation_that_is_done_is_not_running(run: MadeRun, runs: Path, api: MonitorApi):
    store = EpisodeStore(runs / "eval")
    store.add([run.episode("a", STEP)])
    assert told(api, "eval")["status"] == "running"
    store.write_report({})
    assert told(api, "eval")["status"] == "read"


def test_a_fault_does_not_make_a_group_unequal(runs: Path, api: MonitorApi) -> None:
    made = MadeRun(runs / "first")
    made.begin()
    made.step(1, (True, True))
    made.episode("1-0.2", STEP, group="1-0", success=False, failure="device: gone", seed=11)
    run = told(api)["id"]
    (listed,) = api.answer(f"runs/{run}/groups", {})["groups"]
    whole = api.answer(f"runs/{run}/groups/1-0", {"step": "1"})
    assert listed["equal"] is whole["equal"] is True


def test_what_ends_an_episode_had_an_effect(run: MadeRun) -> None:
    played = run.episode("x", STEP)
    ended = clicks(played, 1)
    assert whats_of(ended) == ()
