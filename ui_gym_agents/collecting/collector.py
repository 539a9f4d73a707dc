"""Collector: plays requested episodes with an agent on a vector env, every slot busy.

What an episode is depends on the run's seed and its request alone: its task on the request's seed,
the agent's noise on (run seed, request, turn), never on which slot was faster. With
``schedule="free"`` a batch holds whatever waits, so that no slot waits for the slowest; the last
bits of a model's arithmetic then depend on the batch. ``schedule="cohorts"`` fixes the batches: the
slots form two halves, each of which moves as one while the model thinks for the other, and a run
repeats to the bit.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from gymnasium.vector import VectorEnv

from ui_gym.contract.device import Image
from ui_gym.contract.task import GroundTruth
from ui_gym.playing.vector import SlotResult
from ui_gym_agents.agents.agent import Agent, Decision, View
from ui_gym_agents.collecting.stage import make_stage
from ui_gym_agents.episode import NOT_SAID, Episode, Purpose, Turn
from ui_gym_agents.store import EpisodeStore, ScreenshotStore

log = logging.getLogger(__name__)

Schedule = Literal["free", "cohorts"]

HIDDEN = frozenset({"ground_truth", "oracle", "score", "success", "notes", "details"})
"""Keys of infos that no agent is shown but one with `wants_ground_truth`."""

COHORTS = 2
LINGER = 0.004
"""Seconds that a batch of less than half the slots waits for more."""


@dataclass(frozen=True)
class EpisodeRequest:
    """An episode to play. Requests of one `group` are played from the same start.

    `task` and `split` are passed to envs that take these reset options; leave them empty for
    others. `member` tells apart the requests of a group, whose noise must differ. `purpose` is what
    the episode is for: it goes into the episode, and bears on nothing else.
    """

    seed: int
    task: str = ""
    group: str = ""
    member: int = 0
    split: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    purpose: Purpose = NOT_SAID

    @property
    def id(self) -> str:
        return f"{self.group or self.seed}.{self.member}"

    def reset_options(self) -> dict[str, Any]:
        """What goes to the env's `reset`."""
        given = {"task": self.task or None, "split": self.split}
        return {**{k: v for k, v in given.items() if v is not None}, **self.options}


@dataclass
class _Play:
    """An episode in progress."""

    request: EpisodeRequest
    attempt: int
    started: float
    started_at: str
    goal: str = ""
    screenshots: list[Image] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    last: SlotResult | None = None
    ground_truth: GroundTruth | None = None
    """None where the env tells none."""
    failure: str | None = None
    """What failed the agent in this episode."""


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
        self.purpose = purpose
        self.seconds: dict[str, float] = {}
        """Seconds spent waiting for envs (``env``) and agent (``act``), in all."""
        self._stage = make_stage(envs)
        known = envs.metadata.get("reset_options", ())
        self._asked = {"ground_truth": True} if "ground_truth" in known else {}
        """What every reset is asked for beyond its request: episodes record their params."""
        self._turn_of_cohort = 0
        self._filmed: set[str] = set()

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
        waiting = deque((request, 0) for request in requests)
        groups = list(dict.fromkeys(request.group for request, _ in waiting))
        self._filmed = set(groups[:: self.keep_pictures]) if self.keep_pictures else set()
        plays: dict[int, _Play] = {}
        early: dict[int, SlotResult] = {}
        try:
            self._fill(waiting, plays, range(self._stage.slots), agent)
            while plays:
                arrived = self._arrivals(plays, early)
                acting: list[int] = []
                freed: list[int] = []
                for result in arrived:
                    play = plays[result.slot]
                    self._note(play, result)
                    late = not result.ended and self._is_late(play)
                    if late:
                        play.failure = f"collector: it took longer than {self.episode_timeout:g} s"
                    if not (result.terminated or result.truncated or play.failure):
                        acting.append(result.slot)
                        continue
                    del plays[result.slot]
                    freed.append(result.slot)
                    episode = self._finish(play, result)
                    again = play.attempt < self.max_requeues and not late
                    if episode.failure is not None and again:
                        log.warning("episode %s again: %s", episode.id, episode.failure)
                        # First of all: the rest of its group waits for it.
                        waiting.appendleft((play.request, play.attempt + 1))
                    else:
                        self.store.add([episode])
                        if self.on_episode is not None:
                            self.on_episode(episode)
                        yield episode
                self._fill(waiting, plays, freed, agent)
                self._act(agent, {slot: plays[slot] for slot in acting})
        finally:
            self._stage.drain()

    # -- one round --

    def _fill(
        self,
        waiting: deque[tuple[EpisodeRequest, int]],
        plays: dict[int, _Play],
        slots: Iterable[int],
        agent: Agent,
    ) -> None:
        """Start the next requests in free slots."""
        extra = {**getattr(agent, "reset_options", {}), **self._asked}
        for slot in slots:
            if not waiting:
                return
            request, attempt = waiting.popleft()
            plays[slot] = _Play(request, attempt, time.monotonic(), _now())
            self._stage.start(slot, request.seed, {**request.reset_options(), **extra})

    def _arrivals(
        self, plays: Mapping[int, _Play], early: dict[int, SlotResult]
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

    def _next_cohort(self, plays: Mapping[int, _Play]) -> set[int]:
        """The slots of the next cohort that has any."""
        while True:
            self._turn_of_cohort = (self._turn_of_cohort + 1) % COHORTS
            # Neighbours go together: they play one group, whose equal prompts are computed once.
            size = -(-self._stage.slots // COHORTS)
            cohort = {slot for slot in plays if slot // size == self._turn_of_cohort}
            if cohort:
                return cohort

    def _act(self, agent: Agent, plays: Mapping[int, _Play]) -> None:
        if not plays:
            return
        started = time.perf_counter()
        whole = getattr(agent, "wants_ground_truth", False)
        decisions = agent.act([self._view(slot, play, whole) for slot, play in plays.items()])
        seconds = self._spend("act", started) / len(plays)
        for (slot, play), decision in zip(plays.items(), decisions, strict=True):
            self._take(play, decision, seconds)
            self._stage.act(slot, decision.action_text)

    # -- one episode --

    def _note(self, play: _Play, result: SlotResult) -> None:
        """Take in what came back from the env."""
        if result.is_reset:
            play.goal = str(result.observation.get("goal", ""))
            play.ground_truth = result.info.get("ground_truth")
        else:
            turn = play.turns[-1]
            turn.feedback = str(result.observation.get("feedback", ""))
            turn.reward = result.reward
            turn.action_error = result.info.get("action_error")
            times = ("action", "capture", "decode", "judge")
            turn.times |= {k: float(result.info.get(f"time_{k}", 0.0)) for k in times}
        if "screenshot" in result.observation:
            play.screenshots.append(result.observation["screenshot"])
        play.last = result

    def _is_late(self, play: _Play) -> bool:
        limit = self.episode_timeout
        return limit is not None and time.monotonic() - play.started > limit

    def _view(self, slot: int, play: _Play, whole: bool) -> View:
        """What the agent is told; only a demonstrator is told the `whole`."""
        assert play.last is not None
        request, info = play.request, play.last.info
        return View(
            slot=slot,
            goal=play.goal,
            screenshots=play.screenshots,
            elements=str(play.last.observation.get("elements", "")),
            feedback=str(play.last.observation.get("feedback", "")),
            turns=play.turns,
            info=info if whole else {k: v for k, v in info.items() if k not in HIDDEN},
            noise=derive_noise(
                self.run_seed, request.task, request.seed, request.group, request.member,
                len(play.turns),
            ),
            ground_truth=play.ground_truth if whole else None,
        )  # fmt: skip

    def _take(self, play: _Play, decision: Decision, seconds: float) -> None:
        assert play.last is not None
        play.failure = decision.failure
        play.turns.append(
            Turn(
                screenshot_id=self._keep(play, play.last),
                action_text=decision.action_text,
                elements=str(play.last.observation.get("elements", "")),
                tokens=decision.tokens,
                caption=decision.caption,
                times={"act": seconds},
            )
        )

    def _finish(self, play: _Play, result: SlotResult) -> Episode:
        info, request, known = result.info, play.request, play.ground_truth or GroundTruth({})
        score = float(info.get("score", sum(turn.reward for turn in play.turns)))
        first = play.turns[0].tokens if play.turns else None
        return Episode(
            id=request.id,
            task=str(info.get("task", request.task)),
            seed=request.seed,
            goal=play.goal,
            turns=play.turns,
            group=request.group,
            split=str(info.get("split", request.split or "")),
            params=known.params,
            score=score,
            success=bool(info.get("success", score >= 1.0)),
            terminated=result.terminated,
            truncated=result.truncated,
            failure=play.failure or info.get("failure"),
            notes=str(info.get("notes", "")),
            final_screenshot_id=self._keep(play, result),
            seconds=time.monotonic() - play.started,
            blind_rate=known.blind_rate,
            version=first.version if first else 0,
            max_turns=info.get("max_steps"),
            purpose=request.purpose if request.purpose.kind else self.purpose(),
            started_at=play.started_at,
        )

    def _keep(self, play: _Play, result: SlotResult) -> str:
        if "screenshot" not in result.observation:
            return ""
        filmed = play.request.group in self._filmed
        return self.store.screenshots.put(result.observation["screenshot"], keep=filmed)

    def _spend(self, phase: str, started: float) -> float:
        seconds = time.perf_counter() - started
        self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds
        return seconds


def _now() -> str:
    """This moment, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat()


def derive_noise(*parts: object) -> int:
    """63 bits that depend on `parts` alone."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


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
