"""Rollouts that are played elsewhere: recorded when their agents say how they went."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engines.foreign_agents import user
from tests.engines.policy_serving import Json, ServedPolicy
from tests.policy.tiny_models import picture
from ui_gym.errors import UserError
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.serving import trace
from ui_gym_agents.serving.open_desk import TRACES, OpenDesk, public_name
from ui_gym_agents.serving.rollouts import RolloutError
from ui_gym_agents.store import EpisodeStore, from_json

HI = user("Enter row 3")


@pytest.fixture
def served(make_policy: Callable[..., VLMPolicy], tmp_path: Path) -> Iterator[ServedPolicy]:
    found = ServedPolicy(make_policy(), tmp_path)
    yield found
    found.close()


def test_an_episode_is_recorded_with_its_tokens_pictures_and_reward(
    served: ServedPolicy, tmp_path: Path
) -> None:
    served.chat(HI, key="one")
    served.chat(user("Look", picture(3)), key="one")
    records = served.trace("one")
    told = {"reward": 0.5, "task": "mine", "seed": 7, "goal": "Enter", "group": "g"}
    assert served.post("rollout/end", told, "one").json() == {"turns": 2, "reward": 0.5}
    (line,) = (tmp_path / "episodes.jsonl").read_text().splitlines()
    episode = from_json(json.loads(line))
    assert [turn.tokens for turn in episode.turns] == records
    assert (episode.id, episode.task, episode.seed, episode.group) == ("one", "mine", 7, "g")
    assert (episode.score, episode.success, episode.turns[-1].reward) == (0.5, False, 0.5)
    (key,) = records[1].images
    assert (EpisodeStore(tmp_path).screenshots.get(key) == picture(3)).all()
    (written,) = (tmp_path / TRACES).read_text().splitlines()
    assert trace.records(json.loads(written)) == records
    assert json.loads(written)["turns"][0]["request"]["messages"] == [HI]
    assert served.notes == ["one: 2 answers, reward 0.5"]


def test_a_rollout_ends_once_and_an_empty_one_is_no_episode(served: ServedPolicy) -> None:
    served.chat(HI)
    assert served.post("rollout/end", {"reward": 1}).json()["turns"] == 1
    assert served.post("rollout/end", {"reward": 1}).json()["turns"] == 0
    assert [episode.success for episode in served.store] == [True]


def test_an_answer_that_is_no_action_of_the_dialect_is_recorded_as_such(
    served: ServedPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("click(1, 1)", "<x8><y19>)"):
        monkeypatch.setattr(served.policy, "text", lambda ids, text=text: text)
        served.chat(user("Look", picture(3)))
    served.post("rollout/end", {"reward": 1}).raise_for_status()
    (episode,) = served.store
    assert [turn.action_error for turn in episode.turns] == [None, "parse"]


def test_an_agent_that_failed_says_why(served: ServedPolicy) -> None:
    served.chat(HI)
    served.post("rollout/end", {"failure": "the browser died"}).raise_for_status()
    (episode,) = served.store
    assert (episode.failure, episode.score) == ("the browser died", 0.0)


@pytest.mark.parametrize(
    "body",
    [{}, {"reward": "1"}, {"reward": float("inf")}, {"failure": 3}, {"reward": 1, "seed": "x"},
     {"failure": "x", "reward": "y"}],
)  # fmt: skip
def test_an_end_that_says_nothing_leaves_the_rollout_open(served: ServedPolicy, body: Json) -> None:
    served.chat(HI)
    found = served.client.post(
        "rollout/end", content=json.dumps(body), headers={"Authorization": "Bearer a"}
    )
    assert found.status_code == 400
    assert len(served.trace()) == 1


def test_a_key_that_looks_like_a_secret_is_not_told(served: ServedPolicy, tmp_path: Path) -> None:
    key = "sk-proj-my-secret"
    served.chat(HI, key=key)
    served.post("rollout/end", {"reward": 1}, key)
    written = "".join(path.read_text() for path in tmp_path.glob("*.jsonl")) + str(served.notes)
    assert key not in written
    assert public_name(key) in written


def test_what_is_open_at_the_end_or_too_long_is_given_up(
    served: ServedPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.chat(HI, key="old")
    monkeypatch.setattr("ui_gym_agents.serving.open_desk.IDLE", -1.0)
    served.desk.rollout("new", "")
    assert [str(episode.failure) for episode in served.store] == [
        "its agent asked no more for -1 s"
    ]
    monkeypatch.undo()
    served.chat(HI, key="late")
    served.desk.close()
    assert [episode.failure for episode in served.store][1:] == ["the server ended"]


def test_names_are_needed_short_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = OpenDesk(EpisodeStore())
    monkeypatch.setattr("ui_gym_agents.serving.open_desk.MOST", 1)
    desk.rollout("a", "")
    for key, status in (("", 401), ("x" * 201, 400), ("b", 429)):
        with pytest.raises(RolloutError) as caught:
            desk.rollout(key, "")
        assert caught.value.status == status


def test_a_server_without_envs_says_so(served: ServedPolicy) -> None:
    for page in ("env/step", "rollouts/next"):
        found = served.post(page, {})
        assert found.status_code == 404
        assert "bring your own" in found.json()["error"]["message"]


@pytest.mark.parametrize(
    "told",
    [{}, {"schema_version": 2}, {"schema_version": 1, "turns": [{}]},
     {"schema_version": 1, "turns": [{"prompt_token_ids": [1], "completion_token_ids": [2],
                                      "per_token_logps": [], "loss_mask": [0, 1]}]}],
)  # fmt: skip
def test_what_is_no_trace_is_refused(told: Json) -> None:
    with pytest.raises(UserError, match=r"trace of version|no TrainingTrace"):
        trace.records(told)
