"""The heavy parts of a run, made from its configuration: envs and policy.

Nothing of them is imported before it is used: who never asks for the policy needs no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ui_gym.errors import UserError
from ui_gym_agents.policy.parallel import Processes
from ui_gym_agents.tasks.sources import TaskEntry
from ui_gym_agents.training.plugin import Trainer
from ui_gym_agents.training.settings import RunConfig

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

    from ui_gym_agents.policy import PromptBuilder, VLMPolicy

    Envs = VectorEnv[Any, Any, Any]


def run_processes(config: RunConfig, trainer: type[Trainer]) -> Processes:
    """The processes that were launched for a run, joined; mostly this one alone.

    Raises:
        UserError: the trainer learns in one process, or no process can have a GPU of its own.
    """
    if Processes.launched() == 1:
        return Processes()
    if not getattr(trainer, "several_processes", False):
        raise UserError(
            f"the trainer {config.plugin!r} learns in one process: start it without accelerate "
            "launch or torchrun"
        )
    device = choose_device(config.policy.device)
    if device.startswith("cuda:"):
        raise UserError(
            f"--policy.device {device} is one GPU, and each process takes its own: auto or cuda"
        )
    return Processes.of_launch(cpu=device == "cpu")


def choose_device(setting: str = "auto") -> str:
    """The setting `policy.device`; if auto, a GPU where there is one."""
    import torch

    if setting != "auto":
        return setting
    return "cuda" if torch.cuda.is_available() else "cpu"


def choose_dtype(device: str) -> str:
    """The number format of a model on a device: bfloat16 is slower than float32 on most CPUs."""
    return "bfloat16" if device.startswith("cuda") else "float32"


def run_envs(config: RunConfig, entries: Sequence[TaskEntry], num_envs: int | None = None) -> Envs:
    """The vector env that plays the entries of a run; each request says what a slot plays.

    Args:
        config: The run's.
        entries: What may be played.
        num_envs: How many slots; as configured, if None.

    Raises:
        UserError: they cannot be played together, or an argument is wrong.
    """
    from ui_gym_agents.tasks.mix import make_envs

    return make_envs(
        entries,
        config.env.num_envs if num_envs is None else num_envs,
        arguments=config.tasks.arguments,
        split=config.tasks.split,
        **config.env.options(),
    )


def run_policy(
    config: RunConfig,
    envs: Callable[[], Envs],
    seed: int,
    processes: Processes | None = None,
) -> VLMPolicy:
    """The model of a run with its adapter, which `seed` initialises where it is a new one.

    `envs` is called where the prompt tells the model about the screen and its actions, in the main
    one of `processes` alone, which samples as well.

    Raises:
        UserError: it cannot be had, or would be blind.
    """
    from ui_gym_agents.policy import VLMPolicy

    settings = config.policy
    processes = processes or Processes()
    device = choose_device(settings.device)
    if device == "cuda" and processes.count > 1:
        device = f"cuda:{processes.local}"
    prompt = make_prompt(
        settings.model,
        settings.prompt,
        settings.history,
        lambda: processes.from_main(lambda: _words(config, envs())),
    )
    check_prompt(prompt, config.env.observation)
    policy = VLMPolicy.from_config(
        settings.model,
        adapter=settings.adapter,
        lora_rank=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_targets=settings.lora_targets,
        temperature=settings.temperature,
        max_new_tokens=settings.max_new_tokens,
        prompt=prompt,
        dtype=choose_dtype(device) if settings.dtype == "auto" else settings.dtype,
        device=device,
        threads=settings.threads,
        batch_tokens=settings.batch_tokens,
        gradient_checkpointing=settings.gradient_checkpointing,
        merge_turns=settings.merge_turns,
        seed=seed,
    )
    policy.processes = processes
    if settings.engine is not None and processes.is_main:
        from ui_gym_agents.engines.agent import engine_agent
        from ui_gym_agents.engines.protocol import RequestLimits

        limits = RequestLimits(settings.engine_timeout, attempts=settings.engine_attempts)
        policy.sampler = engine_agent(
            policy, settings.engine, settings.exchange, config.env.num_envs, limits
        )
    return policy


def _words(config: RunConfig, envs: Envs) -> str:
    """What a model is told of the screen and its actions."""
    from ui_gym.dialects import get_dialect

    space: Any = envs.single_observation_space
    actions: Any = envs.single_action_space
    elements = "elements" in space.spaces
    return get_dialect(config.env.dialect).prompt(actions.size, elements=elements)


def check_prompt(prompt: PromptBuilder, observation: str) -> None:
    """Refuse a prompt under which a model would be blind.

    Raises:
        UserError: only elements are observed, and the prompt tells none.
    """
    if observation == "elements" and not prompt.elements:
        raise UserError(
            "this model's prompt tells no elements, so that it would see nothing: take "
            "the full prompt, or observation screenshot"
        )


def make_prompt(
    model: str, kind: str, history: int | None, words: Callable[[], str]
) -> PromptBuilder:
    """How a model is asked: as it was trained, where its folder says so, else in full.

    Args:
        model: A shipped name or a folder.
        kind: The setting `policy.prompt`.
        history: The most screenshots; as the prompt has it, if None.
        words: Gives what the full prompt tells of the screen and its actions.
    """
    from ui_gym_agents.policy import PromptBuilder
    from ui_gym_agents.policy.weights import resolve

    prompt = PromptBuilder.of(resolve(model)) if kind == "auto" else None
    if prompt is None and kind == "bare":
        prompt = PromptBuilder.bare()
    elif prompt is None:
        prompt = PromptBuilder(dialect_prompt=words())
    return prompt if history is None else replace(prompt, history=history)
