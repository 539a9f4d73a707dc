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
    from ui_gym_agents.policy.sharding import Shards
    from ui_gym_agents.policy.wording import Wording

    Envs = VectorEnv[Any, Any, Any]


def run_processes(config: RunConfig, trainer: type[Trainer]) -> Processes:
    """The processes that were launched for a run, joined; mostly this one alone.

    Raises:
        UserError: the trainer learns in one process, no process can have a GPU of its own, the
            weights cannot be divided, or a server samples for processes that play each.
    """
    check_shard(config, Processes.launched())
    if Processes.launched() == 1:
        return Processes()
    if config.env.per_rank and config.policy.engine is not None:
        raise UserError(
            "with --env.per_rank each process samples what it plays, and with --policy.engine a "
            "server samples for all: leave one of them out"
        )
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


def check_shard(config: RunConfig, processes: int) -> None:
    """Refuse weights that cannot be divided, before anything is loaded.

    Raises:
        UserError: there is nobody to divide them with, or all weights are trained.
    """
    settings = config.policy
    if not settings.shard:
        return
    from ui_gym_agents.policy import sharding

    if processes == 1:
        raise UserError(sharding.ALONE)
    if settings.lora_rank == 0 and settings.adapter is None:
        raise UserError(sharding.ALL_TRAINED)
    if settings.quantize:
        raise UserError(sharding.QUANTIZED)


def choose_device(setting: str = "auto") -> str:
    """The setting `policy.device`; if auto, a GPU where there is one."""
    import torch

    if setting != "auto":
        return setting
    return "cuda" if torch.cuda.is_available() else "cpu"


def choose_dtype(device: str) -> str:
    """The number format of a model on a device: bfloat16 is slower than float32 on most CPUs."""
    return "bfloat16" if device.startswith("cuda") else "float32"


def run_dtype(config: RunConfig, device: str) -> str:
    """The number format of a run's model on a device."""
    return choose_dtype(device) if config.policy.dtype == "auto" else config.policy.dtype


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
    from ui_gym_agents.policy import load_policy
    from ui_gym_agents.policy.reuse import Room

    settings = config.policy
    processes = processes or Processes()
    device = choose_device(settings.device)
    if device == "cuda" and processes.count > 1:
        device = f"cuda:{processes.local}"
    prompt = run_prompt(config, envs, processes)
    check_size(config, device, processes.count if settings.shard else 1)
    policy = load_policy(
        settings.model,
        adapter=settings.adapter,
        lora_rank=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_targets=settings.lora_targets,
        freeze=settings.freeze,
        temperature=settings.temperature,
        max_new_tokens=settings.max_new_tokens,
        prompt=prompt,
        dtype=run_dtype(config, device),
        attention=settings.attention,
        quantize=settings.quantize,
        max_pixels=settings.max_pixels,
        device=device,
        threads=settings.threads,
        batch_tokens=settings.batch_tokens,
        gradient_checkpointing=settings.gradient_checkpointing,
        merge_turns=settings.merge_turns,
        room=Room(settings.reuse_bytes, settings.picture_bytes, config.env.num_envs),
        seed=seed,
        shard=_division(config, processes) if settings.shard else None,
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


def run_wording(config: RunConfig, envs: Callable[[], Envs]) -> Wording:
    """How the model of a run is asked, for one whose weights are elsewhere.

    Raises:
        UserError: its processor cannot be had, or it would be blind.
    """
    from ui_gym_agents.policy.wording import wording_of

    settings = config.policy
    return wording_of(
        settings.model,
        run_prompt(config, envs, Processes()),
        max_pixels=settings.max_pixels,
        temperature=settings.temperature,
        max_new_tokens=settings.max_new_tokens,
    )


def run_prompt(config: RunConfig, envs: Callable[[], Envs], processes: Processes) -> PromptBuilder:
    """How the model of a run is asked; `envs` is called in the main one of `processes` alone.

    Raises:
        UserError: it would be blind, or see pictures too small for its points.
    """
    settings = config.policy
    prompt = make_prompt(
        settings.model,
        settings.prompt,
        settings.history,
        lambda: processes.from_main(lambda: screen_words(config, envs())),
        settings.history_drop,
    )
    if settings.max_pixels is not None:
        processes.from_main(lambda: check_screen(config, envs()))
    check_prompt(prompt, config.env.observation)
    check_model(settings.model, config.env.observation)
    return prompt


def _division(config: RunConfig, processes: Processes) -> Callable[[Any, str], Shards]:
    """Divides a model among processes."""
    from ui_gym_agents.policy.sharding import Shards

    sampled = config.policy.engine is None
    return lambda model, device: Shards(model, processes, device, sampled=sampled)


def check_screen(config: RunConfig, envs: Envs) -> None:
    """Refuse pictures so small that points would be misread; `UserError` says how many it takes."""
    from ui_gym_agents.policy.options import check_points
    from ui_gym_agents.tasks.mix import screen_size

    check_points(config.env.dialect, screen_size(envs), config.policy.max_pixels)


def screen_words(config: RunConfig, envs: Envs) -> str:
    """What a model is told of the screen and its actions."""
    from ui_gym.dialects import get_dialect
    from ui_gym_agents.tasks.mix import screen_size

    space: Any = envs.single_observation_space
    elements = "elements" in space.spaces
    return get_dialect(config.env.dialect).prompt(screen_size(envs), elements=elements)


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


def check_model(model: str, observation: str) -> None:
    """Refuse a model that cannot see what is observed, before its weights are read.

    Raises:
        UserError: there are pictures, and the model or its chat template takes none.
    """
    from ui_gym_agents.policy.encoding import check_pictures
    from ui_gym_agents.policy.model import load_processor
    from ui_gym_agents.policy.weights import resolve

    if observation != "elements":
        check_pictures(load_processor(resolve(model, weights=False)))


LARGE = 500_000_000
"""Bytes of weights from which on it is asked whether they fit; smaller ones fit anywhere."""


def check_size(config: RunConfig, device: str, shards: int = 1) -> None:
    """Refuse a model whose weights do not fit into the machine, before they are downloaded or read.

    With several `shards`, a process holds its part of them.

    Raises:
        UserError: they do not.
    """
    from ui_gym_agents.policy.weights import resolve

    settings = config.policy
    folder = resolve(settings.model, weights=False)
    files = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    if 0 < files < LARGE:
        return
    from ui_gym_agents.policy import footprint
    from ui_gym_agents.policy.model import on_meta

    model = on_meta(folder, run_dtype(config, device))
    weights = footprint.weight_bytes(model, settings.quantize) // shards
    free = footprint.free_memory(device)
    footprint.check_room(model, settings.model, weights, free, machine_words(device))


def machine_words(device: str) -> str:
    return "this machine" if device == "cpu" else f"the GPU {device}"


def make_prompt(
    model: str,
    kind: str,
    history: int | None,
    words: Callable[[], str],
    drop: int | None = None,
) -> PromptBuilder:
    """How a model is asked: as it was trained, where its folder says so, else in full.

    Args:
        model: A shipped name, a folder, or a hub's name.
        kind: The setting `policy.prompt`; a class of one's own is made with the same words.
        history: The most screenshots; as the prompt has it, if None.
        words: Gives what the full prompt tells of the screen and its actions.
        drop: How many of them leave at once; as the prompt has it, if None.
    """
    from ui_gym_agents.policy import PromptBuilder
    from ui_gym_agents.policy.prompts import builder_class
    from ui_gym_agents.policy.weights import resolve

    prompt = PromptBuilder.of(resolve(model, weights=False)) if kind == "auto" else None
    if prompt is None and kind == "bare":
        prompt = PromptBuilder.bare()
    elif prompt is None:
        made_by = builder_class(kind) if ":" in kind else PromptBuilder
        prompt = made_by(dialect_prompt=words())
    return replace(
        prompt,
        history=prompt.history if history is None else history,
        drop=prompt.drop if drop is None else drop,
    )
