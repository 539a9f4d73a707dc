"""What stands around a page: beside advertisements there is room for all that the page shows, a bar
about cookies is out of the way once it is answered, and both cost steps alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_helpers import HANGING, play

from ui_gym.browser.around import (
    ADVERTS,
    COOKIE_BARS,
    PLACES,
    drawn_adverts,
    drawn_cookie_bar,
)
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
"""In the picture of the first advertisement."""
OF_THEIR_OWN = ("ModalNoise",)
"""Families whose pages ask about cookies themselves."""


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
def test_a_page_amid_them_can_be_played_and_has_room(
    spec: TaskSpec, screen: ChromiumDevice
) -> None:
    around = {"adverts": True, "cookie_bar": spec.name not in OF_THEIR_OWN}
    plain, task = make_task(spec.id, {}), make_task(spec.id, around)
    plain.setup(screen, plain.draw(1))
    known = set(screen.evaluate(HANGING))
    for at in play(task, screen, 1):
        if at == 0:
            assert set(screen.evaluate(HANGING)) <= known
    assert at <= task.max_steps


def test_a_page_that_asks_about_cookies_itself_takes_no_bar() -> None:
    for name in OF_THEIR_OWN:
        with pytest.raises(UserError, match="asks about cookies itself"):
            make_task(f"UI/{name}-v0", {"cookie_bar": True})


@pytest.mark.parametrize("answer", ["accept", "reject"])
def test_a_bar_about_cookies_lies_over_the_page_until_it_is_answered(
    answer: str, screen: ChromiumDevice
) -> None:
    plain, task = (make_task("UI/CheckboxSet-v0", {"cookie_bar": one}) for one in (False, True))
    assert task.max_steps == plain.max_steps + 1
    plain.setup(screen, plain.draw(0))
    without = screen.capture(elements=True)
    places = set()
    for seed in range(12):
        task.setup(screen, task.draw(seed))
        bar = screen.evaluate("uiGym.params.around.cookie_bar")
        places.add(bar["place"])
        (button,) = (
            one for one in screen.capture(elements=True).elements if one.name == bar[answer]
        )
        screen.perform(Click(*button.center))
        assert screen.evaluate("document.querySelector('.cookie-bar')") is None
        assert not screen.events
        if seed == 0:
            after = screen.capture(elements=True)
            assert [one.name for one in after.elements] == [one.name for one in without.elements]
    assert places == set(PLACES)


def test_an_answer_leaves_the_focus_where_it_is(screen: ChromiumDevice) -> None:
    """TableEdit begins with a cell in which one can type at once."""
    task = make_task("UI/TableEdit-v0", {"cookie_bar": True, "adverts": True})
    task.setup(screen, task.draw(0))
    focused = screen.evaluate("document.activeElement.id")
    assert focused
    screen.perform(Click(*screen.center(".cookie-bar .accept")))
    screen.perform(Click(*BESIDE))
    screen.perform(Click(*screen.center(".landing button")))
    assert screen.evaluate("document.activeElement.id") == focused


def test_no_click_reaches_the_page_behind_a_bar_in_the_middle(screen: ChromiumDevice) -> None:
    task = make_task("UI/ClickButton-v0", {"cookie_bar": True})
    for seed in range(99):
        params = task.draw(seed)
        task.setup(screen, params)
        if screen.evaluate("uiGym.params.around.cookie_bar.place") == "middle":
            break
    for demo in task.oracle(screen, params):  # which knows nothing of the bar
        screen.perform(demo.action)
    assert task.judge(screen, params, []).score == 0
    assert screen.evaluate("document.querySelector('.cookie-bar')") is not None


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


@pytest.mark.parametrize("what", ["adverts", "cookie_bar"])
def test_a_seed_draws_them_and_nothing_else_by_them(what: str) -> None:
    def goal_and_picture(**arguments: Any) -> tuple[str, bytes]:
        env = UIEnv("ClickButton", **arguments)
        try:
            seen, _ = env.reset(seed=4)
            return seen["goal"], seen["screenshot"].tobytes()
        finally:
            env.close()

    amid = goal_and_picture(**{what: True})
    assert amid == goal_and_picture(**{what: True})
    without = goal_and_picture()
    assert (without[0], without == goal_and_picture(**{what: False})) == (amid[0], True)
    assert without[1] != amid[1]


def test_all_of_them_are_drawn_and_adverts_two_at_a_time() -> None:
    adverts = [drawn_adverts(digest) for digest in range(100)]
    assert all(one["brand"] != other["brand"] for one, other in adverts)
    assert {one["brand"] for pair in adverts for one in pair} == {one["brand"] for one in ADVERTS}
    bars = [drawn_cookie_bar(digest) for digest in range(100)]
    assert {bar["title"] for bar in bars} == {bar["title"] for bar in COOKIE_BARS}
    assert len({(bar["place"], bar["first"]) for bar in bars}) == 2 * len(PLACES)


def test_an_authors_own_param_may_be_called_so(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><head><!-- ui-gym --></head><p>My adverts</p>")
    for own in (3, "many", {}, {"adverts": 1, "price": 3}):
        assert "landing" not in document(page, {"around": own}, 0)
    assert "landing" in document(page, {"around": {"adverts": drawn_adverts(0)}}, 0)


@pytest.mark.parametrize("what", ["adverts", "cookie_bar"])
@pytest.mark.parametrize("task", ["UI/Registration-v0", "UI/DataEntry-v0"])
def test_a_compact_page_has_no_room(task: str, what: str) -> None:
    with pytest.raises(UserError, match=f"no room for .*{what}"):
        make_task(task, {"compact": True, what: True})
    with pytest.raises(UserError, match=f"{what} is True or False"):
        make_task(task, {what: "many"})
