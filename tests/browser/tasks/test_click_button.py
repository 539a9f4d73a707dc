"""ClickButton's logic, and what its layouts show."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, judge

from ui_gym import browser
from ui_gym.browser.tasks.click_button import FAMILIES, LONGEST_COMPACT, ClickButton
from ui_gym.contract.task import Verdict


def test_click_button_the_first_press_counts() -> None:
    task = ClickButton()
    params = task.draw(0)
    right = params.labels[params.target]
    wrong = params.labels[params.target - 1]
    assert judge(task, params, ("press", {"label": right})) == Verdict(
        1.0, done=True, notes=f"pressed {right!r}"
    )
    verdict = judge(task, params, ("press", {"label": wrong}), ("press", {"label": right}))
    assert (verdict.score, verdict.done) == (0.0, True)
    assert judge(task, params, ("hover", {"label": right})).done is False


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("likeness", ["low", "high"])
@pytest.mark.parametrize("count", [2, 6, 10])
def test_click_button_labels(compact: bool, likeness: Any, count: int) -> None:
    task = ClickButton(compact=compact, likeness=likeness, count=count)
    for params in draws(task):
        assert len(set(params.labels)) == count
        assert f'"{params.labels[params.target]}"' in task.goal(params)
        firsts = {label.split()[0] for label in params.labels}
        if likeness == "low":
            assert len(firsts) == count
        else:
            assert len(firsts) <= (count + 3) // 3 + 1
        if compact:
            assert max(map(len, params.labels)) <= LONGEST_COMPACT


def test_click_button_the_compact_sheet_fits_its_grid() -> None:
    for count in range(2, 11):
        task = ClickButton(compact=True, count=count)
        places = set()
        for params in draws(task):
            right, down = params.place
            rows = 1 + -(-count // params.columns)
            assert right % 32 == down % 32 == 0
            assert right + 96 * params.columns <= 320
            assert 32 + down + 32 * rows <= 256
            places.add(params.place)
        assert len(places) > 2


def test_click_button_mistakes_take_another_button() -> None:
    task = ClickButton(likeness="high")
    rng = np.random.default_rng(0)
    params = dataclasses.replace(
        task.draw(0), labels=("Send", "Save as", "Print", "Save all", "Find", "Edit"), target=3
    )
    lookalike = task.misread(params, "lookalike", rng)
    assert lookalike.labels[lookalike.target] == "Save as"
    assert {task.misread(params, "neighbour", rng).target for _ in range(20)} == {2, 4}


def test_click_button_families_have_an_icon_each() -> None:
    page = (Path(browser.__file__).parent / "pages/click_button.html").read_text()
    for family, labels in FAMILIES.items():
        assert f"{family}: " in page.split("const ICONS = {")[1].split("};")[0]
        assert all(label.split()[0].lower() == family for label in labels)


def test_click_button_levels() -> None:
    arguments = {
        level: (ClickButton(level=level).count, ClickButton(level=level).likeness)
        for level in ClickButton.levels
    }
    assert arguments == {"easy": (6, "low"), "medium": (6, "high"), "hard": (10, "high")}
    assert (ClickButton().count, ClickButton(level="hard", count=3).count) == (6, 3)
    assert (ClickButton(compact=True).count, ClickButton(compact=True, level="hard").count) == (
        4,
        10,
    )
