"""ShadowWidgets' logic, and that what lies in shadow roots is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from task_helpers import goals, levels, mistakes_fail, perform, verdicts

from ui_gym.browser.tasks.shadow_widgets import ShadowWidgets, ShadowWidgetsParams
from ui_gym.contract.action import Click, Type

# Stars for the food and a switch, in closed roots; tags in an open one.
MEAL = ShadowWidgetsParams(
    scene="meal", shown=(0, 4, 6), closed=(True, True, False),
    starts=("2", "Lunch", "cosy, local"), asked=("4", "Lunch", "local"),
    place=2, theme=0, phrasing=0,
)  # fmt: skip


def sent(*values: str) -> Any:
    return ("sent", {"values": list(values)})


test_shadow_widgets_scores = verdicts(
    ShadowWidgets(widgets=3, changes=2),
    MEAL,
    {
        "right": (sent("4", "Lunch", "local"), 1.0, True),
        "one star short": (sent("3", "Lunch", "local"), 0.5, True, "Food: '3', not '4'"),
        "another tag": (sent("4", "Lunch", "cosy"), 0.5, True),
        "another changed": (sent("4", "Dinner", "local"), 0.5, True),
        "unchanged": (sent("2", "Lunch", "cosy, local"), 0.0, True),
        "too late": (sent("3", "Lunch", "local"), sent("4", "Lunch", "local"), 0.5, True),
    },
)


def test_shadow_widgets_goal_says_what_changes() -> None:
    assert ShadowWidgets(widgets=3, changes=2).goal(MEAL) == (
        'In the review of the meal, give Food four stars and remove the tag "cosy". '
        "Leave everything else and press Post review."
    )


@levels(ShadowWidgets)
def test_shadow_widgets_goals_name_each_change(task: Any) -> None:
    kinds, roots = set(), set()
    for params, goal in goals(task):
        rows = list(zip(params.widgets, params.starts, params.asked, strict=True))
        changed = [row for row in rows if row[1] != row[2]]
        assert len(changed) == task.changes
        for widget, start, want in changed:
            kinds.add(widget.kind)
            assert widget.said(want, start) in goal
            assert want in widget.others(start)
        roots |= set(params.closed)
    assert kinds == {"stars", "switch", "tags"}
    assert roots == {False, True}


test_shadow_widgets_mistakes_fail = mistakes_fail(
    ShadowWidgets, lambda params: [sent(*params.asked)]
)


def test_what_lies_in_shadow_roots_is_told_and_acted_on(make_device: Callable[..., Any]) -> None:
    task = ShadowWidgets(widgets=3, changes=2)
    device = make_device(task.viewport)
    task.setup(device, MEAL)
    assert device.evaluate("document.querySelector('star-rating').shadowRoot") is None
    assert device.evaluate("document.querySelector('tag-input').shadowRoot.mode") == "open"
    told = {element.name: element for element in device.capture(elements=True).elements}
    assert [name for name, each in told.items() if "pressed" in each.states] == [
        "Food: 2 stars", "Meal: Lunch",
    ]  # fmt: skip
    state = perform(device, Click(*told["Food: 5 stars"].center), Click(*told["Add a tag"].center))
    assert state["focused"] == [None, None, "field"]
    state = perform(device, Type("Vegan", enter=True), Type("vegan", enter=True))
    assert state["values"] == ["5", "Lunch", "cosy, local, vegan"]
    told = {element.name: element for element in device.capture(elements=True).elements}
    assert "focused" in told["Add a tag"].states
    assert perform(device, Click(*told["Remove cosy"].center))["values"][2] == "local, vegan"
