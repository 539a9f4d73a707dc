"""What a step learns from where episodes fail: no failure is ever a reward."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import paint
import pytest
from grpo_helpers import run_reward

from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.episode import Episode, TokenRecord, Turn
from ui_gym_agents.groups.advantages import leave_one_out
from ui_gym_agents.groups.gathering import Batch, Gatherer, Trajectory
from ui_gym_agents.rewards import RewardFailure
from ui_gym_agents.seeds import derive, derive_noise
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import EnvSettings, RunConfig
from ui_gym_grpo.config import GRPOConfig

FOR_GOOD = 3
"""So many failures of an episode are one more than it is played again."""


@dataclass
class Flaky:
    """Clicks right where the member's number is odd; what it runs on fails it `failures` times."""

    failures: dict[str, int] = field(default_factory=dict)
    """How often the episode of an id fails before it goes well."""
    begun: dict[str, int] = field(default_factory=dict)
    """How often each was begun."""
    known: dict[int, EpisodeRequest] = field(default_factory=dict)
    wants_ground_truth: bool = True

    def expect(self, requests: Sequence[EpisodeRequest]) -> None:
        """Who is who, by the noise of the first turn."""
        self.known |= {
            derive_noise(0, r.task, r.seed, r.group, r.member, 0): r for r in requests
        }  # fmt: skip

    def act(self, views: Sequence[View]) -> list[Decision]:
        return [self._decide(view, self.known[view.noise]) for view in views]

    def _decide(self, view: View, request: EpisodeRequest) -> Decision:
        self.begun[request.id] = self.begun.get(request.id, 0) + 1
        if self.begun[request.id] <= self.failures.get(request.id, 0):
            return Decision("", failure="engine: 500")
        params = view.ground_truth.params
        right = request.member % 2 == 1
        x, y = next((x, y) for name, x, y in params["boxes"] if (name == params["target"]) == right)
        return Decision(f"click({x}, {y})", TokenRecord((1,), (2,), (-0.5,)))


@dataclass
class Stand:
    """A gatherer on real envs, and all that it asked for."""

    gatherer: Gatherer
    agent: Flaky
    asked: list[EpisodeRequest]
    context: TrainerContext

    def batch(self, *failing: str, times: int = FOR_GOOD) -> Batch:
        self.agent.failures = dict.fromkeys(failing, times)
        return self.gatherer.batch(1)


Make = Callable[..., Stand]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    closing: list[Any] = []

    def stand(slots: int = 4, **settings: Any) -> Stand:
        directory = RunDirectory(tmp_path / f"run{len(closing)}")
        tasks = {"ids": ("PaintClick",)}
        context = TrainerContext(directory, RunConfig(plugin="grpo", tasks=tasks))  # type: ignore[arg-type]
        envs = UIVectorEnv(slots, "PaintClick", pool=paint.PaintPool((96, 64)))
        closing.extend([directory, envs])
        agent, asked = Flaky(), []
        draw = context.requests

        def requests(*given: Any, **more: Any) -> list[EpisodeRequest]:
            found = draw(*given, **more)
            asked.extend(found)
            agent.expect(found)
            return found

        context.requests = requests  # type: ignore[method-assign]
        config = GRPOConfig(**{"groups": 2, "group_size": 4} | settings)
        return Stand(Gatherer(config, context, Collector(envs, agent)), agent, asked, context)

    yield stand
    for one in closing:
        one.close()


def learned(batch: Batch) -> dict[str, list[tuple[Episode, float]]]:
    """Episodes with their advantages, by group."""
    found: dict[str, list[tuple[Episode, float]]] = {}
    for one in batch.trajectories:
        ((sample),) = one.samples
        assert isinstance(sample.advantage, float)
        found.setdefault(one.episode.group, []).append((one.episode, sample.advantage))
    return found


@pytest.mark.parametrize(
    ("size", "quorum", "fewest"),
    [(8, 0.75, 6), (4, 0.75, 3), (2, 0.75, 2), (5, 0.75, 4), (25, 0.28, 7), (8, 0.0, 2), (8, 1, 8)],
)
def test_so_many_must_be_left_of_a_group(size: int, quorum: float, fewest: int) -> None:
    assert GRPOConfig(group_size=size, quorum=quorum).fewest == fewest
    assert GRPOConfig(algorithm="ppo", group_size=size, quorum=quorum).fewest == 1


def test_without_failures_all_count(make: Make) -> None:
    batch = make().batch()
    assert (batch.failed, batch.short, batch.dropped) == (0, 0, 0)
    assert [len(group) for group in learned(batch).values()] == [4, 4]


@pytest.mark.parametrize("times", [1, 2])
def test_an_episode_is_played_again_at_most_twice(make: Make, times: int) -> None:
    stand = make()
    whole = make().batch()
    batch = stand.batch("1-0.1", "1-1.2", times=times)
    assert {i: n for i, n in stand.agent.begun.items() if n > 1} == {
        "1-0.1": times + 1,
        "1-1.2": times + 1,
    }
    assert (batch.failed, batch.short, batch.dropped) == (0, 0, 0)
    assert told(batch) == told(whole)


def told(batch: Batch) -> list[tuple[str, float, float]]:
    groups = learned(batch).values()
    return [(e.id, e.score, advantage) for group in groups for e, advantage in group]


def test_a_short_group_counts_with_those_that_are_left(make: Make) -> None:
    stand = make()
    batch = stand.batch("1-0.1")
    assert stand.agent.begun["1-0.1"] == FOR_GOOD
    assert (batch.failed, batch.short, batch.dropped, batch.groups) == (1, 1, 0, 2)
    group = learned(batch)["1-0"]
    assert [e.id for e, _ in group] == ["1-0.0", "1-0.2", "1-0.3"]
    # As if the group had never had more: one success among three, not two among four.
    assert [a for _, a in group] == pytest.approx(leave_one_out([0.0, 0.0, 1.0]))
    assert len(batch.episodes) == 7


def test_a_group_that_lost_too_many_is_dropped_and_replaced(make: Make) -> None:
    stand = make()
    batch = stand.batch("1-0.1", "1-0.2")
    assert (batch.failed, batch.short, batch.dropped) == (2, 0, 1)
    assert (batch.groups, batch.informative) == (3, 2)
    assert sorted(learned(batch)) == ["1-1", "1-2"]
    assert all(e.failure is None for e in batch.episodes)


def test_refill_bounds_what_is_replaced(make: Make) -> None:
    stand = make(refill=2.0)
    batch = stand.batch(*(f"1-{group}.{member}" for group in range(4) for member in range(4)))
    assert (batch.failed, batch.dropped, batch.groups) == (16, 4, 4)
    assert (batch.episodes, batch.trajectories) == ([], [])
    assert len({request.group for request in stand.asked}) == 4


def test_a_quorum_of_all_drops_whoever_lost_one(make: Make) -> None:
    batch = make(quorum=1).batch("1-1.0")
    assert (batch.short, batch.dropped) == (0, 1)
    assert sorted(learned(batch)) == ["1-0", "1-2"]


def test_a_critic_learns_from_what_is_left_and_replaces_the_rest(make: Make) -> None:
    stand = make(algorithm="ppo", group_size=2)
    batch = stand.batch("1-0.0", "1-1.0", "1-1.1")
    assert (batch.failed, batch.short, batch.dropped) == (3, 1, 1)
    assert [one.episode.id for one in batch.trajectories] == ["1-0.1", "1-2.0", "1-2.1"]


def test_a_group_that_is_gone_leaves_the_others_what_they_were(make: Make) -> None:
    """Shuffled rewards are drawn by a group's number: that of the ones behind must not change."""
    settings = {"shuffle_rewards": True, "groups": 3, "refill": 1.0}
    whole = make(**settings).batch()
    batch = make(**settings).batch(*(f"1-0.{member}" for member in range(4)))
    assert batch.dropped == 1
    rest = learned(whole)
    rest.pop("1-0", None)
    assert [(e.id, a) for g in learned(batch).values() for e, a in g] == [
        (e.id, a) for g in rest.values() for e, a in g
    ]
    assert rest


def test_what_the_machine_failed_tells_the_curriculum_nothing(make: Make) -> None:
    stand = make()
    seen: list[Episode] = []
    stand.gatherer._context.observe = seen.extend  # type: ignore[method-assign]
    stand.batch("1-0.1", "1-1.0", "1-1.1")
    assert {e.id for e in seen}.isdisjoint({"1-0.1", "1-1.0", "1-1.1"})


def test_rewards_that_fail_are_counted_in_the_step_that_learns(make: Make) -> None:
    """A step is played while the one before is learned, and is not judged by what it has so far."""
    stand = make(reward=f"{__name__}:of_success", groups=2, refill=1.0)
    for step in (1, 2):
        stand.gatherer.batch(step)
    stand.context.step = 1
    stand.context.check_rewards()
    stand.context.step = 2
    with pytest.raises(RewardFailure, match="4 of the 8 episodes of step 2 have no reward"):
        stand.context.check_rewards()
    stand.context.step = 3
    stand.context.check_rewards()


def of_success(episode: Episode) -> float:
    """A reward that cannot be said of what fails in step 2."""
    if episode.purpose.step == 2 and not episode.success:
        raise ValueError("no such log")
    return float(episode.success)


# -- what is told of it --


def test_every_episode_with_a_reward_is_told_and_which_groups_were_all_alike(make: Make) -> None:
    batch = make().batch("1-0.1")  # members with odd numbers are right
    ids = [f"1-{group}.{member}" for group in (0, 1) for member in range(4)]
    assert batch.rewards == {name: float(int(name[-1]) % 2) for name in ids if name != "1-0.1"}
    assert batch.equal == set()
    short = make(group_size=2, refill=1.0).batch("1-0.1", "1-1.1")
    assert short.rewards == {"1-0.0": 0.0, "1-1.0": 0.0}
    assert short.dropped == 2, "what is left of a group that lost too many is told nonetheless"
    assert short.equal == set()


def test_those_of_groups_that_are_all_alike_taught_nothing() -> None:
    batch = gathered([[1.0], [1.0], [1.0]])
    assert batch.trajectories == []
    assert batch.rewards == dict.fromkeys(("1-0.0", "1-0.1", "1-0.2"), 1.0)
    assert batch.equal == {"1-0.0", "1-0.1", "1-0.2"}


# -- rewards on the way --


@dataclass
class Progressing:
    """A collector whose episodes gain a part of the score in each turn."""

    group: list[Episode]
    store: Any = None

    def groups(self, requests: Any) -> Iterator[list[Episode]]:
        yield self.group


def progressed(scores: Sequence[Sequence[float]]) -> list[Episode]:
    """Episodes whose turns gained `scores`, all from one state."""
    return [
        Episode(
            "UI/Test-v0", 1, "", group="1-0", id=f"1-0.{member}", score=sum(gains),
            success=sum(gains) >= 1,
            turns=[
                Turn("same", "click(1, 2)", reward=gain, tokens=TokenRecord((1,), (2,), (-0.5,)))
                for gain in gains
            ],
        )
        for member, gains in enumerate(scores)
    ]  # fmt: skip


def rewarded(scores: Sequence[Sequence[float]], **settings: Any) -> list[Trajectory]:
    return gathered(scores, **settings).trajectories


def gathered(scores: Sequence[Sequence[float]], **settings: Any) -> Batch:
    group = progressed(scores)
    config = GRPOConfig(**{"groups": 1, "group_size": len(group), "refill": 1} | settings)
    given: Any = SimpleNamespace(
        requests=lambda *args, **more: [SimpleNamespace(group="1-0")],
        derive=derive, observe=lambda group: None,
        reward=run_reward,
    )  # fmt: skip
    return Gatherer(config, given, Progressing(group)).batch(1)  # type: ignore[arg-type]


GAINS = [[0.25, 0.0, 0.75], [0.25, 0.25, 0.0]]


@pytest.mark.parametrize("algorithm", ["grpo", "ppo"])
def test_what_turns_gained_reaches_their_advantages(algorithm: str) -> None:
    scored = rewarded(GAINS, algorithm=algorithm, reward="completion")
    assert [one.rewards for one in scored] == GAINS
    # A failure's progress is taken back at its end: it is worth 0, on whatever way.
    succeeded = rewarded(GAINS, algorithm=algorithm, reward="success")
    assert [one.rewards for one in succeeded] == [GAINS[0], [0.25, 0.25, -0.5]]


def test_gigpo_tells_turns_apart_by_what_followed() -> None:
    found = rewarded(GAINS, advantage="gigpo", reward="completion", gigpo_gamma=0.5)
    returns = [0.25 + 0.75 / 4, 0.75 / 2, 0.75, 0.25 + 0.25 / 2, 0.25, 0.0]
    mean = sum(returns) / 6
    episode = [0.25] * 3 + [-0.25] * 3
    told = [sample.advantage for one in found for sample in one.samples]
    assert told == pytest.approx([e + r - mean for e, r in zip(episode, returns, strict=True)])


def test_gigpo_learns_from_a_group_of_equal_totals_whose_turns_differ() -> None:
    equal = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    settings: dict[str, Any] = {"reward": "completion", "gigpo_gamma": 0.5}
    found = rewarded(equal, advantage="gigpo", **settings)
    assert any(sample.advantage for one in found for sample in one.samples)
    assert rewarded(equal, advantage="rloo", **settings) == []
    assert rewarded([[1.0], [1.0]], advantage="gigpo", **settings) == []


def test_an_advantage_of_others_is_not_asked_of_equal_rewards() -> None:
    assert rewarded([[1.0], [1.0]], advantage=f"{__name__}:over_the_deviation") == []
    assert rewarded([[1.0], [0.0]], advantage=f"{__name__}:over_the_deviation")


def over_the_deviation(rewards: Sequence[float], episodes: Sequence[Episode]) -> list[float]:
    """An advantage that no group of equal rewards has."""
    mean = sum(rewards) / len(rewards)
    return [(reward - mean) / (max(rewards) - min(rewards)) for reward in rewards]


def test_an_env_that_rewards_at_the_end_is_as_before() -> None:
    assert [one.rewards for one in rewarded([[0, 0, 1.0], [0.0, 0]])] == [[0, 0, 1], [0, 0]]


def test_shuffled_rewards_are_a_control_for_a_critic_too() -> None:
    shuffled = rewarded([[1.0], [1.0], [0.0], [0.0]] * 2, algorithm="ppo", shuffle_rewards=True)
    assert [one.rewards for one in shuffled] != [[1.0], [1.0], [0.0], [0.0]] * 2
    assert sum(one.rewards[0] for one in shuffled) == 4
    told = rewarded(GAINS, algorithm="ppo", shuffle_rewards=True)
    assert [one.rewards[:2] for one in told] == [[0, 0]] * 2
    with pytest.raises(ValueError, match="shuffle_rewards"):
        GRPOConfig(algorithm="ppo", group_size=1, shuffle_rewards=True)


def test_a_critic_may_begin_from_what_the_others_of_a_group_got() -> None:
    grouped: dict[str, Any] = {"algorithm": "ppo", "critic": {"baseline": "group"}}
    found = rewarded([[1.0], [0.0], [0.0]], **grouped)
    assert [one.rewards for one in found] == [[1.0], [-0.5], [-0.5]]
    # What turns gained stays theirs; the baseline is paid at the end.
    assert [one.rewards for one in rewarded(GAINS, **grouped)] == [
        [0.25, 0.0, 0.75],
        [0.25, 0.25, -1.5],
    ]
    assert rewarded([[1.0], [1.0]], **grouped) == []
    assert GRPOConfig(**grouped).fewest == 6
    with pytest.raises(ValueError, match="group_size must be 2 or more"):
        GRPOConfig(group_size=1, **grouped)


def test_the_envs_reward_is_a_setting() -> None:
    assert "reward" not in EnvSettings().options()
    assert EnvSettings(reward="progress").options()["reward"] == "progress"
