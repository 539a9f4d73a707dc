"""Registration's logic, and what its form refuses."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import numpy as np
import pytest
from task_helpers import draws, levels, perform, verdicts

from ui_gym.browser.content.persons import DATES
from ui_gym.browser.tasks.registration import Registration, RegistrationParams
from ui_gym.contract.action import Action, Click, Press, Type
from ui_gym.errors import UserError

PERSON = RegistrationParams(
    record=(("first", "Ann"), ("last", "Lee"), ("email", "a@x.org")),
    told=(("first", "Ann"), ("last", "Lee"), ("email", "a@x.org")),
    news=False, ticked=True, formats=("dashes", "dmy", "blank"), order=("person", "account"),
    wording=0, side="none", brand=0, theme=0, phrasing=0,
)  # fmt: skip


def submit(first: Any = "Ann", last: str = "Lee", email: str = "a@x.org", news: Any = False) -> Any:
    return ("submit", {"record": {"first": first, "last": last, "email": email}, "news": news})


test_registration_scores = verdicts(
    Registration(fields=3),
    PERSON,
    {
        "right": (submit(), 1.0, True),
        "blanks": (submit(first=" Ann "), 1.0, True),
        "case": (submit(first="ann"), 0.75, True),
        "swapped": (submit(first="Lee", last="Ann"), 0.5, True),
        "newsletter": (submit(news=True), 0.75, True),
        "both": (
            submit(last="Ray", news=True),
            0.5,
            True,
            "the account is created with last and newsletter wrong",
        ),
        "all wrong": (submit("", "", "", True), 0.0, True),
        "no text": (submit(first=None), 0.75, True),
        "refused": (("refused", {"wrong": ["terms"]}), 0.0, False),
        "after refusal": (("refused", {"wrong": ["terms"]}), submit(), 1.0, True),
        "first counts": (submit(email="b@x.org"), submit(), 0.75, True),
        "empty": (("submit", {}), 0.25, True),
    },
)


@levels(Registration)
def test_registration_goals_tell_every_field(task: Any) -> None:
    for params in draws(task):
        goal, record, told = task.goal(params), dict(params.record), dict(params.told)
        assert tuple(record) == tuple(told) == task.names
        assert all(value in goal for value in told.values())
        assert ("do not subscribe" in goal) != params.news
        for name in task.names:
            rewritten = task.reformat and name in ("phone", "birthday", "postcode")
            assert (record[name] != told[name]) == rewritten
            if name in ("phone", "postcode"):
                assert _letters(record[name]) == _letters(told[name])


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def test_registration_dates_are_the_same_day() -> None:
    task = Registration(level="hard")
    for params in draws(task):
        written = dict(params.record)["birthday"]
        day = datetime.datetime.strptime(written, DATES[params.formats[1]]).date()
        assert dict(params.told)["birthday"] == f"{day.day} {day:%B %Y}"


def test_registration_mistakes() -> None:
    task, rng = Registration(fields=3), np.random.default_rng(0)
    assert task.misread(PERSON, "news", rng).news is True
    assert task.misread(PERSON, "swapped", rng).record[:2] == (("first", "Lee"), ("last", "Ann"))
    for _ in range(30):
        typed = task.misread(PERSON, "typo", rng)
        assert sum(a != b for a, b in zip(typed.record, PERSON.record, strict=True)) == 1
        assert typed.told == PERSON.told


def test_registration_refuses_what_is_not_valid(show: Any) -> None:
    task = Registration(fields=7)
    params = dataclasses.replace(task.draw(0), formats=("dashes", "dmy", "joined"))
    device = show(task, params)

    def enter(name: str, text: str) -> None:
        device.evaluate(f"document.getElementById('{name}').scrollIntoView()")
        perform(device, Click(*device.center(f"#{name}")), Type(text, clear=True))

    def refused() -> list[str]:
        device.perform(Press("enter"))
        device.state()
        last = device.events[-1]
        assert last.type == "refused", last
        return sorted(last.data["wrong"])

    entered = {"first": "Ann", "last": "Lee", "email": "a@x", "password": "Secret", "city": "York",
               "repeat": "secret", "phone": "5552017788", "postcode": "AB1 2CD"}  # fmt: skip
    for name, text in entered.items():
        enter(name, text)
    assert refused() == ["email", "password", "phone", "postcode", "repeat", "terms"]
    for name, text in {"email": "a@x.org", "password": "Secret-1", "repeat": "Secret-1"}.items():
        enter(name, text)
    enter("phone", "555-201-7788")
    enter("postcode", "AB12CD")
    assert refused() == ["terms"]
    device.evaluate("document.getElementById('terms').scrollIntoView()")
    device.perform(Click(*device.center("#terms")))
    device.perform(Click(*device.center("#create")))
    device.state()
    assert device.events[-1].type == "submit"
    assert device.events[-1].data["record"]["postcode"] == "AB12CD"


def test_registration_compact_form_says_what_it_refuses(make_device: Any) -> None:
    task = Registration(compact=True, reformat=True)
    device = make_device(task.viewport)
    params = dataclasses.replace(
        task.draw(0), formats=("dashes", "dmy", "blank"),
        record=(("first", "Carl"), ("phone", "1-2-3")), told=(("first", "Carl"), ("phone", "123")),
    )  # fmt: skip
    assert "First Carl, Code 123" in task.goal(params)
    task.setup(device, params)

    def send(*actions: Action) -> tuple[str, list[str]]:
        perform(device, *actions, Click(*device.center("#create")))
        device.state()
        said = [e.name for e in device.capture(elements=True).elements if "Check" in e.name]
        return device.events[-1].type, said[:1]

    first, code = Click(*device.center("#first")), Click(*device.center("#phone"))
    assert send(first, Type("Carl"), code, Type("123")) == ("refused", ["Check Code"])
    assert send(code, Type("1-2-3", clear=True)) == ("refused", ["Check Terms"])
    assert send(Click(*device.center("#terms")))[0] == "submit"


@pytest.mark.parametrize(
    ("given", "said"),
    [({"fields": 4}, "fields must be 2 to 3, not 4"), ({"repeat": True}, "repeat is False")],
    ids=["fields", "repeat"],
)
def test_registration_compact_refuses(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        Registration(compact=True, **given)
    with pytest.raises(UserError, match="fields must be 3 to 10, not 2"):
        Registration(fields=2)
