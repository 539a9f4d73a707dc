"""Collector: plays requested episodes with an agent on a vector env, every slot busy.

What an episode is depends on the run's seed and its request alone: its task on the request's seed,
the agent's noise on (run seed, request, turn), never on which slot was faster. With
``schedule="free"`` a batch holds whatever waits, so that no slot waits for the slowest; the last
bits of a model's arithmetic then depend on the batch. ``schedule="cohorts"`` fixes the batches: the
slots form two halves, each of which moves as one while the model thinks for the other, and a run
repeats to the bit.

An agent that answers one by one (`Agent.submit`: a served model's) plays free slots without
batches: each keeps a question of its own open, and acts when its answer comes.

Where a vector env has teams (`team_size` slots in a row), requests in a row are the agents of one:
an episode for each, with the team's reward. They begin and end together, and one that fails fails
its team.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from gymnasium.vector import VectorEnv

from ui_gym.contract.device import Image
from ui_gym.errors import UserError
from ui_gym.playing.vector import SlotResult
from ui_gym_agents.agents.agent import Agent, Decision, View, submitter
from ui_gym_agents.collecting.fault import EpisodeFault
from ui_gym_agents.collecting.open_episode import EpisodeRequest, OpenEpisode
from ui_gym_agents.collecting.questions import OpenQuestions
from ui_gym_agents.collecting.stage import FreeStage, make_stage
from ui_gym_agents.episode import Episode, Purpose
from ui_gym_agents.store import EpisodeStore, ScreenshotStore

__all__ = ["Collector", "EpisodeRequest", "Schedule", "schedule_for", "views"]

log = logging.getLogger(__name__)

Schedule = Literal["free", "cohorts"]

COHORTS = 2
LINGER = 0.004
"""Seconds that a batch of less than half the slots waits for more."""


def schedule_for(agent: Agent, asked: Schedule | None = None) -> Schedule:
    """The schedule that is `asked` for; if None, free for an agent that answers one by one."""
    return asked or ("cohorts" if submitter(agent) is None else "free")


class Collector:
    """Plays episodes.

    Args:
        envs: A vector env. One with `send` and `recv` (`UIVectorEnv`) lets slots run free; any
            other Gymnasium vector env in autoreset mode ``DISABLED`` is stepped as a whole.
        agent: Who plays. Its `reset_options`, if it has any, go to every reset.
        run_seed: What all noise is derived from.
        store: Where pictures and finished episodes go; in memory if None.
        schedule: ``"free"`` or ``"cohorts"``, see the module.
        max_requeues: How often an episode is played again whose infrastructure failed.
        episode_timeout: Seconds after which an episode is left, with a `failure` and for good; a
            group then does without it. None: never. The clock starts anew where an episode is
            played again. What is left depends on how fast things are, so a run that must repeat to
            the bit goes without.
        keep_pictures: Of which groups the store keeps the pictures beyond its `clear`: of every
            n-th of those that are asked for together, 1 for all, 0 for none.
        on_episode: Called with each episode that ended, or failed for good, once it is stored; from
            the thread that collects.
        on_fault: Called with each `EpisodeFault`; a warning is logged by default.
        purpose: Says what an episode is for whose request does not say it.
    """

    def __init__(
        self,
        envs: VectorEnv[Any, Any, Any],
        agent: Agent,
        *,
        run_seed: int = 0,
        store: EpisodeStore | None = None,
        schedule: Schedule = "free",
        max_requeues: int = 2,
        episode_timeout: float | None = None,
        keep_pictures: int = 1,
        on_episode: Callable[[Episode], None] | None = None,
        on_fault: Callable[[EpisodeFault], None] = log.warning,
        purpose: Callable[[], Purpose] = Purpose,
    ) -> None:
        self.agent = agent
        self.run_seed = run_seed
        self.store = store if store is not None else EpisodeStore()
        self.schedule = schedule
        self.max_requeues = max_requeues
        self.episode_timeout = episode_timeout
        self.keep_pictures = keep_pictures
        self.on_episode = on_episode
        self.on_fault = on_fault
        self.purpose = purpose
        self._envs = envs
        self.seconds: dict[str, float] = {}
        """Seconds spent waiting for envs (``env``) and agent (``act``), in all."""
        self._stage = make_stage(envs)
        known = envs.metadata.get("reset_options", ())
        self._asked = {"ground_truth": True} if "ground_truth" in known else {}
        """What every reset is asked for beyond its request: episodes record their params."""
        self._chooses = "task" in known
        """Whether a reset says what is played: in envs of others, there is but one thing."""
        self._turn_of_cohort = 0
        self._filmed: set[str] = set()
        self._waiting: deque[tuple[EpisodeRequest, int]] = deque()
        self._plays: dict[int, OpenEpisode] = {}

    def beside(self, agent: Agent) -> Collector:
        """Another one of these envs, with this store and these settings, for `agent`."""
        return Collector(
            self._envs, agent, run_seed=self.run_seed, store=self.store, schedule=self.schedule,
            max_requeues=self.max_requeues, episode_timeout=self.episode_timeout,
            keep_pictures=self.keep_pictures, on_episode=self.on_episode, on_fault=self.on_fault,
            purpose=self.purpose,
        )  # fmt: skip

    @property
    def playing(self) -> dict[int, EpisodeRequest]:
        """What is played now, by slot. From any thread."""
        return {slot: play.request for slot, play in self._plays.copy().items()}

    @property
    def waiting(self) -> list[EpisodeRequest]:
        """What is still to be played. From any thread."""
        return [request for request, _ in self._waiting.copy()]

    @property
    def team_size(self) -> int:
        """How many requests in a row are a team's; mostly 1."""
        return self._stage.team

    def collect(
        self, requests: Iterable[EpisodeRequest], agent: Agent | None = None
    ) -> list[Episode]:
        """Play all, and return the episodes in the order of their requests."""
        ordered = list(requests)
        played = {e.id: e for e in self.episodes(ordered, agent)}
        return [played[request.id] for request in ordered]

    def groups(
        self, requests: Iterable[EpisodeRequest], agent: Agent | None = None
    ) -> Iterator[list[Episode]]:
        """Play all, and yield each group when its last episode ends.

        Members whose infrastructure failed for good are left out.
        """
        ordered = list(requests)
        missing: dict[str, int] = {}
        for request in ordered:
            missing[request.group] = missing.get(request.group, 0) + 1
        done: dict[str, list[Episode]] = {group: [] for group in missing}
        for episode in self.episodes(ordered, agent):
            missing[episode.group] -= 1
            if episode.failure is None:
                done[episode.group].append(episode)
            if missing[episode.group] == 0:
                yield sorted(done.pop(episode.group), key=lambda e: e.id)

    def episodes(
        self, requests: Iterable[EpisodeRequest], agent: Agent | None = None
    ) -> Iterator[Episode]:
        """Play all, and yield each episode when it ends.

        An episode whose device, or whose agent's server, failed is played again up to
        `max_requeues` times, and then comes with its `failure`.
        """
        agent = agent or self.agent
        # From the same state each time: a resumed run must form the same batches.
        self._turn_of_cohort = 0
        waiting = self._waiting = deque((request, 0) for request in requests)
        self._check_teams([request for request, _ in waiting])
        self._filmed = self._to_film(request for request, _ in waiting)
        plays = self._plays = dict[int, OpenEpisode]()
        early: dict[int, SlotResult] = {}
        questions = self._questions(agent)
        ended: Callable[[int], None] = getattr(agent, "ended", lambda slot: None)
        try:
            self._fill(waiting, plays, range(self._stage.slots), agent)
            while plays:
                if questions is None:
                    arrived = self._arrivals(plays, early)
                else:
                    arrived = self._first(plays, questions)
                acting: list[int] = []
                freed: list[int] = []
                again: list[tuple[EpisodeRequest, int]] = []
                left = self._note(plays, arrived)
                for result in arrived:
                    play = plays[result.slot]
                    if not (result.terminated or result.truncated or play.failure):
                        acting.append(result.slot)
                        continue
                    del plays[result.slot]
                    freed.append(result.slot)
                    ended(result.slot)
                    episode = self._finished(play, result)
                    more = play.attempt < self.max_requeues and result.slot not in left
                    if episode.failure is not None:
                        self._tell(play, result.slot, episode.failure, again=more)
                    if episode.failure is not None and more:
                        again.append((play.request, play.attempt + 1))
                    else:
                        self._record(episode)
                        yield episode
                # First of all: the rest of their groups waits for them.
                waiting.extendleft(reversed(again))
                self._fill(waiting, plays, freed, agent)
                self._act(agent, {slot: plays[slot] for slot in acting}, questions)
        finally:
            if questions is not None:
                questions.close()
            for slot in plays:
                ended(slot)
            self._stage.drain()
            waiting.clear()
            plays.clear()

    def _check_teams(self, requests: Sequence[EpisodeRequest]) -> None:
        """Whether requests in a row can be teams."""
        size = self._stage.team
        for first in range(0, len(requests), size):
            team = requests[first : first + size]
            starts = {(r.seed, r.task, r.split, r.group) for r in team}
            if len(team) < size or len(starts) > 1:
                raise UserError(
                    f"these envs are played by teams of {size}, whose episodes are asked for in a "
                    f"row, of one seed and one group; {[r.id for r in team]} is no such team: make "
                    f"the size of groups a multiple of {size}"
                )

    def _note(self, plays: Mapping[int, OpenEpisode], arrived: Sequence[SlotResult]) -> set[int]:
        """Take in what came; the slots whose episodes took too long, and are left for good.

        One that fails, or is left, takes its team with it.
        """
        late: set[int] = set()
        for result in arrived:
            play = plays[result.slot]
            play.note(result)
            if result.is_reset:
                for cause in result.info.get("faults", ()):
                    self._tell(play, result.slot, f"device: {cause}", again=True)
            if not result.ended and play.is_late(self.episode_timeout):
                play.failure = f"collector: it took longer than {self.episode_timeout:g} s"
                late.add(result.slot)
        size = self._stage.team
        if size == 1:
            return late
        for result in arrived:
            first = result.slot // size * size
            mates = range(first, first + size)
            failures = [plays[slot].failure for slot in mates if plays[slot].failure]
            if failures and plays[result.slot].failure is None:
                plays[result.slot].failure = f"team: {failures[0]}"
        return {
            result.slot
            for result in arrived
            if any(slot // size == result.slot // size for slot in late)
        }

    def _to_film(self, requests: Iterable[EpisodeRequest]) -> set[str]:
        """The groups of which the store keeps the pictures."""
        groups = list(dict.fromkeys(request.group for request in requests))
        return set(groups[:: self.keep_pictures]) if self.keep_pictures else set()

    def _tell(self, play: OpenEpisode, slot: int, cause: str, *, again: bool) -> None:
        """Tell of a fault."""
        asked = play.request
        self.on_fault(
            EpisodeFault(asked.id, asked.task, asked.seed, slot, play.attempt + 1, cause, again)
        )

    def _record(self, episode: Episode) -> None:
        """Store an episode that ended, and tell of it."""
        self.store.add([episode])
        if self.on_episode is not None:
            self.on_episode(episode)

    # -- one round --

    def _fill(
        self,
        waiting: deque[tuple[EpisodeRequest, int]],
        plays: dict[int, OpenEpisode],
        slots: Iterable[int],
        agent: Agent,
    ) -> None:
        """Start the next requests in free slots."""
        extra = {**getattr(agent, "reset_options", {}), **self._asked}
        for slot in slots:
            if not waiting:
                return
            request, attempt = waiting.popleft()
            plays[slot] = OpenEpisode(request, attempt)
            own = request.reset_options() if self._chooses else request.options
            self._stage.start(slot, request.seed, {**own, **extra})

    def _arrivals(
        self, plays: Mapping[int, OpenEpisode], early: dict[int, SlotResult]
    ) -> list[SlotResult]:
        """The results to handle now, by slot; every play of the schedule's batch is in it."""
        started = time.perf_counter()
        if self._stage.together:
            results = self._stage.receive(len(plays))
        elif self.schedule == "free":
            results = self._stage.receive(1)
            half = len(plays) // 2
            if len(results) < half:
                results += self._stage.receive(half - len(results), LINGER)
        else:
            cohort = self._next_cohort(plays)
            while not cohort <= early.keys():
                early.update({result.slot: result for result in self._stage.receive(1)})
            results = [early.pop(slot) for slot in cohort]
        self._spend("env", started)
        return sorted(results, key=lambda result: result.slot)

    def _next_cohort(self, plays: Mapping[int, OpenEpisode]) -> set[int]:
        """The slots of the next cohort that has any."""
        while True:
            self._turn_of_cohort = (self._turn_of_cohort + 1) % COHORTS
            # Neighbours go together: they play one group, whose equal prompts are computed once,
            # or are a team.
            team = self._stage.team
            size = -(-self._stage.slots // (COHORTS * team)) * team
            cohort = {slot for slot in plays if slot // size == self._turn_of_cohort}
            if cohort:
                return cohort

    def _questions(self, agent: Agent) -> OpenQuestions | None:
        """Where slots ask each for itself; None where batches are asked."""
        submit, stage = submitter(agent), self._stage
        if submit is None or self.schedule != "free":
            return None
        return (
            OpenQuestions(stage, submit) if isinstance(stage, FreeStage) and stage.wakes else None
        )

    def _first(
        self, plays: Mapping[int, OpenEpisode], questions: OpenQuestions
    ) -> list[SlotResult]:
        """The results to handle now, by slot, maybe none; answers that came are acted on.

        An episode whose answer is late comes with what its slot gave last.
        """
        started = time.perf_counter()
        answers, results = questions.wait()
        self._spend("act" if answers else "env", started)
        for slot, decision, seconds in answers:
            self._take(slot, plays[slot], decision, seconds)
        for slot in questions.slots:
            play = plays[slot]
            if play.is_late(self.episode_timeout) and play.last is not None:
                questions.drop(slot)
                if self._stage.team == 1:
                    results.append(play.last)
                else:  # the others of its team have acted, or will: they all end in this round
                    late = f"collector: it took longer than {self.episode_timeout:g} s"
                    self._take(slot, play, Decision("", failure=late), 0.0)
        return sorted(results, key=lambda result: result.slot)

    def _act(
        self, agent: Agent, plays: Mapping[int, OpenEpisode], questions: OpenQuestions | None
    ) -> None:
        if not plays:
            return
        whole = getattr(agent, "wants_ground_truth", False)
        views = [play.view(slot, self.run_seed, whole) for slot, play in plays.items()]
        if questions is not None:
            for view in views:
                questions.ask(view.slot, view)
            return
        started = time.perf_counter()
        decisions = agent.act(views)
        seconds = self._spend("act", started) / len(plays)
        for (slot, play), decision in zip(plays.items(), decisions, strict=True):
            self._take(slot, play, decision, seconds)

    def _take(self, slot: int, play: OpenEpisode, decision: Decision, seconds: float) -> None:
        """Do what was decided."""
        assert play.last is not None
        play.take(decision, seconds, self._keep(play))
        for picture in decision.pictures:
            self.store.screenshots.put(picture, keep=play.request.group in self._filmed)
        self._stage.act(slot, decision.action_text)

    def _finished(self, play: OpenEpisode, result: SlotResult) -> Episode:
        asked = play.request.purpose
        return play.finished(result, self._keep(play), asked if asked.kind else self.purpose())

    def _keep(self, play: OpenEpisode) -> str:
        assert play.last is not None
        if "screenshot" not in play.last.observation:
            return ""
        filmed = play.request.group in self._filmed
        return self.store.screenshots.put(play.screenshots[-1], keep=filmed)

    def _spend(self, phase: str, started: float) -> float:
        seconds = time.perf_counter() - started
        self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds
        return seconds


def views(episode: Episode, screenshots: ScreenshotStore) -> Iterator[View]:
    """What the agent saw at each turn of a finished episode, as far as it is recorded."""
    seen: list[Image] = []
    for index, turn in enumerate(episode.turns):
        if turn.screenshot_id:
            seen.append(screenshots.get(turn.screenshot_id))
        yield View(
            slot=0,
            goal=episode.goal,
            screenshots=tuple(seen),
            elements=turn.elements,
            feedback=episode.turns[index - 1].feedback if index else "",
            turns=tuple(episode.turns[:index]),
        )
