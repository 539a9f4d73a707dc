"""Advertisements: a page beside them has room for all that it shows, and they cost steps alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_helpers import HANGING, play

from ui_gym.browser.adverts import ADVERTS, drawn_adverts
from ui_gym.browser.chromium.device import ChromiumDevice
from ui_gym.browser.documents import document
from ui_gym.contract.action import Click
from ui_gym.contract.arguments import make_task
from ui_gym.contract.device import DeviceOptions
from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.suite import families
from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv

BESIDE = (1190, 100)
"""In the picture of the first one."""


@pytest.fixture(scope="module")
def screen() -> Iterator[ChromiumDevice]:
    with contextlib.closing(ChromiumDevice(DeviceOptions(size=(1280, 800)))) as device:
        device.start()
        yield device


def some(specs: list[TaskSpec]) -> list[Any]:
    """Every fourth family by day, all others at night."""
    return [
        pytest.param(spec, id=spec.name, marks=[pytest.mark.nightly] if number % 4 else [])
        for number, spec in enumerate(specs)
    ]


@pytest.mark.parametrize("spec", some(families("browser")))
def test_a_page_beside_them_can_be_played_and_has_room(
    spec: TaskSpec, screen: ChromiumDevice
) -> None:
    plain, task = make_task(spec.id, {}), make_task(spec.id, {"adverts": True})
    plain.setup(screen, plain.draw(1))
    known = set(screen.evaluate(HANGING))
    for at in play(task, screen, 1):
        if at == 0:
            assert set(screen.evaluate(HANGING)) <= known


def test_what_is_clicked_covers_the_page_until_one_goes_back(screen: ChromiumDevice) -> None:
    task = make_task("UI/Registration-v0", {"adverts": True})
    task.setup(screen, task.draw(0))
    before = screen.capture(elements=True)
    names = [one.name for one in before.elements]
    assert "Advertisements" in names
    screen.perform(Click(*BESIDE))
    landed = screen.capture(elements=True)
    back = next(one for one in landed.elements if one.name == "Back to the page")
    assert (landed.image[:, :1092] != before.image[:, :1092]).any()
    screen.perform(Click(*back.center))
    after = screen.capture(elements=True)
    assert [one.name for one in after.elements] == names


def test_a_seed_draws_them_and_nothing_else_by_them() -> None:
    def goal_and_picture(**arguments: Any) -> tuple[str, bytes]:
        env = UIEnv("ClickButton", **arguments)
        try:
            seen, _ = env.reset(seed=4)
            return seen["goal"], seen["screenshot"].tobytes()
        finally:
            env.close()

    beside = goal_and_picture(adverts=True)
    assert beside == goal_and_picture(adverts=True)
    without = goal_and_picture()
    assert (without[0], without == goal_and_picture(adverts=False)) == (beside[0], True)
    assert without[1] != beside[1]


def test_all_of_them_are_drawn_two_at_a_time() -> None:
    drawn = [drawn_adverts(digest) for digest in range(100)]
    assert all(one["brand"] != other["brand"] for one, other in drawn)
    assert {one["brand"] for pair in drawn for one in pair} == {one["brand"] for one in ADVERTS}


def test_an_authors_own_param_may_be_called_so(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><head><!-- ui-gym --></head><p>My adverts</p>")
    for own in (3, "many", [{"price": 3}]):
        assert "landing" not in document(page, {"adverts": own}, 0)
    assert "landing" in document(page, {"adverts": drawn_adverts(0)}, 0)


@pytest.mark.parametrize("task", ["UI/Registration-v0", "UI/DataEntry-v0"])
def test_a_compact_page_has_no_room(task: str) -> None:
    with pytest.raises(UserError, match="no room for adverts"):
        make_task(task, {"compact": True, "adverts": True})
    with pytest.raises(UserError, match="adverts is True or False"):
        make_task(task, {"adverts": "many"})
