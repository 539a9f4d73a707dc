"""Chart read: read a value off a chart, and enter it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import charts, tables
from ui_gym.browser.content.charts import (
    CATEGORIES,
    COMPACT_TOPIC,
    PERCENT,
    PIES,
    TOPICS,
    Axis,
    Kind,
    Point,
    Topic,
    Values,
)
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, whole
from ui_gym.browser.moves import because, click, fill
from ui_gym.contract.action import Action
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

ONE = (
    "Read {} off the chart, enter it in {unit} and press Check. {tolerance}",
    "What is {}, in {unit}? Type the number into the field and press Check. {tolerance}",
    "Use the chart to find {}. Enter it in {unit} and press Check. {tolerance}",
)
TWO = (
    "By how much does {} exceed {}? Enter the difference in {unit} and press Check. {tolerance}",
    "Read off the chart how far {} is above {}. Enter it in {unit} and press Check. {tolerance}",
    "Enter the difference between {} and {}, in {unit}, and press Check. {tolerance}",
)
TOLERANCE = "Being off by {} is fine."
KINDS: tuple[Kind, ...] = ("bars", "line", "pie", "rows")
MOST_ROWS = 24
"""More bars than this are too thin if they lie."""
SLICES = 6
PALETTES = 4
THEMES = 6
COMPACT = -1
"""Stands for the topic of the compact page."""
COMPACT_KINDS: tuple[Kind, ...] = ("bars", "line", "rows")
COMPACT_CATEGORIES = 4
"""Values that the compact page has room for."""
COMPACT_SIDES = 2
COMPACT_GOALS = (
    "Type the value of {}. Press Check.",
    "Enter {} as Value. Press Check.",
    "What is {}? Type it as Value. Press Check.",
)


@dataclass(frozen=True)
class ChartReadParams:
    """All that varies between episodes."""

    kind: Kind
    topic: int
    """Of `TOPICS`, or, if it is a pie chart, of `PIES`."""
    series: tuple[int, ...]
    categories: tuple[int, ...]
    values: Values
    axis: Axis
    asked: tuple[Point, ...]
    """One value, or two whose difference is asked for."""
    tolerance: int
    theme: int
    """Compact: whether the field is above the chart."""
    palette: int
    phrasing: int


@register("ChartRead", suite="browser", category="reading", difficulty="medium", max_steps=10)
class ChartRead(Family[ChartReadParams]):
    """Read a value off a bar, line or pie chart, and enter it.

    ## Description
    A chart beside a field. The goal asks for one of its values, or for the difference of two, and
    says how exact the answer has to be. At the easy level the values are written beside the bars,
    points and slices; else they are to be read off the axis, with a legend for the series, and at
    the hard level the axis does not begin at zero. The page's elements do not tell what is drawn:
    the picture has to be read. The compact page has bars and lines, but no pies; its elements tell
    the names and the numbers of the axis.

    ## Action space
    Clicking the field, typing a number and clicking Check is all that is needed.

    ## Observation space
    `Dict` of `goal`, `screenshot` (uint8, 800x1280x3), `feedback`, and `elements` where asked for:
    the chart is one image among them, with nothing inside (compact: the words of its axes).

    ## Rewards
    1 if Check is pressed with a number that is off by no more than the goal allows, else 0.

    ## Starting state
    An empty field, nothing focused.

    ## Episode end
    Termination: Check is pressed with a number (the page asks again for anything else).

    ## Arguments
    | `series` | of the level (compact: 1) | lines, or bars side by side, 1 to 4 (a pie: 1) |
    | `categories` | of the level (compact: 4) | values of each series, 4 to 12 (of a pie, to 6) |
    | `points` | of the level (compact: 1) | 1 for one value, 2 for the difference of two |
    | `labels` | of the level (compact: False) | whether the values are written into the chart |
    | `cut` | of the level (compact: False) | whether the axis begins above zero |
    | `tolerance` | of the level (compact: 6) | how far off it may be, in % of the axis, 1 to 6 |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "chart_read.html"
    mistakes = ("neighbour", "scale")
    compact_values = {
        "series": 1, "categories": COMPACT_CATEGORIES, "points": 1, "labels": False, "cut": False,
        "tolerance": 6,
    }  # fmt: skip
    series: int = whole(1, 4, easy=1, medium=2, hard=4)
    categories: int = whole(4, 12, easy=6, medium=8, hard=12)
    points: int = whole(1, 2, easy=1, medium=1, hard=2)
    labels: bool = flag(easy=True, medium=False, hard=False)
    cut: bool = flag(easy=False, medium=False, hard=True)
    tolerance: int = whole(1, 6, easy=2, medium=4, hard=3)

    def prepare(self) -> None:
        if not self.compact:
            return
        chart = (self.series, self.categories, self.points, self.labels)
        if chart != (1, COMPACT_CATEGORIES, 1, False):
            raise UserError(
                "ChartRead: the compact page asks for one of four values of one series, which are "
                "not written into the chart; series and points are 1, categories 4, labels False"
            )
        self.max_steps = 2 * 3

    def sample(self, rng: Generator) -> ChartReadParams:
        thin = self.series * self.categories > MOST_ROWS
        kinds = [kind for kind in KINDS if not (thin and kind == "rows")]
        if self.compact:
            kinds = list(COMPACT_KINDS)
        while True:
            params = self._chart(pick(rng, kinds), rng)
            asked = self._ask(params, rng)
            if asked:
                return replace(params, asked=asked)

    def goal(self, params: ChartReadParams) -> str:
        if self.compact:
            ((_, category),) = params.asked
            return COMPACT_GOALS[params.phrasing].format(_labels(params)[1][category])
        said = [_words(params, point) for point in params.asked]
        if params.kind == "pie":
            unit = "per cent" if len(said) == 1 else "percentage points"
        else:
            unit = _topic(params).unit
        return (ONE, TWO)[len(said) - 1][params.phrasing].format(
            *said, unit=unit, tolerance=TOLERANCE.format(params.tolerance)
        )

    def page_params(self, params: ChartReadParams) -> dict[str, Any]:
        about = PIES[params.topic] if params.kind == "pie" else _topic(params)
        series, categories = _labels(params)
        return {
            **{name: getattr(about, name) for name in ("app", "mark", "title")},
            "unit": getattr(about, "unit", "per cent"),
            "kind": params.kind,
            "series": series,
            "categories": categories,
            "values": params.values,
            "axis": asdict(params.axis),
            "labels": self.labels,
            "theme": params.theme,
            "palette": params.palette,
        }

    def judge(
        self, device: BrowserDevice, params: ChartReadParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        for event in device.events:
            if event.type == "check":
                said = tables.number(str(event.data.get("value", "")))
                if said is None:
                    continue
                true = _answer(params)
                right = abs(said - true) <= params.tolerance
                notes = f"entered {said}, asked for was {true}, give or take {params.tolerance}"
                return Verdict(float(right), done=True, notes=notes)
        return Verdict(0.0, notes="no number is entered yet")

    def oracle(self, device: BrowserDevice, params: ChartReadParams) -> Steps:
        if self.compact:
            value = str(_answer(params))
            press, write = fill(device, "#value", value)
            yield Demo(press, "Value")
            yield Demo(write, f"Value {value}")
            yield Demo(click(device, "#check"), "Check")
            return
        said = [
            f"{_words(params, (series, category))} is about {params.values[series][category]}"
            for series, category in params.asked
        ]
        thought = "; ".join(said)
        yield from because(
            f"In the chart, {thought}.", fill(device, "#value", str(_answer(params)))
        )
        yield Demo(click(device, "#check"), "The number is entered.")

    def misread(self, params: ChartReadParams, mistake: str, rng: Generator) -> ChartReadParams:
        """``neighbour``: the value of another category or series is read. ``scale``: the axis is
        misread by one of its lines."""
        series, category = params.asked[0]
        if mistake == "neighbour":
            beside = charts.beside(params.values, (series, category))
            taken = pick(rng, beside)
            return replace(params, asked=(taken, *params.asked[1:]))
        values = [list(line) for line in params.values]
        values[series][category] += params.axis.step
        return replace(params, values=tuple(map(tuple, values)))

    def blind_rate(self, params: ChartReadParams) -> float:
        """Any number of the axis."""
        return (2 * params.tolerance + 1) / (params.axis.span + 1)

    def _chart(self, kind: Kind, rng: Generator) -> ChartReadParams:
        """A chart that nothing is asked of yet."""
        pie = kind == "pie"
        topics = (
            range(len(PIES)) if pie else charts.ORDERED if kind == "line" else range(len(TOPICS))
        )
        draw_axis = charts.axis
        if self.compact:
            topics, draw_axis = (COMPACT,), charts.compact_axis
        axis = PERCENT if pie else draw_axis(self.cut, rng)
        most = SLICES if pie else 12
        count = min(self.categories, most)
        start = int(rng.integers(most - count + 1))
        series = tuple(int(i) for i in rng.permutation(4)[: 1 if pie else self.series])
        if self.compact:
            series = (0,)
        values = charts.shares(count, rng) if pie else charts.walks(self.series, count, axis, rng)
        return ChartReadParams(
            kind=kind,
            topic=pick(rng, topics),
            series=series,
            categories=tuple(range(start, start + count)),
            values=values,
            axis=axis,
            asked=(),
            tolerance=self._tolerance(axis),
            theme=int(rng.integers(COMPACT_SIDES if self.compact else THEMES)),
            palette=int(rng.integers(PALETTES)),
            phrasing=int(rng.integers(len(ONE))),
        )

    def _tolerance(self, axis: Axis) -> int:
        """In units of the axis. A difference is of two values, each of which is read."""
        share = self.tolerance * (1.5 if self.points == 2 else 1)
        return max(1, round(axis.span * share / 100))

    def _ask(self, params: ChartReadParams, rng: Generator) -> tuple[Point, ...]:
        """Values that are far from what could be read in their stead; nothing if there are none."""
        values, far = params.values, 2 * params.tolerance
        clear = charts.distinct(values, far, params.axis.step)
        clear = [clear[int(i)] for i in rng.permutation(len(clear))]
        if self.points == 1 or not clear:
            return tuple(clear[:1])
        first = values[clear[0][0]][clear[0][1]]
        lower = [(s, c) for s, c in clear if values[s][c] < first - far]
        return (clear[0], lower[0]) if lower else ()


def _answer(params: ChartReadParams) -> int:
    first, *second = (params.values[series][category] for series, category in params.asked)
    return first - sum(second)


def _topic(params: ChartReadParams) -> Topic:
    return COMPACT_TOPIC if params.topic == COMPACT else TOPICS[params.topic]


def _labels(params: ChartReadParams) -> tuple[list[str], list[str]]:
    """Of the series and of the categories."""
    if params.kind == "pie":
        slices = PIES[params.topic].slices
        return [""], [slices[i] for i in params.categories]
    about = _topic(params)
    named = CATEGORIES[about.categories]
    return [about.series[i] for i in params.series], [named[i][0] for i in params.categories]


def _words(params: ChartReadParams, point: Point) -> str:
    series, category = point
    if params.kind == "pie":
        about = PIES[params.topic]
        return about.of.format(about.slices[params.categories[category]])
    named = params.series[series] if len(params.series) > 1 else None
    return TOPICS[params.topic].words(named, params.categories[category])
