"""Where a step's episodes come from: oracles, the policy itself, or a recording."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ui_gym.errors import UserError
from ui_gym_agents.agents import OracleAgent
from ui_gym_agents.collecting import (
    Count,
    Filters,
    Recording,
    Unit,
    sample_fixed,
    sample_successes,
)
from ui_gym_agents.collecting.collector import EpisodeRequest, views
from ui_gym_agents.episode import Episode, TokenRecord
from ui_gym_agents.store import ScreenshotStore
from ui_gym_agents.training.context import TrainerContext
from ui_gym_sft.config import SFTConfig

SECONDS_BETWEEN_NOTES = 10.0


@dataclass(frozen=True)
class Collected:
    """A step's episodes: those of it that are `kept`, and what there was before filtering."""

    episodes: Sequence[Episode]
    kept: list[Episode]
    dropped: Counter[str] = field(default_factory=Counter)


@dataclass
class EpisodeSource(ABC):
    """Gives a step's episodes, and what is learned from them."""

    config: SFTConfig
    context: TrainerContext
    filters: Filters

    @property
    def screenshots(self) -> ScreenshotStore:
        """Where the pictures of the records are."""
        return self.context.collector.store.screenshots

    @abstractmethod
    def collect(self) -> Collected:
        """The episodes of the step in progress."""

    @abstractmethod
    def records(self, episode: Episode) -> list[TokenRecord]:
        """What is learned from an episode that was kept: one record a turn that is worth it."""

    def heldout(self) -> list[Episode] | None:
        """All episodes that are only measured, where they are the same in every step."""
        return None

    def fingerprint(self) -> str | None:
        """What tells whether a resumed run finds the same episodes; None where it plays them."""
        return None

    def _filtered(self, played: list[Episode]) -> Collected:
        return Collected(played, *self.filters.episodes(played))

    def _encoded(self, episode: Episode, texts: Sequence[str | None]) -> list[TokenRecord]:
        """The records of an episode whose turns said `texts`; None: such a turn is not learned.

        The caption follows the answer as an auxiliary target of `caption_weight`.
        """
        chosen = set(self.filters.turns(episode))
        weight = self.config.caption_weight
        policy = self.context.policy
        seen = zip(views(episode, self.screenshots), episode.turns, texts, strict=True)
        return [
            policy.encode(view, text, caption=turn.caption if weight else "", caption_weight=weight)
            for index, (view, turn, text) in enumerate(seen)
            if text is not None and index in chosen
        ]

    def _told(self, episode: Episode) -> list[TokenRecord | None]:
        """What was recorded of the turns that are worth it."""
        told = [episode.turns[i].tokens for i in self.filters.turns(episode)]
        return [record for tokens in told for record in ((None,) if tokens is None else tokens.all)]


def make_source(config: SFTConfig, context: TrainerContext) -> EpisodeSource:
    """The source that a configuration asks for. `UserError` where it cannot be used."""
    recording = _recording(config, context)
    reward = context.reward(
        config.reward,
        config.reward_parameters,
        failures=config.reward_failures,
        judge=config.judge,
        screenshots=None if recording is None else lambda: recording.screenshots,
    )
    filters = Filters(
        success=config.success_only,
        reward=reward,
        expect=reward.expect,
        reward_above=config.reward_above,
        max_turns=config.max_turns,
        dedupe=config.dedupe,
        keep=config.keep,
        shortest=config.shortest,
        drop_invalid=config.drop_invalid,
        drop_repeats=config.drop_repeats,
    )
    if recording is not None:
        return Recorded(config, context, filters, recording)
    kind = Demonstrations if config.source == "oracle" else Sampled
    return kind(config, context, filters)


def _recording(config: SFTConfig, context: TrainerContext) -> Recording | None:
    """The recorded episodes; None where they are played."""
    if config.path is None:
        return None
    read = Recording.of_run if config.source.startswith("run:") else Recording.of_file
    return read(
        config.path,
        pictures=config.pictures,
        split=context.config.tasks.split,
        overrides=config.overrides == "use",
    )


def is_heldout(episode: Episode, config: SFTConfig, context: TrainerContext) -> bool:
    """Whether an episode is only measured: all of a task instance are, or none."""
    return context.derive("heldout", episode.task, episode.seed) < config.heldout * 2**31


class Demonstrations(EpisodeSource):
    """The tasks' oracles play, as somebody careless would if asked to."""

    def collect(self) -> Collected:
        requests = self.context.requests(self.context.step, self.config.episodes)
        agent = OracleAgent(self.config.mistakes)
        return self._filtered(self.context.collector.collect(requests, agent))

    def records(self, episode: Episode) -> list[TokenRecord]:
        return self._encoded(episode, [turn.action_text for turn in episode.turns])


class Sampled(EpisodeSource):
    """The policy plays: rejection sampling."""

    def collect(self) -> Collected:
        episodes = self._sample()
        self.context.observe(episodes)
        return self._filtered(episodes)

    def _sample(self) -> list[Episode]:
        config, context = self.config, self.context
        watch = _Progress(context)
        instances = config.instances or max(1, config.episodes // config.tries)
        if config.strategy == "fixed":
            requests = context.requests(context.step, instances, config.tries)
            return sample_fixed(context.collector, requests, watch)
        if config.per == "task":
            units = self._tasks()
        else:
            units = self._instances(instances)
        return sample_successes(
            context.collector,
            units,
            wanted=config.keep,
            budget=config.episodes,
            width=context.config.env.num_envs,
            good=lambda episode: not self.filters.reason(episode),
            watch=watch,
        )

    def _instances(self, count: int) -> list[Unit]:
        """The step's task instances; every try is another member of its group."""
        asked = self.context.requests(self.context.step, count, self.config.tries)
        return _units(asked, lambda request: request.group)

    def _tasks(self) -> list[Unit]:
        """Whole tasks; every try is another instance, of those that the curriculum draws."""
        asked = self.context.requests(self.context.step, self.config.episodes)
        return _units(asked, lambda request: request.task)

    def records(self, episode: Episode) -> list[TokenRecord]:
        return [record for record in self._told(episode) if record is not None]


def _units(requests: Sequence[EpisodeRequest], name: Callable[[EpisodeRequest], str]) -> list[Unit]:
    """Requests of one name as tries of one unit, in order."""
    tries: dict[str, list[EpisodeRequest]] = {}
    for request in requests:
        tries.setdefault(name(request), []).append(request)
    return [Unit(*unit) for unit in tries.items()]


class Recorded(EpisodeSource):
    """Episodes of another run or of a file, filtered once; a step takes the next of a shuffle."""

    def __init__(
        self,
        config: SFTConfig,
        context: TrainerContext,
        filters: Filters,
        recording: Recording,
    ) -> None:
        super().__init__(config, context, filters)
        self.recording = recording
        self._check()
        kept, self.dropped = filters.episodes(self.recording.episodes)
        self._heldout = [e for e in kept if is_heldout(e, config, context)]
        self._kept = [e for e in kept if not is_heldout(e, config, context)]
        self._tell(len(kept))

    def _check(self) -> None:
        """Refuse what this policy could not have said."""
        recording, config = self.recording, self.context.config
        if not recording.episodes:
            left_out = _counts(recording.skipped)
            raise UserError(
                f"{recording.file} has no episode to learn from: left out are {left_out}. "
                "A run keeps its pictures with --run.keep_pictures 1; where they lie elsewhere "
                "than beside the file, say so by --trainer.pictures"
            )
        dialect = config.env.dialect
        reasons: list[str | None] = []
        if not self.config.reencode:
            reasons += recording.differences(config) or [
                recording.foreign_prompt(self.context.policy)
            ]
        if not any(reasons) and not recording.speaks_other(dialect):
            found = recording.foreign_text(dialect)
            if found and self.config.reencode:
                raise UserError(f"{recording.file} cannot be encoded: {found}")
            reasons.append(found)
        if any(reasons):
            said = "; ".join(filter(None, reasons))
            raise UserError(
                f"{recording.file} was not recorded by this policy: {said}. "
                "Use the recorded run's settings, or put its texts into this policy's words "
                "on purpose: --trainer.reencode"
            )

    def _tell(self, kept: int) -> None:
        recording = self.recording
        rate = np.mean([e.success for e in recording.episodes])
        left = _counts(recording.skipped + self.dropped)
        self.context.note(
            f"{recording.file}: {len(recording.episodes)} episodes, {100 * rate:.1f} % of them "
            f"successful; {kept} are kept, {len(self._heldout)} of these held out"
            + (f"; left out: {left}" if left else "")
        )
        if recording.overridden:
            self.context.note(
                f"{len(recording.overridden)} of these episodes count as people judged them, and "
                "not as their tasks did (--trainer.overrides ignore: as their tasks did)"
            )
        if not self._kept:
            raise UserError(
                f"{recording.file}: no episode is left to learn from"
                + (f"; left out: {left}" if left else "")
                + (f"; held out: {len(self._heldout)}" if self._heldout else "")
            )

    @property
    def screenshots(self) -> ScreenshotStore:
        return self.recording.screenshots

    def collect(self) -> Collected:
        """The next `episodes`: pass after pass over all, each in an order of its own."""
        size = len(self._kept)
        count = min(self.config.episodes, size)
        first = (self.context.step - 1) * count
        order = {
            n: np.random.default_rng(self.context.derive("pass", n)).permutation(size)
            for n in range(first // size, (first + count - 1) // size + 1)
        }
        taken = [order[i // size][i % size] for i in range(first, first + count)]
        return Collected(self.recording.episodes, [self._kept[i] for i in taken], self.dropped)

    def records(self, episode: Episode) -> list[TokenRecord]:
        if self.config.reencode:
            texts = self.recording.translated(episode, self.context.config.env.dialect)
            return self._encoded(episode, texts)
        told = self._told(episode)
        if None in told:
            return self._encoded(episode, [turn.action_text for turn in episode.turns])
        return [record for record in told if record is not None]

    def heldout(self) -> list[Episode] | None:
        return self._heldout

    def fingerprint(self) -> str | None:
        return self.recording.fingerprint()


class _Progress:
    """Tells now and then how far sampling is."""

    def __init__(self, context: TrainerContext) -> None:
        self.context = context
        self.told = time.monotonic()

    def __call__(self, count: Count) -> None:
        now = time.monotonic()
        if now - self.told < SECONDS_BETWEEN_NOTES or count.played == count.most:
            return
        self.told = now
        self.context.note(
            f"step {self.context.step}: {count.played} of at most {count.most} episodes, "
            f"{count.successes} successes; {count.done} of {count.units} tasks have theirs"
        )


def _counts(reasons: Counter[str]) -> str:
    return ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
