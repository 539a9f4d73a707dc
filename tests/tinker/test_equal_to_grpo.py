"""Proof 10: the same trajectories teach the same through the server as through `ui-gym-grpo`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from tinker import types
from tinker_runs import Make

from ui_gym_agents.groups.gathering import LearningTurn
from ui_gym_agents.policy import VLMPolicy, load_policy
from ui_gym_grpo import GRPOConfig
from ui_gym_grpo.update import Rule, Scored, policy_loss
from ui_gym_tinker import TinkerTrainer
from ui_gym_tinker.server import TinkerServer

BOUND = 1e-5

OURS = {"ppo": "ppo_clip", "importance_sampling": "ppo_clip", "cispo": "cispo", "gspo": "gspo"}
"""`ui-gym-grpo`'s names of the service's losses; an importance-weighted one never clips."""

Arrays = dict[str, np.ndarray]


@dataclass
class Both:
    """One adapter on the server and here, and what both learn from."""

    trainer: TinkerTrainer
    policy: VLMPolicy
    turns: list[LearningTurn]
    checkpoints: Path

    def saved(self, name: str) -> Arrays:
        """The server's adapter as it is."""
        path = self.trainer.model.save_state(name, overwrite=True).result().path
        (folder,) = self.checkpoints.rglob(f"{path.rpartition('/')[2]}/adapter_model.safetensors")
        return load_file(folder)


@pytest.fixture
def both(
    make: Make, tmp_path: Path, clicker: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Both]:
    checkpoints = tmp_path / "checkpoints"
    with TinkerServer(models={"clicker": clicker}, checkpoints=checkpoints) as server:
        monkeypatch.setenv("TINKER_BASE_URL", server.url)
        monkeypatch.setenv("TINKER_API_KEY", server.key)
        trainer = make(refill=8, groups=4, lr=1e-2, epochs=1)
        trainer.context.step = 1
        trainer.step()  # an adapter that does something
        turns = played(trainer)
        trainer.model.save_state("begin", overwrite=True).result()
        (file,) = checkpoints.rglob("begin/adapter_model.safetensors")
        policy = load_policy(clicker, adapter=file.parent, max_new_tokens=6, threads=1)
        yield Both(trainer, policy, turns, checkpoints)
        trainer.close()  # while its server is there


def played(trainer: TinkerTrainer) -> list[LearningTurn]:
    """The turns of a step, as if they had been sampled by somewhat other weights."""
    trainer.context.step = 2
    batch = trainer._gatherer.batch(2)
    noise = np.random.default_rng(0)
    found = []
    for trajectory in batch.trajectories:
        for turn in trajectory.samples:
            moved = noise.normal(0, 0.3, len(turn.record.logprobs)) + turn.record.logprobs
            found.append(replace(turn, record=replace(turn.record, logprobs=tuple(moved.tolist()))))
    assert len(found) > 8
    return found


def of_grpo(both: Both, loss: str, scale: float) -> tuple[float, Arrays]:
    """The loss and the gradients that `ui-gym-grpo` has."""
    low, high = (1.0, 1e9) if loss == "importance_sampling" else GRPOConfig(loss=OURS[loss]).clips
    rule = Rule(loss=OURS[loss], low=low, high=high)
    now = both.policy.logprobs(
        [turn.record for turn in both.turns], both.trainer.context.screenshots
    )
    scored = [
        Scored(now=logp, sampled=turn.record.logprobs, advantage=turn.advantage)
        for logp, turn in zip(now, both.turns, strict=True)
    ]
    found = policy_loss(scored, rule).loss / scale
    both.policy.net.zero_grad()
    found.backward()
    trained = {n: p for n, p in both.policy.net.named_parameters() if p.requires_grad}
    return float(found.detach()), {
        name.replace(".default.", "."): (torch.zeros_like(p) if p.grad is None else p.grad).numpy()
        for name, p in trained.items()
    }


def of_server(both: Both, loss: str, scale: float) -> tuple[float, Arrays]:
    """And the server: a step of AdamW with an eps of 1 moves each weight by -g / (|g| + 1)."""
    config = both.trainer.config.model_copy(update={"loss": loss})
    wire = both.trainer.agent.wire
    data = [
        wire.datum(
            turn.record,
            both.trainer.context.screenshots.get,
            [float(turn.advantage) / scale] * len(turn.record.output_ids),  # type: ignore[arg-type]
            sequence_mask=loss == "gspo",
        )
        for turn in both.turns
    ]
    before = both.saved("before")
    model = both.trainer.service.saved_model(
        both.trainer.model.save_state("start", overwrite=True).result().path, optimizer=False
    )
    output = model.forward_backward(data, loss, config.thresholds or None).result()
    model.optim_step(types.AdamParams(learning_rate=1.0, eps=1.0)).result()
    path = model.save_state("after").result().path
    (file,) = both.checkpoints.rglob(f"{path.rpartition('/')[2]}/adapter_model.safetensors")
    after = load_file(file)
    moved = {name: before[name].astype(np.float64) - after[name] for name in before}
    return output.metrics["loss:sum"], {n: m / (1 - np.abs(m)) for n, m in moved.items()}


@pytest.mark.parametrize("loss", OURS)
def test_losses_and_gradients_are_those_of_grpo(both: Both, loss: str) -> None:
    scale = len(both.turns) * 5.0
    theirs, their_gradients = of_server(both, loss, scale)
    ours, our_gradients = of_grpo(both, loss, scale)
    assert theirs == pytest.approx(ours, abs=BOUND)
    assert their_gradients.keys() == our_gradients.keys()
    largest = max(np.abs(g).max() for g in our_gradients.values())
    assert largest > 1e-3, "there is something to compare"
    for name, gradient in our_gradients.items():
        assert np.abs(gradient - their_gradients[name]).max() < BOUND, name
