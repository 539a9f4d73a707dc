"""KanbanDrag: move cards of a board to other columns with the mouse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Literal, get_args

from numpy.random import Generator

from ui_gym.browser.content import words
from ui_gym.browser.content.boards import BOARDS, somebody
from ui_gym.browser.content.choices import changed_share, chosen, lookalike
from ui_gym.browser.content.phrases import listing
from ui_gym.browser.device import BrowserDevice
from ui_gym.browser.family import Family, Steps, by_level, flag, one_of, whole
from ui_gym.browser.moves import reveal
from ui_gym.contract.action import Action, Drag
from ui_gym.contract.draws import pick
from ui_gym.contract.registry import register
from ui_gym.contract.task import Demo, Verdict
from ui_gym.errors import UserError

By = Literal["title", "rule"]
Card = tuple[str, str, str, int]
"""Title, label, person, and the number of its column."""

Values = tuple[Sequence[str], Sequence[str]]
Dealt = tuple[list[tuple[str, str, int]], tuple[tuple[int, int], ...]]

THEMES = 6
PEOPLE = 4
"""How many people share a board."""
LONGEST = 0.3
"""The share of the other cards that lie in the column that a rule takes cards from."""

COMPACT_MOST = 6
"""Cards that a column of the compact page has room for."""
COMPACT_COLUMNS = ("New", "Open", "Late", "Done")
COMPACT_GOALS = ("Move {moves}.", "Drag {moves}.", "Please move {moves}.")

ONE = (
    'Move the card "{card}" to "{column}".',
    'Drag "{card}" into the column "{column}".',
    'The card "{card}" belongs in "{column}" now. Move it there.',
)
MANY = (
    "Move {moves}.",
    "Bring the board up to date: move {moves}.",
    "On this board, drag {moves}. Leave the other cards where they are.",
)
BY_LABEL = (
    'Move every card labelled "{value}" from "{source}" to "{column}".',
    'Drag all cards with the label "{value}" that are in "{source}" over to "{column}".',
    'Whatever is labelled "{value}" in the column "{source}" goes to "{column}". '
    "Leave the rest alone.",
)
BY_PERSON = (
    'Move every card of {value} from "{source}" to "{column}".',
    'Drag all cards assigned to {value} that are in "{source}" over to "{column}".',
    'Whatever {value} has in the column "{source}" goes to "{column}". Leave the rest alone.',
)


@dataclass(frozen=True)
class KanbanDragParams:
    """All that varies between episodes."""

    board: str
    columns: tuple[str, ...]
    cards: tuple[Card, ...]
    asked: tuple[tuple[int, int], ...]
    """The cards to move, and the column that each goes to, as numbers."""
    rule: str
    """What the goal names the cards by: ``"title"``, ``"label"`` or ``"person"``."""
    theme: int
    phrasing: int


@register("KanbanDrag", suite="browser", category="drag", difficulty="medium", max_steps=30)
class KanbanDrag(Family[KanbanDragParams]):
    """Drag cards of a board to the columns that the goal names.

    ## Description
    A board with three to five columns: the work of a software team, a campaign, an office, or
    applicants. Each card has a title, a label and the person who has it. The goal names cards and
    where each belongs, or gives a rule ("every card labelled Bug from To do to Review"). Many
    titles look alike, a long column scrolls, and a field above the board filters the cards. On the
    compact page, cards have a title of one word and nothing else.

    ## Action space
    A card is dragged with the mouse to anywhere on the other column; where in the column it lands
    does not matter. From the keyboard: Tab to a card, Space to take it up, the arrows, Space to put
    it down.

    ## Rewards
    1 when all cards are in the columns that are asked for and no other card has changed its
    column; before that, the share of the asked cards that are in place, less that of other cards
    that are not.

    ## Starting state
    None of the asked cards is where it belongs.

    ## Episode end
    Termination: the board is as asked. `max_steps` is about twice what is needed.

    ## Arguments
    | `cards` | 7, 14, 26 (compact: 6) | cards on the board: 4 to 40, compact to 6 |
    | `moves` | 1, 2, 3 (compact: 2) | cards to move: 1 to 4, compact to 3 |
    | `columns` | 3, 4, 5 (compact: 3) | columns of the board: 3 to 5, compact 3 |
    | `by` | "title", "title", "rule" (compact: "title") | names each card, or gives a rule |
    | `alike` | False, True, True (compact: False) | whether many titles look alike |
    | `compact` | False | a 320x256 page that a model of a few million parameters can read |
    """

    page = "kanban_drag.html"
    shown = ("board", "columns", "cards", "theme")
    mistakes = ("card", "column")
    excesses = ("another",)
    cards: int = by_level(easy=7, medium=14, hard=26)
    moves: int = whole(1, 4, easy=1, medium=2, hard=3)
    columns: int = whole(3, 5, easy=3, medium=4, hard=5)
    by: By = one_of(get_args(By), easy="title", medium="title", hard="rule")
    alike: bool = flag(easy=False, medium=True, hard=True)
    compact_values = {"cards": 6, "moves": 2, "columns": 3, "by": "title", "alike": False}

    def prepare(self) -> None:
        if self.compact:
            self._prepare_compact()
            return
        self.check_range("cards", self.cards, max(4, 2 * self.moves), 40)
        # A column of more than five cards scrolls, and the source of a rule is the longest.
        longest = self.cards // 2 if self.by == "rule" else 2 * self.cards // self.columns
        scrolls = max(0, longest - 3) // 3
        self.max_steps = max(10, 2 * self.moves + (self.moves + 1) * scrolls)

    def _prepare_compact(self) -> None:
        if self.by == "rule" or self.alike:
            raise UserError(
                "KanbanDrag: the compact page's cards have short titles alone: by is 'title', and "
                "alike is False"
            )
        self.check_range("columns", self.columns, 3, 3)
        self.check_range("cards", self.cards, max(4, 2 * self.moves), COMPACT_MOST)
        self.max_steps = 2 * self.moves

    def sample(self, rng: Generator) -> KanbanDragParams:
        if self.compact:
            return self._sample_compact(rng)
        board = pick(rng, BOARDS)
        kept = sorted(int(i) for i in rng.choice(len(board.columns), self.columns, replace=False))
        people = somebody(PEOPLE, rng)
        titles = board.titles(self.cards, self.alike, rng)
        rule = pick(rng, ("label", "person")) if self.by == "rule" else "title"
        deal = self._deal_any if rule == "title" else self._deal_ruled
        values = (board.labels, people) if rule != "person" else (people, board.labels)
        dealt, asked = deal(values, rng)
        if rule == "person":
            dealt = [(label, person, column) for person, label, column in dealt]
        return KanbanDragParams(
            board=board.name,
            columns=tuple(board.columns[i] for i in kept),
            cards=tuple((title, *rest) for title, rest in zip(titles, dealt, strict=True)),
            asked=asked,
            rule=rule,
            theme=int(rng.integers(THEMES)),
            phrasing=int(rng.integers(3)),
        )

    def _sample_compact(self, rng: Generator) -> KanbanDragParams:
        dealt, asked = self._deal_any(([""], [""]), rng)
        titles = chosen(words.THINGS_SHORT, self.cards, rng)
        return KanbanDragParams(
            board="Board",
            columns=tuple(chosen(COMPACT_COLUMNS, self.columns, rng)),
            cards=tuple((title, *rest) for title, rest in zip(titles, dealt, strict=True)),
            asked=asked,
            rule="title",
            theme=0,
            phrasing=int(rng.integers(len(COMPACT_GOALS))),
        )

    def goal(self, params: KanbanDragParams) -> str:
        if self.compact:
            moves = [f"{params.cards[c][0]} to {params.columns[to]}" for c, to in params.asked]
            return COMPACT_GOALS[params.phrasing].format(moves=", ".join(moves))
        (card, column), *_ = params.asked
        title, label, person, source = params.cards[card]
        if params.rule != "title":
            goals, value = (BY_LABEL, label) if params.rule == "label" else (BY_PERSON, person)
            return goals[params.phrasing].format(
                value=value, source=params.columns[source], column=params.columns[column]
            )
        if len(params.asked) == 1:
            return ONE[params.phrasing].format(card=title, column=params.columns[column])
        moves = [f'"{params.cards[c][0]}" to "{params.columns[to]}"' for c, to in params.asked]
        return MANY[params.phrasing].format(moves=listing(moves))

    def judge(
        self, device: BrowserDevice, params: KanbanDragParams, history: Sequence[Action]
    ) -> Verdict:
        device.state()
        before = [column for *_, column in params.cards]
        now = list(before)
        for event in device.events:
            if event.type == "move":
                now[event.data["card"]] = event.data["to"]
        wanted = list(before)
        for card, column in params.asked:
            wanted[card] = column
        if now == wanted:
            return Verdict(1.0, done=True, notes="the board is as asked")
        right = sum(now[card] == column for card, column in params.asked)
        moved = sum(now[i] != before[i] == wanted[i] for i in range(len(now)))
        notes = f"{right} of {len(params.asked)} cards are in place; {moved} others were moved"
        return Verdict(changed_share(before, wanted, now), notes=notes)

    def oracle(self, device: BrowserDevice, params: KanbanDragParams) -> Steps:
        for card, column in params.asked:
            title, _, _, source = params.cards[card]
            yield from reveal(device, f"#card-{card}", f"#column-{source} .cards")
            aimed = "h2" if self.compact else ".cards"  # the compact page tells of no lists
            target = device.center(f"#column-{column} {aimed}")
            drag = Drag(*device.center(f"#card-{card}"), *target)
            aim = params.columns[column]
            yield Demo(drag, f"{title} {aim}" if self.compact else f'"{title}" goes to {aim}')

    def overdone(self, params: KanbanDragParams, excess: str) -> KanbanDragParams:
        """``another``: a card that is not named is moved."""
        asked = {card for card, _ in params.asked}
        card = next(i for i in range(len(params.cards)) if i not in asked)
        *_, source = params.cards[card]
        return replace(params, asked=((card, 0 if source else 1),))

    def misread(self, params: KanbanDragParams, mistake: str, rng: Generator) -> KanbanDragParams:
        """``card``: one card is taken for another, in its column the one with the most similar
        title. ``column``: a card is let go over the column next to the right one."""
        which = int(rng.integers(len(params.asked)))
        card, column = params.asked[which]
        *_, source = params.cards[card]
        if mistake == "card":
            titles = [title for title, *_ in params.cards]
            asked = {one for one, _ in params.asked}
            there = {i for i, one in enumerate(params.cards) if one[3] == source} - asked
            besides = set(range(len(titles))) - (there or set(range(len(titles))) - asked)
            card = lookalike(titles[card], titles, besides)
            column = column if params.cards[card][3] != column else source
        else:
            others = [i for i in range(len(params.columns)) if i not in (column, source)]
            column = min(others, key=lambda i: abs(i - column))
        moves = [*params.asked[:which], (card, column), *params.asked[which + 1 :]]
        return replace(params, asked=tuple(moves))

    def blind_rate(self, params: KanbanDragParams) -> float:
        """Any cards, as many as are asked, each to any other column."""
        moves = len(params.asked)
        ways: int = comb(len(params.cards), moves) * (len(params.columns) - 1) ** moves
        return 1 / ways

    def _deal_any(self, values: Values, rng: Generator) -> Dealt:
        """Cards in any columns, and some of them to be moved to any other column."""
        one, other = values
        dealt = [
            (pick(rng, one), pick(rng, other), int(rng.integers(self.columns)))
            for _ in range(self.cards)
        ]
        picked = [int(card) for card in rng.choice(self.cards, size=self.moves, replace=False)]
        return dealt, tuple((card, self._other(dealt[card][-1], rng)) for card in picked)

    def _deal_ruled(self, values: Values, rng: Generator) -> Dealt:
        """Cards of which those with one of the first `values` are to leave one column, which is
        the longest; others have this value elsewhere, or are there with another."""
        ruling, further = values
        value, source = pick(rng, ruling), int(rng.integers(self.columns))
        rest = [one for one in ruling if one != value]
        target = self._other(source, rng)
        dealt = []
        for i in range(self.cards):
            if i < self.moves:
                one, column = value, source
            elif i == self.moves:
                one, column = value, self._other(source, rng)
            else:
                column = source if rng.random() < LONGEST else int(rng.integers(self.columns))
                one = pick(rng, rest if column == source else ruling)
            dealt.append((one, pick(rng, further), column))
        order = [int(i) for i in rng.permutation(self.cards)]
        asked = tuple((i, target) for i, old in enumerate(order) if old < self.moves)
        return [dealt[old] for old in order], asked

    def _other(self, column: int, rng: Generator) -> int:
        return pick(rng, [i for i in range(self.columns) if i != column])
