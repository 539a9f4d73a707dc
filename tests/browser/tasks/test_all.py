"""All tasks of the browser suite against their contract: daily in one form, nightly in all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browser_helpers import KeptPool
from task_helpers import SEEDS, judge

from ui_gym.browser.tasks.click_button import ClickButton, ClickButtonParams
from ui_gym.browser.tasks.login import Login
from ui_gym.contract import registry
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DeviceOptions
from ui_gym.contract.suite import compact_families, families
from ui_gym.contract.task import Task, params_json
from ui_gym.testing import check_ui_env

FAMILIES = families("browser")

Variant = tuple[str, dict[str, Any]]

COMPACT = {spec.id for spec in compact_families("browser")}
FORMS: list[list[Variant]] = [
    [(spec.id, {"level": level}) for level in spec.load().levels]
    + [(spec.id, {"compact": True})] * (spec.id in COMPACT)
    for spec in FAMILIES
]
"""Of each family: its levels, the easiest first, and last that it is compact, if it can be."""
DAILY = [forms[-(number % 2)] for number, forms in enumerate(FORMS) if forms]
DAILY += [("UI/DataEntry-v0", {"rows": 1, "length": 2, "columns": 1})]
NIGHTLY = [form for forms in FORMS for form in forms if form not in DAILY]
NIGHTLY += [(spec.id, {}) for spec in FAMILIES if not spec.load().levels]
NIGHTLY += [
    ("UI/ClickButton-v0", {"likeness": "high", "count": 10}),
    ("UI/ClickButton-v0", {"compact": True, "likeness": "high", "count": 10}),
    ("UI/CheckboxSet-v0", {"compact": True, "count": 6, "asked": 4, "ticked": 3}),
    ("UI/DatePicker-v0", {"compact": True, "ask": "stay", "reach": 5}),
    ("UI/CalendarBook-v0", {"compact": True, "events": 10, "weeks": 3}),
    ("UI/FlightBooking-v0", {"compact": True, "flights": 5, "airports": 5}),
    ("UI/ShoppingCart-v0", {"compact": True, "items": 2, "leftover": 1, "lines": 4}),
    ("UI/Autocomplete-v0", {"compact": True, "fields": 2, "delay": 800}),
]
SEEDS_OF = {True: SEEDS, False: range(15)}
"""How many params are drawn, by whether the test runs nightly: of large pages they take long."""


def named(variant: Variant, *, nightly: bool) -> Any:
    id, given = variant
    name = "-".join([id[3:-3], *(f"{k}={v}" for k, v in given.items())])
    marks = [pytest.mark.nightly] if nightly else []
    return pytest.param(id, given, SEEDS_OF[nightly], id=name, marks=marks)


each_variant = pytest.mark.parametrize(
    ("id", "given", "seeds"),
    [named(v, nightly=False) for v in DAILY] + [named(v, nightly=True) for v in NIGHTLY],
)


@each_variant
def test_params_and_judge_keep_to_the_task(id: str, given: dict[str, Any], seeds: range) -> None:
    task: Any = make_task(id, given)
    draws = {seed: task.draw(seed) for seed in seeds}
    assert len({params_json(params) for params in draws.values()}) > len(seeds) * 0.8
    for params in draws.values():
        told = task.page_params(params)
        answers = {"target", "asked", "stay", "password", "phrasing"} & set(told)
        assert not answers, "the page is told the answer"
        verdict = judge(task, params)
        assert (verdict.score, verdict.done) == (0.0, False), "solved at the start"
    for mistake in task.mistakes:
        if mistake == "labels" and getattr(task, "columns", ()) == ("first",):
            continue  # one field is always in its place
        changed = 0
        for seed, params in draws.items():
            believed = task.misunderstand(params, {mistake: 1.0}, seed)
            assert believed == task.misunderstand(params, {mistake: 1.0}, seed)
            changed += believed != params
        assert changed > len(seeds) / 3, f"{mistake} changes what is believed too seldom"


@pytest.mark.nightly
@each_variant
def test_samples_of_many_seeds_repeat_and_keep_to_their_split(
    id: str, given: dict[str, Any], seeds: range
) -> None:
    task = make_task(id, given)  # `check_ui_env` looks at fewer
    drawn = {
        split: [params_json(task.draw(seed, split)) for seed in SEEDS]
        for split in ("train", "heldout")
    }
    assert [params_json(task.draw(seed, "train")) for seed in SEEDS] == drawn["train"]
    assert len(set(drawn["train"])) > len(SEEDS) * 0.8
    assert not set(drawn["train"]) & set(drawn["heldout"])


# -- on a device --


@pytest.fixture(scope="module")
def pools() -> Iterator[Callable[[tuple[int, int]], KeptPool]]:
    """Pools of browsers that go from test to test, by the size of what they show."""
    made: dict[tuple[int, int], KeptPool] = {}

    def of(size: tuple[int, int]) -> KeptPool:
        # The way whose browser starts fastest: all give the same bytes.
        return made.setdefault(size, KeptPool(DeviceOptions("chromium:beginframe", size)))

    yield of
    for pool in made.values():
        pool.close()


@each_variant
def test_every_task_keeps_its_contract(
    pools: Callable[[tuple[int, int]], KeptPool], id: str, given: dict[str, Any], seeds: range
) -> None:
    pool = pools(make_task(id, given).viewport)
    check_ui_env(id, seeds=range(3 if "compact" in given else 1), pool=pool, **given)


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
