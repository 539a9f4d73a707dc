"""What a dry run says of a model: the prompts of one episode, and the memory that a step will take.

The episode is the oracle's, so that no weight is needed: the model's configuration, tokenizer and
image settings say how long its prompts would be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ui_gym_agents.agents import OracleAgent
from ui_gym_agents.agents.agent import Decision, View
from ui_gym_agents.tasks.sources import TaskEntry
from ui_gym_agents.training import parts
from ui_gym_agents.training.settings import RunConfig

if TYPE_CHECKING:
    from ui_gym_agents.policy import PromptBuilder
    from ui_gym_agents.policy.encoding import PromptEncoder


class Listening(OracleAgent):
    """An oracle whose views are put into a model's prompts; `tokens` are their lengths."""

    def __init__(self, prompt: PromptBuilder, encoder: PromptEncoder) -> None:
        super().__init__()
        self.prompt = prompt
        self.encoder = encoder
        self.tokens: list[int] = []
        self.pictures = 0

    def act(self, views: Sequence[View]) -> list[Decision]:
        for view in views:
            messages, shown = self.prompt.build(view)
            images = view.screenshots[len(view.screenshots) - shown :]
            sizes = [image.shape[:2] for image in images]
            self.tokens.append(len(self.encoder.encode(messages, sizes)))
            self.pictures = max(self.pictures, shown)
        return super().act(views)

    def longest(self, turns: int) -> int:
        """Tokens of the longest prompt of an episode of so many turns."""
        unseen = max(0, min(self.prompt.history, turns) - len(self.tokens))
        steps = [b - a for a, b in zip(self.tokens, self.tokens[1:], strict=False)]
        return max(self.tokens) + unseen * max([0, *steps])


def rehearse(config: RunConfig, console: Console) -> None:
    """Load configuration and processor, play one episode, and say what memory a step will take.

    Raises:
        UserError: the model cannot be had, sees nothing, or does not fit.
    """
    from ui_gym_agents.policy import footprint
    from ui_gym_agents.policy.model import on_meta
    from ui_gym_agents.policy.weights import resolve

    settings = config.policy
    folder = resolve(settings.model, weights=False)
    parts.check_model(settings.model, config.env.observation)
    heard = _play(config, folder)
    device = parts.choose_device(settings.device)
    model = on_meta(folder, parts.run_dtype(config, device))
    turns = config.env.max_steps or max(entry.spec.max_steps for entry in config.tasks.entries())
    load = footprint.Load(
        prompt=heard.longest(turns),
        answer=settings.max_new_tokens,
        rows=0 if settings.engine else config.env.num_envs,
        batch=settings.batch_tokens,
        remembered=(settings.picture_bytes or 0) + (settings.reuse_bytes or 0),
    )
    found = footprint.footprint(
        model, load, rank=settings.lora_rank, targets=settings.lora_targets,
        quantize=settings.quantize, checkpointing=settings.gradient_checkpointing,
    )  # fmt: skip
    free = footprint.free_memory(device)
    where = parts.machine_words(device)
    console.print(
        f"{settings.model}: {_millions(found.parameters)} parameters, "
        f"{_millions(found.trained)} of them trained\n"
        f"an episode of the oracle: {len(heard.tokens)} turns, up to {heard.pictures} pictures and "
        f"{max(heard.tokens)} tokens; where the history is full {load.prompt} tokens, and "
        f"{settings.max_new_tokens} of an answer\n"
        f"memory of a step: {_shown(found)}\n"
        f"at most {_size(found.peak)} at a time, and {where} has {_size(free)} free",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    footprint.check_room(model, settings.model, found.weights, free, where)
    if found.peak > free:
        console.print(
            "this does not fit: try --policy.gradient_checkpointing true, a smaller "
            "--policy.batch_tokens, --policy.history, --policy.max_pixels or --env.num_envs, "
            "--policy.quantize nf4, or a server that samples (--policy.engine)",
            highlight=False, soft_wrap=True,
        )  # fmt: skip


def _shown(found: Any) -> str:
    names = (
        "weights", "adapter", "gradients", "optimizer", "remembered", "cache", "sampling",
        "activations",
    )  # fmt: skip
    return ", ".join(f"{name} {_size(getattr(found, name))}" for name in names)


def _millions(count: int) -> str:
    return f"{count / 1e9:.2f} B" if count >= 1e9 else f"{count / 1e6:.1f} M"


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"


def _play(config: RunConfig, folder: Any) -> Listening:
    """One episode of the first task, heard as the model would be told of it."""
    from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
    from ui_gym_agents.policy.encoding import PromptEncoder
    from ui_gym_agents.policy.model import load_processor
    from ui_gym_agents.policy.options import limit_pixels
    from ui_gym_agents.tasks.mix import reset_names

    settings = config.policy
    processor = load_processor(folder)
    if settings.max_pixels is not None and processor.image_processor is not None:
        limit_pixels(processor.image_processor, settings.max_pixels)
    entries: list[TaskEntry] = config.tasks.entries()
    first = replace(entries[0], seeds=())
    envs = parts.run_envs(config, [first], 1)
    try:
        parts.check_screen(config, envs)
        prompt = parts.make_prompt(
            settings.model, settings.prompt, settings.history,
            lambda: parts.screen_words(config, envs), settings.history_drop,
        )  # fmt: skip
        parts.check_prompt(prompt, config.env.observation)
        heard = Listening(prompt, PromptEncoder(processor, []))
        request = EpisodeRequest(
            seed=0, task=reset_names([first])[first.variant], split=first.split
        )  # fmt: skip
        list(Collector(envs, heard).episodes([request]))
    finally:
        envs.close()
    return heard
