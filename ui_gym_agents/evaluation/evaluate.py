"""Measuring an agent: success with its interval, beside what guessing would give.

A success rate says little alone. Next to it stand the rate that a guesser would reach who does
everything right but cannot tell which thing the goal means (`blind_rate`, from the tasks), the
share of valid actions, and how often two different goals on the same pictures get different
answers (`goal_sensitivity`): a model that ignores its goal has 0 there, whatever its success.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ui_gym.contract import registry
from ui_gym.errors import UserError
from ui_gym_agents.agents.agent import Agent, View
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest, views
from ui_gym_agents.episode import Episode, TokenUsage, Turn
from ui_gym_agents.evaluation.report.statistics import Counts, interval, pass_rates, wilson
from ui_gym_agents.store import ScreenshotStore

__all__ = [
    "EpisodeFigures",
    "EvaluationReport",
    "TokenPrices",
    "evaluate",
    "goal_sensitivity",
    "summarize",
    "wilson",
]

PROBES = 40
"""How many episodes are asked about with another goal."""


@dataclass(frozen=True)
class TokenPrices:
    """What a served model costs: dollars a million tokens that it reads, and that it writes."""

    prompt: float
    completion: float

    def __post_init__(self) -> None:
        for price in (self.prompt, self.completion):
            if not (math.isfinite(price) and price >= 0):
                raise UserError(f"a price is a number of dollars a million tokens, not {price}")

    def cost(self, usage: TokenUsage | None) -> float | None:
        """Dollars; None where the tokens are not known."""
        if usage is None:
            return None
        return (self.prompt * usage.prompt + self.completion * usage.completion) / 1e6


@dataclass(frozen=True)
class EpisodeFigures:
    """What is measured of a set of episodes. Rates lie in [0, 1]; an unknown one is None."""

    success: float
    n: int
    """How many episodes count: those whose infrastructure held."""
    interval: tuple[float, float]
    """95 % confidence interval of `success`."""
    score: float
    valid_actions: float
    turns: float
    """Mean turns an episode."""
    failures: int
    """Episodes whose infrastructure failed; they are in no other figure."""
    instances: int
    """How many different starts the episodes have."""
    pass_at_k: dict[int, float]
    """The chance that one of k episodes of an instance succeeds, the mean over instances."""
    blind_rate: float | None
    usage: TokenUsage | None = None
    """All tokens together, as a server counted them; None if it did not in every turn."""

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> EpisodeFigures:
        """The figures of finished episodes."""
        good = [e for e in episodes if e.failure is None]
        turns = [turn for episode in good for turn in episode.turns]
        counts = _counts(good)
        return cls(
            success=_mean([e.success for e in good]),
            n=len(good),
            interval=interval(counts),
            score=_mean([e.score for e in good]),
            valid_actions=_mean([turn.action_error is None for turn in turns]),
            turns=len(turns) / max(1, len(good)),
            failures=len(episodes) - len(good),
            instances=len(counts),
            pass_at_k=pass_rates(counts),
            blind_rate=blind_rate(good),
            usage=_usage(turns),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a file: as they are when they are read back."""
        values = dataclasses.asdict(self)
        values["interval"] = list(self.interval)
        values["pass_at_k"] = {str(k): rate for k, rate in self.pass_at_k.items()}
        return values


@dataclass(frozen=True)
class EvaluationReport:
    """The outcome of an evaluation: figures in all, and by what the tasks are."""

    total: EpisodeFigures
    greedy: bool
    goal_sensitivity: float | None = None
    by_task: dict[str, EpisodeFigures] = field(default_factory=dict)
    by_category: dict[str, EpisodeFigures] = field(default_factory=dict)
    by_difficulty: dict[str, EpisodeFigures] = field(default_factory=dict)
    """By the difficulty that each task is registered with."""
    errors: dict[str, int] = field(default_factory=dict)
    """How many actions were wrong, by kind."""
    failed: tuple[str, ...] = ()
    """Each episode whose infrastructure failed: which, and why."""
    times: dict[str, float] = field(default_factory=dict)
    """Seconds: of all episodes (``episodes``), and the mean of a turn in the agent (``act``) and in
    the env (``env``). The one part that another run of the same evaluation has otherwise."""
    cost: float | None = None
    """Dollars for the tokens, where both they and their prices are known."""

    @property
    def success(self) -> float:
        return self.total.success

    @property
    def n(self) -> int:
        return self.total.n

    @property
    def interval(self) -> tuple[float, float]:
        return self.total.interval

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a file; the figures in all stand at the top level."""
        parts = {
            name: {key: figures.to_json() for key, figures in getattr(self, name).items()}
            for name in ("by_task", "by_category", "by_difficulty")
        }
        return {
            **self.total.to_json(),
            "greedy": self.greedy,
            "goal_sensitivity": self.goal_sensitivity,
            **parts,
            "errors": dict(self.errors),
            "failed": list(self.failed),
            "times": dict(self.times),
            "cost": self.cost,
        }


def evaluate(
    collector: Collector,
    requests: Sequence[EpisodeRequest],
    *,
    agent: Agent | None = None,
    greedy: bool = True,
    probe: bool = False,
) -> EvaluationReport:
    """Play `requests` and measure.

    Args:
        collector: Where they are played.
        requests: Which episodes; of teams, one for each.
        agent: Who plays; the collector's own by default.
        greedy: Whether a policy takes its likeliest token instead of sampling.
        probe: Also measure the goal sensitivity, which costs some more acting.
    """
    agent = agent or collector.agent
    with temperature(agent, 0.0 if greedy else None):
        size = collector.team_size
        # A team succeeds or fails as one: its first agent's episode stands for all.
        episodes = collector.collect(with_teams(requests, size), agent)[::size]
        screenshots = collector.store.screenshots
        sensitivity = goal_sensitivity(agent, episodes, screenshots) if probe else None
    return summarize(episodes, greedy=greedy, sensitivity=sensitivity)


def with_teams(requests: Sequence[EpisodeRequest], size: int) -> list[EpisodeRequest]:
    """Each request, followed by those of the other agents of its team, if `size` is above 1."""
    span = 1 + max((request.member for request in requests), default=0)
    return [
        dataclasses.replace(request, member=request.member + mate * span)
        for request in requests
        for mate in range(size)
    ]


def summarize(
    episodes: Sequence[Episode],
    *,
    greedy: bool,
    sensitivity: float | None = None,
    prices: TokenPrices | None = None,
) -> EvaluationReport:
    """The report of finished episodes; their order bears on nothing but the last bits of means."""
    kinds: Counter[str] = Counter()
    for episode in episodes:
        kinds.update({} if episode.failure else episode.error_counts)
    total = EpisodeFigures.of(episodes)
    return EvaluationReport(
        total=total,
        greedy=greedy,
        goal_sensitivity=sensitivity,
        by_task=_by(episodes, lambda e: e.task),
        by_category=_by(episodes, lambda e: _of_task(e.task, "category")),
        by_difficulty=_by(episodes, lambda e: _of_task(e.task, "difficulty")),
        errors=dict(sorted(kinds.items())),
        failed=tuple(f"{e.task}, seed {e.seed}: {e.failure}" for e in episodes if e.failure),
        times=_times(episodes),
        cost=prices.cost(total.usage) if prices else None,
    )


def _by(episodes: Sequence[Episode], key: Callable[[Episode], str]) -> dict[str, EpisodeFigures]:
    names = sorted({key(episode) for episode in episodes})
    return {name: EpisodeFigures.of([e for e in episodes if key(e) == name]) for name in names}


def _of_task(task: str, what: str) -> str:
    """What the registry says of a task; a foreign env's is unknown."""
    try:
        return str(getattr(registry.spec(task), what))
    except UserError:
        return "unknown"


def _counts(episodes: Sequence[Episode]) -> Counts:
    """Episodes and successes of each instance."""
    played: dict[tuple[str, str], list[bool]] = {}
    for episode in episodes:
        instance = (episode.task, episode.group or str(episode.seed))
        played.setdefault(instance, []).append(episode.success)
    return [(len(wins), sum(wins)) for wins in played.values()]


def _usage(turns: Sequence[Turn]) -> TokenUsage | None:
    """The tokens of all turns; one that nobody counted leaves the sum unknown, and not smaller."""
    told = [turn.usage for turn in turns if turn.usage is not None]
    return functools.reduce(operator.add, told) if told and len(told) == len(turns) else None


def _times(episodes: Sequence[Episode]) -> dict[str, float]:
    turns = [turn.times for e in episodes if e.failure is None for turn in e.turns]
    inside = [sum(seconds for phase, seconds in t.items() if phase != "act") for t in turns]
    return {
        "episodes": round(sum(e.seconds for e in episodes), 3),
        "act": round(_mean([t.get("act", 0.0) for t in turns]), 6),
        "env": round(_mean(inside), 6),
    }


def blind_rate(episodes: Sequence[Episode]) -> float | None:
    """The mean success rate of a guesser, as the env gave it; None if it did not."""
    rates = [episode.blind_rate for episode in episodes]
    known = [rate for rate in rates if rate is not None]
    return _mean(known) if known and len(known) == len(rates) else None


def goal_sensitivity(
    agent: Agent, episodes: Sequence[Episode], screenshots: ScreenshotStore
) -> float | None:
    """How often the agent answers otherwise when another episode's goal stands on its pictures.

    For each of the first episodes, every turn is asked again, once with its own goal and once with
    another, with the same noise. They differ if the actions (the last line) of any turn do. None
    if no two goals differ.
    """
    pairs = list(_pairs(episodes))
    if not pairs:
        return None
    own: list[View] = []
    other: list[View] = []
    owner: list[int] = []
    for index, (episode, goal) in enumerate(pairs):
        for view in views(episode, screenshots):
            own.append(dataclasses.replace(view, noise=index))
            other.append(dataclasses.replace(view, goal=goal, noise=index))
            owner.append(index)
    told = zip(owner, agent.act(own), agent.act(other), strict=True)
    differ = {i for i, a, b in told if _action(a.action_text) != _action(b.action_text)}
    return len(differ) / len(pairs)


def _pairs(episodes: Sequence[Episode]) -> Iterator[tuple[Episode, str]]:
    """Episodes, each with the goal of a later one of the same task that has other words."""
    good = [e for e in episodes if e.failure is None and e.turns][: 2 * PROBES]
    for index, episode in enumerate(good[:PROBES]):
        rest = [*good[index + 1 :], *good[:index]]
        goal = next((e.goal for e in rest if e.task == episode.task and e.goal != episode.goal), "")
        if goal:
            yield episode, goal


def _action(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


@contextlib.contextmanager
def temperature(agent: Any, value: float | None) -> Iterator[None]:
    """Sample an agent that has a temperature at another one for a while; None: its own."""
    if value is None or not hasattr(agent, "temperature"):
        yield
        return
    before, agent.temperature = agent.temperature, value
    try:
        yield
    finally:
        agent.temperature = before


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
