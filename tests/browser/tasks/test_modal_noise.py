"""ModalNoise's logic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from task_helpers import SEEDS, draws, judge, levels, verdicts

from ui_gym.browser.content import jobs
from ui_gym.browser.tasks.modal_noise import (
    AT_COMMIT,
    BLOCKING,
    CORNER,
    ModalNoise,
    ModalNoiseParams,
    Noise,
)
from ui_gym.errors import UserError

LEVELS = ("easy", "medium", "hard")

PARAMS = ModalNoiseParams(
    base="order", items=(("41", "Ann", "$9"), ("14", "Bob", "$8")), target=1,
    noises=(
        Noise("cookies", 0, 0, "accept"), Noise("trial", 0, 0, "decline"),
        Noise("survey", 0, 1, "decline"), Noise("app", 0, 2, "decline"),
    ),
    tricky=False, brand=0, theme=0, phrasing=0,
)  # fmt: skip


def answers(*given: str) -> list[Any]:
    """What is answered to the first, the second... of what comes up."""
    said = {"a": "accept", "d": "decline"}
    return [("answer", {"noise": id, "answer": said[one]}) for id, one in enumerate(given)]


def done(item: str = "14") -> Any:
    return ("done", {"item": item})


test_modal_noise_scores = verdicts(
    ModalNoise(),
    PARAMS,
    {
        "answered only": (*answers(*"addd"), 0.0, False),
        "right": (*answers(*"addd"), done(), 1.0, True),
        "some open": (*answers("a"), done(), 1.0, True),
        "blanks": (done(" 14 "), 1.0, True),
        "cookies": (*answers(*"dddd"), done(), 0.75, True),
        "offer": (*answers(*"aadd"), done(), 0.75, True),
        "all wrong": (*answers(*"daaa"), done(), 0.25, True),
        "other order": (*answers(*"addd"), done("41"), 0.0, True),
        "too late": (*answers(*"addd"), done("41"), done(), 0.0, True),
        "unnamed": (("answer", {}), done(), 0.75, True),
        "unknown": (("answer", {"noise": 9, "answer": "decline"}), done(), 0.75, True),
        "empty": (("done", {}), 0.0, True),
    },
)


@levels(ModalNoise)
def test_goals_say_what_to_do_and_what_to_decline(task: Any) -> None:
    bases = set()
    for params in draws(task):
        goal, item = task.goal(params), params.items[params.target][0]
        bases.add(params.base)
        assert item in goal
        assert goal.count("decline whatever else comes up") == 1
        assert ("Accept all cookies" in goal) == (params.noises[0].answer == "accept")
        assert ("necessary cookies" in goal) == (params.noises[0].answer == "decline")
        names = [each[0] for each in params.items]
        assert len(set(names)) == len(names) > 1
        assert item not in str(task.page_params(params)) or params.base != "note"
    assert bases == set(jobs.ITEMS)


@levels(ModalNoise)
def test_what_comes_up(task: Any) -> None:
    for seed in SEEDS:
        cookies, first, *others = task.draw(seed).noises
        assert len(others) == task.noises - 2
        assert (cookies.kind, cookies.at) == ("cookies", 0)
        # It cannot be missed, so that accepting it is a near miss.
        assert first.kind in BLOCKING
        assert first.at in ((0, 1, AT_COMMIT) if task.late else (0,))
        kinds = [first.kind, *(noise.kind for noise in others)]
        assert len(set(kinds)) == len(kinds)
        assert set(kinds) <= {*BLOCKING, *CORNER}
        assert all(noise.answer == "decline" for noise in (first, *others))


@levels(ModalNoise)
def test_mistakes_are_no_success(task: Any) -> None:
    rng = np.random.default_rng(0)
    scores = {"cookies": 0.75, "offer": 0.75, "neighbour": 0.0}
    for params in draws(task):
        assert judge(task, params, *_played(params)).success
        for mistake in task.mistakes:
            believed = task.misread(params, mistake, rng)
            assert judge(task, params, *_played(believed)).score == scores[mistake]


def _played(params: ModalNoiseParams) -> list[Any]:
    given = (noise.answer[0] for noise in params.noises)
    return [*answers(*given), done(params.items[params.target][0])]


def test_the_page_does_not_know_the_answers() -> None:
    told = ModalNoise().page_params(PARAMS)
    assert "answer" not in str(told)
    assert told["noises"][0] == {"kind": "cookies", "look": 0, "at": 0}


def test_cookies_may_be_all_that_comes_up() -> None:
    assert len(ModalNoise(noises=1).draw(0).noises) == 1


def test_modal_noise_compact_goals_say_what_to_do_and_what_to_decline() -> None:
    task, bases = ModalNoise(compact=True), set()
    for params in draws(task):
        goal, item = task.goal(params), params.items[params.target][0]
        bases.add(params.base)
        assert f" {item}." in goal
        accepted = params.noises[0].answer == "accept"
        assert ("Accept cookies, decline all else." in goal) == accepted
        assert ("Decline cookies and all else." in goal) != accepted
        assert len({each[0] for each in params.items}) == 4
    assert bases == set(jobs.ITEMS)


def test_modal_noise_compact_page_refuses_what_has_no_room() -> None:
    with pytest.raises(UserError, match="items must be 4 to 5, not 8"):
        ModalNoise(compact=True, level="medium")
    with pytest.raises(UserError, match="tricky is 0"):
        ModalNoise(compact=True, tricky=1)
