"""ChartRead's logic, that of its charts, and what the elements of its page keep to themselves."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, goals, judge, levels, perform, verdicts

from ui_gym.browser.content import charts
from ui_gym.browser.content.charts import CATEGORIES, PIES, TOPICS, Axis
from ui_gym.browser.tasks.chart_read import ChartRead, ChartReadParams
from ui_gym.contract.action import Click, Press, Type
from ui_gym.errors import UserError

LEVELS = ["easy", "medium", "hard"]
POWER = ChartReadParams(
    kind="bars", topic=0, series=(0, 1), categories=(2, 3, 4), values=((31, 58, 77), (12, 25, 93)),
    axis=Axis(0, 100, 20), asked=((0, 1),), tolerance=4, theme=0, palette=0, phrasing=0,
)  # fmt: skip
SPLIT = dataclasses.replace(POWER, asked=((1, 2), (0, 0)))


def check(value: str) -> Any:
    return ("check", {"value": value})


test_chart_read_scores = verdicts(
    ChartRead(),
    POWER,
    {
        "exact": (check("58"), 1.0, True),
        "above": (check("62"), 1.0, True),
        "below": (check("54.0 "), 1.0, True),
        "too high": (check("62.1"), 0.0, True),
        "too low": (check("53.9"), 0.0, True),
        "other series": (check("25"), 0.0, True),
        "words first": (check("about 58"), check(""), check("58"), 1.0, True),
        "words": (check("about 58"), 0.0, False),
        "too late": (check("1"), check("58"), 0.0, True),
        "nothing": (("check", {}), 0.0, False),
    },
)

test_chart_read_scores_differences = verdicts(
    ChartRead(),
    SPLIT,
    {
        "right": (check("62"), 1.0, True),
        "turned around": (check("-62"), 0.0, True),
        "one of two": (check("93"), 0.0, True),
    },
)


def test_goals_in_full() -> None:
    assert ChartRead().goal(POWER) == (
        "Read the electricity made from Wind in April off the chart, enter it in GWh and press "
        "Check. Being off by 4 is fine."
    )
    assert ChartRead(points=2).goal(SPLIT) == (
        "By how much does the electricity made from Solar in May exceed the electricity made from "
        "Wind in March? Enter the difference in GWh and press Check. Being off by 4 is fine."
    )
    pie = dataclasses.replace(POWER, kind="pie", series=(0,), categories=(0, 1, 2))
    assert "the share of Gas in the electricity off the chart, enter it in per cent" in (
        ChartRead().goal(pie)
    )


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_asked_stands_out(level: Any) -> None:
    """No neighbour can be read in its stead, and the goal names the one or two that are asked."""
    task = ChartRead(level=level)
    kinds = set()
    for params, goal in goals(task):
        kinds.add(params.kind)
        assert params.tolerance >= 1
        assert params.axis.step > 2 * params.tolerance or task.points == 2
        assert len(params.asked) == len(set(params.asked)) == task.points
        assert f"off by {params.tolerance} is fine" in goal
        for series, category in params.asked:
            value = params.values[series][category]
            assert value % params.axis.step
            for s, c in charts.beside(params.values, (series, category)):
                assert abs(params.values[s][c] - value) > 2 * params.tolerance
            if params.kind == "pie":
                assert PIES[params.topic].slices[params.categories[category]] in goal
                continue
            topic = TOPICS[params.topic]
            assert CATEGORIES[topic.categories][params.categories[category]][1] in goal
            assert (topic.series[params.series[series]] in goal) == (task.series > 1)
        for line in params.values:
            assert all(params.axis.low < value < params.axis.high for value in line)
            assert params.kind != "pie" or sum(line) == 100
        assert params.kind == "pie" or (params.axis.low > 0) == task.cut
    assert kinds == {"bars", "line", "pie", *(() if level == "hard" else ("rows",))}


@levels(ChartRead)
@pytest.mark.parametrize("mistake", ChartRead.mistakes)
def test_a_misread_value_is_out_of_bounds(task: Any, mistake: str) -> None:
    for seed in SEEDS:
        params = task.draw(seed)
        believed = task.misread(params, mistake, np.random.default_rng(seed))
        assert believed != params
        read = [believed.values[s][c] for s, c in believed.asked]
        said = read[0] - sum(read[1:])
        assert judge(task, params, check(str(said))).score == 0


def test_blind_rate_is_the_share_of_the_axis() -> None:
    assert ChartRead().blind_rate(POWER) == pytest.approx(9 / 101)


def test_what_charts_hold() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        (slices,) = charts.shares(6, rng)
        assert sum(slices) == 100
        assert min(slices) >= 6
        axis = charts.axis(True, rng)
        assert axis.low > 0
        assert axis.span % axis.step == 0
    assert charts.beside(((1, 2), (3, 4)), (0, 1)) == [(0, 0), (1, 1)]
    assert charts.distinct(((10, 31), (52, 33)), 5, 10) == [(1, 0)]


def test_elements_do_not_tell_the_values(show: Any) -> None:
    task = ChartRead(level="easy")
    for kind in ("bars", "line", "pie", "rows"):
        params = next(p for p in map(task.draw, SEEDS) if p.kind == kind)
        elements = show(task, params).capture(elements=True).elements
        assert [one.name for one in elements if one.role == "button"] == ["Check"]
        left, top, width, height = next(one.box for one in elements if one.role in ("img", "image"))
        labels = task.page_params(params)["categories"]
        (line,) = params.values
        for one in elements:
            x, y, *_ = one.box
            inside = left <= x < left + width and top <= y < top + height
            assert not inside or one.role in ("img", "image", "text"), str(one)
            for said in re.findall(r"\d+", one.name.replace(",", "")):
                if one.name not in labels and int(said) % params.axis.step:
                    assert int(said) not in line, str(one)


def test_elements_of_the_compact_page_tell_the_axis_alone(show: Any) -> None:
    task = ChartRead(compact=True)
    kinds = set()
    for params, goal in goals(task):
        kinds.add(params.kind)
        ((_, category),) = params.asked
        labels = task.page_params(params)["categories"]
        assert labels[category] in goal
        assert params.axis.high <= 60
    assert kinds == {"bars", "line", "rows"}
    params = task.draw(0)
    told = [one.name for one in show(task, params).capture(elements=True).elements]
    axis = range(params.axis.low, params.axis.high + 1, params.axis.step)
    assert [name for name in told if name.isdigit()] == [str(value) for value in axis]
    for more in ({"labels": True}, {"series": 2}, {"points": 2}, {"categories": 5}):
        with pytest.raises(UserError, match="categories 4, labels False"):
            ChartRead(compact=True, **more)


def test_a_text_is_asked_again(show: Any) -> None:
    task = ChartRead()
    params = task.draw(0)
    device = show(task, params)
    perform(device, Click(*device.center("#value")), Type("many"), Press("enter"))
    assert not task.judge(device, params, ()).done
    series, category = params.asked[0]
    value = str(params.values[series][category])
    perform(device, Type(value, clear=True), Press("enter"))
    assert task.judge(device, params, ()).success
