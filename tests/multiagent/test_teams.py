"""Every document, with its oracle and its near misses, in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from numpy.random import Generator, default_rng

from ui_gym.contract.action import Wait
from ui_gym.contract.task import Verdict
from ui_gym.errors import TaskError, UserError
from ui_gym.multiagent import shared_board_v0, shared_inbox_v0
from ui_gym.multiagent.checklist import SharedChecklist, SharedChecklistParams
from ui_gym.multiagent.document import SharedDocument
from ui_gym.multiagent.task import Round, Windows
from ui_gym.multiagent.testing import check_team_env

QUICK = [
    {"document": "kanban", "goal": "common", "compact": True},
    {"document": "kanban", "goal": "split", "compact": False},
    {"document": "sheet", "goal": "split", "compact": False},
    {"document": "order", "goal": "common", "compact": False},
]
BOARDS = [{**quick, "goal": goal} for quick in QUICK for goal in ("common", "split")]


def told(arguments: dict[str, Any]) -> str:
    return "-".join(str(value) for value in arguments.values())


@pytest.mark.parametrize("arguments", QUICK, ids=told)
def test_boards_are_sound(arguments: dict[str, Any]) -> None:
    check_team_env(lambda: shared_board_v0.parallel_env(**arguments), seeds=(0,))


def test_the_inbox_is_sound() -> None:
    check_team_env(lambda: shared_inbox_v0.parallel_env(mails=2), seeds=(0,))


@pytest.mark.nightly
@pytest.mark.parametrize("arguments", BOARDS, ids=told)
def test_boards_of_all_goals_are_sound(arguments: dict[str, Any]) -> None:
    check_team_env(lambda: shared_board_v0.parallel_env(**arguments), seeds=range(8))


@pytest.mark.nightly
def test_many_inboxes_are_sound() -> None:
    check_team_env(shared_inbox_v0.parallel_env, seeds=range(8))


@pytest.mark.nightly
@pytest.mark.parametrize("users", [3, 4])
@pytest.mark.parametrize("arguments", BOARDS, ids=told)
def test_larger_teams_are_sound(arguments: dict[str, Any], users: int) -> None:
    more: dict[str, Any] = {}
    if arguments["compact"]:
        more = {"cards": 5 if users == 4 else 4}
    elif arguments["document"] == "kanban":
        more = {"cards": 12}
    check_team_env(
        lambda: shared_board_v0.parallel_env(users=users, **arguments, **more), seeds=range(4)
    )


@pytest.mark.nightly
@pytest.mark.parametrize("users", [3, 4])
def test_larger_offices_are_sound(users: int) -> None:
    check_team_env(lambda: shared_inbox_v0.parallel_env(users=users), seeds=range(4))


class Idle(SharedChecklist):
    """Whose oracle does nothing."""

    def oracle(
        self, windows: Windows, params: SharedChecklistParams, mistake: str = ""
    ) -> Iterator[Round]:
        yield [Wait(), Wait()]


class Lenient(SharedChecklist):
    """Whose judge asks for nothing."""

    def judge(self, document: SharedDocument, params: SharedChecklistParams) -> Verdict:
        return Verdict(1.0, done=True)


class Constant(SharedChecklist):
    """Whose params are always the same."""

    def sample(self, rng: Generator) -> SharedChecklistParams:
        return super().sample(default_rng(4))


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (Idle, "seed 0: its oracle fails"),
        (Lenient, "seed 0: the goal is reached at the start"),
        (Constant, "all seeds have the same goals"),
    ],
)
def test_what_is_unsound_is_found(kind: type[SharedChecklist], what: str) -> None:
    with pytest.raises(TaskError, match=what):
        check_team_env(lambda: shared_board_v0.parallel_env(kind(), split=None), seeds=(0, 1))


def test_a_compact_form_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match="'sheet' has no compact form; kanban has"):
        shared_board_v0.parallel_env(document="sheet", compact=True)
