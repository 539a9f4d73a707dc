"""Evaluations in OSWorld's way: folders, resuming, broken tasks, scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.evaluation.osworld.world import (
    HELLO,
    INFEASIBLE,
    SIZE,
    Desk,
    Typist,
    options,
    run,
    write_tasks,
)
from ui_gym.errors import DeviceError, UserError
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.evaluation.osworld.play import play


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reset whose device failed is tried again at once."""
    monkeypatch.setattr("ui_gym.playing.env.RESET_PAUSES", (0.0, 0.0))


class Server:
    """An agent whose server fails it."""

    def __init__(self, action_space: Any) -> None:
        pass

    def act(self, views: Sequence[View]) -> list[Decision]:
        return [Decision("", failure="server: it is off") for _ in views]


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "traj.jsonl").read_text().splitlines()]


def done(folder: Path) -> list[str]:
    return sorted(f"{p.parent.parent.name}/{p.parent.name}" for p in folder.rglob("result.txt"))


def test_the_folders_are_those_of_osworlds_runner(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO}, chrome={"no-b": INFEASIBLE, "c": {"want": "x"}})
    _, notes = run(options(tmp_path, meta, num_envs=2))
    assert notes == []
    model = tmp_path / "results" / "pyautogui" / "screenshot" / "typist"
    assert json.loads((model / "args.json").read_text())["screen_width"] == SIZE[0]
    assert done(model) == ["chrome/c", "chrome/no-b", "os/a"]
    results = {key: float((model / key / "result.txt").read_text()) for key in done(model)}
    assert results == {"chrome/c": 0.0, "chrome/no-b": 1.0, "os/a": 1.0}

    first, second = lines(model / "os" / "a")
    assert (first["step_num"], first["action"], first["done"]) == (
        1,
        "pyautogui.write('hello')",
        False,
    )
    assert (second["step_num"], second["action"], second["done"]) == (2, "DONE", True)
    assert second["response"] == "I am done.\n```DONE```"
    assert (first["reward"], second["reward"]) == (0.0, 1.0)
    assert (first["info"], second["info"]) == ({}, {"done": True})
    assert lines(model / "chrome" / "no-b")[-1]["info"] == {"fail": True}
    for line in (first, second):
        name = line["screenshot_file"]
        assert name == f"step_{line['step_num']}_{line['action_timestamp']}.png"
        with Image.open(model / "os" / "a" / name) as picture:
            assert (np.asarray(picture)[0, :, 0] == 0).sum() == len("hello")
    log = (model / "os" / "a" / "runtime.log").read_text()
    assert "Instruction: Do a." in log
    assert "Result: 1.00" in log


def test_scores_stand_by_domain_and_without_the_infeasible(tmp_path: Path) -> None:
    half = {"want": "hellohello"}
    meta = write_tasks(tmp_path, os={"a": HELLO, "half": half}, chrome={"no-b": INFEASIBLE})
    scores, _ = run(options(tmp_path, meta))
    assert (scores.total.n, scores.total.score, scores.total.success) == (3, 2.5 / 3, 2 / 3)
    assert (scores.feasible.n, scores.feasible.score, scores.feasible.success) == (2, 0.75, 0.5)
    low, high = scores.total.interval
    assert 0.2 < low < 2 / 3 < high < 0.95
    chrome, feasible = scores.by_domain["chrome"]
    assert (chrome.n, chrome.success, feasible.n, feasible.success) == (1, 1.0, 0, None)
    told = scores.to_json()
    assert told["by_domain"]["os"]["score"] == 0.75
    assert json.loads(json.dumps(told)) == told


def test_what_has_a_result_is_not_played_again_and_the_rest_begins_anew(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO, "b": HELLO, "c": HELLO, "d": HELLO})
    asked = options(tmp_path, meta)
    domain = asked.folder / "os"
    for name, result in (("a", "0.25\n"), ("b", ""), ("c", "nan\n")):
        (domain / name).mkdir(parents=True)
        (domain / name / "result.txt").write_text(result)
        (domain / name / "old.png").write_bytes(b"")
    scores, notes = run(asked)
    assert notes == ["1 of 4 tasks are there already"]
    assert scores.total.score == (0.25 + 3) / 4
    assert [p.name for p in sorted(domain.rglob("old.png"))] == ["old.png"]
    assert (domain / "a" / "old.png").exists()
    assert {view.goal for view in Typist.seen} == {"Do b.", "Do c.", "Do d."}

    again, notes = run(asked)
    assert notes == ["4 of 4 tasks are there already"]
    assert again == scores


def test_a_stopped_evaluation_goes_on_where_it_was(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path, os=dict.fromkeys("abcdef", HELLO))
    asked = options(tmp_path, meta, num_envs=2)
    with pytest.raises(KeyboardInterrupt):
        run(asked, stop_after=2)
    before = {key: (asked.folder / key / "result.txt").read_text() for key in done(asked.folder)}
    assert 2 <= len(before) < 6
    assert set(before.values()) == {"1.0\n"}
    assert not list(asked.folder.rglob("*.part"))
    scores, notes = run(asked)
    assert notes == [f"{len(before)} of 6 tasks are there already"]
    assert (scores.total.n, scores.total.success) == (6, 1.0)


def test_a_broken_task_ends_its_own_episode_alone(tmp_path: Path) -> None:
    meta = write_tasks(
        tmp_path,
        os={
            "lacking": {"lacks": "getter crystal_ball"},
            "uncached": {"missing": ["https://example.org/seed.xlsx"], **HELLO},
            "setup": {"broken": "setup", **HELLO},
            "judge": {"broken": "judge", **HELLO},
            "device": {"broken": "device", **HELLO},
            "crash": HELLO,
            "good": HELLO,
        },
    )
    scores, _ = run(options(tmp_path, meta, num_envs=2))
    assert list(scores.skipped) == ["os/lacking", "os/uncached"]
    assert "getter crystal_ball" in scores.skipped["os/lacking"]
    assert "ui-gym osworld fetch" in scores.skipped["os/uncached"]
    assert set(scores.failed) == {"os/setup", "os/judge", "os/device", "os/crash"}
    assert scores.failed["os/setup"].startswith("task: no window 'Notes' is there")
    assert "a getter broke" in scores.failed["os/judge"]
    assert scores.failed["os/device"].startswith("device: ")
    assert scores.failed["os/crash"] == "device: the desk is gone"
    assert (scores.total.n, scores.total.success) == (1, 1.0)

    folder = options(tmp_path, meta).folder / "os"
    assert done(folder) == ["os/good"]
    for name in ("setup", "judge", "device", "crash"):
        assert lines(folder / name)[-1] == {"Error": scores.failed[f"os/{name}"]}
    again, _ = run(options(tmp_path, meta))  # they are tried again
    assert again == scores


def test_a_server_that_fails_gives_no_result(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO})
    asked = options(tmp_path, meta, agent=f"{__name__}:Server")
    scores, _ = run(asked)
    assert scores.failed == {"os/a": "server: it is off"}
    assert scores.total.score is None
    assert done(asked.folder) == []


def test_without_any_device_it_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Desk, "gone", False)
    others = {f"t{n:02}": HELLO for n in range(12)}
    meta = write_tasks(tmp_path, os={"good": HELLO, "burn": HELLO, **others})
    asked = options(tmp_path, meta)
    with pytest.raises(DeviceError, match=r"the last 5 tasks failed .* the workshop is closed"):
        run(asked)
    assert done(asked.folder) == ["os/good"]
    assert not (asked.folder / "os" / "t11").exists()


def test_tasks_that_lack_their_programs_do_not_end_it(tmp_path: Path) -> None:
    broken = {f"t{n:02}": {"broken": "device", **HELLO} for n in range(12)}
    meta = write_tasks(tmp_path, os={**broken, "good": HELLO})
    scores, _ = run(options(tmp_path, meta))
    assert (len(scores.failed), scores.total.n) == (12, 1)


def test_actions_that_were_wrong_are_told(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO})
    script = tmp_path / "script"
    script.write_text("I am lost\nDONE\n")
    asked = options(tmp_path, meta, agent="scripted", script=script)
    run(asked)
    first, last = lines(asked.folder / "os" / "a")
    assert first["action"] == "I am lost"
    assert first["info"]["action_error"] == "parse"
    assert "no code in 'I am lost'" in first["info"]["feedback"]
    assert last["done"]


def test_steps_are_cut_and_then_judged(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO})
    asked = options(tmp_path, meta, max_steps=1)
    scores, _ = run(asked)
    (only,) = lines(asked.folder / "os" / "a")
    assert (only["done"], only["info"], only["reward"]) == (False, {}, 1.0)
    assert scores.total.success == 1.0


def test_one_domain_and_several_trials(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO}, chrome={"b": HELLO})
    for trial in ("1", "2"):
        run(options(tmp_path, meta, domain="os", trial_id=trial))
    model = options(tmp_path, meta).folder
    found = sorted(str(p.relative_to(model).parent) for p in model.rglob("result.txt"))
    assert found == ["1/os/a", "2/os/a"]
    with pytest.raises(UserError, match=r"no domain 'crome'\. Did you mean 'chrome'"):
        run(options(tmp_path, meta, domain="crome"))


def test_examples_may_be_named_as_osworld_has_it(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path / "tasks", os={"a": HELLO})
    elsewhere = tmp_path / "meta.json"
    elsewhere.write_text(meta.read_text())
    for base in (tmp_path / "tasks", tmp_path / "tasks" / "examples"):
        asked = options(tmp_path, elsewhere, test_config_base_dir=base, trial_id=base.name)
        assert run(asked)[0].total.success == 1.0
    beside = options(tmp_path, None, test_config_base_dir=tmp_path / "tasks", trial_id="beside")
    assert run(beside)[0].total.success == 1.0


def test_other_options_for_the_same_folder_are_noted(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO})
    run(options(tmp_path, meta))
    _, notes = run(options(tmp_path, meta, max_steps=50, num_envs=3))
    assert notes[0].endswith("were asked for with max_steps None, now 50")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ('{"os": "a"}', "is no meta file"),
        ('{"os": ["../a"]}', "'../a' cannot be the name of a file"),
        ('{"os": []}', "names no task"),
        ("{}", "names no task"),
        ('{"os": ["gone"]}', "none of the 1 tasks .* can be played; os/gone: neither"),
    ],
)
def test_a_meta_file_that_cannot_be_played_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    meta = tmp_path / "meta.json"
    meta.write_text(text)
    with pytest.raises(UserError, match=message):
        run(options(tmp_path, meta))


def test_files_for_different_devices_are_not_played_together(tmp_path: Path) -> None:
    tasks = {"a": HELLO, "b": HELLO | {"device": "x11"}, "c": HELLO | {"device": "osworld"}}
    meta = write_tasks(tmp_path, os=tasks)
    with pytest.raises(UserError, match=r"x11 \(os/b\) and osworld \(os/c\)"):
        run(options(tmp_path, meta))
    run(options(tmp_path, meta, device="x11"))
    assert done(tmp_path) == ["os/a", "os/b", "os/c"]


def test_results_cannot_be_led_astray(tmp_path: Path) -> None:
    for given in ({"model": "../../x"}, {"trial_id": "/tmp"}, {"trial_id": "a/../.."}):
        with pytest.raises(UserError, match="cannot be the name of a folder"):
            options(tmp_path, None, **given)
    assert options(tmp_path, None, model="/models/UI-TARS").folder.name == "UI-TARS"


def test_an_oracle_is_refused(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO})
    with pytest.raises(UserError, match="the oracle cannot play task files"):
        run(options(tmp_path, meta, agent="oracle"))


def test_a_served_model_has_its_own_name(tmp_path: Path) -> None:
    served = options(tmp_path, None, model="", agent="openai:Qwen/Qwen3@http://h:1/v1")
    assert served.folder == tmp_path / "results" / "pyautogui" / "screenshot" / "Qwen/Qwen3"
    assert options(tmp_path, None, model="", agent="random").folder.name == "random"
    assert options(tmp_path, None, model="x/y", agent="random").folder.name == "y"


def test_two_evaluations_in_one_folder_are_refused(tmp_path: Path) -> None:
    meta = write_tasks(tmp_path, os={"a": HELLO})
    asked = options(tmp_path, meta)

    def watch(tasks: Iterable[Any], total: int) -> Iterator[Any]:
        with pytest.raises(UserError, match="another process evaluates"):
            run(asked)
        yield from tasks

    assert play(asked, watch, lambda _: None).total.n == 1
