"""All tasks of the browser suite, at all their levels, against their contract."""

from __future__ import annotations

from typing import Any

import pytest
from task_helpers import SEEDS, judge

from ui_gym.browser.tasks.click_button import ClickButton, ClickButtonParams
from ui_gym.browser.tasks.login import Login
from ui_gym.contract import registry
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DeviceOptions
from ui_gym.contract.suite import families
from ui_gym.contract.task import Task, params_json
from ui_gym.testing import check_ui_env

FAMILIES = families("browser")

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    (spec.id, {"level": level}) for spec in FAMILIES for level in spec.load().levels
]
VARIANTS += [(spec.id, {}) for spec in FAMILIES if not spec.load().levels]
VARIANTS += [
    ("UI/ClickButton-v0", {"likeness": "high", "count": 10}),
    ("UI/ClickButton-v0", {"compact": True}),
    ("UI/ClickButton-v0", {"compact": True, "likeness": "high", "count": 10}),
    ("UI/DataEntry-v0", {"rows": 1, "length": 2, "columns": 1}),
    ("UI/DataEntry-v0", {"compact": True}),
    ("UI/Login-v0", {"compact": True}),
]
TASKS = [
    pytest.param(
        make_task(id, given), id="-".join([id[3:-3], *(f"{k}={v}" for k, v in given.items())])
    )
    for id, given in VARIANTS
]


@pytest.mark.parametrize("task", TASKS)
def test_samples_repeat_vary_and_keep_to_their_split(task: Task[Any, Any]) -> None:
    drawn = {
        split: [params_json(task.draw(seed, split)) for seed in SEEDS]
        for split in ("train", "heldout")
    }
    assert [params_json(task.draw(seed, "train")) for seed in SEEDS] == drawn["train"]
    assert len(set(drawn["train"])) > len(SEEDS) * 0.8
    assert not set(drawn["train"]) & set(drawn["heldout"])


@pytest.mark.parametrize("task", TASKS)
def test_the_page_is_not_told_the_answer(task: Task[Any, Any]) -> None:
    told = {"target", "asked", "stay", "password", "phrasing"} & set(
        task.page_params(task.draw(0))  # type: ignore[attr-defined]
    )
    assert not told


@pytest.mark.parametrize("task", TASKS)
def test_nothing_is_solved_at_the_start(task: Task[Any, Any]) -> None:
    for seed in SEEDS:
        verdict = judge(task, task.draw(seed))
        assert (verdict.score, verdict.done) == (0.0, False)


MISTAKES = [
    pytest.param(task.values[0], mistake, id=f"{task.id}-{mistake}")
    for task in TASKS
    for mistake in task.values[0].mistakes
    # One field is always in its place.
    if not (mistake == "labels" and getattr(task.values[0], "columns", ()) == ("first",))
]


@pytest.mark.parametrize(("task", "mistake"), MISTAKES)
def test_a_mistake_changes_what_is_believed(task: Task[Any, Any], mistake: str) -> None:
    changed = 0
    for seed in SEEDS:
        params = task.draw(seed)
        believed = task.misunderstand(params, {mistake: 1.0}, seed)
        assert believed == task.misunderstand(params, {mistake: 1.0}, seed)
        changed += believed != params
    assert changed > len(SEEDS) / 3


# -- on a device --


@pytest.mark.parametrize(
    ("id", "given"),
    [pytest.param(*each, id=task.id) for each, task in zip(VARIANTS, TASKS, strict=True)],
)
def test_every_task_keeps_its_contract(id: str, given: dict[str, Any]) -> None:
    # Of the ways to take pictures the one whose browser starts fastest: all give the same bytes.
    seeds = range(3 if "compact" in given else 1)
    check_ui_env(id, seeds=seeds, device="chromium:beginframe", **given)


def test_every_browser_task_is_known() -> None:
    known = {spec.name for spec in registry.specs() if spec.suite == "browser"}
    assert known >= {"ClickButton", "DataEntry", "Login"}


LAYOUTS: list[tuple[Task[Any, Any], str]] = [
    (ClickButton(count=10, likeness=likeness), layout)
    for likeness in ("low", "high")
    for layout in ("dialog", "toolbar", "list")
]
LAYOUTS += [(Login(), layout) for layout in ("center", "split", "pair")]
LAYOUTS += [(ClickButton(compact=True, count=10), "sheet"), (Login(compact=True), "rows")]


def test_every_layout_shows_all_that_can_be_pressed_apart(make_device: Any) -> None:
    devices = {size: make_device(size) for size in {task.viewport for task, _ in LAYOUTS}}
    for task, layout in LAYOUTS:
        device = devices[task.viewport]
        found = 0
        for seed in range(100):
            params = task.draw(seed)
            if params.layout != layout:
                continue
            found += 1
            task.setup(device, params)
            elements = device.capture(elements=True).elements
            pressable = [e for e in elements if e.role in ("button", "textbox", "checkbox", "link")]
            for element in pressable:
                left, top, width, height = element.box
                assert left >= 0, (layout, seed, str(element))
                assert top >= 0, (layout, seed, str(element))
                assert left + width <= task.viewport[0], (layout, seed, str(element))
                assert top + height <= task.viewport[1], (layout, seed, str(element))
            names = [e.name for e in pressable if e.role == "button" and e.name != "Show"]
            assert len(names) == len(set(names)) or isinstance(task, Login), names
            if isinstance(params, ClickButtonParams):
                assert set(params.labels) <= set(names)
            if found == 3:
                break
        assert found == 3, layout


def test_options_of_the_suite_reach_its_device() -> None:
    assert ClickButton.pool(DeviceOptions(size=(64, 48))) is not None
