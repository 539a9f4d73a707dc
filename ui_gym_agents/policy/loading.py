"""Making a policy: a model's weights, an adapter, a prompt, and how a machine runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from peft import PeftModel

from ui_gym.errors import UserError
from ui_gym_agents.policy import cpu, lora, model
from ui_gym_agents.policy.options import limit_pixels
from ui_gym_agents.policy.policy import VLMPolicy
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.policy.reuse import Room
from ui_gym_agents.policy.weights import resolve

if TYPE_CHECKING:
    from ui_gym_agents.policy.sharding import Shards

SMALL = 30_000_000
"""Models of fewer parameters run on one CPU thread unless told otherwise, and sample with the
adapter merged. Two threads gain them little, and lose much when the envs want a core: with both
cores of two busy, a learning step took ten times as long on two threads as on one."""


def load_policy(
    name: str | Path,
    *,
    adapter: str | Path | None = None,
    lora_rank: int = 0,
    lora_alpha: float | None = None,
    lora_targets: str | Sequence[str] = "auto",
    freeze: Sequence[str] = (),
    temperature: float = 1.0,
    max_new_tokens: int = 64,
    prompt: PromptBuilder | None = None,
    dtype: str = "float32",
    attention: str = "auto",
    quantize: str | None = None,
    max_pixels: int | None = None,
    device: str = "cpu",
    threads: int | None = None,
    act_threads: int | None = None,
    batch_rows: int = 64,
    batch_tokens: int = 4096,
    gradient_checkpointing: bool = False,
    merge_turns: bool = False,
    room: Room = Room(),  # noqa: B008  # frozen
    seed: int = 0,
    shard: Callable[[Any, str], Shards] | None = None,
) -> VLMPolicy:
    """Load a model by shipped name or folder, with an adapter, a fresh one, or none.

    `adapter` is a PEFT folder; otherwise `lora_rank` above zero attaches a fresh adapter,
    seeded by `seed` (`lora_alpha` defaults to twice the rank; `lora_targets`: see
    `lora.target_modules`). With neither, all weights are trained but those of the parts that
    `freeze` names (`model.FREEZABLE`). `prompt` defaults to what
    the folder's ``prompt.json`` says, and to `PromptBuilder()` without one. `threads` sets
    torch's CPU threads for the whole process, `act_threads` those of sampling alone; None is
    one thread for a small model, and else what torch has. `attention`, `quantize` and
    `max_pixels`: see `options`. An adapter's weights are float32 whatever `dtype` is, and so
    are their gradients and what an optimizer keeps of them.
    `gradient_checkpointing` trades time for memory in `accumulate` and in training mode.
    `shard` divides the bare model, in main memory, among processes' devices.

    Raises:
        UserError: no such model, adapter, dtype or layer.
    """
    folder = resolve(name)
    on_cpu = torch.device(device).type == "cpu"
    if on_cpu:
        cpu.keep_freed_memory()
    if quantize and adapter is None and not lora_rank:
        raise UserError(
            "quantized weights cannot be trained, only an adapter on them: set "
            "--policy.lora_rank above 0, or leave --policy.quantize out"
        )
    processor = model.load_processor(folder)
    if max_pixels is not None and processor.image_processor is not None:
        limit_pixels(processor.image_processor, max_pixels)
    net: Any = model.load_model(
        folder,
        dtype=dtype,
        device="cpu" if shard else device,
        attention=attention,
        quantize=quantize,
    )
    if gradient_checkpointing:
        model.checkpoint_activations(net)
    if freeze:
        if adapter is not None or lora_rank:
            raise UserError(
                "with an adapter all weights are frozen, and --policy.lora_targets says where it "
                "goes: set --policy.lora_rank 0, or leave --policy.freeze out"
            )
        model.freeze(net, freeze)
    small = on_cpu and sum(p.numel() for p in net.parameters()) < SMALL
    if threads or small:
        torch.set_num_threads(threads or 1)
    if adapter is not None:
        net = lora.load(net, Path(adapter))
    elif lora_rank:
        alpha = 2 * lora_rank if lora_alpha is None else lora_alpha
        net = lora.attach(net, rank=lora_rank, alpha=alpha, targets=lora_targets, seed=seed)
    base = net.get_base_model() if isinstance(net, PeftModel) else net
    shards = None if shard is None else shard(base, device)
    policy = VLMPolicy(
        net,
        processor,
        prompt or PromptBuilder.of(folder) or PromptBuilder(),
        temperature=temperature,
        max_new_tokens=max_new_tokens,
        act_threads=1 if act_threads is None and small else act_threads,
        lanes=cpu.lanes() if small and threads is None and shards is None else 1,
        merge=(
            small and dtype == "float32" and not quantize and shards is None and lora.is_plain(net)
        ),
        batch_rows=batch_rows,
        batch_tokens=batch_tokens,
        merge_turns=merge_turns,
        room=room,
        name=str(name),
    )
    policy.shards = shards
    if adapter is not None:
        policy.begun = lora.weights(net)
    return policy
