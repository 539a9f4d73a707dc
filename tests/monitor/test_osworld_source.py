"""Results in OSWorld's layout: what its own runners write, ours, and what a crash leaves."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PILImage

from ui_gym_agents.evaluation.osworld.results import TaskFolder, save_picture
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.sources import osworld
from ui_gym_agents.monitor.sources.osworld import OSWorldResults, is_results, read_example

CHROME = "chrome/bb5e4c0d"
ASKED = {"action_space": "pyautogui", "observation_type": "screenshot", "max_steps": 15}


def screen(shade: int) -> np.ndarray:
    picture = np.full((8, 12, 3), shade, np.uint8)
    picture[0, 0] = 255 - shade
    return picture


def model(tmp_path: Path, *, arguments: bool = True) -> Path:
    folder = tmp_path / "results" / "pyautogui" / "screenshot" / "gpt-9"
    folder.mkdir(parents=True)
    if arguments:
        (folder / "args.json").write_text(json.dumps({**ASKED, "model": "gpt-9"}))
    return folder


def upstream(folder: Path, lines: list[dict], shades: list[int], score: float | None) -> None:
    """As OSWorld's own runner leaves an example."""
    folder.mkdir(parents=True)
    texts = []
    for number, (line, shade) in enumerate(zip(lines, shades, strict=True), start=1):
        name = f"step_{number}_20260101@1000{number:02}.png"
        PILImage.fromarray(screen(shade)).save(folder / name)
        told = {"action_timestamp": f"20260101@1000{number:02}", "screenshot_file": name}
        texts.append(json.dumps({**told, **line}))
    (folder / "traj.jsonl").write_text("".join(text + "\n" for text in texts))
    if score is not None:
        (folder / "result.txt").write_text(f"{score}\n")


def action(step: int, text: str, **more) -> dict:
    return {"step_num": step, "action": text, "reward": 0, "done": False, "info": {}, **more}


def taken_in(source: OSWorldResults) -> MonitorIndex:
    index = MonitorIndex(None)
    while source.refresh(index):
        pass
    return index


def shade_of(source: OSWorldResults, key: str) -> int:
    found = source.picture(key)
    assert found is not None
    assert found.media == "image/png"
    return int(np.asarray(PILImage.open(io.BytesIO(found.data)))[4, 4, 0])


def test_a_picture_is_what_was_seen_before_the_next_action(tmp_path: Path) -> None:
    folder = model(tmp_path)
    lines = [
        action(1, "pyautogui.click(3, 4)"),
        action(2, "pyautogui.write('x')"),
        action(3, "DONE", done=True),
    ]
    upstream(folder / CHROME, lines, [10, 20, 20], 1.0)
    source = OSWorldResults(folder)
    episode = source.episode(CHROME)

    assert [turn.action_text for turn in episode.turns] == [line["action"] for line in lines]
    first, second, third = (turn.screenshot_id for turn in episode.turns)
    assert first == ""  # nobody recorded it
    assert [shade_of(source, key) for key in (second, third)] == [10, 20]
    assert episode.final_screenshot_id == third, "equal screens have equal keys"
    assert (episode.task, episode.score, episode.success) == ("osworld/" + CHROME, 1.0, True)
    assert (episode.terminated, episode.failure, episode.max_turns) == (True, None, 15)
    assert episode.seconds == 2.0


def test_the_first_screen_is_shown_where_a_runner_kept_it(tmp_path: Path) -> None:
    folder = model(tmp_path)
    upstream(folder / CHROME, [action(1, "WAIT")], [10], 0.0)
    PILImage.fromarray(screen(5)).save(folder / CHROME / "step_0.png")
    source = OSWorldResults(folder)
    assert shade_of(source, source.episode(CHROME).turns[0].screenshot_id) == 5


def test_fields_differ_by_version(tmp_path: Path) -> None:
    folder = model(tmp_path)
    said = "I click.\n```python\npyautogui.click(3, 4)\n```"
    lines = [
        action(1, "pyautogui.click(3, 4)", response=said),
        action(2, "pyautogui.moveTo(1, 1)", response="Both at once."),
        action(2, "pyautogui.press('a')", response="Both at once."),
        action(3, {"action_type": "CLICK", "x": 1}, response={"type": "message"}),
        action(4, "FAIL", reward=None, info={"fail": True}, done=True),
    ]
    upstream(folder / CHROME, lines, [1, 2, 3, 4, 5], 0.5)
    texts = [turn.action_text for turn in read_example(folder / CHROME, CHROME, {}).turns]
    assert texts[0] == said, "the action is in what was said"
    assert texts[1] == "Both at once.\n\n```python\npyautogui.moveTo(1, 1)\n```"
    assert texts[2] == "pyautogui.press('a')", "an answer is told once"
    assert '"action_type": "CLICK"' in texts[3]
    assert texts[4] == "FAIL"


def test_what_our_own_runner_writes_is_read_back(tmp_path: Path) -> None:
    folder = model(tmp_path)
    written = TaskFolder(folder / CHROME)
    written.empty()
    written.log("INFO", "Instruction: Open the page\nand close it")
    said = {"action": "pyautogui.click(1, 2)", "response": "click(1, 2)", "reward": 0.0}
    refused = {"feedback": "there is no window", "action_error": "runtime"}
    for number, info in ((1, {}), (2, refused)):
        stamp = f"20260101@10000{number}000000"
        line = {**said, "done": False, "info": info}
        save_picture(written.add_step(number, stamp, line), screen(number))
    written.finish(0.25)

    episode = OSWorldResults(folder).episode(CHROME)
    assert episode.goal == "Open the page\nand close it"
    assert (episode.score, episode.success, episode.truncated) == (0.25, False, True)
    assert "click(1, 2)" in episode.turns[0].action_text
    assert (episode.turns[1].feedback, episode.turns[1].action_error) == tuple(refused.values())


def test_a_crash_is_a_fault_and_what_is_going_on_is_not_shown_yet(tmp_path: Path) -> None:
    folder = model(tmp_path)
    for name in ("chrome/crashed", "chrome/running", "os/wrong", "os/timed-out"):
        upstream(folder / name, [action(1, "WAIT")], [1], None)
    with (folder / "os/timed-out/traj.jsonl").open("a") as file:
        file.write(json.dumps({"Error": "Time limit exceeded"}) + "\n")
    with (folder / "chrome/crashed/traj.jsonl").open("a") as file:
        file.write('{"step_num": 2, "act')  # torn
    os.utime(folder / "chrome/crashed/traj.jsonl", (0, 0))
    (folder / "os/wrong/result.txt").write_text("0.0\n")

    source = OSWorldResults(folder)
    index = taken_in(source)
    rows = index.rows("select place, failure from episode order by place")
    assert [row["place"] for row in rows] == ["chrome/crashed", "os/timed-out", "os/wrong"]
    faults = {row["place"]: row["failure"] for row in rows}
    assert "no result" in faults["chrome/crashed"]
    assert faults["os/timed-out"] == "Time limit exceeded"
    assert faults["os/wrong"] is None
    assert len(source.episode("chrome/crashed").turns) == 1

    (folder / "chrome/running/result.txt").write_text("1.0\n")
    source._rest = 0.0
    assert source.refresh(index)
    row = index.row("select success from episode where place = 'chrome/running'")
    assert row is not None
    assert row["success"] == 1


def test_an_example_that_is_played_anew_is_another(tmp_path: Path) -> None:
    folder = model(tmp_path)
    upstream(folder / CHROME, [action(1, "WAIT")], [1], 0.0)
    upstream(folder / "os/other", [action(1, "WAIT")], [1], 1.0)
    taken = taken_in(OSWorldResults(folder))
    (folder / CHROME / "result.txt").write_text("1.0\n")
    os.utime(folder / CHROME / "result.txt", (5, 5))

    source = OSWorldResults(folder)  # another process, with the same index
    assert source.refresh(taken)
    rows = taken.rows("select place, success from episode order by place")
    assert [tuple(row) for row in rows] == [(CHROME, 1), ("os/other", 1)]
    row = taken.row("select sum(n) as n from tally")
    assert row is not None
    assert row["n"] == 2
    assert not OSWorldResults(folder).refresh(taken), "nothing is new"


def test_the_results_of_a_model_are_one_source_and_its_trials_are_modes(tmp_path: Path) -> None:
    folder = model(tmp_path)
    for trial, score in (("first", 0.0), ("second", 1.0)):
        upstream(folder / trial / CHROME, [action(1, "WAIT")], [1], score)
    assert [is_results(place) for place in (folder, folder.parent, tmp_path)] == [
        True,
        False,
        False,
    ]
    source = OSWorldResults(folder)
    index = taken_in(source)
    rows = index.rows("select task, mode, success from episode order by mode")
    assert [tuple(row) for row in rows] == [
        ("osworld/" + CHROME, "first", 0), ("osworld/" + CHROME, "second", 1),
    ]  # fmt: skip
    assert index.facts(source.id)["name"] == "gpt-9 (screenshot, pyautogui)"
    assert index.facts(source.id)["config"]["dialect"] == "pyautogui"


@pytest.mark.parametrize("arguments", [True, False])
def test_it_is_known_by_what_lies_in_it(tmp_path: Path, arguments: bool) -> None:
    folder = model(tmp_path, arguments=arguments)
    assert not is_results(folder), "empty"
    upstream(folder / CHROME, [action(1, "WAIT")], [1], 0.0)
    assert is_results(folder)
    assert not is_results(folder.parent)
    assert not is_results(folder / "chrome")


def test_many_examples_are_taken_in_bit_by_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = model(tmp_path)
    for number in range(100):
        upstream(folder / f"os/{number:03}", [action(1, "WAIT")], [1], 0.0)
    monkeypatch.setattr(osworld, "PATIENCE", 0.0)
    source, index = OSWorldResults(folder), MonitorIndex(None)
    counts = []
    while source.refresh(index):
        row = index.row("select count(*) as n from episode")
        assert row is not None
        counts.append(row["n"])
    assert counts[-1] == 100
    assert len(counts) > 2


def test_a_name_cannot_lead_elsewhere(tmp_path: Path) -> None:
    folder = model(tmp_path)
    upstream(folder / CHROME, [action(1, "WAIT", screenshot_file="../../../args.json")], [1], 0.0)
    source = OSWorldResults(folder)
    assert source.episode(CHROME).final_screenshot_id == ""
    assert source.picture("ab" * 32) is None
    with pytest.raises(FileNotFoundError):
        source.episode("../gpt-9/" + CHROME)
