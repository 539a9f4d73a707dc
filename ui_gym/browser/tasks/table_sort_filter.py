"""Table sort and filter: find the extreme row among those that meet some conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content import catalogs
from ui_gym.browser.content.catalogs import (
    CATALOGS,
    COMPACT_CATALOG,
    Catalog,
    Choice,
    Condition,
    Flag,
    Measure,
)
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, by_level
from ui_gym.browser.moves import SCROLL, because, click, pick, reveal
from ui_gym.contract import draws
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict

GOALS = (
    "{act}.",
    'Find {one}, open it and press "{verb}".',
    'Which is {one}? Open it in the list and press "{verb}".',
)
THEMES = 6
TRIES = 300
"""Questions that are tried on a list until another list is drawn."""
ROW_HEIGHT = 40
"""Of the table, in pixels."""
COMPACT = -1
"""Stands for the catalogue of the compact page."""
COMPACT_GOALS = (
    "Buy the {color} one with the {extreme}.",
    "Open the {color} one of {extreme}. Press Buy.",
)


@dataclass(frozen=True)
class TableSortFilterParams:
    """All that varies between episodes."""

    catalog: int
    names: tuple[str, ...]
    offers: tuple[tuple[int, ...], ...]
    """Of each row the values of the catalogue's columns."""
    by: str
    """The measure whose extreme is asked for."""
    most: bool
    """Whether that is its highest value, or its lowest."""
    conditions: tuple[Condition, ...]
    theme: int
    phrasing: int


@register("TableSortFilter", suite="browser", category="table", difficulty="medium", max_steps=40)
class TableSortFilter(Family[TableSortFilterParams]):
    """Find the extreme row of a long table among those that meet some conditions, and act on it.

    ## Description
    A list of laptops, flats, cars or hotels as a table. A click on a column's title sorts by it,
    another one turns the order around; above the table are filters for some of the columns, while
    others have to be read. The goal asks for the cheapest, lightest, largest... row among those
    that meet all its conditions: the agent opens it and presses the button of its details. The row
    would be another one if any of the conditions were left out.

    ## Action space
    Clicking and scrolling is all that is needed; Escape closes the details.

    ## Rewards
    1 if the button is pressed for the right row, 0 for any other. Opening details costs nothing.

    ## Starting state
    The whole list in no order, unfiltered, nothing open.

    ## Episode end
    Termination: the button of an opened row is pressed. `max_steps` is about twice what is needed.

    ## Arguments
    | `rows` | of the level (compact: 10) | rows of the table, 10 to 100, compact 6 to 20 |
    | `conditions` | of the level (compact: 1) | conditions of the goal, 1 to 3, compact 1 |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "table_sort_filter.html"
    ends, waiting = "act", "nothing is chosen yet"
    mistakes = ("condition", "opposite")
    compact_values = {"rows": 10, "conditions": 1}
    rows: int = by_level(easy=10, medium=40, hard=90)
    conditions: int = by_level(easy=1, medium=2, hard=3)

    def prepare(self) -> None:
        if self.compact:
            self.check_range("rows", self.rows, 6, 20)
            self.check_range("conditions", self.conditions, 1, 1)
            self.max_steps = 2 * 6
            return
        self.check_range("rows", self.rows, 10, 100)
        self.check_range("conditions", self.conditions, 1, 3)
        scrolls = self.rows * ROW_HEIGHT // SCROLL
        self.max_steps = 2 * (2 * self.conditions + 4) + scrolls

    def sample(self, rng: Generator) -> TableSortFilterParams:
        while True:
            catalog = COMPACT if self.compact else int(rng.integers(len(CATALOGS)))
            about = _catalog(catalog)
            params = TableSortFilterParams(
                catalog=catalog,
                names=tuple(about.names(self.rows, rng)),
                offers=tuple(about.offer(rng) for _ in range(self.rows)),
                by="",
                most=False,
                conditions=(),
                theme=0 if self.compact else int(rng.integers(THEMES)),
                phrasing=int(rng.integers(len(COMPACT_GOALS if self.compact else GOALS))),
            )
            for _ in range(TRIES):
                asked = self._ask(params, rng)
                if len(asked.conditions) == self.conditions and _is_sharp(asked):
                    return asked

    def goal(self, params: TableSortFilterParams) -> str:
        about = _catalog(params.catalog)
        if self.compact:
            (color,) = params.conditions
            return COMPACT_GOALS[params.phrasing].format(
                color=color.words(about), extreme=_extreme(params)
            )
        one = f"{_extreme(params)} that {listing([c.words(about) for c in params.conditions])}"
        return GOALS[params.phrasing].format(act=about.act.format(one), one=one, verb=about.verb)

    def page_params(self, params: TableSortFilterParams) -> dict[str, Any]:
        about = _catalog(params.catalog)
        columns = [
            {
                "key": key,
                "title": column.title,
                "kind": type(column).__name__.lower(),
                "texts": getattr(column, "texts", ()),
                "every": getattr(column, "every", ""),
                "only": getattr(column, "only", ""),
            }
            for key, column in about.columns.items()
        ]
        rows = [
            {"name": name, "values": offer, "texts": _texts(about, offer)}
            for name, offer in zip(params.names, params.offers, strict=True)
        ]
        return {
            **{name: getattr(about, name) for name in ("app", "mark", "title", "noun", "verb")},
            "columns": columns,
            "rows": rows,
            "theme": params.theme,
        }

    def verdict(self, data: Mapping[str, Any], params: TableSortFilterParams) -> Verdict:
        row, best = data.get("row"), _best(params)
        notes = f"chose row {row}, asked for was row {best}"
        return Verdict(float(row == best), done=True, notes=notes)

    def oracle(self, device: BrowserDevice, params: TableSortFilterParams) -> Steps:
        if self.compact:
            yield from self._compact_steps(device, params)
            return
        about = _catalog(params.catalog)
        for condition in params.conditions:
            column = about.columns[condition.column]
            thought = f"It has to be one that {condition.words(about)}."
            if isinstance(column, Choice):
                yield from because(
                    thought,
                    pick(device, f"filter-{condition.column}", column.texts[condition.value]),
                )
            elif isinstance(column, Flag):
                yield Demo(click(device, f"#filter-{condition.column}"), thought)
        for _ in range(1 + params.most):
            yield Demo(click(device, f"#sort-{params.by}"), f"{_extreme(params)} comes first.")
        shown = device.state()["shown"]
        row = next(row for row in shown if _meets(params, params.offers[row]))
        yield from because(
            "None of these meets all conditions.",
            reveal(device, f"#row-{row}", "#pane", head=ROW_HEIGHT),
        )
        thought = f"{params.names[row]} is {_extreme(params)} that meets all conditions."
        yield Demo(click(device, f"#open-{row}"), thought)
        yield Demo(click(device, "#act"), thought)

    def _compact_steps(self, device: BrowserDevice, params: TableSortFilterParams) -> Steps:
        about = COMPACT_CATALOG
        for condition in params.conditions:
            color = condition.words(about)
            moves = pick(device, f"filter-{condition.column}", color)
            for thought in ("Show", color):
                yield Demo(next(moves), thought)
        for _ in range(1 + params.most):
            yield Demo(click(device, f"#sort-{params.by}"), about.columns[params.by].title)
        row = device.state()["shown"][0]
        yield Demo(click(device, f"#open-{row}"), params.names[row])
        yield Demo(click(device, "#act"), about.verb)

    def misread(
        self, params: TableSortFilterParams, mistake: str, rng: Generator
    ) -> TableSortFilterParams:
        """``condition``: one of the conditions is forgotten. ``opposite``: the other end of the
        order is taken, the most expensive for the cheapest."""
        if mistake == "opposite":
            return replace(params, most=not params.most)
        forgotten = int(rng.integers(len(params.conditions)))
        return replace(params, conditions=_without(params, forgotten))

    def blind_rate(self, params: TableSortFilterParams) -> float:
        """Any row, chosen without fault."""
        return 1 / len(params.offers)

    def _ask(self, params: TableSortFilterParams, rng: Generator) -> TableSortFilterParams:
        """`params` with a question that one of its offers answers, if perhaps not it alone."""
        about = _catalog(params.catalog)
        by = draws.pick(rng, about.ordered())
        offer = params.offers[int(rng.integers(self.rows))]
        keys = [key for key in about.columns if key != by]
        found: list[Condition] = []
        for i in rng.permutation(len(keys)):
            possible = catalogs.conditions(about, keys[int(i)], offer)
            if possible and len(found) < self.conditions:
                found.append(draws.pick(rng, possible))
        return replace(params, by=by, most=bool(rng.random() < 0.4), conditions=tuple(found))


def _catalog(catalog: int) -> Catalog:
    return COMPACT_CATALOG if catalog == COMPACT else CATALOGS[catalog]


def _extreme(params: TableSortFilterParams) -> str:
    """What is asked for, without its conditions: ``the cheapest laptop``."""
    about = _catalog(params.catalog)
    form: str = getattr(about.columns[params.by], "most" if params.most else "least")
    return form.format(about.noun)


def _meets(params: TableSortFilterParams, offer: Sequence[int]) -> bool:
    return all(one.met(_catalog(params.catalog), offer) for one in params.conditions)


def _best(params: TableSortFilterParams) -> int | None:
    """The one row that is asked for; None if there are several, or no other to choose from."""
    position = list(_catalog(params.catalog).columns).index(params.by)
    sign = -1 if params.most else 1
    found = sorted(
        (sign * offer[position], row)
        for row, offer in enumerate(params.offers)
        if _meets(params, offer)
    )
    return found[0][1] if len(found) > 1 and found[0][0] != found[1][0] else None


def _without(params: TableSortFilterParams, forgotten: int) -> tuple[Condition, ...]:
    return tuple(one for i, one in enumerate(params.conditions) if i != forgotten)


def _is_sharp(params: TableSortFilterParams) -> bool:
    """Whether one row answers the question, and whoever forgets a condition finds another."""
    best = _best(params)
    others = [
        _best(replace(params, conditions=_without(params, i)))
        for i in range(len(params.conditions))
    ]
    return best is not None and None not in others and best not in others


def _texts(about: Catalog, offer: Sequence[int]) -> list[str]:
    """The cells of a row."""
    texts = []
    for column, value in zip(about.columns.values(), offer, strict=True):
        match column:
            case Choice():
                texts.append(column.texts[value])
            case Measure():
                texts.append(column.write(value))
            case Flag():
                texts.append("Yes" if value else "No")
    return texts
