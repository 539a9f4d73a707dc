"""TrainerContext: what the host hands to a trainer. Heavy parts are built when first asked for.

Every touch of envs, policy, collector and evaluation is in this module, and nothing of it is
imported before it is used: a trainer that never asks for the policy needs no torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ui_gym.errors import UserError
from ui_gym.registry import TaskSpec
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

    from ui_gym_agents.policy import PromptBuilder, VLMPolicy
    from ui_gym_agents.rollout import Collector, EpisodeRequest


class Report(Protocol):
    """The outcome of an evaluation."""

    @property
    def success(self) -> float:
        """Share of episodes that succeeded, in [0, 1]."""

    @property
    def n(self) -> int:
        """How many episodes that is a share of."""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of `success`."""


Evaluator = Callable[[int, bool], Report]
"""Plays a number of episodes, greedily or sampling, and reports."""


@dataclass
class TrainerContext:
    """What a trainer may use.

    A trainer with an agent of its own sets `evaluator`; otherwise the policy is evaluated, if the
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
    _stack: ExitStack = field(default_factory=ExitStack)

    @property
    def seed(self) -> int:
        return self.config.run.seed

    def derive(self, *parts: object) -> int:
        """A seed (31 bits) that depends on the run's seed and `parts` alone, not on any order."""
        return derive(self.seed, *parts)

    @cached_property
    def tasks(self) -> list[TaskSpec]:
        """The tasks to train on."""
        return self.config.tasks.chosen()

    @cached_property
    def envs(self) -> VectorEnv[Any, Any, Any]:
        """The vector env; each request says which task and split a slot plays."""
        import gymnasium

        import ui_gym  # noqa: F401 - registers the ids

        if len(self.tasks) > 1:
            names = ", ".join(task.id for task in self.tasks[:4])
            raise UserError(
                f"these settings choose {len(self.tasks)} tasks ({names}...), and a run's "
                "envs play one; name it by --tasks.ids"
            )
        settings = self.config.env
        options: dict[str, Any] = (
            {} if settings.max_steps is None else {"max_steps": settings.max_steps}
        )
        envs = gymnasium.make_vec(
            self.tasks[0].id,
            settings.num_envs,
            vectorization_mode="vector_entry_point",
            device=settings.device,
            dialect=settings.dialect,
            observation=settings.observation,
            split=self.config.tasks.split,
            timeout=settings.timeout,
            autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED,
            **options,
            **self.config.tasks.arguments,
        )
        self._stack.callback(envs.close)
        return envs

    @cached_property
    def policy(self) -> VLMPolicy:
        """The model with its adapter. `UserError` where it cannot be had, or would be blind."""
        if self.config.env.observation == "elements":
            raise UserError("a vision-language model needs pictures: --env.observation screenshot")
        import torch

        from ui_gym_agents.policy import VLMPolicy

        settings = self.config.policy
        cuda = torch.cuda.is_available()
        device = ("cuda" if cuda else "cpu") if settings.device == "auto" else settings.device
        # bfloat16 is slower than float32 on most CPUs.
        dtype = "bfloat16" if device.startswith("cuda") else "float32"
        return VLMPolicy.from_config(
            settings.model,
            adapter=settings.adapter,
            lora_rank=settings.lora_rank,
            lora_alpha=settings.lora_alpha,
            lora_targets=settings.lora_targets,
            temperature=settings.temperature,
            max_new_tokens=settings.max_new_tokens,
            prompt=self._prompt(),
            dtype=dtype if settings.dtype == "auto" else settings.dtype,
            device=device,
            threads=settings.threads,
            seed=self.derive("adapter"),
        )

    def _prompt(self) -> PromptBuilder:
        """How the model is asked: as it was trained, where its folder says so."""
        from ui_gym.dialects import get_dialect
        from ui_gym_agents.policy import PromptBuilder
        from ui_gym_agents.tiny.checkpoints import resolve

        settings = self.config.policy
        prompt = PromptBuilder.of(resolve(settings.model)) if settings.prompt == "auto" else None
        if prompt is None and settings.prompt == "bare":
            prompt = PromptBuilder.bare()
        elif prompt is None:
            space: Any = self.envs.single_observation_space
            height, width, _ = space["screenshot"].shape
            words = get_dialect(self.config.env.dialect).prompt(
                (width, height), elements="elements" in space.spaces
            )
            prompt = PromptBuilder(dialect_prompt=words)
        return prompt if settings.history is None else replace(prompt, history=settings.history)

    @cached_property
    def collector(self) -> Collector:
        """Plays episodes with the policy in the envs."""
        from ui_gym_agents.rollout import Collector
        from ui_gym_agents.store import EpisodeStore

        return Collector(
            self.envs,
            self.policy,
            run_seed=self.seed,
            store=EpisodeStore(self.run.episodes),
            schedule=self.config.env.schedule,
        )

    @property
    def has_policy(self) -> bool:
        """Whether the trainer has ever asked for the policy."""
        return "policy" in self.__dict__

    def requests(
        self, step: int, groups: int, group_size: int = 1, first: int = 0
    ) -> list[EpisodeRequest]:
        """The episodes of a training step: `groups` task instances, each `group_size` times.

        They depend on the run's seed and the step alone, so that a resumed run asks the same. A
        step that needs more asks again with `first`, the number of groups that it had already.
        """
        split = self.config.tasks.split
        return [
            request
            for index in range(first, first + groups)
            for request in self._group(
                self.derive("train", step, index), f"{step}-{index}", group_size, split
            )
        ]

    def evaluation_requests(self, episodes: int) -> list[EpisodeRequest]:
        """The first `episodes` of the fixed list of evaluation episodes, the same in every run."""
        return [
            self._group(derive("evaluation", i), f"e{i}", 1, self.config.evaluation.split, i)[0]
            for i in range(episodes)
        ]

    def evaluate(self, episodes: int, greedy: bool) -> Report | None:
        """Measure the agent; None where there is nothing to measure.

        The episodes are kept in ``evaluations/step_<n>-<greedy|sampled>`` of the run's directory.
        """
        if not episodes:
            return None
        if self.evaluator is not None:
            return self.evaluator(episodes, greedy)
        if not self.has_policy:
            return None
        from ui_gym_agents.evaluate import evaluate
        from ui_gym_agents.rollout import Collector
        from ui_gym_agents.store import EpisodeStore

        store = EpisodeStore(self.run.evaluation(self.done, greedy))
        collector = Collector(
            self.envs, self.policy, run_seed=derive("evaluation"), store=store,
            schedule=self.config.env.schedule,
        )  # fmt: skip
        report = evaluate(collector, self.evaluation_requests(episodes), greedy=greedy)
        store.write_report(report.to_json())
        return report

    def close(self) -> None:
        """Close what was built, the last first. Closing twice is harmless."""
        self._stack.close()

    def _group(
        self, seed: int, group: str, size: int, split: str | None, index: int | None = None
    ) -> Sequence[EpisodeRequest]:
        from ui_gym_agents.rollout import EpisodeRequest

        tasks = self.tasks
        task = tasks[(derive(seed, "task") if index is None else index) % len(tasks)].id
        return [
            EpisodeRequest(seed=seed, task=task, group=group, member=member, split=split)
            for member in range(size)
        ]


def derive(*parts: object) -> int:
    """A seed of 31 bits from any values: the same values give the same seed on every machine."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
