"""The pictures that a finished run leaves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training import outcome

pytest.importorskip("matplotlib")


def row(kind: str, step: int, **values: object) -> str:
    return json.dumps({"kind": kind, "step": step, **values}) + "\n"


def test_a_curve_is_drawn_even_where_an_interval_misses_its_rate_by_a_rounding(
    tmp_path: Path,
) -> None:
    perfect = {"mode": "greedy", "success": 1.0, "low": 0.98, "high": 0.9999999999999999}
    lines = [row("train", 1, success=0.5), row("train", 2, success=0.75)]
    (tmp_path / "metrics.jsonl").write_text("".join(lines) + row("final", 2, **perfect))
    assert outcome.draw(tmp_path) == [tmp_path / "curve.png"]
    assert Image.open(tmp_path / "curve.png").width > 500


def test_without_steps_there_is_no_curve(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(row("train", 1, loss=0.5))
    assert outcome.draw(tmp_path) == []


def test_a_run_whose_policy_did_not_play_has_a_curve_of_its_evaluations(tmp_path: Path) -> None:
    told = {"mode": "greedy", "low": 0.1, "high": 0.9}
    lines = [row("before", 0, success=0.2, **told), row("train", 1, source_success=1.0)]
    (tmp_path / "metrics.jsonl").write_text("".join(lines))
    assert outcome.draw(tmp_path) == []
    lines.append(row("final", 1, success=0.8, **told))
    (tmp_path / "metrics.jsonl").write_text("".join(lines))
    assert outcome.draw(tmp_path) == [tmp_path / "curve.png"]


def test_the_film_shows_an_episode_that_failed_before_and_succeeded_after(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("env:\n  dialect: canonical\n")
    for step, wins in ((0, {"a": True, "b": False}), (5, {"a": True, "b": True})):
        store = EpisodeStore(tmp_path / "evaluations" / f"step_{step:06}-greedy")
        picture = store.screenshots.put(np.zeros((64, 96, 3), np.uint8))
        turns = [Turn(picture, "click(5, 5)")]
        store.add(
            Episode(
                "T", 1, f"goal {name}", turns, id=name, success=won, final_screenshot_id=picture
            )
            for name, won in wins.items()
        )
        store.write_report({"n": 2})
    before, after = outcome.draw(tmp_path)
    assert (before.name, after.name) == ("film_before.png", "film_after.png")
    assert Image.open(after).height > 64
