"""Supervised fine-tuning on episodes: demonstrations, the policy's own successes, recordings.

A step is a round: collect, filter, fit. Departures from plain SFT: a demonstration's caption
follows the end token as an auxiliary target (tiny models learn to see by it); rejection sampling
keeps at most `keep` successes of each task instance, so that easy instances do not crowd out hard
ones (UI-RL's "N successes a task"). Iterated, this is expert iteration: RFT (Yuan et al. 2023,
arXiv:2308.01825) on one round's data, ReST-EM (Singh et al. 2023, arXiv:2312.06585) without its
return to the first weights.

What needs torch is imported where a trainer is made: the host looks at the class before that, and
should not wait.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode, TokenRecord
from ui_gym_agents.store import ScreenshotStore
from ui_gym_agents.training.context import TrainerContext
from ui_gym_sft.config import SFTConfig
from ui_gym_sft.data import Example, Rounds
from ui_gym_sft.sources import Collected, EpisodeSource, is_heldout, make_source


@dataclass(frozen=True)
class Data:
    """What a step fits, what it is measured by beside that, and what was collected, in numbers."""

    fitted: list[Example]
    measured: list[Example]
    metrics: dict[str, float]

    def records(self) -> Iterator[TokenRecord]:
        """All that the policy is asked about."""
        return (record for e in (*self.fitted, *self.measured) for record in e.records)

    def owners(self) -> Iterator[int]:
        """Which process learns from each of `records`."""
        return (e.owner for e in (*self.fitted, *self.measured) for _ in e.records)


class SFTTrainer:
    """One step: get episodes, keep what is worth imitating, and fit the policy to it."""

    api_version = 1
    several_processes = True
    Config = SFTConfig

    def __init__(self, config: SFTConfig, context: TrainerContext) -> None:
        from ui_gym_sft.fit import Fitter

        self.config = config
        self.context = context
        self.policy = context.policy
        self.fitter = Fitter(config, context)
        self.rounds = Rounds(config.data_rounds)
        self._stopped: int | None = None
        self._measured: list[Example] | None = None
        if context.processes.is_main:  # the others get their data from it
            fixed = self.source.heldout()
            if fixed is not None:
                self._measured = [self._example(e, heldout=True) for e in fixed]

    @cached_property
    def source(self) -> EpisodeSource:
        """Where the main process, which alone has one, gets episodes from."""
        return make_source(self.config, self.context)

    @property
    def screenshots(self) -> ScreenshotStore:
        """Where the pictures of the records are."""
        main = self.context.processes.is_main
        return self.source.screenshots if main else self.context.screenshots

    @property
    def steps(self) -> int | None:
        """The step after which the held-out loss had stopped falling; None: as configured."""
        return self._stopped

    def step(self) -> Mapping[str, float]:
        """Collect and fit once; returns metrics (losses in nats a token, times in seconds)."""
        started = time.perf_counter()
        data = self.context.from_main(
            self._collect, Data.records, self.screenshots, owners=Data.owners
        )
        collected = time.perf_counter()
        metrics = data.metrics | self._fit(data)
        if self.config.path is None or not self.context.processes.is_main:
            self.screenshots.clear()
        return metrics | {
            "time_collect": collected - started,
            "time_learn": time.perf_counter() - collected,
        }

    def save(self, directory: Path) -> None:
        """Write adapter (or model), optimizer, counters, and the episodes of earlier rounds."""
        self.fitter.save(directory)
        if self.config.data_rounds != 1:
            self.rounds.save(directory / "rounds.jsonl.gz")
        state = {"stopped": self._stopped, "data": self.source.fingerprint()}
        (directory / "sft.json").write_text(json.dumps(state))

    def load(self, directory: Path) -> None:
        """Continue from what `save` wrote, to the bit.

        Raises:
            UserError: the recorded episodes are not those that the run began with.
        """
        state = json.loads((directory / "sft.json").read_text())
        main = self.context.processes.is_main
        if main and state["data"] != self.source.fingerprint():
            raise UserError(
                f"the episodes of {self.config.path} have changed since this run began, so that "
                "it cannot go on as it would have; start a new run"
            )
        self._stopped = state["stopped"]
        self.fitter.load(directory)
        if self.config.data_rounds != 1:
            self.rounds.load(directory / "rounds.jsonl.gz")

    # -- a round's data --

    def _collect(self) -> Data:
        """Get this step's episodes, and say where there is nothing new among them."""
        collected = self.source.collect()
        config, context = self.config, self.context
        examples = [self._example(e, is_heldout(e, config, context)) for e in collected.kept]
        self.rounds.add(examples)
        if config.data_rounds != 1:
            self._keep_pictures(examples)
        data = [e for e in self.rounds.examples if e.records]
        fitted = [e for e in data if not e.heldout]
        measured = self._measured
        if measured is None:
            measured = [e for e in data if e.heldout]
        if not collected.kept:
            self._tell_nothing(collected, bool(fitted))
        metrics = self._describe(collected, examples) | {
            "data_episodes": len(fitted),
            "data_records": sum(len(e.records) for e in fitted),
            "data_tokens": sum(e.tokens for e in fitted),
        }
        from ui_gym_sft.fit import dealt

        given = dealt([*fitted, *measured], config, context)
        return Data(given[: len(fitted)], given[len(fitted) :], metrics)

    def _example(self, episode: Episode, heldout: bool) -> Example:
        return Example(episode.id, tuple(self.source.records(episode)), heldout)

    def _keep_pictures(self, examples: Sequence[Example]) -> None:
        """Bring the pictures of what later rounds fit again to the run's folder."""
        screenshots = self.source.screenshots
        for key in {k for e in examples for record in e.records for k in record.images}:
            screenshots.put(screenshots.get(key), keep=True)

    def _describe(self, collected: Collected, examples: Sequence[Example]) -> dict[str, float]:
        """What was collected, before and after filtering."""
        good = [e for e in collected.episodes if e.failure is None]
        # The success of others says nothing of the policy.
        success = "success" if self.config.source == "policy" else "source_success"
        recorded = self.config.path is not None
        metrics: dict[str, float] = {
            "episodes": len(collected.kept if recorded else collected.episodes),
            success: float(np.mean([e.success for e in good])) if good else 0.0,
            "kept": len(collected.kept),
            "records": sum(len(e.records) for e in examples),
            "tokens": sum(e.tokens for e in examples),
            "score": float(np.mean([e.score for e in good])) if good else 0.0,
            "turns": float(np.mean([e.steps for e in good])) if good else 0.0,
            "failures": len(collected.episodes) - len(good),
        }
        if recorded:  # a step takes a few of them
            metrics["recorded_episodes"] = len(collected.episodes)
        return metrics | {f"dropped_{why}": n for why, n in sorted(collected.dropped.items())}

    def _fit(self, data: Data) -> dict[str, float]:
        """Fit what there is, and take the best weights back where the run ends; metrics."""
        recorded = self.config.path is not None
        metrics: dict[str, float] = {}
        if data.fitted:
            metrics = self.fitter.fit(
                data.fitted, data.measured, self.screenshots, run_best=recorded
            )
        if recorded and self.config.early_stop_after:
            self._end_if_over()
        return metrics

    def _tell_nothing(self, collected: Collected, older: bool) -> None:
        wins = sum(e.success for e in collected.episodes)
        said = "none succeeded" if not wins else f"{wins} succeeded, and none passed the filters"
        then = "the episodes of earlier steps are fitted again" if older else "nothing is learned"
        self.context.note(
            f"step {self.context.step}: of {len(collected.episodes)} episodes {said}: {then}. "
            "More attempts (--trainer.tries, --trainer.episodes), a higher --policy.temperature, "
            "or demonstrations first (--trainer.source oracle) may help"
        )

    def _end_if_over(self) -> None:
        """After the last step, take the weights back that were best on what was held out."""
        best = self.fitter.best
        if self.fitter.exhausted:
            self._stopped = self.context.step
        last = self._stopped or self.context.config.run.steps
        if self.context.step < last or not best.waited or not best.weights:
            return
        best.restore(self.policy.parameters())
        self.policy.version += 1  # the step may have had nothing to fit
        self.context.note(
            f"the held-out loss has not fallen for {best.waited} epochs: training ends with the "
            f"weights of its lowest, {best.loss:.4g}"
        )
