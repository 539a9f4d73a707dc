"""Compact screens: what they show lies on their grid, is said in few words, and is solved there."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Iterator

import pytest

from tests.android.tasks.android_episodes import (
    assert_idleness_scores_nothing,
    assert_near_misses_fail,
    assert_solved,
    first_pictures,
    made,
)
from ui_gym.android.compact import COMPACT_SIZE, PATCH
from ui_gym.android.content import people, texts
from ui_gym.android.device import COLUMNS, AndroidDevice
from ui_gym.contract.action import Answer
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DeviceOptions, Element
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.suite import families
from ui_gym.contract.task import Demo
from ui_gym.testing import check_ui_env
from ui_gym_phone.device import PhoneDevice

SHORT = {
    word.lower()
    for words in (
        people.FIRST_SHORT, people.LAST_SHORT, texts.THINGS_SHORT, texts.EVENTS_SHORT,
        texts.PLACES_SHORT,
    )
    for word in words
}  # fmt: skip
OWN_WORDS = 60
"""That a task's screens and goals say beside the short lists and numbers, at most."""
LEAST_TARGET = 24

TASKS = [
    spec
    for spec in families("android", extra=True)
    if "compact" in inspect.signature(spec.load()).parameters
]
ON_GRID = [spec for spec in TASKS if spec.name != "AndroidQuickSettings"]
"""The shade has another form for a small screen."""

each_task = pytest.mark.parametrize("spec", [pytest.param(s, id=s.name) for s in TASKS])
each_on_grid = pytest.mark.parametrize("spec", [pytest.param(s, id=s.name) for s in ON_GRID])


@pytest.fixture(scope="module")
def device() -> Iterator[PhoneDevice]:
    with contextlib.closing(PhoneDevice(DeviceOptions(size=COMPACT_SIZE))) as made:
        made.start()
        yield made


def screens(
    spec: TaskSpec, device: PhoneDevice, seeds: range
) -> Iterator[tuple[str, Demo, tuple[Element, ...]]]:
    """Goals, with each step of the oracle and the elements of the screen before it."""
    task = make_task(spec.id, {"compact": True})
    assert task.viewport == COMPACT_SIZE
    for seed in seeds:
        params = task.draw(seed)
        task.setup(device, params)
        for demo in task.demonstrate(device, params):
            yield task.goal(params), demo, device.elements()
            if not demo.action.ends_episode:
                device.perform(demo.action)


def test_there_are_tasks_of_all_kinds() -> None:
    assert len(TASKS) >= 12
    assert {spec.category for spec in TASKS} == {spec.category for spec in families("android")}


@each_task
def test_a_compact_task_keeps_its_contract(spec: TaskSpec) -> None:
    check_ui_env(spec.name, seeds=[0], compact=True)
    assert_solved(spec.name, range(3), compact=True)
    assert_near_misses_fail(spec.name, 1, compact=True)
    assert_idleness_scores_nothing(spec.name, range(1), compact=True)


@pytest.mark.nightly
@each_task
def test_a_compact_task_keeps_its_contract_on_many_seeds(spec: TaskSpec) -> None:
    assert_solved(spec.name, range(60), compact=True)
    assert_near_misses_fail(spec.name, 5, compact=True)


@each_on_grid
def test_things_lie_on_the_grid(spec: TaskSpec, device: PhoneDevice) -> None:
    for goal, _, elements in screens(spec, device, range(3)):
        assert len(goal.split()) <= 12
        for element in elements:
            left, top, width, height = element.box
            inside = left >= 0 and left + width <= COMPACT_SIZE[0]
            assert inside, str(element)
            assert 0 <= top <= COMPACT_SIZE[1] - height, str(element)
            assert (top % PATCH, height % PATCH) == (0, 0), str(element)
            assert element.role == "text" or width >= LEAST_TARGET, str(element)


@each_on_grid
def test_a_thought_is_a_word_or_three_of_the_screen_or_the_goal(
    spec: TaskSpec, device: PhoneDevice
) -> None:
    seen: set[str] = set()
    for goal, demo, elements in screens(spec, device, range(3)):
        seen |= {word for text in (goal, *(e.name for e in elements)) for word in text.split()}
        said = demo.thought.split()
        assert 1 <= len(said) <= 3, demo
        assert {word.strip(",:") for word in said} <= {word.strip(",:.") for word in seen}, demo


def test_what_is_answered_was_read(device: PhoneDevice) -> None:
    event_query = next(spec for spec in TASKS if spec.name == "AndroidEventQuery")
    for _, demo, elements in screens(event_query, device, range(40)):
        if isinstance(demo.action, Answer):
            shown = " ".join(element.name for element in elements)
            assert demo.action.text in shown, demo


@each_on_grid
def test_few_words_are_to_be_read(spec: TaskSpec, device: PhoneDevice) -> None:
    said: set[str] = set()
    for goal, _, elements in screens(spec, device, range(12)):
        said |= {word for text in (goal, *(e.name for e in elements)) for word in _words(text)}
    assert len(said - SHORT) <= OWN_WORDS, sorted(said - SHORT)


@each_task
def test_a_screen_at_its_full_size_has_no_grid(spec: TaskSpec) -> None:
    (picture,) = first_pictures(spec.name, [0])
    assert picture.shape == (1200, 540, 3)


def test_a_phone_behind_adb_is_compact_for_compact_tasks_alone(wired: str) -> None:
    for compact, columns in ((True, "8"), (False, "null")):
        with made("AndroidNoteCreate", compact=compact, device=wired) as env:
            env.reset(seed=0)
            assert isinstance(env.device, AndroidDevice)
            assert env.device.shell(f"settings get secure {COLUMNS}").text == columns


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[^\W\d_]+", text)}
