"""Login's logic."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, goals, verdicts

from ui_gym.browser.tasks.login import CodeLoginParams, Login, LoginParams
from ui_gym.contract.action import Click, Type
from ui_gym.contract.task import params_json

ACCOUNT = LoginParams(
    user="ann", password="Secret-1", kind="name", stay=False, labels=("User name", "Password"),
    layout="center", brand=0, place=(0, 0), phrasing=0,
)  # fmt: skip


def sign_in(**said: Any) -> Any:
    return ("sign_in", {"user": "ann", "password": "Secret-1", "stay": False} | said)


test_login_scores = verdicts(
    Login(),
    ACCOUNT,
    {
        "right": (sign_in(), 1.0, True),
        "blanks": (sign_in(user=" ann "), 1.0, True),
        "trailing": (sign_in(password="Secret-1 "), 0.0, False),
        "case": (sign_in(password="secret-1"), 0.0, False),
        "third": (sign_in(password=""), sign_in(password="x"), sign_in(), 1.0, True),
        "locked": (*[sign_in(password="")] * 3, 0.0, True),
        "too late": (*[sign_in(password="")] * 3, sign_in(), 0.0, True),
        "ticked": (sign_in(stay=True), 0.5, True),
        "sign up": (("sign_up", {"user": "ann", "password": "Secret-1"}), 0.0, True),
        "forgot": (("forgot", {"mail": "ann"}), 0.0, True),
        "empty": (("sign_in", {}), 0.0, False),
    },
)


test_login_stays_signed_in_when_asked = verdicts(
    Login(),
    dataclasses.replace(ACCOUNT, stay=True),
    {
        "ticked": (sign_in(stay=True), 1.0, True),
        "not ticked": (sign_in(), 0.5, True, 'signed in, but "Stay signed in" is not ticked'),
    },
)


@pytest.mark.parametrize("compact", [True, False])
def test_login_goals_say_all_that_is_needed(compact: bool) -> None:
    task = Login(compact=compact)
    stays = set()
    for params, goal in goals(task):
        assert f'"{params.user}"' in goal
        assert f'"{params.password}"' in goal
        assert goal.endswith("Stay signed in.") == params.stay
        stays.add(params.stay)
    assert stays == {True, False}


def test_login_mistakes() -> None:
    task, rng = Login(), np.random.default_rng(0)
    swapped = task.misread(ACCOUNT, "swapped", rng)
    assert (swapped.user, swapped.password) == ("Secret-1", "ann")
    assert task.misread(ACCOUNT, "stay", rng).stay is True
    for word in ("Secret-1", "aab", "aaaa", "ab"):
        account = dataclasses.replace(ACCOUNT, password=word)
        typos = {task.misread(account, "typo", rng).password for _ in range(30)}
        assert word not in typos
        assert all(abs(len(typo) - len(word)) <= 1 for typo in typos)


test_login_with_a_code_needs_it = verdicts(
    Login(level="hard"),
    CodeLoginParams(**dataclasses.asdict(ACCOUNT), code="123456"),
    {
        "right": (sign_in(code="123456"), 1.0, True),
        "blanks": (sign_in(code=" 123456 "), 1.0, True),
        "wrong": (sign_in(code="123465"), 0.0, False),
        "empty": (sign_in(code=""), 0.0, False),
    },
)


def test_login_levels_change_the_form_alone() -> None:
    easy, medium, hard = (Login(level=level) for level in ("easy", "medium", "hard"))
    assert [task.steps for task in (Login(), easy, medium, hard)] == [1, 1, 2, 3]
    for seed in SEEDS:
        params = easy.draw(seed)
        assert params_json(medium.draw(seed)) == params_json(params)
        coded = hard.draw(seed)
        assert isinstance(coded, CodeLoginParams)
        assert len(coded.code) == 6
        assert f'"{coded.code}"' in hard.goal(coded)
        assert {**dataclasses.asdict(coded), "code": ""} == {
            **dataclasses.asdict(params),
            "code": "",
        }


def test_login_of_three_steps_counts_wrong_passwords_and_wrong_codes(show: Any) -> None:
    task = Login(level="hard")
    params = task.draw(0)
    device = show(task, params)

    def enter(text: str) -> Any:
        device.perform(Type(text, enter=True))
        return device.state()["step"]

    device.perform(Click(*device.center("#user")))
    assert enter(" ") == "user"
    assert enter(params.user) == "password"
    assert enter("guess") == "password"
    device.perform(Click(*device.center("#password")))
    assert enter(params.password) == "code"
    assert enter("000000") == "code"
    assert not task.judge(device, params, ()).done
    device.perform(Click(*device.center(".who button")))
    assert device.state()["step"] == "user"
    assert enter("") == "password"
    assert enter(params.password) == "code"
    assert enter("000000") == "code"
    assert task.judge(device, params, ()).notes == "locked after 3 wrong tries"
