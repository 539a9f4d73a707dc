"""What the monitor's index takes in of runs, and what lists, counts and searches give of it."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest
from made_runs import POINT, TASK, MadeRun, clicks

from ui_gym.errors import UserError
from ui_gym_agents.episode import Purpose
from ui_gym_agents.monitor.api import MonitorApi, NotFound
from ui_gym_agents.monitor.episodes import ORDERS
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.library import Library, Shelf
from ui_gym_agents.monitor.whats import whats_of

STEP = Purpose("step", 1)


def only(api: MonitorApi) -> dict:
    """The only run, after a look."""
    api.library.look()
    (found,) = api.answer("runs", {})["runs"]
    return found


def listed(api: MonitorApi, **filters: str) -> list[dict]:
    """All episodes that fit, over all pages of three."""
    run, found, after = only(api)["id"], [], ""
    while True:
        page = api.answer(f"runs/{run}/episodes", {"limit": "3", "after": after, **filters})
        found += page["episodes"]
        if page["next"] is None:
            return found
        after = page["next"]


def test_a_run_is_told_with_its_headline(run: MadeRun, api: MonitorApi) -> None:
    found = only(api)
    assert (found["name"], found["plugin"], found["status"]) == ("first", "grpo", "finished")
    assert (found["step"], found["episodes"], found["trouble"]) == (2, 12, "")
    assert (found["before"]["success"], found["now"]["success"]) == (0.25, 0.75)
    assert found["now"]["kind"] == "final"
    assert found["tasks"] == [TASK]


def test_a_run_s_page_has_its_curves_timeline_and_heat_map(run: MadeRun, api: MonitorApi) -> None:
    told = api.answer(f"runs/{only(api)['id']}", {})
    assert [moment["kind"] for moment in told["timeline"]] == [
        "begun", "evaluation", "checkpoint", "evaluation", "ended",
    ]  # fmt: skip
    assert [m["n"] for m in told["measurements"]] == [4, 4]
    (row,) = told["heat"]["rows"]
    assert [cell["success"] for cell in row["cells"]] == [0.25, 0.75]
    (task,) = told["by_task"]
    assert (task["task"], task["n"], task["successes"], task["blind_rate"]) == (TASK, 4, 2, 0.25)
    steps = api.answer(f"runs/{told['id']}/steps", {"after": "1"})
    values = dict(zip(["step", "elapsed", *steps["names"]], steps["rows"][0], strict=True))
    assert (values["step"], values["loss"], values["kl"]) == (2, 0.25, None)


def test_an_alert_is_in_the_timeline(run: MadeRun, api: MonitorApi) -> None:
    said = "step 2 takes 900 s, and the median step took 30 s"
    run.tell.alert(1, "stalled", said)
    told = api.answer(f"runs/{only(api)['id']}", {})
    (alert,) = (moment for moment in told["timeline"] if moment["kind"] == "alert")
    assert (alert["step"], alert["text"]) == (
        1,
        "step 2 takes 900 s, and the median step took 30 s",
    )


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_pages_give_each_episode_once(run: MadeRun, api: MonitorApi, order: str) -> None:
    found = listed(api, order=order)
    assert len(found) == len({one["id"] for one in found}) == 12


def test_orders_are_what_they_say(run: MadeRun, api: MonitorApi) -> None:
    run.episode("1-9.0", STEP, turns=7, success=False)
    assert listed(api, order="long")[0]["turns"] == 7
    assert [one["score"] for one in listed(api, order="worst")] == [0.0] * 7 + [1.0] * 6
    newest, oldest = listed(api, order="new"), listed(api, order="old")
    assert newest == oldest[::-1]


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"kind": "step"}, 4), ({"kind": "step", "step": "2"}, 2), ({"mode": "greedy"}, 8),
        ({"task": TASK}, 12), ({"task": "UI/Login-v0"}, 0), ({"suite": "browser"}, 12),
        ({"seed": "100"}, 2), ({"group": "1-0"}, 2), ({"won": "1"}, 6), ({"won": "0"}, 6),
        ({"what": "wrong"}, 6), ({"what": "fault"}, 0), ({"q": "Iris"}, 12), ({"q": "nobody"}, 0),
        ({"q": "Ines", "kind": "step"}, 2), ({"notes": ""}, 12),
    ],
)  # fmt: skip
def test_filters(run: MadeRun, api: MonitorApi, filters: dict[str, str], count: int) -> None:
    assert len(listed(api, **filters)) == count
    run_id = only(api)["id"]
    assert api.answer(f"runs/{run_id}/episodes", filters)["total"] == count


@pytest.mark.parametrize(
    "words", ['"', "(((", "a OR", "NEAR(", "*", "-x", "qé\x00", "run:b", "' --"]
)
def test_any_words_can_be_searched_for(run: MadeRun, api: MonitorApi, words: str) -> None:
    assert listed(api, q=words) == []


@pytest.mark.parametrize(
    "params",
    [{"what": "odd"}, {"order": "odd"}, {"after": "x"}, {"step": "one"}, {"seed": "9" * 30},
     {"limit": "many"}],
)  # fmt: skip
def test_wrong_parameters_are_told(run: MadeRun, api: MonitorApi, params: dict[str, str]) -> None:
    with pytest.raises(UserError):
        api.answer(f"runs/{only(api)['id']}/episodes", params)


@pytest.mark.parametrize(
    "path",
    ["odd", "runs/odd", "runs/odd/steps", "runs/{run}/episodes/odd", "runs/{run}/groups/odd",
     "runs/{run}/../secret", "runs/{run}/episodes/{id}/turns/9/tokens"],
)  # fmt: skip
def test_what_is_not_there_is_told(run: MadeRun, api: MonitorApi, path: str) -> None:
    names = {"run": only(api)["id"], "id": listed(api)[0]["id"]}
    with pytest.raises(NotFound):
        api.answer(path.format(**names), {})


def test_an_episode_is_given_whole(run: MadeRun, api: MonitorApi) -> None:
    (first, *_) = listed(api, kind="step", step="1", won="1")
    told = api.answer(f"runs/{only(api)['id']}/episodes/{first['id']}", {"kind": "step"})
    assert (told["reward"], told["advantage"]) == (1.0, 0.5)
    assert told["size"] == (160, 120)
    turn = told["turns"][0]
    assert [mark["points"] for mark in turn["marks"]] == [[POINT]]
    assert told["turns"][1]["marks"][0]["typed"] == "Iris 0"
    ids = [one["id"] for one in listed(api, kind="step")]
    place = ids.index(first["id"])
    around = [None, *ids, None]
    assert [told["prev"], told["next"]] == [around[place], around[place + 2]]


def test_tokens_of_an_unknown_model_are_numbers(run: MadeRun, api: MonitorApi) -> None:
    id = listed(api)[0]["id"]
    told = api.answer(f"runs/{only(api)['id']}/episodes/{id}/turns/0/tokens", {})
    assert told["logprob_sum"] in (None, -0.75)
    assert [token["logprob"] for token in told["output"]] == [-0.5, -0.25]


def test_a_group_tells_where_its_members_part(runs: Path, api: MonitorApi) -> None:
    made = MadeRun(runs / "one")
    made.begin()
    made.step(1)
    made.episode("1-0.2", STEP, group="1-0", turns=4, seed=11)
    run = only(api)["id"]
    told = api.answer(f"runs/{run}/groups/1-0", {"step": "1"})
    assert (told["part"], told["equal"], len(told["episodes"])) == (2, False, 3)
    made.step(2, (True, True))
    api.library.look()
    (group,) = api.answer(f"runs/{run}/groups", {})["groups"]
    assert (group["step"], group["n"], group["equal"]) == (2, 2, True)


def test_kinds_of_failure(run: MadeRun) -> None:
    fine = run.episode("x", STEP)
    assert whats_of(fine) == ()
    assert whats_of(clicks(fine, 2)) == ("no_effect",)
    assert whats_of(clicks(fine, 3)) == ("loop", "no_effect")
    lost = run.episode("y", STEP, success=False, failure="device: gone", terminated=False)
    assert whats_of(lost) == ("fault",)
    late = run.episode("z", STEP, success=False, terminated=False, truncated=True)
    assert whats_of(late) == ("out_of_steps",)


def test_failures_count_faults_apart(run: MadeRun, api: MonitorApi) -> None:
    run.episode("f", STEP, success=False, failure="device: killed", terminated=False)
    told = api.answer(f"runs/{only(api)['id']}/failures", {})
    assert told["faults"] == [{"failure": "device: killed", "n": 1}]
    assert told["whats"]["fault"] == 1
    assert told["whats"]["wrong"] == 6
    assert (told["tasks"][0]["n"], told["tasks"][0]["fails"]) == (12, 6)
    assert sum(row["n"] for row in told["notes"]) == 6


def test_the_same_seeds_through_training(run: MadeRun, api: MonitorApi) -> None:
    run_id = only(api)["id"]
    seeds = api.answer(f"runs/{run_id}/seeds", {})["seeds"]
    assert [(one["seed"], one["n"], one["steps"]) for one in seeds] == [
        (100 + n, 2, [0, 2]) for n in range(4)
    ]
    plays = api.answer(f"runs/{run_id}/through", {"task": TASK, "seed": "101"})["plays"]
    assert [(one["step"], one["success"]) for one in plays] == [(0, False), (2, True)]


def test_what_a_resumed_run_makes_void_is_gone(runs: Path, api: MonitorApi) -> None:
    made = MadeRun(runs / "one")
    made.begin()
    made.evaluation("baseline", 0, [False])
    made.step(1)
    made.step(2)
    assert (only(api)["episodes"], only(api)["step"]) == (5, 2)
    made.begin(resumed=1)
    made.step(2, (True, True, True))
    found = only(api)
    assert (found["episodes"], found["step"], found["status"]) == (6, 2, "running")
    assert [one["success"] for one in listed(api, kind="step", step="2")] == [True] * 3
    assert len(listed(api, q="Iris", step="2")) == 3


def test_read_at_once_or_bit_by_bit_is_the_same(
    runs: Path, api: MonitorApi, tmp_path: Path
) -> None:
    made = MadeRun(runs / "one")
    made.begin()
    made.step(1)
    only(api)
    made.step(2)
    only(api)
    made.begin(resumed=1)
    only(api)
    made.step(2, (True, False, True))
    made.evaluation("final", 2, [True, False])
    bits = only(api)
    whole = MonitorApi(Library([Shelf(runs)], MonitorIndex(tmp_path / "other.sqlite")))
    assert {**only(whole), "heartbeat": 0} == {**bits, "heartbeat": 0}
    assert sorted(one["id"] for one in listed(whole)) == sorted(one["id"] for one in listed(api))


def test_a_torn_line_waits_for_its_rest(run: MadeRun, api: MonitorApi) -> None:
    before = only(api)["episodes"]
    path = run.folder / "episodes" / "episodes.jsonl"
    line = path.read_bytes().splitlines(keepends=True)[-1]
    with path.open("ab") as file:
        file.write(line[:100])
    assert (only(api)["episodes"], only(api)["trouble"]) == (before, "")
    with path.open("ab") as file:
        file.write(line[100:])
    assert only(api)["episodes"] == before + 1


def test_a_damaged_line_is_told_and_holds_up_nothing(run: MadeRun, api: MonitorApi) -> None:
    path = run.folder / "episodes" / "episodes.jsonl"
    with path.open("ab") as file:
        file.write(b'{"task": 1}\nno json\n')
    run.episode("1-9.0", STEP)
    found = only(api)
    assert found["episodes"] == 13
    assert "2 lines cannot be read" in found["trouble"]


def test_lines_of_older_versions_are_read(runs: Path, api: MonitorApi) -> None:
    made = MadeRun(runs / "old")
    made.begin()
    made.episode("1-0.0", STEP)
    path = made.folder / "episodes" / "episodes.jsonl"
    line = json.loads(path.read_text())
    for name in ("started_at", "max_turns"):
        del line[name]
    path.write_text(json.dumps(line) + "\n")
    assert (only(api)["episodes"], only(api)["trouble"]) == (1, "")


def test_another_run_in_the_same_folder_takes_its_place(run: MadeRun, api: MonitorApi) -> None:
    only(api)
    shutil.rmtree(run.folder)
    other = MadeRun(run.folder)
    other.begin()
    other.step(1)
    found = only(api)
    assert (found["episodes"], found["step"], found["status"]) == (2, 1, "running")


def test_a_folder_that_vanished_keeps_its_figures(run: MadeRun, api: MonitorApi) -> None:
    only(api)
    shutil.rmtree(run.folder)
    found = only(api)
    assert (found["status"], found["episodes"]) == ("gone", 12)
    id = listed(api)[0]["id"]
    with pytest.raises((UserError, OSError)):
        api.answer(f"runs/{found['id']}/episodes/{id}", {})


def test_a_run_that_is_silent_is_lost(runs: Path, api: MonitorApi) -> None:
    made = MadeRun(runs / "one")
    made.begin()
    assert only(api)["status"] == "running"
    (made.folder / "workers.json").write_text('{"at": "2020-01-01T00:00:00+00:00"}')
    path = made.folder / "events.jsonl"
    line = json.loads(path.read_text())
    path.write_text(json.dumps(line | {"at": "2020-01-01T00:00:00+00:00"}) + "\n")
    fresh = MonitorApi(Library([Shelf(runs)], MonitorIndex(None)))
    assert only(fresh)["status"] == "lost"


def test_evaluations_and_folders_of_folders(runs: Path, library: Library) -> None:
    made = MadeRun(runs / "day" / "one")
    made.begin()
    made.episode("a", Purpose(), place="../report", success=False)
    library.look()
    api = MonitorApi(library)
    assert {(run["source"], run["episodes"]) for run in api.answer("runs", {})["runs"]} == {
        ("run", 0), ("evaluation", 1),
    }  # fmt: skip


def test_a_damaged_index_is_made_anew(run: MadeRun, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"no database at all" * 1000)
    assert only(MonitorApi(Library([Shelf(run.folder)], MonitorIndex(path))))["episodes"] == 12


def test_where_nothing_can_be_kept_the_index_is_in_memory(run: MadeRun, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    index = MonitorIndex(tmp_path / "file" / "index.sqlite")
    assert index.in_memory
    assert only(MonitorApi(Library([Shelf(run.folder)], index)))["episodes"] == 12


def test_the_index_stays_for_the_next_monitor(run: MadeRun, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    first = MonitorIndex(path)
    only(MonitorApi(Library([Shelf(run.folder)], first)))
    first.close()
    second = MonitorIndex(path)
    assert second.row("select count(*) as n from episode")["n"] == 12
    assert only(MonitorApi(Library([Shelf(run.folder)], second)))["episodes"] == 12


def test_two_monitors_read_the_same_run(run: MadeRun, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    apis = [MonitorApi(Library([Shelf(run.folder)], MonitorIndex(path))) for _ in range(2)]
    threads = [threading.Thread(target=api.library.look) for api in apis]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [only(api)["episodes"] for api in apis] == [12, 12]
