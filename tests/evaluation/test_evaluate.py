"""What is measured of an agent, and the figures beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ui_gym.errors import UserError
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents import OracleAgent, ScriptedAgent, make_agent
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.evaluation.evaluate import evaluate, wilson

Make = Callable[..., UIVectorEnv]
ASKED = [EpisodeRequest(seed=i, group=f"e{i}") for i in range(6)]


def wilson_by_bisection(wins: int, n: int) -> tuple[float, float]:
    """The interval by its definition: the rates at which the score test just does not reject."""

    def rejects(rate: float) -> bool:
        spread = (rate * (1 - rate) / n) ** 0.5
        return abs(wins / n - rate) > 1.959964 * spread

    def edge(inside: float, outside: float) -> float:
        for _ in range(60):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if rejects(middle) else (middle, outside)
        return inside

    rate = wins / n
    return edge(rate, 0.0), edge(rate, 1.0)


@pytest.mark.parametrize(("wins", "n"), [(0, 10), (3, 10), (195, 200), (200, 200)])
def test_the_interval_is_wilsons(wins: int, n: int) -> None:
    assert wilson(wins, n) == pytest.approx(wilson_by_bisection(wins, n), abs=1e-6)


def test_an_interval_of_nothing_is_everything() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_an_oracle_is_measured_as_perfect(make_vector: Make) -> None:
    report = evaluate(Collector(make_vector(2), OracleAgent()), ASKED)
    assert (report.success, report.n, report.total.failures) == (1.0, 6, 0)
    assert report.total.valid_actions == 1.0
    assert report.interval[1] == 1.0


def test_wrong_actions_are_counted(make_vector: Make) -> None:
    agent = ScriptedAgent(["clik(1, 1)", 'finish("failure")'])
    report = evaluate(Collector(make_vector(2), agent), ASKED)
    assert report.success == 0.0
    assert report.total.valid_actions == 0.5
    assert report.errors == {"name": 6}


class Parrot:
    """Answers by the goal, or deaf to it."""

    def __init__(self, deaf: bool) -> None:
        self.deaf = deaf

    def act(self, views: Sequence[View]) -> list[Decision]:
        return [Decision('type("x")' if self.deaf else f'answer("{v.goal}")') for v in views]


@pytest.mark.parametrize(("deaf", "expected"), [(True, 0.0), (False, 1.0)])
def test_a_deaf_agent_is_found_out(make_vector: Make, deaf: bool, expected: float) -> None:
    report = evaluate(Collector(make_vector(2), Parrot(deaf)), ASKED, probe=True)
    assert report.goal_sensitivity == expected


def test_a_temperature_is_lent_for_greedy_answers_only(make_vector: Make) -> None:
    class Warm(ScriptedAgent):
        temperature = 0.7
        seen: set[float] = set()

        def act(self, views: Sequence[View]) -> list[Decision]:
            self.seen.add(self.temperature)
            return super().act(views)

    agent = Warm(['finish("failure")'])
    collector = Collector(make_vector(2), agent)
    evaluate(collector, ASKED, greedy=True)
    assert (agent.seen, agent.temperature) == ({0.0}, 0.7)


def test_an_unknown_agent_is_answered_with_the_nearest(make_vector: Make) -> None:
    with pytest.raises(UserError, match="Did you mean 'oracle'"):
        make_agent("orcale", make_vector(1).single_action_space)
