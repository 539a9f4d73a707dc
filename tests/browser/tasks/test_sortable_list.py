"""SortableList's logic, and the order of lists."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest
from task_helpers import draws, mistakes_fail, perform, verdicts

from ui_gym.browser.content import sequences
from ui_gym.browser.tasks.sortable_list import PLACES, SortableList, SortableListParams
from ui_gym.contract.action import Click, Drag, Press
from ui_gym.errors import UserError

SONGS = SortableListParams(
    kind="songs", heading="Long drive",
    items=(("Blue Tide", "Ada", 200), ("Amber Tide", "Ada", 100), ("Paper Tide", "Ben", 300),
           ("Quiet Tide", "Ben", 150)),
    wanted=(1, 3, 0, 2), asked=("value", 0, 0), handles="left", theme=0, phrasing=0,
)  # fmt: skip


def order(*items: int) -> Any:
    return ("order", {"items": list(items)})


test_sortable_scores = verdicts(
    SortableList(),
    SONGS,
    {
        "one right": (order(1, 0, 2, 3), 1 / 3, False,
            "2 pairs stand the wrong way round; 3 at the start"),
        "right": (order(1, 0, 2, 3), order(1, 3, 0, 2), 1.0, True),
        "two swapped": (order(1, 3, 2, 0), 2 / 3, False),
        "the other way round": (order(2, 0, 3, 1), 0.0, False),
        "undone": (order(1, 3, 0, 2), order(0, 1, 2, 3), 0.0, False),
    },
)  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "goal"),
    [
        (("top", 2, 0), 'Move "Paper Tide" to the top of the list.'),
        (("below", 0, 3), 'Move "Blue Tide" directly below "Quiet Tide".'),
        (("title", 1, 0), "Sort the songs alphabetically by title, from Z to A."),
        (("value", 0, 0), "Sort the songs from the shortest to the longest."),
        (("given", 0, 0),
         'Put the songs into this order: "Amber Tide", "Quiet Tide", "Blue Tide", "Paper Tide".'),
    ],
)  # fmt: skip
def test_sortable_goals(asked: Any, goal: str) -> None:
    assert SortableList().goal(dataclasses.replace(SONGS, asked=asked)) == goal


def test_sortable_places_are_where_the_goal_says() -> None:
    task, seen = SortableList(level="easy"), set()
    for params in draws(task):
        how, item, anchor = params.asked
        seen.add(how)
        at = params.wanted.index(item)
        neighbour = {"above": 1, "below": -1}.get(how, 0)
        place = {"top": 0, "bottom": 4}.get(how, params.wanted.index(anchor) - neighbour)
        assert at == place
        assert [i for i in params.wanted if i != item] == [i for i in range(5) if i != item]
        assert abs(at - item) > 1
    assert seen == set(PLACES)


def test_sortable_rules_have_one_answer() -> None:
    task, seen = SortableList(level="hard"), set()
    for params in draws(task):
        how, falls, _ = params.asked
        seen.add((how, falls))
        column = 0 if how == "title" else 2
        values = [params.items[i][column] for i in params.wanted]
        assert values == sorted(values, reverse=bool(falls))
        assert len(set(values)) == len(values)
        # Neither blanks nor capital letters decide.
        plain = [str(value).replace(" ", "").casefold() for value in values]
        assert how == "value" or plain == sorted(plain, reverse=bool(falls))
        form = sequences.KINDS[params.kind].form
        assert len({sequences.shown(form, value) for *_, value in params.items}) == task.items
    assert seen == set(itertools.product(("title", "value"), (0, 1)))


def _reordered(params: SortableListParams) -> bool:
    return sorted(params.wanted) == list(range(len(params.items))) != list(params.wanted)


test_sortable_mistakes_fail = mistakes_fail(
    SortableList, lambda params: [order(*params.wanted)], _reordered
)


def test_the_fewest_moves_put_a_list_in_order() -> None:
    for wanted in itertools.permutations(range(5)):
        now, steps = list(range(5)), 0
        for item, place in sequences.moves(now[:], wanted):
            now.remove(item)
            now.insert(place, item)
            steps += 1
        assert tuple(now) == wanted
        assert steps <= 4
        assert (steps == 0) == (wanted == tuple(range(5)))
    assert list(sequences.moves((0, 1, 2, 3), (1, 2, 3, 0))) == [(0, 3)]


def test_values_read_as_on_a_page() -> None:
    shown = [
        sequences.shown("length", 185), sequences.shown("price", 1205),
        sequences.shown("date", 20), sequences.shown("pages", 312), sequences.shown("distance", 7),
    ]  # fmt: skip
    assert shown == ["3:05", "$12.05", "due 4 February 2026", "312 pages", "0.7 km"]


def test_sortable_levels_differ() -> None:
    tasks = [SortableList(level=level) for level in ("easy", "medium", "hard")]
    assert [task.max_steps for task in tasks] == [10, 10, 18]
    rates = [task.blind_rate(task.draw(0)) for task in tasks]
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize(
    ("asked", "goal"),
    [
        (("top", 2, 0), "Move Tea to the top."),
        (("below", 0, 3), "Move Pen below Egg."),
        (("title", 1, 0), "Sort Z to A."),
        (("value", 0, 0), "Sort low to high."),
        (("given", 0, 0), "Order: Ink, Egg, Pen, Tea."),
    ],
)
def test_sortable_compact_goals(asked: Any, goal: str) -> None:
    order = "place" if asked[0] in PLACES else "given" if asked[0] == "given" else "rule"
    params = dataclasses.replace(
        SONGS, items=(("Pen", "", 20), ("Ink", "", 3), ("Tea", "", 31), ("Egg", "", 9)), asked=asked
    )
    assert SortableList(compact=True, order=order).goal(params) == goal


def test_sortable_compact_arguments() -> None:
    assert SortableList(compact=True, order="place").max_steps == 2
    with pytest.raises(UserError, match="no alike titles"):
        SortableList(compact=True, alike=True)
    with pytest.raises(UserError, match="items must be 4 to 7, not 8"):
        SortableList(compact=True, items=8)


@pytest.mark.parametrize("order", ["place", "given", "rule"])
def test_sortable_compact_rows_show_just_what_is_asked_about(show: Any, order: str) -> None:
    task = SortableList(compact=True, items=7, order=order)
    params = task.draw(0)
    device = show(task, params)
    rows = [
        element for element in device.capture(elements=True).elements if element.role == "button"
    ]
    values = [f" {value}" if order == "rule" else "" for *_, value in params.items]
    titles = [title for title, *_ in params.items]
    assert [row.name for row in rows] == [f"{t}{v}" for t, v in zip(titles, values, strict=True)]
    assert [row.box[1] // 32 for row in rows] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("handles", ["left", "none"])
def test_sortable_works_from_the_keyboard_and_can_be_undone(show: Any, handles: str) -> None:
    task = SortableList()
    params = dataclasses.replace(SONGS, handles=handles)
    grip = " .handle" if handles == "left" else ""
    device = show(task, params)
    x, y = device.center(f"#row-0{grip}")
    perform(device, Click(x, y), Press("alt+down"), Press("down"), Press("alt+down"))
    assert device.state()["order"] == [1, 0, 3, 2]
    assert device.state()["focused"] == "row-2"
    device.perform(Click(*device.center("#undo")))
    device.perform(Click(*device.center("#undo")))
    assert device.state()["order"] == [0, 1, 2, 3]
    assert task.judge(device, params, ()).score == 0
    # Far below the list is its end; whatever is not a handle holds nothing where there is one.
    perform(device, Drag(x, y, x, 780), Drag(x + 200, y, x + 200, 780))
    assert device.state()["order"] == ([1, 2, 3, 0] if handles == "left" else [2, 3, 0, 1])
