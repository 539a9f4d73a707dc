"""People's verdicts on episodes: which hold, on which line, and what is no verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from room import room_for

from ui_gym_agents import overrides
from ui_gym_agents.episode import Episode, Purpose
from ui_gym_agents.files import NoRoom
from ui_gym_agents.overrides import FileOverrides, Override


def said(
    verdict: Any, where: str = "episodes.jsonl:10:20", *, at: str = "1", **more: Any
) -> Override:
    given = {"episode": "1-0.0", "reason": "seen", "who": "me"} | more
    return Override(at=at, where=where, verdict=verdict, **given)


def episode(**fields: Any) -> Episode:
    given: Any = {"id": "1-0.0", "score": 0.5} | fields
    return Episode("UI/Test-v0", 1, "", [], **given)


def test_the_last_verdict_on_an_episode_holds(tmp_path: Path) -> None:
    first, last = said("success", reason="é \ud83d"), said("failure", at="2")
    for one in (first, said("success", "episodes.jsonl:30:40"), last):
        overrides.append(tmp_path, one)
    assert next(overrides.history(tmp_path)) == first
    assert overrides.read(tmp_path)["episodes.jsonl:10:20"] == last
    overrides.append(tmp_path, said("withdrawn", at="3"))
    assert overrides.read(tmp_path).keys() == {"episodes.jsonl:30:40"}


def test_what_is_no_verdict_is_passed_over_and_cut_off(tmp_path: Path) -> None:
    file = tmp_path / overrides.FILE
    file.write_text('no json\n[]\n{"at": "1"}\n{"torn": ')
    assert overrides.read(tmp_path) == {}
    overrides.append(tmp_path, said("success"))
    assert overrides.read(tmp_path).keys() == {"episodes.jsonl:10:20"}


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    overrides.append(tmp_path, said("success"))
    with room_for((tmp_path / overrides.FILE).stat().st_size + 10), pytest.raises(NoRoom):
        overrides.append(tmp_path, said("failure", at="2"))
    assert [one.verdict for one in overrides.history(tmp_path)] == ["success"]


def test_a_verdict_is_on_one_line_of_one_file(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "episodes").mkdir(parents=True)
    overrides.append(run, said("success", "episodes/episodes.jsonl:10:20"))
    overrides.append(run, said("failure", "evaluations/a/episodes.jsonl:30:40"))
    found = FileOverrides(run / "episodes" / "episodes.jsonl")
    right = found.judged(episode(), 10)
    assert (right.success, right.score) == (True, 1.0)
    for other, start in ((episode(), 0), (episode(id="1-0.1"), 10), (episode(), 30)):
        assert found.judged(other, start) is other
    agreed = episode(success=True, score=0.75)
    assert found.judged(agreed, 10) is agreed


def test_the_later_of_a_runs_and_an_evaluations_own_holds(tmp_path: Path) -> None:
    """The monitor may be opened on either folder."""
    folder = tmp_path / "evaluations" / "a"
    folder.mkdir(parents=True)
    overrides.append(folder, said("failure", at="1"))
    overrides.append(tmp_path, said("success", "evaluations/a/episodes.jsonl:10:20", at="2"))
    assert FileOverrides(folder / "episodes.jsonl").judged(episode(), 10).success


def test_in_an_export_id_and_purpose_say_which_it_is(tmp_path: Path) -> None:
    purpose = Purpose("step", 3)
    overrides.append(tmp_path, said("success", "episodes/episodes.jsonl:10:20", purpose=purpose))
    alone = FileOverrides(tmp_path / "episodes.jsonl")
    asked = episode(purpose=purpose)
    assert not alone.judged(asked, 0).success
    (tmp_path / "manifest.json").write_text("{}")
    exported = FileOverrides(tmp_path / "episodes.jsonl")
    assert exported.judged(asked, 0).success
    assert not exported.judged(episode(purpose=Purpose("step", 4)), 0).success
