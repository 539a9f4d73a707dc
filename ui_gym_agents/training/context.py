"""TrainerContext: what the host hands to a trainer. Heavy parts are built when first asked for.

Every touch of envs, policy, collector and evaluation is in this module (`parts` makes the first
two), and nothing of it is imported before it is used: a trainer that never asks for the policy
needs no torch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import repeat
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from ui_gym.contract.spec import TaskSpec
from ui_gym.errors import UserError
from ui_gym_agents.episode import Purpose
from ui_gym_agents.policy.parallel import Processes
from ui_gym_agents.seeds import derive, evaluation_seed
from ui_gym_agents.tasks.sources import TaskEntry
from ui_gym_agents.training.listeners import Learned, RunListener, SuccessReport
from ui_gym_agents.training.parts import run_envs, run_policy
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

    from ui_gym.contract.device import Image
    from ui_gym_agents.agents.agent import Agent
    from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
    from ui_gym_agents.episode import Episode, TokenRecord
    from ui_gym_agents.policy import VLMPolicy
    from ui_gym_agents.rewards import Reward
    from ui_gym_agents.store import ScreenshotStore
    from ui_gym_agents.tasks.curriculum import Curriculum
    from ui_gym_agents.training.judge_settings import JudgeSettings
    from ui_gym_agents.training.run_reward import RunReward

T = TypeVar("T")

MOST_ASKED = 10_000
"""Groups that may await their observation."""

BEYOND = 1_000_000
"""The number of the first instance that quick evaluations play where they may end the run: a final
evaluation does not go as far."""


Evaluator = Callable[[int, bool], SuccessReport]
"""Plays a number of episodes, greedily or sampling, and reports."""


@dataclass
class TrainerContext:
    """What a trainer may use.

    A trainer with an agent of its own sets `player`, before it asks for the collector, or an
    `evaluator`, which measures by itself; otherwise the policy plays, and is evaluated if the
    trainer has ever asked for it. `step` is the number of the step in progress, from 1 on.
    """

    run: RunDirectory
    config: RunConfig
    stop_requested: Callable[[], bool] = lambda: False
    """Whether somebody asked the run to stop: a long step may end early then."""
    note: Callable[[str], None] = print
    """Shows a line to the person who watches, without disturbing the live table."""
    evaluator: Evaluator | None = None
    step: int = 0
    done: int = 0
    """How many steps are finished."""
    listener: RunListener = field(default_factory=RunListener)
    """Is told of every episode that is played."""
    evaluating: Purpose = field(default_factory=lambda: Purpose("evaluation"))
    """The evaluation in progress, or the last one."""
    envs_in_use: Lock = field(default_factory=Lock)
    """Held by whoever plays in `envs`: a trainer that plays in a thread of its own takes it."""
    processes: Processes = field(default_factory=Processes)
    """Those that learn as one. Envs and collector are those of all with ``env.per_rank``, and else
    the main one's alone, as evaluation is."""
    _stack: ExitStack = field(default_factory=ExitStack)
    _asked: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    """Groups that were asked for and not observed yet: step, index, and name of the entry."""
    _curricula: dict[int, dict[str, Any]] = field(default_factory=dict)
    """The curriculum's state at the end of the step in progress and of later ones, where more was
    played ahead since."""
    _rewards: list[RunReward] = field(default_factory=list)
    _collectors: list[ref[Collector]] = field(default_factory=list)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    """Around the curriculum: a trainer may play and learn in different threads."""

    @property
    def seed(self) -> int:
        return self.config.run.seed

    def derive(self, *parts: object) -> int:
        """A seed (31 bits) that depends on the run's seed and `parts` alone, not on any order."""
        return derive(self.seed, *parts)

    @cached_property
    def tasks(self) -> list[TaskSpec]:
        """The tasks to train on."""
        return list(dict.fromkeys(entry.spec for entry in self.entries))

    @cached_property
    def entries(self) -> list[TaskEntry]:
        """What may be drawn: the tasks with their arguments, splits and seeds."""
        return self.config.tasks.entries()

    @cached_property
    def curriculum(self) -> Curriculum:
        """Draws the task of each group. `UserError` where the quotas cannot be kept."""
        return self.config.tasks.make_curriculum(self.entries)

    @cached_property
    def envs(self) -> VectorEnv[Any, Any, Any]:
        """The vector env; each request says which task and split a slot plays."""
        if not self.plays:
            raise RuntimeError(
                "only the main process plays: a trainer collects inside of context.from_main"
            )
        envs = run_envs(self._config_of_envs(), self.entries)
        self._stack.callback(envs.close)
        return envs

    @cached_property
    def policy(self) -> VLMPolicy:
        """The model with its adapter. `UserError` where it cannot be had, or would be blind."""
        seed = self.derive("adapter")
        policy = run_policy(self.config, lambda: self.envs, seed, self.processes)
        self._stack.callback(policy.close)
        return policy

    @cached_property
    def player(self) -> Agent:
        """Who plays: the policy, an agent of somebody else's with the policy's words, or whatever
        agent the trainer put here."""
        name, env = self.config.policy.agent, self.config.env
        if name is None:
            return self.policy
        if self._shares_playing:
            raise UserError("with --policy.agent the main process plays: leave out --env.per_rank")
        from ui_gym_agents.serving.foreign import ForeignAgent

        agent = ForeignAgent(self.policy, name, dialect=env.dialect, slots=env.num_envs)
        self._stack.callback(agent.close)
        return agent

    @cached_property
    def collector(self) -> Collector:
        """Plays episodes with the `player` in the envs."""
        from ui_gym_agents.collecting.collector import Collector, schedule_for
        from ui_gym_agents.collecting.shared import SharedCollector
        from ui_gym_agents.store import EpisodeStore

        make = partial(SharedCollector, self.processes) if self._shares_playing else Collector
        collector = make(
            self.envs,
            self.player,
            run_seed=self.seed,
            store=EpisodeStore(self.run.episodes if self.processes.is_main else None),
            schedule=schedule_for(self.player, self.config.env.schedule),
            episode_timeout=self.config.env.episode_timeout,
            keep_pictures=self.config.run.keep_pictures,
            on_episode=self.listener.episode,
            on_fault=self.listener.fault,
            purpose=lambda: Purpose("step", self.step),
        )
        self.watch(collector)
        return collector

    def watch(self, collector: Collector) -> None:
        """Show what a collector plays in `envs` to those who look on, for as long as it lives.

        Needed for one of the trainer's own; it changes nothing.
        """
        alive = [known for known in self._collectors if known() is not None]
        self._collectors = [*alive, ref(collector)]

    @property
    def collectors(self) -> list[Collector]:
        """Those that are watched. From any thread."""
        return [found for known in self._collectors if (found := known()) is not None]

    @cached_property
    def screenshots(self) -> ScreenshotStore:
        """The collector's pictures; where there is no collector, those that came by `from_main`."""
        if self.plays:
            return self.collector.store.screenshots
        from ui_gym_agents.store import ScreenshotStore

        return ScreenshotStore()

    def from_main(
        self,
        make: Callable[[], T],
        records: Callable[[T], Iterable[TokenRecord]],
        screenshots: ScreenshotStore | None = None,
        owners: Callable[[T], Iterable[int]] | None = None,
    ) -> T:
        """What `make` collects in the main process, which alone calls it, in every process.

        The pictures of its `records` are brought along, out of the main process's `screenshots`
        into those of the others; `TrainerContext.screenshots`, if None. `owners` say for each of
        the records which process learns from it, and gets its pictures; all do, if None.

        Raises:
            ProcessError: another process failed.
        """
        if self.processes.count == 1:
            return make()
        store = self.screenshots if screenshots is None else screenshots
        made = self.processes.from_main(self._together(make))

        def wanted() -> list[Iterator[Image]]:
            whose = repeat(None) if owners is None else owners(made)
            keys: list[dict[str, None]] = [{} for _ in range(self.processes.count)]
            for record, owner in zip(records(made), whose, strict=owners is not None):
                for own in keys if owner is None else [keys[owner]]:
                    own.update(dict.fromkeys(record.images))
            return [map(store.get, own) for own in keys]

        for picture in self.processes.hand_out(wanted):
            store.put(picture, keep=False)
        return made

    @property
    def plays(self) -> bool:
        """Whether this process has envs."""
        return self.processes.is_main or self._shares_playing

    @property
    def _shares_playing(self) -> bool:
        return self.config.env.per_rank and self.processes.count > 1

    def _together(self, make: Callable[[], T]) -> Callable[[], T]:
        """`make`, called while the other processes play as well, if they do."""
        if not self._shares_playing:
            return make
        from ui_gym_agents.collecting.shared import SharedCollector

        assert isinstance(self.collector, SharedCollector)
        if not self.processes.is_main:
            self.collector.follow()
        return partial(self.collector.leading, make)

    @property
    def has_policy(self) -> bool:
        """Whether the trainer has ever asked for the policy."""
        return "policy" in self.__dict__

    @property
    def has_player(self) -> bool:
        """Whether there is anybody to evaluate by playing."""
        return self.has_policy or "player" in self.__dict__

    @property
    def team_size(self) -> int:
        """How many agents play an episode together; mostly 1."""
        return self.collector.team_size if "collector" in self.__dict__ else 1

    @property
    def pictures_held(self) -> int:
        """How many pictures of what was collected are in memory."""
        return len(self.collector.store.screenshots) if "collector" in self.__dict__ else 0

    def _config_of_envs(self) -> RunConfig:
        """The run's, with the machines that are this process's."""
        if not self._shares_playing:
            return self.config
        from ui_gym_agents.collecting.shared import own_machines

        device = own_machines(self.config.env.device, self.processes)
        env = self.config.env.model_copy(update={"device": device})
        return self.config.model_copy(update={"env": env})

    def settle(self) -> None:
        """After whatever learns or loads, in every process at once: the policy may sample again."""
        if self.has_policy:
            self.policy.unite()

    def sampler_metrics(self) -> dict[str, float]:
        """What the policy, or a server that samples for it, measured since the last time."""
        return self.policy.metrics() if self.has_policy else {}

    def requests(
        self,
        step: int,
        groups: int,
        group_size: int = 1,
        first: int = 0,
        instances: int | None = None,
    ) -> list[EpisodeRequest]:
        """The episodes of a training step: `groups` task instances, each `group_size` times.

        They depend on the run's seed, the step and the curriculum's state at its beginning alone,
        so that a resumed run asks the same. A step that needs more asks again with `first`, the
        number of groups that it had already. Where steps are played ahead, all groups of a step
        are observed before those of the next are asked for.

        Args:
            step: Its number, from 1 on.
            groups: How many.
            group_size: Episodes of each.
            first: The number of the first group.
            instances: So many fixed task instances come again and again, rather than fresh ones;
                None: fresh ones. Tasks with seeds of their own (a task file's) keep to those.
        """
        with self._lock:
            if step > self.step:
                self._keep_curriculum(step - 1)
            return [
                request
                for index in range(first, first + groups)
                for request in self._group(step, index, group_size, instances)
            ]

    def observe(self, episodes: Iterable[Episode]) -> None:
        """Tell the curriculum how groups of `requests` ended; for the steps after theirs.

        Call it once for each group, whole, in any order. Episodes whose infrastructure failed
        count for nothing, and neither do those that this run did not ask for, such as replayed
        ones from before it was resumed.
        """
        groups: dict[str, list[bool]] = {}
        for episode in episodes:
            if episode.failure is None:
                groups.setdefault(episode.group, []).append(episode.success)
        with self._lock:
            for group in groups.keys() & self._asked.keys():
                step, index, name = self._asked.pop(group)
                ended = groups[group]
                self.curriculum.observe(name, step, index, sum(ended), len(ended))

    def learned(self, episodes: Learned) -> None:
        """Tell what the episodes of the step in progress were worth: each one's reward and mean
        advantage by its id. Once a step; it is for those who look on, and changes nothing.
        """
        self.listener.learned(self.step, episodes)

    def reward(
        self,
        reward: str | Mapping[str, float],
        parameters: Mapping[str, float] | None = None,
        *,
        failures: float = 0.2,
        judge: JudgeSettings | None = None,
        screenshots: Callable[[], ScreenshotStore] | None = None,
    ) -> RunReward:
        """A reward of `ui_gym_agents.rewards`, a user's own, a judge's, or several with weights.

        It knows this run's turn limits. Called with an episode, it gives a number; `worths` leaves
        out those whose reward failed. After a step, the host stops the run where these were more
        than the share `failures`.

        Args:
            reward: A name or ``module:function``; of several, with the weight of each.
            parameters: Of these rewards.
            failures: The share of a step's episodes that may go without.
            judge: How a judge (``openai:MODEL@URL``) is asked.
            screenshots: Where the pictures of the episodes are; the context's, if None.

        Raises:
            UserError: there is no such reward or parameter.
        """
        from ui_gym_agents.training.run_reward import RunReward

        made = RunReward(
            reward,
            parameters or {},
            pictures=screenshots or (lambda: self.screenshots),
            limit=self._limit,
            note=self.note,
            share=failures,
            make=lambda name: self._make_reward(name, judge),
        )
        self._rewards.append(made)
        return made

    def _make_reward(self, name: str, settings: JudgeSettings | None) -> Reward:
        from ui_gym_agents.agents.agent import SERVED
        from ui_gym_agents.rewards import get_reward

        if not name.startswith(SERVED):
            return get_reward(name)
        from ui_gym_agents.training.judge_settings import make_judge

        judge = make_judge(name, settings, self.run.path / "judgements.jsonl")
        self._stack.callback(judge.close)
        return judge.reward

    def check_rewards(self) -> None:
        """End a step for all `reward`s. `RewardFailure` where too many episodes went without."""
        for reward in self._rewards:
            reward.check(self.step)

    def state_dict(self, step: int | None = None) -> dict[str, Any]:
        """What `requests` depend on beside seed and step, as plain JSON values.

        It is that at the end of `step`, without what was played ahead of it; now, if None.
        """
        with self._lock:
            kept = None if step is None else self._curricula.get(step)
            return {"curriculum": self.curriculum.state_dict() if kept is None else kept}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave; an empty mapping (of an older run) changes nothing."""
        if "curriculum" in state:
            self.curriculum.load_state_dict(state["curriculum"])

    def evaluation_requests(self, episodes: int, first: int = 0) -> list[EpisodeRequest]:
        """`episodes` of the fixed list of evaluation episodes, the same in every run, from number
        `first` on."""
        tasks = list(self._reset_names.values())
        return evaluation_requests(tasks, episodes, self.config.evaluation.split, first)

    def attempts(self, greedy: bool) -> int:
        """How many episodes an evaluation plays of each instance."""
        alike = greedy or self.evaluator is not None
        return 1 if alike else self.config.evaluation.attempts

    def evaluate(self, episodes: int, greedy: bool) -> SuccessReport | None:
        """Measure the agent; None where there is nothing to measure.

        The episodes and the reports are kept in ``evaluations/step_<n>-<greedy|sampled>`` of the
        run's directory, with a number behind it where that is taken.
        """
        if not episodes:
            return None
        if self.evaluator is not None:
            return self._keep(self.evaluator(episodes, greedy), greedy)
        if not self.has_player:
            return None
        from ui_gym_agents.collecting.collector import Collector, schedule_for
        from ui_gym_agents.evaluation.evaluate import evaluate
        from ui_gym_agents.evaluation.report.render import write_reports
        from ui_gym_agents.store import EpisodeStore

        folder = self.run.evaluation(self.done, greedy)
        store = EpisodeStore(folder)
        collector = Collector(
            self.envs, self.player, run_seed=derive("evaluation"), store=store,
            schedule=schedule_for(self.player, self.config.env.schedule),
            on_episode=self.listener.episode, on_fault=self.listener.fault,
        )  # fmt: skip
        self.watch(collector)
        with self.envs_in_use:
            attempts = self.attempts(greedy)
            asked = [
                replace(request, member=member, purpose=self.evaluating)
                for request in self.evaluation_requests(episodes, self._first_evaluated())
                for member in range(attempts)
            ]
            report = evaluate(collector, asked, greedy=greedy)
        played = {episode.id: episode for episode in store}
        write_reports(
            folder,
            report,
            [played[request.id] for request in asked],
            store,
            dialect=self.config.env.dialect,
            asked={
                "run": self.run.path.resolve().name,
                "finished steps": self.done,
                "tasks": list(self._reset_names),
                "arguments": dict(self.config.tasks.arguments),
                "split": self.config.evaluation.split,
                "episodes of each instance": attempts,
            },
        )
        return report

    def _keep(self, report: SuccessReport, greedy: bool) -> SuccessReport:
        """Keep the report of a trainer's own evaluator, as far as it is sure to go."""
        from ui_gym_agents.store import EpisodeStore

        values = {"success": report.success, "n": report.n, "interval": list(report.interval)}
        EpisodeStore(self.run.evaluation(self.done, greedy)).write_report(values)
        return report

    def close(self) -> None:
        """Close what was built, the last first. Closing twice is harmless."""
        self._stack.close()

    def _first_evaluated(self) -> int:
        """The number of the first instance of the evaluation in progress.

        Quick ones that may end the run play others than the final one: where they end it, luck
        has helped, and the final figure would count that again.
        """
        ends = self.evaluating.kind == "evaluation" and self.config.evaluation.target is not None
        return BEYOND if ends else 0

    def _keep_curriculum(self, step: int) -> None:
        """Keep what is known at the end of `step`, for a checkpoint, before the next one begins."""
        if step not in self._curricula:
            kept = {at: state for at, state in self._curricula.items() if at >= self.step}
            self._curricula = kept | {step: self.curriculum.state_dict()}

    def _group(
        self, step: int, index: int, size: int, instances: int | None
    ) -> Sequence[EpisodeRequest]:
        from ui_gym_agents.collecting.collector import EpisodeRequest

        seed = self.derive("train", step, index)
        name = self.curriculum.draw(step, derive(seed, "task") / 2**31)
        entry = self._entry_of[name]
        group = f"{step}-{index}"
        self._remember(group, step, index, name)
        if entry.seeds:
            seed = entry.seeds[derive(seed, "instance") % len(entry.seeds)]
        elif instances is not None:
            seed = self.derive("instance", seed % instances)
        task = self._reset_names[entry.variant]
        return [
            EpisodeRequest(
                seed=seed,
                task=task,
                group=group,
                member=member,
                split=entry.split,
                purpose=Purpose("step", step),
            )
            for member in range(size)
        ]

    def _remember(self, group: str, step: int, index: int, name: str) -> None:
        """Which task a group plays, until it is observed; those of long ago are forgotten."""
        self._asked.pop(group, None)
        self._asked[group] = (step, index, name)
        while len(self._asked) > MOST_ASKED:
            del self._asked[next(iter(self._asked))]

    @cached_property
    def _entry_of(self) -> dict[str, TaskEntry]:
        return {entry.name: entry for entry in self.entries}

    @cached_property
    def _reset_names(self) -> dict[str, str]:
        from ui_gym_agents.tasks.mix import reset_names

        return reset_names(self.entries)

    @cached_property
    def _limits(self) -> dict[str, int]:
        """The turn limit of each task id: the largest of its variants."""
        from ui_gym_agents.tasks.mix import turn_limits

        found: dict[str, int] = {}
        limits = turn_limits(self.entries, self.config.tasks.arguments)
        for entry in self.entries:
            limit = self.config.env.max_steps or limits[entry.variant]
            found[entry.spec.id] = max(limit, found.get(entry.spec.id, 0))
        return found

    def _limit(self, episode: Episode) -> int:
        return episode.max_turns or self._limits.get(episode.task) or max(self._limits.values())


def evaluation_requests(
    tasks: Sequence[str], episodes: int, split: str | None, first: int = 0
) -> list[EpisodeRequest]:
    """`episodes` of a fixed list, from number `first` on: episode ``i`` has a seed of its own, and
    the groups ``e0``, ``e1``... take the `tasks` in turn."""
    from ui_gym_agents.collecting.collector import EpisodeRequest

    return [
        EpisodeRequest(
            seed=evaluation_seed(i), task=tasks[i % len(tasks)], group=f"e{i}", split=split
        )
        for i in range(first, first + episodes)
    ]
