"""Tab compare: go through the tabs that are open, and act in the one that fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from ui_gym.browser.content.offers import ALL_OFFERS, OFFERS, Offers
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import PATCH, Family, Steps, flag, whole
from ui_gym.browser.moves import click
from ui_gym.contract.action import Action
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

FEWEST_TABS = 3
MOST_TABS = 5
COMPACT_TABS = 3
"""Tabs that the compact page has room for."""
COMPACT_FEATURES = 2
COMPACT_MEASURES = 2
COMPACT_PLACES = 2
"""Rows by which what is in the compact page's tabs may lie further down, and one more."""
FEATURES = 5
TEMPTING = 0.65
"""How often something that lacks a feature would else be the best."""
SIMILAR = 4
"""Things that a page shows below its own."""

GOALS = (
    "Of the {many} in the open tabs that {have} {features}, {act} the one with the {end} {said}."
    "{close}",
    "Look through the open tabs: find the {many} that {have} {features}, and {act} the one with "
    "the {end} {said}.{close}",
    "The {end} {said} counts, and it must {have} {features}: {act} the right one of the {many} in "
    "the open tabs.{close}",
)
CLOSES = (" Close the tab of {}, too.", " And close the tab {}.", " Close {} and no other tab.")
COMPACT_GOALS = (
    "{act} the {end} {said} with {features}.{close}",
    "With {features}, {act_low} the {end} {said}.{close}",
    "{act} one with {features}, {end} {said}.{close}",
)
COMPACT_CLOSE = " Close {}."


@dataclass(frozen=True)
class OpenTab:
    """What is in a tab."""

    name: str
    values: tuple[int, ...]
    """Of the measures."""
    fee: int
    features: tuple[int, ...]
    """Which of the features it has."""
    blurb: int


@dataclass(frozen=True)
class TabCompareParams:
    """All that varies between episodes."""

    site: str
    tabs: tuple[OpenTab, ...]
    at: int
    """The tab that is shown at the start."""
    measure: int
    """What is compared."""
    most: bool
    """Whether the greatest value is wanted, or the least."""
    needs: tuple[int, ...]
    """The features that it must have."""
    target: int
    shut: int
    """The tab to be closed; -1 for none."""
    features: tuple[int, ...]
    """Those that the pages tell of, in this order."""
    measures: tuple[int, ...]
    similar: tuple[tuple[str, int], ...]
    """What the pages show below, which is in no tab: names and prices."""
    flipped: bool
    place: int
    theme: int
    phrasing: int

    @property
    def offers(self) -> Offers:
        return ALL_OFFERS[self.site]


@register("TabCompare", suite="browser", category="table", difficulty="medium", max_steps=12)
class TabCompare(Family[TabCompareParams]):
    """Go through open tabs, press the button in the one that fits best, and close another one.

    ## Description
    A browser's window with a page of the same site in each tab: hotels, backpacks, courses, or
    jobs. Only one tab is seen at a time, so that what the others say has to be kept in mind. Wanted
    is the thing with the least or the greatest of something (a price, a rating, a date...) among
    those that have the named features; often one that lacks them would be better. The goal may name
    a tab to be closed. With `fees`, prices count together with a fee that stands apart from them;
    with `decoys`, pages show a struck price and other things that are in no tab.

    ## Action space
    Clicks are all that is needed.

    ## Rewards
    1 if the right thing was booked (ordered, joined, applied for) and the named tab, and no other,
    was closed; the order is free. Where a tab is to be closed, each of the two counts a half. 0
    once anything else was pressed or closed.

    ## Starting state
    Any of the tabs is shown; nothing is focused.

    ## Episode end
    Termination: all that was asked for is done, or something else. `max_steps` is twice what the
    way through all tabs needs.

    ## Arguments
    | `tabs` | easy 3, medium 4, hard 5 (compact: 3) | how many tabs are open, 3 to 5, compact 3 |
    | `needs` | easy 1, medium 1, hard 2 (compact: 1) | features that are asked for, 1 to 2 |
    | `close` | easy False, else True (compact: True) | whether a tab is to be closed |
    | `fees` | easy False, medium False, hard True (compact: False) | prices count with a fee |
    | `decoys` | easy False, else True (compact: False) | struck prices, and other things below |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "tab_compare.html"
    mistakes = ("feature", "overlooked")
    tabs: int = whole(FEWEST_TABS, MOST_TABS, easy=3, medium=4, hard=5)
    needs: int = whole(1, 2, easy=1, medium=1, hard=2)
    close: bool = flag(easy=False, medium=True, hard=True)
    fees: bool = flag(easy=False, medium=False, hard=True)
    decoys: bool = flag(easy=False, medium=True, hard=True)
    compact_values = {"tabs": 3, "needs": 1, "close": True, "fees": False, "decoys": False}

    def prepare(self) -> None:
        if self.compact:
            self.check_range("tabs", self.tabs, FEWEST_TABS, COMPACT_TABS)
            if self.fees or self.decoys:
                raise UserError("TabCompare: the compact page has no fees and no decoys")
        self.sites = ["compact"] if self.compact else list(OFFERS)
        self.max_steps = 2 * (self.tabs + 1 + self.close)

    def sample(self, rng: Generator) -> TabCompareParams:
        site = pick(rng, self.sites)
        offers = ALL_OFFERS[site]
        names = [str(name) for name in rng.permutation(offers.names)]
        features, measures = self._facts(offers, rng)
        measure = 0 if self.fees else pick(rng, measures)
        most = bool(rng.random() < 0.5)
        needs = [int(i) for i in rng.choice(features, size=self.needs, replace=False)]
        fits = self._ranks(rng)
        low, high = offers.measures[measure].span
        values = low + rng.choice(high + 1 - low, size=self.tabs, replace=False)
        ranked = sorted((int(value) for value in values), reverse=most)
        made = [
            self._tab(offers, name, {measure: value}, self._has(needs, rng, fit=fit), rng)
            for name, value, fit in zip(names, ranked, fits, strict=False)
        ]
        order = [int(i) for i in rng.permutation(self.tabs)]
        target = order.index(fits.index(True))
        others = [i for i in range(self.tabs) if i != target]
        low, high = offers.measures[0].span
        return TabCompareParams(
            site=site,
            tabs=tuple(made[i] for i in order),
            at=int(rng.integers(self.tabs)),
            measure=measure,
            most=most,
            needs=tuple(sorted(needs)),
            target=target,
            shut=pick(rng, others) if self.close else -1,
            features=features,
            measures=measures,
            similar=tuple(
                (name, int(rng.integers(low, high + 1)))
                for name in names[self.tabs : self.tabs + SIMILAR * self.decoys]
            ),
            flipped=bool(rng.random() < 0.5),
            place=PATCH * int(rng.integers(COMPACT_PLACES)) if self.compact else 0,
            theme=0 if self.compact else int(rng.integers(6)),
            phrasing=int(rng.integers(3)),
        )

    def goal(self, params: TabCompareParams) -> str:
        offers = params.offers
        figure = offers.measures[params.measure]
        goals = COMPACT_GOALS if self.compact else GOALS
        close = COMPACT_CLOSE if self.compact else CLOSES[params.phrasing]
        return goals[params.phrasing].format(
            many=offers.many,
            have=offers.have,
            features=listing(offers.features[i][1] for i in params.needs),
            act=offers.act.capitalize() if self.compact else offers.act,
            act_low=offers.act,
            end=figure.end(most=params.most),
            said=offers.fee[2] if self.fees else figure.said,
            close=close.format(params.tabs[params.shut].name) if params.shut >= 0 else "",
        )

    def page_params(self, params: TabCompareParams) -> dict[str, Any]:
        offers = params.offers
        money = offers.measures[0]
        texts = {
            key: getattr(offers, key)
            for key in ("app", "host", "icon", "links", "button", "acted", "near")
        }
        look = {"flipped": params.flipped, "place": params.place, "theme": params.theme}
        return {
            **texts,
            **look,
            "at": params.at,
            "tabs": [self._page(params, tab) for tab in params.tabs],
            "similar": [[name, money.show(price)] for name, price in params.similar],
        }

    def judge(
        self, device: BrowserDevice, params: TabCompareParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        asked = {("act", params.target)} | ({("shut", params.shut)} if params.shut >= 0 else set())
        todo = set(asked)
        for event in device.events:
            if event.type not in ("act", "shut"):
                continue
            did = (event.type, event.data.get("tab"))
            if did not in asked:
                return Verdict(0.0, done=True, notes=f"not what was asked for: {did[0]} {did[1]}")
            todo.discard(did)
        score = 1 - len(todo) / len(asked)
        told = "all is as asked" if not todo else f"still to do: {sorted(todo)}"
        return Verdict(score, done=not todo, notes=told)

    def oracle(self, device: BrowserDevice, params: TabCompareParams) -> Steps:
        for i in [i for i in range(len(params.tabs)) if i != params.at]:
            yield Demo(click(device, f"#tab-{i}"), self._seen(params, device.state()["current"], i))
        last = device.state()["current"]
        name = params.tabs[params.target].name
        if last != params.target:
            thought = name if self.compact else f"{self._told(params, last)} {name} is the one."
            yield Demo(click(device, f"#tab-{params.target}"), thought)
        button = params.offers.button
        thought = button if self.compact else f"{name} has it all: {button}."
        yield Demo(click(device, f"#act-{params.target}"), thought)
        if params.shut >= 0:
            name = params.tabs[params.shut].name
            thought = f"{name} x" if self.compact else f"Now close the tab of {name}."
            yield Demo(click(device, f"#shut-{params.shut}"), thought)

    def misread(self, params: TabCompareParams, mistake: str, rng: Generator) -> TabCompareParams:
        """``feature``: the best of all tabs is taken, whether or not it has the features.
        ``overlooked``: the right one is not looked at, and the next best is taken."""
        taken = list(range(len(params.tabs)))
        if mistake == "overlooked":
            taken = [
                i
                for i, tab in enumerate(params.tabs)
                if i != params.target and set(params.needs) <= set(tab.features)
            ]
        sign = -1 if params.most else 1
        return replace(params, target=min(taken, key=lambda i: sign * self._value(params, i)))

    def blind_rate(self, params: TabCompareParams) -> float:
        """Any tab, and any other one closed."""
        tabs = len(params.tabs)
        return 1 / (tabs * (tabs - 1)) if params.shut >= 0 else 1 / tabs

    # -- what is drawn --

    def _facts(self, offers: Offers, rng: Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Features and measures that the pages tell of: in their order, compact: drawn."""
        if not self.compact:
            return tuple(range(FEATURES)), tuple(range(len(offers.measures)))
        few = (len(offers.features), COMPACT_FEATURES), (len(offers.measures), COMPACT_MEASURES)
        one, other = (rng.choice(count, size=size, replace=False) for count, size in few)
        return tuple(int(i) for i in one), tuple(int(i) for i in other)

    def _ranks(self, rng: Generator) -> list[bool]:
        """Whether each has all that is asked for, the best one first: two at least, and not all."""
        fitting = int(rng.integers(2, self.tabs))
        fits = [True] * fitting + [False] * (self.tabs - fitting)
        rest = [fits[int(i)] for i in rng.permutation(self.tabs)]
        rest.remove(first := bool(rng.random() >= TEMPTING))
        return [first, *rest]

    def _has(self, needs: Sequence[int], rng: Generator, *, fit: bool) -> dict[int, bool]:
        """Which of the features that are asked for a tab has: all, or all but one."""
        lacking = None if fit else pick(rng, needs)
        return {i: i != lacking for i in needs}

    def _tab(
        self,
        offers: Offers,
        name: str,
        compared: Mapping[int, int],
        features: Mapping[int, bool],
        rng: Generator,
    ) -> OpenTab:
        """A tab with these values of measures and these features, and any others."""
        drawn = [int(rng.integers(low, high + 1)) for *_, (low, high) in offers.measures]
        values = [compared.get(i, value) for i, value in enumerate(drawn)]
        fees = offers.fee[1] if self.fees else (0,)
        fee = int(pick(rng, fees))
        if self.fees:  # what was drawn is the total
            values[0] -= fee
        has = [
            i
            for i, one in enumerate(rng.random(len(offers.features)) < 0.5)
            if features.get(i, one)
        ]
        return OpenTab(name, tuple(values), fee, tuple(has), int(rng.integers(4)))

    # -- what is shown and said --

    def _value(self, params: TabCompareParams, tab: int) -> int:
        one = params.tabs[tab]
        return one.values[params.measure] + one.fee

    def _page(self, params: TabCompareParams, tab: OpenTab) -> dict[str, Any]:
        offers = params.offers
        figures = [
            (offers.measures[i].label, offers.measures[i].show(tab.values[i]))
            for i in params.measures
        ]
        if self.fees:
            figures.append((offers.fee[0], offers.measures[0].show(tab.fee)))
        features = [
            (offers.features[i][0], "Yes" if i in tab.features else "No") for i in params.features
        ]
        old = offers.measures[0].show(tab.values[0] * 5 // 4) if self.decoys and offers.sale else ""
        blurb = offers.blurbs[tab.blurb % len(offers.blurbs)]
        return {
            "name": tab.name,
            "figures": figures,
            "features": features,
            "old": old,
            "blurb": blurb,
        }

    def _told(self, params: TabCompareParams, tab: int) -> str:
        """What a tab's page says of what is wanted."""
        one, offers = params.tabs[tab], params.offers
        figure = offers.measures[params.measure]
        lacks = [offers.features[i][1] for i in params.needs if i not in one.features]
        said = f"no {listing(lacks)}" if lacks else f"{figure.show(self._value(params, tab))}, fits"
        return f"{one.name}: {said}."

    def _seen(self, params: TabCompareParams, tab: int, following: int) -> str:
        if self.compact:
            return params.tabs[following].name
        return f"{self._told(params, tab)} Next tab."
