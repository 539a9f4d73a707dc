"""GRPO over the Tinker API as a trainer: play groups here, learn there.

The host looks at the class before it makes a trainer (``--help``, ``--dry-run``, a misspelled
setting), and should not wait for torch or the SDK then: these are imported where one is made.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ui_gym.errors import UserError, nearest
from ui_gym_agents.groups.feed import Feed
from ui_gym_agents.groups.gathering import Batch, Gatherer
from ui_gym_agents.groups.telling import (
    StepAges,
    Truncations,
    batch_metrics,
    learned_of,
    mean_advantages,
    turns_of,
)
from ui_gym_tinker.config import TinkerConfig
from ui_gym_tinker.recipe import RECIPE

if TYPE_CHECKING:
    import tinker

    from ui_gym_agents.training.context import TrainerContext

FILE = "tinker.json"
"""What a checkpoint's folder holds: where its weights are on the server."""

LOCAL = {
    "adapter": None, "agent": None, "engine": None, "exchange": None, "quantize": None,
    "shard": False, "merge_turns": False, "lora_targets": "auto", "lora_alpha": 32.0,
    "gradient_checkpointing": False,
}  # fmt: skip
"""Settings of `policy` that a model elsewhere has no use for, with their defaults."""


class TinkerTrainer:
    """One step: `groups` x `group_size` episodes, then `epochs` x `minibatches` gradient steps."""

    api_version = 1
    Config = TinkerConfig
    defaults = {"run.steps": 55, "policy.max_new_tokens": 24}
    foreign_keys = RECIPE
    plays_teams = True

    def __init__(self, config: TinkerConfig, context: TrainerContext) -> None:
        from ui_gym_agents.training.parts import run_wording
        from ui_gym_tinker.agent import Questions, TinkerAgent
        from ui_gym_tinker.learning import ServerLearner
        from ui_gym_tinker.service import Service

        check_policy(context)
        self.config = config
        self.context = context
        self.service = Service(config.base_url, timeout=config.timeout)
        self.base = config.base_model or context.config.policy.model
        check_model(self.service, self.base)
        wording = run_wording(context.config, lambda: context.envs)
        self._questions = Questions()
        self.agent = TinkerAgent(
            wording, self.service, self._questions,
            timeout=context.config.policy.engine_timeout,
        )  # fmt: skip
        context.player = self.agent
        self.learner = ServerLearner(config, context, self.service, self.agent, context.screenshots)
        self._gatherer = Gatherer(config, context, context.collector)
        self._seconds: Mapping[str, float] = context.collector.seconds
        self._feed: Feed[Batch] | None = None
        self._newest: tuple[tinker.SamplingClient, int] | None = None
        self._model: tinker.TrainingClient | None = None
        self._ages = StepAges()
        self._truncations = Truncations(
            context.note, wording.max_new_tokens, masked=config.mask_truncated
        )
        # Not before somebody asks: a resumed run begins with what it loads.
        self.agent.begin = lambda: self._begin(None)

    @property
    def keeps_pictures(self) -> bool:
        """Whether pictures outlive a step: those that are played ahead of it do."""
        return self._feed is not None

    def step(self) -> Mapping[str, float]:
        """Collect and learn once; times are in seconds, log-probabilities in nats."""
        before = dict(self._seconds)
        started = time.perf_counter()
        self._ages.begin(self.learner.updates, self.context.step)
        batch = self._next_batch()
        collected = time.perf_counter()
        self._check(batch)
        metrics = self._describe(batch)
        advantages: dict[str, float] = {}
        if any(trajectory.samples for trajectory in batch.trajectories):
            metrics |= self.learner.learn(self.model, batch.trajectories, self.base)
            advantages = mean_advantages(batch.trajectories)
            self._publish()
        self.context.learned(learned_of(batch, advantages))
        if self._feed is None:
            self.context.screenshots.clear()
        else:
            self._feed.learned(self.context.step)
        spent = {k: v - before.get(k, 0.0) for k, v in self._seconds.items()}
        return (
            metrics
            | self._spent()
            | {
                "time_env": spent.get("env", 0.0),
                "time_generate": spent.get("act", 0.0),
                "time_collect": collected - started,
                "time_learn": time.perf_counter() - collected,
            }
        )

    def save(self, directory: Path) -> None:
        """Have the server keep weights and optimizer, and write down where they are."""
        folder = re.sub(r"[^A-Za-z0-9._-]+", "-", self.context.run.path.resolve().name)
        name = f"{folder.lstrip('._-')[:100] or 'run'}-{self.context.step:06d}"
        state = self.model.save_state(name, overwrite=True)
        path = self.service.wait("a checkpoint", state).path
        weights = self.model.save_weights_for_sampler(name)
        sampler = self.service.wait("weights to sample from", weights).path
        written = {
            "base_model": self.base, "state": path, "sampler": sampler,
            "updates": self.learner.updates, "server": self.service.address,
        }  # fmt: skip
        (directory / FILE).write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")

    def load(self, directory: Path) -> None:
        """Continue from what `save` wrote."""
        read = json.loads((directory / FILE).read_text(encoding="utf-8"))
        self.learner.updates = int(read["updates"])
        try:
            self._begin(str(read["state"]))
        except UserError as error:
            there = read.get("server")
            if there == self.service.address:
                raise
            raise UserError(f"{error}; it was saved on {there}") from error

    def close(self) -> None:
        """End the thread that plays ahead, if there is one, and the session."""
        if self._feed is not None:
            self._feed.close()
        self._questions.close()
        self.service.close()

    # -- the model --

    @property
    def model(self) -> tinker.TrainingClient:
        """What is trained."""
        if self._model is None:
            self._begin(None)
        assert self._model is not None
        return self._model

    def _begin(self, state: str | None) -> None:
        """Train from a checkpoint on, or from the settings."""
        policy = self.context.config.policy
        if state is not None:
            self._model = self.service.saved_model(state, optimizer=True)
        elif self.config.load_checkpoint is not None:
            self._model = self.service.saved_model(self.config.load_checkpoint, optimizer=False)
        else:
            seed = self.context.derive("adapter")
            self._model = self.service.new_model(
                self.base, rank=policy.lora_rank, seed=seed, parts=self.config.trained_parts
            )
        self._publish()

    def _publish(self) -> None:
        """Sample with the newest weights."""
        saved = self.model.save_weights_and_get_sampling_client
        sampler = self.service.ask("weights to sample from", lambda: saved().result())
        self._newest = sampler, self.learner.updates
        self.agent.take(*self._newest)

    # -- where batches come from --

    def _next_batch(self) -> Batch:
        if not self.config.max_steps_off_policy:
            return self._gatherer.batch(self.context.step)
        if self._feed is None:
            self._feed = self._start_feed()
        return self._feed.get(self.context.step)

    def _check(self, batch: Batch) -> None:
        """End a run whose server answers nobody. `ServiceError` says why it did not."""
        from ui_gym_tinker.service import ServiceError

        if batch.failed and not batch.episodes:
            raise ServiceError(
                f"none of the {batch.failed} episodes of step {self.context.step} could be played, "
                f"each tried several times: {self.agent.failure or 'the devices failed'}"
            )

    def _start_feed(self) -> Feed[Batch]:
        from ui_gym_agents.groups.ahead import play_ahead

        sampler = self.agent.double()

        def refresh() -> None:
            assert self.model is not None
            assert self._newest is not None
            sampler.take(*self._newest)

        feed, collector = play_ahead(self.config, self.context, sampler, refresh)
        self._seconds = collector.seconds
        return feed

    # -- metrics --

    def _describe(self, batch: Batch) -> dict[str, float]:
        turns = turns_of(batch)
        metrics = batch_metrics(batch) | {"truncated_turns": self._truncations.share(turns)}
        if self.config.max_steps_off_policy:
            metrics["steps_off_policy"] = self._ages.oldest(turns, self.context.step)
        return metrics

    def _spent(self) -> dict[str, float]:
        """Tokens of this step, evaluations since the last one included, and what they cost."""
        prefill, sample = self.agent.counts.take()
        train, self.learner.trained = self.learner.trained, 0
        prices = self.config.prices
        cost = prefill * prices.prefill + sample * prices.sample + train * prices.train
        return {
            "tokens_prefill": prefill,
            "tokens_sample": sample,
            "tokens_train": train,
            "cost": cost / 1e6,
        }


def check_policy(context: TrainerContext) -> None:
    """Refuse settings of a model here. `UserError` names them."""
    given = context.config.policy
    wrong = [name for name, default in LOCAL.items() if getattr(given, name) != default]
    if wrong:
        raise UserError(
            f"with --plugin tinker the model is on a server, and {', '.join(wrong)} of policy "
            "concern one that is here: leave them out"
        )
    if given.temperature != 1.0:
        context.note(
            f"warning: answers are sampled at temperature {given.temperature:g}, and the server's "
            "losses know none: ratios of the loss begin elsewhere than at 1"
        )


def check_model(service: Any, base: str) -> None:
    """Refuse a model that the server does not have. `UserError` names the nearest."""
    known = service.supports()
    if known and base not in known:
        raise UserError(
            f"{service.address} has no model {base!r}. {nearest(base, known)} Name it in "
            "--trainer.base_model, or in --policy.model where its processor is called alike"
        )
