"""What documents do with edits that get in each other's way; no browser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ui_gym.contract.task import SPLITS, params_json
from ui_gym.errors import UserError
from ui_gym.multiagent.checklist import ChecklistDocument, SharedChecklist
from ui_gym.multiagent.document import SharedDocument
from ui_gym.multiagent.kanban import KanbanDocument, SharedKanban
from ui_gym.multiagent.order import OrderDocument, SharedOrder
from ui_gym.multiagent.sheet import SharedSheet, SheetDocument
from ui_gym.multiagent.task import TeamTask
from ui_gym.multiagent.triage import SharedTriage, TriageDocument

TASKS = [SharedKanban, SharedSheet, SharedOrder, SharedChecklist, SharedTriage]


def kinds(document: SharedDocument) -> list[str]:
    return [clash.kind for clash in document.clashes]


# -- kanban: the later move is refused --


def move(board: KanbanDocument, user: int, card: int, to: int, seen: int) -> str:
    return str(board.edit(user, "move", {"card": card, "to": to, "seen": seen})["kind"])


def test_a_move_on_a_board_that_has_changed_is_refused() -> None:
    board = KanbanDocument(2, 3, [0, 1, 2])
    assert move(board, 0, 0, 1, seen=0) == "board"
    assert move(board, 1, 2, 1, seen=0) == "conflict"
    assert board.cells() == (1, 1, 2)
    assert kinds(board) == ["conflict"]
    assert move(board, 1, 2, 1, seen=board.version) == "board"
    assert board.cells() == (1, 1, 1)


def test_a_move_between_columns_that_nobody_else_changed_is_taken() -> None:
    board = KanbanDocument(2, 4, [0, 1, 2, 3])
    assert move(board, 0, 0, 1, seen=0) == "board"
    assert move(board, 1, 2, 3, seen=0) == "board"
    assert board.clashes == []


def test_own_moves_stand_in_nobodys_way() -> None:
    board = KanbanDocument(2, 3, [0, 1, 2])
    assert move(board, 0, 0, 1, seen=0) == "board"
    assert move(board, 0, 1, 2, seen=0) == "board"
    assert board.clashes == []


def test_a_card_that_two_move_to_one_column_is_work_done_twice() -> None:
    board = KanbanDocument(2, 3, [0, 1, 2])
    move(board, 0, 0, 1, seen=0)
    assert move(board, 1, 0, 1, seen=0) == "conflict"
    assert kinds(board) == ["twice"]


# -- the compact board --


def save(cards: ChecklistDocument, user: int, seen: int, *ticks: tuple[int, bool]) -> str:
    return str(cards.edit(user, "save", {"seen": seen, "cards": ticks})["kind"])


def test_cards_that_others_have_left_alone_are_saved() -> None:
    cards = ChecklistDocument(2, 3)
    assert save(cards, 0, 0, (0, True)) == "saved"
    assert save(cards, 1, 0, (1, True)) == "saved"
    assert cards.cells() == (True, True, False)
    assert cards.clashes == []


def test_a_card_that_two_tick_is_work_done_twice() -> None:
    cards = ChecklistDocument(2, 3)
    save(cards, 0, 0, (0, True))
    assert save(cards, 1, 0, (0, True), (1, True)) == "conflict"
    assert cards.cells() == (True, True, False)
    assert kinds(cards) == ["twice"]


def test_who_sees_a_card_of_others_may_untick_it() -> None:
    cards = ChecklistDocument(2, 3)
    save(cards, 0, 0, (0, True))
    assert save(cards, 1, cards.version, (0, False)) == "saved"
    assert cards.cells() == (False, False, False)


# -- sheet: the later row overwrites the earlier --


def row(
    sheet: SheetDocument, user: int, seen: int, cells: list[str], edited: list[int]
) -> dict[str, Any]:
    return sheet.edit(user, "save", {"row": 0, "seen": seen, "cells": cells, "edited": edited})


def test_a_row_that_is_saved_overwrites_what_others_saved_in_it() -> None:
    sheet = SheetDocument(2, [["a", "b"], ["c", "d"]])
    row(sheet, 0, 0, ["A", "b"], [0])
    assert "document" not in row(sheet, 1, 0, ["a", "B"], [1])
    assert sheet.cells() == ("a", "B", "c", "d")
    assert kinds(sheet) == ["lost"]


def test_after_a_reload_nothing_is_lost() -> None:
    sheet = SheetDocument(2, [["a", "b"], ["c", "d"]])
    row(sheet, 0, 0, ["A", "b"], [0])
    told = sheet.edit(1, "load", {})["document"]
    assert told["rows"][0] == ["A", "b"]
    row(sheet, 1, told["version"], ["A", "B"], [1])
    assert sheet.cells() == ("A", "B", "c", "d")
    assert sheet.clashes == []


def test_what_a_user_sees_may_be_put_right() -> None:
    sheet = SheetDocument(2, [["a", "b"]])
    row(sheet, 0, 0, ["wrong", "b"], [0])
    row(sheet, 1, sheet.version, ["right", "b"], [0])
    assert sheet.cells() == ("right", "b")
    assert sheet.clashes == []


def test_a_cell_that_two_enter_alike_is_work_done_twice() -> None:
    sheet = SheetDocument(2, [["a", "b"]])
    row(sheet, 0, 0, ["A", "b"], [0])
    row(sheet, 1, 0, ["A", "b"], [0])
    assert kinds(sheet) == ["twice"]


# -- order: amounts are merged --


def amount(order: OrderDocument, user: int, base: int, value: int, **more: Any) -> dict[str, Any]:
    return order.edit(user, "set", {"line": 0, "amount": value, "base": base, **more})


def test_two_amounts_for_one_line_are_asked_about() -> None:
    order = OrderDocument(2, [5, 7])
    assert amount(order, 0, 5, 8)["kind"] == "saved"
    asked = amount(order, 1, 5, 7)
    assert (asked["kind"], asked["choices"]) == ("merge", {"mine": 7, "theirs": 8, "both": 10})
    assert order.cells() == (8, 7)
    assert kinds(order) == ["conflict"]


@pytest.mark.parametrize(("how", "value", "clashes"), [("mine", 7, ["lost"]), ("both", 10, [])])
def test_how_amounts_are_merged(how: str, value: int, clashes: list[str]) -> None:
    order = OrderDocument(2, [5, 7])
    amount(order, 0, 5, 8)
    assert amount(order, 1, 8, value, how=how)["kind"] == "saved"
    assert order.cells() == (value, 7)
    assert kinds(order) == clashes


def test_the_same_amount_of_two_is_work_done_twice() -> None:
    order = OrderDocument(2, [5, 7])
    amount(order, 0, 5, 8)
    assert amount(order, 1, 5, 8)["kind"] == "saved"
    assert kinds(order) == ["twice"]


# -- triage --


def test_a_mail_that_is_handed_over_is_the_others() -> None:
    mails = TriageDocument(2, [0, 1], [1, 1])
    assert mails.snapshot(1)["open"] == [1]
    mails.edit(0, "hand over", {"mail": 0, "to": 1})
    assert mails.snapshot(0)["open"] == []
    assert mails.snapshot(1)["open"] == [1, 0]
    mails.edit(0, "answer", {"mail": 0})  # it is not there any more
    assert mails.cells() == (("open", 1), ("open", 1))
    mails.edit(1, "answer", {"mail": 0})
    assert mails.cells() == (("answered", 1), ("open", 1))
    assert mails.clashes == []


def test_a_mail_that_goes_to_the_wrong_colleague_is_astray() -> None:
    mails = TriageDocument(3, [0], [2])
    mails.edit(0, "hand over", {"mail": 0, "to": 1})
    assert kinds(mails) == ["astray"]


# -- all of them --


@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("users", [2, 3])
def test_params_goals_and_vectors(kind: type[TeamTask[Any]], users: int) -> None:
    task = kind(users=users)
    drawn = {split: {params_json(task.draw(s, split)) for s in range(25)} for split in SPLITS}
    assert not drawn["train"] & drawn["heldout"]
    assert len({task.goals(task.draw(seed)) for seed in range(20)}) > 15
    for seed in range(20):
        params = task.draw(seed)
        assert params == task.draw(seed)
        assert len(task.goals(params)) == users
        document = task.open(params)
        assert document.vector().shape == (task.state_size(),)
        assert document.vector().dtype == np.float32
        assert 0.0 <= document.vector().min() <= document.vector().max() <= 1.0
        verdict = task.judge(document, params)
        assert (verdict.score, verdict.done) == (0.0, False)


@pytest.mark.parametrize("kind", [SharedKanban, SharedSheet, SharedOrder])
def test_all_are_told_a_common_job_and_each_its_part_of_a_split_one(
    kind: type[TeamTask[Any]],
) -> None:
    def asked(goal: str) -> list[str]:
        task = kind(users=2, goal=goal)
        params = task.draw(3)
        first, second = task.goals(params)
        for person in params.people:
            first, second = first.replace(person, "X"), second.replace(person, "X")
        return [first, second]

    assert len(set(asked("common"))) == 1
    assert len(set(asked("split"))) == 2


def test_clashes_and_harm_cost() -> None:
    task = SharedKanban()
    params = task.draw(0)
    document = task.open(params)
    (card, to), *_ = params.asked
    move(document, 0, card, to, seen=0)
    assert task.judge(document, params).score == 0.25
    move(document, 1, card, to, seen=0)
    verdict = task.judge(document, params)
    assert (verdict.score, verdict.details["twice"]) == (0.15, 1)
    other = next(c for c in range(9) if c not in dict(params.asked))
    move(document, 0, other, (params.cards[other][3] + 1) % 3, seen=document.version)
    verdict = task.judge(document, params)
    assert (verdict.score, verdict.details["harm"]) == (0.0, 1)
    assert "changes that nobody asked for: 1; work done twice: 1" in verdict.notes


@pytest.mark.parametrize(
    ("kind", "arguments", "told"),
    [
        (SharedKanban, {"users": 1}, "users must be 2 to 4, not 1"),
        (SharedKanban, {"goal": "spilt"}, "there is no goal 'spilt'. Did you mean 'split'"),
        (SharedKanban, {"cards": 4}, "cards must be 5 to 15, not 4"),
        (SharedSheet, {"rows": 13}, "rows must be 3 to 12, not 13"),
        (SharedOrder, {"lines": True}, "lines must be 3 to 12, not True"),
        (SharedChecklist, {"asked": 4}, "asked must be 1 to 3, not 4"),
        (SharedTriage, {"mails": 0}, "mails must be 1 to 4, not 0"),
    ],
)
def test_arguments_are_checked(
    kind: type[TeamTask[Any]], arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(UserError, match=told):
        kind(**arguments)
