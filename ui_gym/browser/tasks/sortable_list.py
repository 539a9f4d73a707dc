"""SortableList: drag the rows of a list into an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Any, Literal, get_args

from numpy.random import Generator

from ui_gym.browser.content import sequences, words
from ui_gym.browser.content.choices import chosen
from ui_gym.browser.content.sequences import KINDS, Item
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, flag, one_of, whole
from ui_gym.contract.action import Action, Drag
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

Order = Literal["place", "given", "rule"]
Place = Literal["top", "bottom", "above", "below"]

THEMES = 6
HANDLES = ("left", "right", "none")
"""Where a row is taken hold of; with no handle, anywhere."""
OTHER_SIDE: dict[str, Place] = {
    "top": "bottom", "bottom": "top", "above": "below", "below": "above",
}  # fmt: skip

PLACES = {
    "top": "to the top of the list",
    "bottom": "to the very end of the list",
    "above": 'directly above "{anchor}"',
    "below": 'directly below "{anchor}"',
}
PLACE_GOALS = (
    'Move "{item}" {place}.',
    'Drag the {noun} "{item}" {place}.',
    'In "{heading}", move "{item}" {place}. The others stay in their order.',
)
GIVEN_GOALS = (
    "Put the {noun}s into this order: {titles}.",
    'Arrange "{heading}" like this, from top to bottom: {titles}.',
    'The {noun}s of "{heading}" should come as follows: {titles}. Drag them there.',
)
RULE_GOALS = (
    "Sort the {noun}s {rule}.",
    'Arrange the {noun}s of "{heading}" {rule}.',
    'Drag the rows of "{heading}" into order: {rule}.',
)
BY_TITLE = ("alphabetically by title, from A to Z", "alphabetically by title, from Z to A")

COMPACT_MOST = 7
"""Rows that the compact page has room for."""
HIGHEST = 31
"""The highest number in a row of the compact page."""
COMPACT_PLACES = {
    "top": "to the top", "bottom": "to the end", "above": "above {anchor}",
    "below": "below {anchor}",
}  # fmt: skip
COMPACT_RULES = {"title": ("A to Z", "Z to A"), "value": ("low to high", "high to low")}
COMPACT_GOALS = {
    "place": ("Move {what}.", "Drag {what}."),
    "given": ("Order: {what}.", "Sort as {what}."),
    "rule": ("Sort {what}.", "Order: {what}."),
}


@dataclass(frozen=True)
class SortableListParams:
    """All that varies between episodes."""

    kind: str
    heading: str
    items: tuple[Item, ...]
    """As they stand at the start."""
    wanted: tuple[int, ...]
    """The asked order: positions at the start."""
    asked: tuple[str, int, int]
    """How the goal asks for it. One item: the place, the item, and the one that it is told from.
    An order: ``"given"``. A rule: ``"title"`` or ``"value"``, and 1 if it falls."""
    handles: str
    theme: int
    phrasing: int


@register("SortableList", suite="browser", category="drag", difficulty="medium", max_steps=20)
class SortableList(Family[SortableListParams]):
    """Drag the rows of a list into the order that the goal asks for.

    ## Description
    A playlist, the products of a shop's page, tasks, books or the stops of a tour, one below the
    other. The goal asks to move one of them (to the top, directly below another), gives the whole
    order, or a rule: alphabetically, by price, length, date, pages or distance, rising or falling.
    Rows are taken hold of at their handle, which stands left or right, or anywhere if there is
    none. The last change can be undone. The compact page has rows of one word, without handles, and
    a number beside it where a rule is asked for.

    ## Action space
    A dragged row takes the place over which it is let go. From the keyboard: Tab to a row or
    handle, then Alt with an arrow.

    ## Rewards
    1 for the asked order; before that, the share of the pairs of rows standing the wrong way round
    at the start that have been put right.

    ## Starting state
    The list in another order. It takes one move where one item is asked for, and at least as many
    as half of the rows else.

    ## Episode end
    Termination: the list is in the asked order. `max_steps` is about twice what is needed, at least
    10.

    ## Arguments
    | `items` | 5, 6, 10 (compact: 4) | rows of the list: 4 to 12, compact to 7 |
    | `order` | "place", "given", "rule" (compact: "given") | to move one, an order, or a rule |
    | `alike` | False, False, True (compact: False) | whether titles and values are alike |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "sortable_list.html"
    shown = ("heading", "handles", "theme")
    mistakes = ("other_way", "neighbours")
    items: int = whole(4, 12, easy=5, medium=6, hard=10)
    order: Order = one_of(get_args(Order), easy="place", medium="given", hard="rule")
    alike: bool = flag(easy=False, medium=False, hard=True)
    compact_values = {"items": 4, "order": "given", "alike": False}

    def prepare(self) -> None:
        if self.compact:
            self._prepare_compact()
            return
        self.max_steps = 10 if self.order == "place" else max(10, 2 * self.items - 2)

    def _prepare_compact(self) -> None:
        if self.alike:
            raise UserError("SortableList: the compact page has no alike titles; alike is False")
        self.check_range("items", self.items, 4, COMPACT_MOST)
        # No list is asked for the other way round, so two rows at least may stay.
        self.max_steps = 2 if self.order == "place" else 2 * (self.items - 2)

    def sample(self, rng: Generator) -> SortableListParams:
        params = self._compact_list(rng) if self.compact else self._list(rng)
        ask = {"place": self._ask_place, "given": _ask_order, "rule": _ask_rule}[self.order]
        while True:
            asked = ask(params, rng)
            if self._is_work(asked):
                return asked
            items = tuple(params.items[int(i)] for i in rng.permutation(self.items))
            params = replace(params, items=items)

    def _list(self, rng: Generator) -> SortableListParams:
        """A list of which nothing is asked yet."""
        name = pick(rng, tuple(KINDS))
        kind = KINDS[name]
        return SortableListParams(
            kind=name,
            heading=pick(rng, kind.headings),
            items=sequences.draw(kind, self.items, self.alike, rng),
            wanted=(),
            asked=("given", 0, 0),
            handles=pick(rng, HANDLES),
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(3)),
        )

    def _compact_list(self, rng: Generator) -> SortableListParams:
        titles = chosen(words.THINGS_SHORT, self.items, rng)
        values = rng.choice(HIGHEST + 1, size=self.items, replace=False)
        return SortableListParams(
            kind="things",
            heading="List",
            items=tuple((title, "", int(v)) for title, v in zip(titles, values, strict=True)),
            wanted=(),
            asked=("given", 0, 0),
            handles="none",
            theme=0,
            phrasing=int(rng.integers(2)),
        )

    def goal(self, params: SortableListParams) -> str:
        if self.compact:
            what = _compact_asked(params)
            return COMPACT_GOALS[self.order][params.phrasing].format(what=what)
        kind, titles = KINDS[params.kind], [f'"{title}"' for title, _, _ in params.items]
        how, one, other = params.asked
        said = {"noun": kind.noun, "heading": params.heading}
        if how in PLACES:
            place = PLACES[how].format(anchor=params.items[other][0])
            item = params.items[one][0]
            return PLACE_GOALS[params.phrasing].format(item=item, place=place, **said)
        if how == "given":
            order = ", ".join(titles[item] for item in params.wanted)
            return GIVEN_GOALS[params.phrasing].format(titles=order, **said)
        rule = BY_TITLE[one] if how == "title" else (kind.rising, kind.falling)[one]
        return RULE_GOALS[params.phrasing].format(rule=rule, **said)

    def page_params(self, params: SortableListParams) -> dict[str, Any]:
        if self.compact:
            ruled = self.order == "rule"
            rows = [(title, "", str(value) if ruled else "") for title, _, value in params.items]
            return {**super().page_params(params), "items": rows}
        kind = KINDS[params.kind]
        items = [
            (title, below, sequences.shown(kind.form, value))
            for title, below, value in params.items
        ]
        texts = {"app": kind.app, "icon": kind.icon, "noun": kind.noun}
        return {**super().page_params(params), **texts, "items": items}

    def judge(
        self, device: BrowserDevice, params: SortableListParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        start = range(len(params.items))
        now = next((e.data["items"] for e in reversed(device.events) if e.type == "order"), start)
        left = sequences.inversions(now, params.wanted)
        if left == 0:
            return Verdict(1.0, done=True, notes="the list is in the asked order")
        before = sequences.inversions(start, params.wanted)
        notes = f"{left} pairs stand the wrong way round; {before} at the start"
        return Verdict(max(0.0, 1 - left / before), notes=notes)

    def oracle(self, device: BrowserDevice, params: SortableListParams) -> Steps:
        order = list(range(len(params.items)))
        grip = "" if params.handles == "none" else " .handle"
        for item, place in sequences.moves(order, params.wanted):
            x, y = device.center(f"#row-{item}{grip}")
            _, to = device.center(f"#row-{order[place]}")
            onto = params.items[order[place]][0]
            order.remove(item)
            order.insert(place, item)
            if self.compact:
                yield Demo(Drag(x, y, x, to), f"{params.items[item][0]} {onto}")
                continue
            above = f'after "{params.items[order[place - 1]][0]}"' if place else "first"
            yield Demo(Drag(x, y, x, to), f'"{params.items[item][0]}" comes {above}')

    def misread(
        self, params: SortableListParams, mistake: str, rng: Generator
    ) -> SortableListParams:
        """``other_way``: the order is taken the other way round, or the place on the other side.
        ``neighbours``: two neighbours change places; where one item is asked for, it and one."""
        how, item, anchor = params.asked
        if mistake == "other_way":
            wanted = params.wanted[::-1]
            if how in PLACES:
                wanted = _placed(len(params.items), OTHER_SIDE[how], item, anchor)
            return replace(params, wanted=wanted)
        order, last = list(params.wanted), len(params.wanted) - 1
        i = order.index(item) - int(rng.integers(2)) if how in PLACES else int(rng.integers(last))
        i = min(max(i, 0), last - 1)
        order[i], order[i + 1] = order[i + 1], order[i]
        return replace(params, wanted=tuple(order))

    def blind_rate(self, params: SortableListParams) -> float:
        """Any item to any other place, or any order."""
        count = len(params.items)
        return 1 / ((count - 1) ** 2 if params.asked[0] in PLACES else factorial(count))

    def _ask_place(self, params: SortableListParams, rng: Generator) -> SortableListParams:
        how = pick(rng, tuple(PLACES))
        item, anchor = (int(i) for i in rng.choice(self.items, size=2, replace=False))
        wanted = _placed(self.items, how, item, anchor)
        return replace(params, wanted=wanted, asked=(how, item, anchor))

    def _is_work(self, params: SortableListParams) -> bool:
        """Whether much is to be done, and neither mistake means to leave all as it is."""
        start = tuple(range(self.items))
        how, item, anchor = params.asked
        if how in PLACES:
            other = _placed(self.items, OTHER_SIDE[how], item, anchor)
            return abs(params.wanted.index(item) - item) > 1 and other != start
        steps = len(list(sequences.moves(start, params.wanted)))
        return steps >= max(2, self.items // 2) and params.wanted[::-1] != start


def _compact_asked(params: SortableListParams) -> str:
    """What a compact goal asks for."""
    titles = [title for title, _, _ in params.items]
    how, one, other = params.asked
    if how in PLACES:
        return f"{titles[one]} {COMPACT_PLACES[how].format(anchor=titles[other])}"
    if how == "given":
        return ", ".join(titles[item] for item in params.wanted)
    return COMPACT_RULES[how][one]


def _ask_order(params: SortableListParams, rng: Generator) -> SortableListParams:
    wanted = tuple(int(i) for i in rng.permutation(len(params.items)))
    return replace(params, wanted=wanted, asked=("given", 0, 0))


def _ask_rule(params: SortableListParams, rng: Generator) -> SortableListParams:
    how, falls = pick(rng, ("title", "value")), int(rng.integers(2))
    column = 0 if how == "title" else 2
    wanted = sorted(
        range(len(params.items)), key=lambda i: params.items[i][column], reverse=bool(falls)
    )
    return replace(params, wanted=tuple(wanted), asked=(how, falls, 0))


def _placed(count: int, how: str, item: int, anchor: int) -> tuple[int, ...]:
    """The order in which only `item` has moved."""
    rest = [i for i in range(count) if i != item]
    at = {"top": 0, "bottom": count - 1}.get(how, rest.index(anchor) + (how == "below"))
    return (*rest[:at], item, *rest[at:])
