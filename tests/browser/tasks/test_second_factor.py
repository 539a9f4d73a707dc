"""SecondFactor's logic, and how its codes come and go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from task_helpers import draws, judge, levels, perform, verdicts

from ui_gym.browser.content.signins import CodeEntry
from ui_gym.browser.moves import click
from ui_gym.browser.tasks.second_factor import KINDS, SecondFactor, SecondFactorParams
from ui_gym.contract.action import Type, Wait
from ui_gym.errors import UserError

ENTRIES = (
    CodeEntry("Paperwing", "a@example.org", "", 23_456, False, False),
    CodeEntry("Paperwing", "b@example.org", "", 500_000, False, False),
)
PARAMS = SecondFactorParams(
    app=0, service="Paperwing", user="a@example.org", password="Maple-river10", kind="app",
    things=(("app", ENTRIES),), answer=0, turn=111_111, phase=0, trust=False, ticked=False,
    place=0, theme=0, phrasing=0,
)  # fmt: skip


def known(password: str = "Maple-river10", user: str = "a@example.org") -> Any:
    return ("sign_in", {"user": user, "password": password})


def code(text: str, window: int = 0, *, trust: bool = False) -> Any:
    return ("code", {"code": text, "window": window, "trust": trust})


test_second_factor_scores = verdicts(
    SecondFactor(),
    PARAMS,
    {
        "password only": (known(), 0.0, False, "no code yet"),
        "signed in": (known(), code("123456"), 1.0, True, "signed in"),
        "as written": (known(user=" a@example.org "), code("123 456"), 1.0, True),
        "its next code": (known(), code("234567", 1), 1.0, True),
        "its code of before": (known(), code("123456", 1), 0.0, False, "no code yet; 1 wrong"),
        "another account": (known(), code("600000"), code("123456"), 1.0, True),
        "locked": (known(), code("600000"), code("123456", 1), code("123456"), 0.0, True,
                   "locked after 2 wrong tries"),
        "one of each": (known("Maple"), known(), code("1"), 0.0, True),
        "without a password": (code("123456"), 0.0, False, "not signed in yet; 1 wrong"),
        "trusted": (known(), code("123456", trust=True), 0.5, True),
        "reset": (known(), ("reset", {}), code("123456"), 0.0, True),
        "forgot": (("forgot", {}), known(), code("123456"), 0.0, True),
    },
)  # fmt: skip


@levels(SecondFactor)
def test_one_code_counts_and_all_are_told_apart(task: Any) -> None:
    kinds = set()
    for params in draws(task):
        kinds.add(params.kind)
        shown = dict(params.things)
        assert set(shown) == (set(KINDS) if task.covered else {params.kind})
        starts = [entry.start for entries in shown.values() for entry in entries]
        assert len(set(starts)) == len(starts)
        mine = params.entries[params.answer]
        assert mine.service == params.service
        if params.kind == "app":
            assert [e for e in params.entries if (e.service, e.note) == mine[:2]] == [mine]
            assert mine.note == params.user
        elif params.kind == "phone":
            newest = [e for e in params.entries if e.service == params.service][-1]
            assert newest is mine
            assert mine.late
        else:
            latest = [e for e in params.entries if e[:2] == mine[:2]]
            assert next(e for e in latest if not e.used) is mine
            assert mine.note == "3 January 2026"
        said = "Trust this device" in task.goal(params)
        assert said == params.trust
    assert kinds == set(KINDS)


def of_kind(task: SecondFactor, kind: str) -> SecondFactorParams:
    return next(params for params in map(task.draw, range(99)) if params.kind == kind)


@pytest.mark.parametrize("kind", KINDS)
def test_every_place_gives_its_code_however_old_codes_are(make_device: Any, kind: str) -> None:
    for task in (SecondFactor(level="hard"), SecondFactor(compact=True, late=1)):
        device = make_device(task.viewport)
        params = of_kind(task, kind)
        for phase in range(0, task.life if kind == "app" else 1, 5):
            aged = replace(params, phase=phase, trust=True, ticked=False)
            task.setup(device, aged)
            actions = 0
            for demo in task.demonstrate(device, aged):
                device.perform(demo.action)
                actions += 1
            verdict = task.judge(device, aged, ())
            assert verdict.success, verdict.notes
            assert actions <= task.max_steps / 2 + 1


def fill_in(device: Any, params: SecondFactorParams) -> None:
    for name in ("user", "password"):
        perform(device, click(device, f"#{name}"), Type(getattr(params, name)))
    perform(device, click(device, "#next"))


def test_an_old_code_is_refused_and_two_wrong_ones_lock(make_device: Any) -> None:
    task = SecondFactor()
    device = make_device(task.viewport)
    task.setup(device, PARAMS)
    fill_in(device, PARAMS)
    perform(device, click(device, "#code"))
    now = device.state()["window"]
    state = perform(device, Type(task.code(PARAMS, now)), Wait(1.0))
    assert state["window"] > now
    state = perform(device, click(device, "#verify"))
    assert (state["step"], state["wrong"], state["code"]) == ("code", 1, "")
    state = perform(device, Type("123456"), click(device, "#verify"))
    assert state["step"] == "locked"
    assert task.judge(device, PARAMS, ()).notes == "locked after 2 wrong tries"


def test_a_message_comes_when_somebody_has_signed_in(make_device: Any) -> None:
    task = SecondFactor(late=2)
    device = make_device(task.viewport)
    params = of_kind(task, "phone")
    own = task.code(params, 0)
    task.setup(device, params)
    perform(device, Wait(3.0))
    fill_in(device, params)
    told = "document.body.textContent.includes('{}')"
    assert not device.evaluate(told.format(own))
    assert perform(device, Wait(2.0))["arrived"]
    assert device.evaluate(told.format(own))


def test_second_factor_refuses_what_its_page_cannot_show() -> None:
    with pytest.raises(UserError, match="covered is False"):
        SecondFactor(compact=True, covered=True)
    with pytest.raises(UserError, match="decoys must be 1 to 2, not 3"):
        SecondFactor(compact=True, decoys=3)


def test_a_page_that_reports_nothing_has_nobody_signed_in() -> None:
    assert judge(SecondFactor(), PARAMS).notes == "not signed in yet"
