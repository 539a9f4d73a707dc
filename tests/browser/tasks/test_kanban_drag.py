"""KanbanDrag's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import goals, levels, mistakes_fail, perform, verdicts

from ui_gym.browser.tasks.kanban_drag import KanbanDrag, KanbanDragParams
from ui_gym.contract.action import Click, Drag, Press, Type
from ui_gym.errors import UserError

BOARD = KanbanDragParams(
    board="Web app", columns=("To do", "Review", "Done"),
    cards=(("Fix the menu", "Bug", "Ann", 0), ("Test the menu", "Bug", "Ben", 0),
           ("Fix the login", "Docs", "Ann", 1), ("Test the login", "Bug", "Ben", 2)),
    asked=((0, 2), (2, 0)), rule="title", theme=0, phrasing=0,
)  # fmt: skip


def move(card: int, to: int) -> Any:
    return ("move", {"card": card, "to": to})


test_kanban_scores = verdicts(
    KanbanDrag(),
    BOARD,
    {
        "half": (move(0, 2), 0.5, False),
        "right": (move(0, 2), move(2, 0), 1.0, True),
        "by a detour": (move(2, 0), move(0, 1), move(0, 2), 1.0, True),
        "wrong column": (move(0, 1), move(2, 0), 0.5, False),
        "look-alike": (move(1, 2), move(2, 0), 0.0, False),
        "one too many": (move(0, 2), move(2, 0), move(1, 1), 0.5, False),
        "put back": (move(1, 1), move(0, 2), move(2, 0), move(1, 0), 1.0, True),
        "one and another": (move(0, 2), move(1, 1), 0.0, False,
            "1 of 2 cards are in place; 1 others were moved"),
        "only others": (move(1, 1), move(3, 1), 0.0, False),
    },
)  # fmt: skip


@levels(KanbanDrag, "easy", "medium")
def test_kanban_goals_name_each_card_and_its_column(task: Any) -> None:
    for params, goal in goals(task):
        titles = [title for title, *_ in params.cards]
        assert len(set(titles)) == len(titles)
        for card, column in params.asked:
            title, _, _, source = params.cards[card]
            assert goal.index(f'"{title}"') < goal.rindex(f'"{params.columns[column]}"')
            assert column != source
        assert len({card for card, _ in params.asked}) == task.moves


def test_kanban_rules_pick_just_the_asked_cards() -> None:
    task = KanbanDrag(level="hard")
    rules = set()
    for params, goal in goals(task):
        rules.add(params.rule)
        field = 1 if params.rule == "label" else 2
        (card, column), *_ = params.asked
        value, source = str(params.cards[card][field]), params.cards[card][3]
        there = [i for i, one in enumerate(params.cards) if (one[field], one[3]) == (value, source)]
        assert there == [card for card, _ in params.asked]
        assert {to for _, to in params.asked} == {column} != {source}
        # Both halves of the rule are needed.
        assert any(one[field] == value and one[3] != source for one in params.cards)
        for said in (value, f'"{params.columns[source]}"', f'"{params.columns[column]}"'):
            assert said in goal
    assert rules == {"label", "person"}


def test_kanban_takes_the_look_alike_in_the_same_column() -> None:
    swapped = KanbanDrag().misread(
        dataclasses.replace(BOARD, asked=((0, 2),)), "card", np.random.default_rng(0)
    )
    assert swapped.asked == ((1, 2),)


def test_kanban_levels_differ() -> None:
    easy, hard = KanbanDrag(level="easy"), KanbanDrag(level="hard")
    assert (easy.max_steps, hard.max_steps) == (10, 18)
    assert len(easy.draw(0).cards) < len(hard.draw(0).cards)
    assert easy.blind_rate(easy.draw(0)) > hard.blind_rate(hard.draw(0))


@pytest.mark.parametrize("given", [{"by": "rule"}, {"alike": True}, {"columns": 4}, {"cards": 7}])
def test_kanban_refuses_what_the_compact_board_cannot_show(given: Any) -> None:
    with pytest.raises(UserError, match=next(iter(given))):
        KanbanDrag(compact=True, **given)


def test_kanban_compact_goals_name_each_card_and_its_column() -> None:
    task = KanbanDrag(compact=True, moves=3)
    for params, goal in goals(task):
        moves = [f"{params.cards[card][0]} to {params.columns[to]}" for card, to in params.asked]
        assert ", ".join(moves) in goal
        assert len(goal.split()) <= 12


def test_kanban_works_from_the_keyboard(show: Any) -> None:
    task = KanbanDrag()
    device = show(task, BOARD)
    device.perform(Click(*device.center("#card-0")))
    perform(device, Press("space"), Press("right"), Press("escape"))
    assert device.state()["columns"] == [[0, 1], [2], [3]]
    perform(device, Press("space"), Press("right"), Press("right"), Press("space"))
    perform(device, Click(*device.center("#card-2")), Press("space"), Press("left"))
    assert not task.judge(device, BOARD, ()).done  # it is still held
    device.perform(Press("enter"))
    assert task.judge(device, BOARD, ()).success


def test_kanban_drops_nowhere_but_on_columns(show: Any) -> None:
    task = KanbanDrag()
    device = show(task, BOARD)
    x, y = device.center("#card-0")
    device.perform(Drag(x, y, 640, 30))
    assert device.state()["columns"] == [[0, 1], [2], [3]]
    perform(device, Click(*device.center("#find")), Type("login"))
    x, y = device.center("#card-2")
    device.perform(Drag(x, y, *device.center("#column-0 .cards")))
    assert device.state()["columns"] == [[0, 1, 2], [], [3]]
    assert [event.data for event in device.events] == [{"card": 2, "from": 1, "to": 0}]


test_kanban_mistakes_fail = mistakes_fail(
    KanbanDrag,
    lambda params: [move(card, column) for card, column in params.asked],
    lambda params: all(params.cards[card][3] != column for card, column in params.asked),
)
