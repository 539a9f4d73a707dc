"""SharedInbox: turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.utils.env import AECEnv

from ui_gym.multiagent import env as env_by_name
from ui_gym.multiagent.inbox import SharedInbox


@pytest.fixture(scope="module")
def office() -> Iterator[SharedInbox]:
    env = SharedInbox(mails=2, viewport=(900, 500))
    yield env
    env.close()


def click(env: SharedInbox, clerk: int, selector: str) -> str:
    x, y = env.windows.devices[clerk].center(selector)
    return f"click({x}, {y})"


def test_a_mail_that_is_handed_over_is_seen_at_the_others_next_turn(office: SharedInbox) -> None:
    office.reset(seed=0)
    assert office.agent_selection == "clerk_0"
    (mail, *_) = office.windows.devices[0].state()["open"]
    assert office.params.concerns[mail] == 1
    office.step(click(office, 0, f"#mail-{mail}"))
    assert office.agent_selection == "clerk_1"
    office.step("wait(0.1)")
    before = office.observe("clerk_1")["screenshot"]
    office.step(click(office, 0, "#to-1"))
    assert mail not in office.windows.devices[0].state()["open"]
    assert office.windows.devices[1].state()["open"][-1] == mail
    assert not np.array_equal(office.observe("clerk_1")["screenshot"], before)


def test_only_the_one_whose_turn_it_is_acts(office: SharedInbox) -> None:
    office.reset(seed=0)
    others = office.windows.devices[1].state()
    office.step("klick(1, 1)")
    assert office.windows.devices[1].state() == others
    assert "klick" in office.observe("clerk_0")["feedback"]
    assert office.observe("clerk_1")["feedback"] == ""
    assert office.infos["clerk_0"]["action_error"] == "name"
    assert office.infos["clerk_0"]["step"] == 0
    office.step("wait(0.1)")
    assert office.infos["clerk_0"]["step"] == 1


def play(office: SharedInbox, reward: dict[str, float]) -> dict[str, Any]:
    """The infos with which the oracle's episode ended; adds up the rewards."""
    office.reset(seed=2, options={"oracle": True})
    ended: dict[str, Any] = {}
    for agent in office.agent_iter():
        _, gained, terminated, truncated, info = office.last()
        reward[agent] = reward.get(agent, 0.0) + gained
        if terminated or truncated:
            ended[agent] = info
            office.step(None)
        else:
            office.step(info["oracle"]["action_text"])
    return ended


@pytest.mark.parametrize("mode", ["success", "progress"])
def test_every_clerk_is_paid_the_teams_score(mode: str) -> None:
    env = SharedInbox(mails=1, reward=mode, viewport=(640, 400))
    paid: dict[str, float] = {}
    ended = play(env, paid)
    assert paid == {"clerk_0": 1.0, "clerk_1": 1.0}
    assert all(info["success"] for info in ended.values())
    with pytest.raises(ResetNeeded):
        env.step("wait(0.1)")
    env.close()


def test_it_ends_when_all_say_so_in_one_cycle(office: SharedInbox) -> None:
    office.reset(seed=0)
    for text in ("finish()", "wait(0.1)", "wait(0.1)", 'finish("success")'):
        office.step(text if text != "finish()" else 'finish("success")')
        assert not any(office.terminations.values())
    office.step('finish("success")')
    office.step('finish("success")')
    assert all(office.terminations.values())


def test_an_office_is_found_by_its_name() -> None:
    env = env_by_name("shared_inbox_v0", users=3)
    assert isinstance(env, AECEnv)
    assert env.possible_agents == ["clerk_0", "clerk_1", "clerk_2"]
    env.close()
