"""One learner step by our GRPO plugin and by TRL's `GRPOTrainer`, on the same rollouts.

Both have the same model with the same adapter, the rule of Dr. GRPO, the same clips, AdamW, and as
many epochs and minibatches. Neither plays. Each begins with what its sampling leaves in training:

- ours with tokens, their log-probabilities and the features of the pictures, or without those;
- TRL's with tokens: its trainer processes the pictures and computes log-probabilities for the ratio
  before it trains. Or, more than it ever has, with both of these, and with our `PatchProjection`.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
import torch
from datasets import Dataset
from PIL import Image
from torch import Tensor
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from transformers import AutoModelForImageTextToText
from transformers.trainer_callback import PrinterCallback
from trl import GRPOConfig as PeerConfig
from trl import GRPOTrainer as PeerTrainer

from ui_gym_agents.agents.agent import View
from ui_gym_agents.episode import Episode, TokenRecord, Turn
from ui_gym_agents.groups.advantages import GROUPED
from ui_gym_agents.groups.gathering import LearningTurn, Trajectory
from ui_gym_agents.policy import VLMPolicy, load_policy, lora, model
from ui_gym_agents.policy.prompts import Message
from ui_gym_agents.policy.weights import resolve
from ui_gym_agents.seeds import derive
from ui_gym_agents.store import ScreenshotStore
from ui_gym_grpo import GRPOConfig
from ui_gym_grpo.learning import Learner

MODEL = "tiny-clerk"
GROUPS, MEMBERS = 8, 8
RANK, ALPHA = 16, 32.0
THREADS = 1
RATE = 1e-8
"""The learning rate of what is measured. So small, no round changes the work of the next."""

Place = tuple[Any, str, str]
"""An object, the name of a method or function of it, and the phase that it is."""


class Side(Protocol):
    """One of the two. It has made one step when it is there."""

    loss: float
    """The mean loss of that step's gradient steps."""
    seconds: dict[str, float]
    """CPU time by phase, of all steps since."""

    def step(self) -> None:
        """All gradient steps on the rollouts."""

    def gradient(self) -> Tensor:
        """AdamW's running mean of the clipped gradient, flat."""


@dataclass(frozen=True)
class Rollouts:
    """What was played: a turn each. The lists have one item a rollout."""

    messages: list[list[Message]]
    records: list[TokenRecord]
    rewards: list[float]
    advantages: list[float]
    pictures: ScreenshotStore


@dataclass(frozen=True)
class Plan:
    """How a step learns: `epochs` x `parts` gradient steps."""

    epochs: int = 2
    parts: int = 2
    rate: float = RATE


# -- what both have --


def make_policy() -> VLMPolicy:
    """The tiny model with an adapter that does something."""
    policy = load_policy(
        MODEL, lora_rank=RANK, lora_alpha=ALPHA, max_new_tokens=24, threads=THREADS
    )
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter += 0.01 * torch.randn(parameter.shape, generator=generator)
    return policy


def play(policy: VLMPolicy, screens: int) -> Rollouts:
    """One turn each of `GROUPS` x `MEMBERS` rollouts, which see `screens` different pictures."""
    rng = np.random.default_rng(0)
    store = ScreenshotStore()
    # Blocks rather than noise: a page has large areas of one colour.
    coarse = rng.integers(0, 256, (screens, 32, 40, 3), np.uint8)
    shown = [np.kron(image, np.ones((8, 8, 1), np.uint8)) for image in coarse]
    count = GROUPS * MEMBERS
    goals = [f"Enter row {i // MEMBERS + 1} into the form." for i in range(count)]
    views = [View(0, goal, [shown[i * screens // count]], noise=i) for i, goal in enumerate(goals)]
    for image in shown:
        store.put(image)
    said = [decision.tokens for decision in policy.act(views)]
    policy.suppressed.zero_()  # TRL leaves ids out when it samples, but not when it scores
    records = [record for record in said if record is not None]
    with torch.no_grad():
        scored = policy.logprobs(records, store)
    rewards = rng.integers(0, 2, (GROUPS, MEMBERS)).astype(float).tolist()
    return Rollouts(
        [policy.prompt.build(view)[0] for view in views],
        [replace(r, logprobs=tuple(p.tolist())) for r, p in zip(records, scored, strict=True)],
        [reward for group in rewards for reward in group],
        [gain for group in rewards for gain in GROUPED["dr_grpo"](group)],
        store,
    )


@contextmanager
def timed(seconds: dict[str, float], places: Sequence[Place]) -> Iterator[None]:
    """Add up the CPU time of each of `places` inside, less that of others of them within it.

    An optimizer's step is the phase ``optimizer``.
    """
    inner = [0.0]
    begun: list[float] = []

    def begin(*_: Any) -> None:
        begun.append(time.process_time())

    def end(*_: Any) -> None:
        seconds["optimizer"] += time.process_time() - begun.pop()

    def wrapped(call: Any, phase: str) -> Any:
        def run(*given: Any, **more: Any) -> Any:
            inner.append(0.0)
            started = time.process_time()
            try:
                return call(*given, **more)
            finally:
                took = time.process_time() - started
                seconds[phase] += took - inner.pop()
                inner[-1] += took

        return run

    hooks = register_optimizer_step_pre_hook(begin), register_optimizer_step_post_hook(end)
    before = [(owner, name, vars(owner).get(name)) for owner, name, _ in places]
    for owner, name, phase in places:
        setattr(owner, name, wrapped(getattr(owner, name), phase))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
        for owner, name, own in before:
            if own is None:
                delattr(owner, name)
            else:
                setattr(owner, name, own)


def first_moments(optimizer: Any, parameters: Sequence[Tensor]) -> Tensor:
    """After one gradient step, a tenth of the gradient."""
    return torch.cat([optimizer.state[parameter]["exp_avg"].flatten() for parameter in parameters])


def make_side(way: str, policy: VLMPolicy, rollouts: Rollouts, plan: Plan, folder: Path) -> Side:
    """The side that goes by `way`; `folder` is for what a trainer may write."""
    if way.startswith("trl"):
        return Theirs(policy, rollouts, plan, spared="spared" in way, folder=folder)
    return Ours(policy, rollouts, plan, seen="unseen" not in way)


# -- ours --


class Ours:
    """The plugin's learner; `seen`: it knows the pictures' features, as a sampler left them."""

    def __init__(self, policy: VLMPolicy, rollouts: Rollouts, plan: Plan, *, seen: bool) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._policy = policy
        self._seen = seen
        context: Any = SimpleNamespace(
            policy=policy, step=1, derive=derive,
            config=SimpleNamespace(run=SimpleNamespace(steps=1)),
        )  # fmt: skip
        config = GRPOConfig(epochs=plan.epochs, minibatches=plan.parts, lr=plan.rate, warmup=0)
        self._learner = Learner(config, context, rollouts.pictures)
        self._trajectories = [
            Trajectory(
                Episode("", 0, "", [Turn(record.images[0], "", tokens=record)]),
                [LearningTurn(record, advantage)],
                [0.0],
            )
            for record, advantage in zip(rollouts.records, rollouts.advantages, strict=True)
        ]
        self._places: list[Place] = [
            (policy.eyes, "look", "prepare"),
            (policy, "logprobs", "forward"),
            (torch.Tensor, "backward", "backward"),
            (torch.nn.utils, "clip_grad_norm_", "optimizer"),
        ]
        self.loss = self._learn()

    def step(self) -> None:
        with timed(self.seconds, self._places):
            self._learn()

    def _learn(self) -> float:
        self._policy.version = 0  # the rollouts are of this policy
        if not self._seen:
            self._policy.eyes.forget()
        return self._learner.learn(self._trajectories)["loss"]

    def gradient(self) -> Tensor:
        return first_moments(self._learner.optimizer, self._policy.parameters())


# -- TRL's --


class Player(PeerTrainer):  # type: ignore[misc]
    """TRL's trainer, given the tokens that it would sample."""

    def __init__(self, policy: VLMPolicy, rollouts: Rollouts, **given: Any) -> None:
        super().__init__(reward_funcs=lambda **_: rollouts.rewards, **given)
        records = rollouts.records
        self._tokens = [list(r.prompt_ids) for r in records], [list(r.output_ids) for r in records]
        self._texts = [
            [{"role": "assistant", "content": policy.text(record.output_ids)}] for record in records
        ]
        self._rows = [
            {"prompt": messages, "images": [Image.fromarray(rollouts.pictures.get(key))
                                            for key in record.images]}
            for messages, record in zip(rollouts.messages, records, strict=True)
        ]  # fmt: skip

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        return super()._generate_and_score_completions(self._rows)

    def _generate(self, prompts: Any) -> tuple[Any, ...]:
        return *self._tokens, None, self._texts, None, {}, None, None

    def _send_telemetry(self) -> None:
        """Nothing leaves this machine."""


class Spared(Player):
    """TRL's trainer, given the batch that it would make of tokens and pictures."""

    def __init__(self, policy: VLMPolicy, rollouts: Rollouts, **given: Any) -> None:
        super().__init__(policy, rollouts, **given)
        self._batch = as_peer_batch(policy, rollouts)

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        return dict(self._batch)


class Theirs:
    """TRL's trainer."""

    def __init__(
        self, policy: VLMPolicy, rollouts: Rollouts, plan: Plan, *, spared: bool, folder: Path
    ) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        rule = GRPOConfig()
        args = PeerConfig(
            str(folder),
            num_generations=MEMBERS,
            per_device_train_batch_size=GROUPS * MEMBERS // plan.parts,
            steps_per_generation=plan.parts,
            num_iterations=plan.epochs,
            max_steps=plan.epochs * plan.parts,
            loss_type="dr_grpo",
            scale_rewards="none",
            max_completion_length=int(rule.episode_tokens),
            epsilon=rule.clips[0],
            epsilon_high=rule.clips[1],
            learning_rate=plan.rate,
            lr_scheduler_type="constant",
            adam_beta2=rule.beta2,
            max_grad_norm=rule.clip,
            gradient_checkpointing=False,
            bf16=False,
            use_cpu=True,
            logging_strategy="no",
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        self._trainer = (Spared if spared else Player)(
            policy,
            rollouts,
            model=peer_net(policy, stock=not spared),
            args=args,
            train_dataset=Dataset.from_dict({"prompt": ["not asked"] * GROUPS}),
            processing_class=policy.processor,
        )
        self._trainer.remove_callback(PrinterCallback)
        self._places: list[Place] = [
            (self._trainer, "_prepare_inputs", "prepare"),
            (self._trainer, "compute_loss", "forward"),
            (torch.Tensor, "backward", "backward"),
            (torch.nn.utils, "clip_grad_norm_", "optimizer"),
        ]
        self.loss = float(self._trainer.train().training_loss)

    def step(self) -> None:
        """What `Trainer.train` repeats, without its setup, callbacks and logs."""
        trainer, net = self._trainer, self._trainer.model_wrapped
        with timed(self.seconds, self._places):
            for _ in range(trainer.args.max_steps):
                trainer.training_step(net, {}, None)
                trainer.accelerator.clip_grad_norm_(net.parameters(), trainer.args.max_grad_norm)
                trainer.optimizer.step()
                trainer.lr_scheduler.step()
                net.zero_grad()

    def gradient(self) -> Tensor:
        parameters = [p for p in self._trainer.model.parameters() if p.requires_grad]
        return first_moments(self._trainer.optimizer, parameters)


def peer_net(policy: VLMPolicy, *, stock: bool) -> Any:
    """The policy's model again, as it stands; `stock`: as transformers alone would load it.

    Ours replaces the convolution over patches by the matrix product that it is.
    """
    folder = resolve(MODEL)
    net = AutoModelForImageTextToText.from_pretrained(folder) if stock else model.load_model(folder)
    adapted = lora.attach(net, rank=RANK, alpha=ALPHA, targets="auto", seed=0)
    adapted.load_state_dict(policy.net.state_dict())
    return adapted


def as_peer_batch(policy: VLMPolicy, rollouts: Rollouts) -> dict[str, Any]:
    """What `GRPOTrainer._generate_and_score_completions` returns for `rollouts`."""
    records = rollouts.records
    pad = policy.tokenizer.pad_token_id
    prompts = _padded([record.prompt_ids for record in records], pad, left=True)
    answers = _padded([record.output_ids for record in records], pad)
    mask = _padded([(1,) * len(record.output_ids) for record in records], 0)
    images = [rollouts.pictures.get(key) for record in records for key in record.images]
    pixels = policy.processor.image_processor(images=images, return_tensors="pt")
    seen = (prompts == policy.encoder.image_id).int()
    return {
        "prompt_ids": prompts,
        "prompt_mask": _padded([(1,) * len(record.prompt_ids) for record in records], 0, left=True),
        "completion_ids": answers,
        "completion_mask": mask,
        "advantages": torch.tensor(rollouts.advantages),
        "num_items_in_batch": mask.sum(),
        "old_per_token_logps": _padded([record.logprobs for record in records], 0.0),
        "pixel_values": pixels["pixel_values"],
        "image_grid_thw": pixels["image_grid_thw"],
        "mm_token_type_ids": torch.cat([seen, torch.zeros_like(answers).int()], dim=1),
        "num_images": [len(record.images) for record in records],
    }


def _padded(rows: Sequence[Sequence[float]], fill: float, *, left: bool = False) -> Tensor:
    tensors = [torch.tensor(row) for row in rows]
    side = "left" if left else "right"
    return torch.nn.utils.rnn.pad_sequence(
        tensors, batch_first=True, padding_value=fill, padding_side=side
    )
