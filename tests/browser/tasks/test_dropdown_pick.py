"""DropdownPick's logic, and the kit's drop-down list."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, levels, perform, verdicts

from ui_gym.browser.content import lists
from ui_gym.browser.tasks.dropdown_pick import SCENES, DropdownPick, DropdownPickParams
from ui_gym.contract.action import Click, Press, Scroll, Type, Wait
from ui_gym.errors import UserError

GUINEAS = ("Gabon", "Guinea", "Guinea-Bissau", "Guyana")
LISTS = DropdownPickParams(
    scene="region", labels=("Country", "Currency", "Holidays"),
    options=(GUINEAS, ("Euro", "Swiss franc"), GUINEAS), start=("Gabon", "", "Guyana"),
    asked=((0, "Guinea"), (1, "Euro")), columns=1, side=False, theme=0, phrasing=0,
)  # fmt: skip


def apply(country: str, currency: str, holidays: str = "Guyana") -> Any:
    return ("apply", {"values": {"list-0": country, "list-1": currency, "list-2": holidays}})


test_dropdown_pick_scores = verdicts(
    DropdownPick(),
    LISTS,
    {
        "right": (apply("Guinea", "Euro"), 1.0, True),
        "one": (apply("Guinea", ""), 0.5, True),
        "lookalike": (apply("Guinea-Bissau", "Euro"), 0.5, True),
        "other changed": (apply("Guinea", "Euro", "Guinea"), 0.5, True),
        "one right of three": (apply("Guinea", "Swiss franc", ""), 0.0, True),
        "as it was": (apply("Gabon", ""), 0.0, True),
        "first counts": (apply("Gabon", ""), apply("Guinea", "Euro"), 0.0, True),
        "empty": (("apply", {}), 0.0, True),
        "two wrong": (
            apply("Guyana", "Euro", "Gabon"),
            0.0,
            True,
            "applied with Country and Holidays wrong",
        ),
        "other event": (("choose", {"list-0": "Guinea"}), 0.0, False),
    },
)


@levels(DropdownPick)
def test_dropdown_pick_goals_name_lists_and_options(task: Any) -> None:
    for params in draws(task):
        assert len(set(params.labels)) == task.fields
        assert len(params.asked) == task.asked
        assert max(map(len, params.options)) <= task.length
        for i, value in params.asked:
            assert value in params.options[i]
            assert value != params.start[i]
        quoted = [one for one in re.findall(r'"([^"]+)"', task.goal(params)) if one != "Apply"]
        assert quoted == [text for i, value in params.asked for text in (params.labels[i], value)]


def test_dropdown_pick_lists_hold_everything_once() -> None:
    for fields in SCENES.values():
        assert len({label for label, _ in fields}) == len(fields)
        for _, options in fields:
            assert len(set(options)) == len(options)
    for name in ("COUNTRIES", "CURRENCIES", "FONTS", "LANGUAGES", "PORTS"):
        options = [option.replace("Cádiz", "Cadiz") for option in getattr(lists, name)]
        assert options == sorted(options, key=str.lower), name


def test_dropdown_pick_mistakes() -> None:
    task, rng = DropdownPick(), np.random.default_rng(0)
    taken = {
        mistake: {task.misread(LISTS, mistake, rng).asked for _ in range(60)}
        for mistake in task.mistakes
    }
    assert taken == {
        "forgot": {((1, "Euro"),), ((0, "Guinea"),)},
        "lookalike": {((0, "Guyana"), (1, "Euro")), ((0, "Guinea"), (1, "Swiss franc"))},
        "neighbour": {
            ((0, "Gabon"), (1, "Euro")),
            ((0, "Guinea-Bissau"), (1, "Euro")),
            ((0, "Guinea"), (1, "Swiss franc")),
        },
    }


def test_a_dropdown_is_closed_by_its_button_and_by_escape_and_searched_by_letters(
    show: Any,
) -> None:
    task = DropdownPick()
    device = show(task, dataclasses.replace(LISTS, columns=2))
    button = Click(*device.center("#list-0"))

    def after(*actions: Any) -> tuple[Any, str]:
        for action in actions:
            device.perform(action)
        state = device.state()
        return state["open"], state["values"]["list-0"]

    assert after(button) == ("list-0", "Gabon")
    assert after(button) == (None, "Gabon")
    assert after(button, Press("escape")) == (None, "Gabon")
    assert after(button, Press("tab")) == (None, "Gabon")
    assert after(button, Type("guinea-"), Press("enter")) == (None, "Guinea-Bissau")
    assert after(button, Type("g"), Wait(1.0), Type("guy"), Press("enter")) == (None, "Guyana")
    assert after(button, Press("home"), Press("down"), Press("space")) == (None, "Guinea")
    assert after(button, Click(*device.center("#list-1"))) == ("list-1", "Guinea")


def test_letters_choose_in_a_dropdown_that_is_closed(show: Any) -> None:
    task = DropdownPick()
    device = show(task, dataclasses.replace(LISTS, columns=2))
    for keys in ("escape", "escape"):  # the button keeps the focus
        perform(device, Click(*device.center("#list-0")), Press(keys))

    def after(*actions: Any) -> tuple[Any, str]:
        for action in actions:
            device.perform(action)
        state = device.state()
        return state["open"], state["values"]["list-0"]

    assert after() == (None, "Gabon")
    assert after(Type("guinea-")) == (None, "Guinea-Bissau")
    assert after(Wait(1.0), Type("guy")) == (None, "Guyana")
    assert after(Wait(1.0), Type("g")) == (None, "Gabon")  # round what begins with it
    assert after(Wait(1.0), Type("zzz")) == (None, "Gabon")
    assert after(Wait(1.0), Press("space")) == ("list-0", "Gabon")


def test_dropdown_pick_compact_lists_scroll_by_whole_rows(make_device: Any) -> None:
    task = DropdownPick(compact=True, length=12)
    device = make_device(task.viewport)
    scrolled = set()
    for seed in range(6):
        params = task.draw(seed)
        task.setup(device, params)
        for step in task.oracle(device, params):
            device.perform(step.action)
            if isinstance(step.action, Scroll):
                scrolled.add(abs(step.action.dy))
                assert device.state()["scrolled"] % 32 == 0
        assert task.judge(device, params, ()).success
    assert scrolled == {128}


@pytest.mark.parametrize(
    ("given", "said"),
    [({"fields": 4}, "fields must be 1 to 3, not 4"),
     ({"length": 30}, "length must be 3 to 12, not 30")],
    ids=["fields", "length"],
)  # fmt: skip
def test_dropdown_pick_compact_refuses(given: dict[str, int], said: str) -> None:
    with pytest.raises(UserError, match=said):
        DropdownPick(compact=True, **given)
