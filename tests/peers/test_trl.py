"""The update rule beside TRL's, on equal numbers."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from ui_gym_agents.groups.advantages import GROUPED
from ui_gym_grpo.update import Rule, Scored, policy_loss

trl = pytest.importorskip("trl", reason="needs trl==1.16: run it by tox -e peers")

LENGTHS = (4, 2, 6, 1)
LONGEST = max(LENGTHS)
MASK = torch.tensor([[float(t < n) for t in range(LONGEST)] for n in LENGTHS], dtype=torch.float64)


class Peer(trl.GRPOTrainer):  # type: ignore[misc, name-defined]
    """TRL's trainer with nothing but what its loss needs; the model's answers are given."""

    def __init__(self, now: torch.Tensor, **attributes: Any) -> None:
        args = SimpleNamespace(
            delta=attributes.pop("delta", None), use_bias_correction_kl=False,
            steps_per_generation=1, report_to=[],
        )  # fmt: skip
        alone = SimpleNamespace(
            num_processes=1, gather=lambda x: x, gather_for_metrics=lambda x: x,
            reduce=lambda x, reduction: x,
        )  # fmt: skip
        self.now = now
        defaults = {
            "args": args, "accelerator": alone, "model": SimpleNamespace(training=True),
            "aux_loss_enabled": False, "top_entropy_quantile": 1.0, "beta": 0.0,
            "off_policy_mask_threshold": None, "importance_sampling_level": "token",
            "loss_type": "grpo", "epsilon_low": 0.2, "epsilon_high": 0.28, "use_vllm": False,
            "current_gradient_accumulation_steps": 1, "max_completion_length": 50,
            "_entropy_bonus_enabled": False, "_metrics": defaultdict(lambda: defaultdict(list)),
        }  # fmt: skip
        self.__dict__.update(defaults | attributes)

    def _get_per_token_logps_and_entropies(self, *given: Any, **more: Any) -> Any:
        return self.now, torch.zeros_like(self.now), None


def numbers() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, list[float]]:
    """Log-probabilities now, before and of the reference, (turns, tokens); advantages."""
    rng = np.random.default_rng(0)
    before = torch.tensor(rng.normal(-1, 0.5, (len(LENGTHS), LONGEST)))
    now = before + torch.tensor(rng.normal(0, 0.4, before.shape))
    reference = before + torch.tensor(rng.normal(0, 0.4, before.shape))
    return now, before, reference, [0.7, -0.4, 1.0, -1.3]


def theirs(**attributes: Any) -> tuple[float, torch.Tensor]:
    now, before, reference, advantages = numbers()
    now.requires_grad_()
    ids = torch.ones(len(LENGTHS), LONGEST, dtype=torch.int64)
    loss = Peer(now, **attributes)._compute_loss(
        None,
        {
            "prompt_ids": ids, "prompt_mask": ids, "completion_ids": ids, "completion_mask": MASK,
            "advantages": torch.tensor(advantages, dtype=torch.float64),
            "old_per_token_logps": before, "ref_per_token_logps": reference,
            "num_items_in_batch": MASK.sum(),
        },
    )  # fmt: skip
    loss.backward()
    assert now.grad is not None
    return loss.item(), now.grad


def ours(rule: Rule, aggregate: str) -> tuple[float, torch.Tensor]:
    now, before, reference, advantages = numbers()
    now.requires_grad_()
    turns = [
        Scored(
            now[i, :n], before[i, :n].tolist(), advantages[i], reference=reference[i, :n],
            weight=1 / n if aggregate == "turns" else 1.0,
        )
        for i, n in enumerate(LENGTHS)
    ]  # fmt: skip
    scale = {"turns": len(LENGTHS), "tokens": sum(LENGTHS), "episodes": 50 * len(LENGTHS)}
    loss = policy_loss(turns, rule).loss / scale[aggregate]
    loss.backward()
    assert now.grad is not None
    return loss.item(), now.grad


@pytest.mark.parametrize(
    ("attributes", "rule", "aggregate"),
    [
        ({"loss_type": "grpo"}, Rule(), "turns"),
        ({"loss_type": "grpo", "beta": 0.1}, Rule(kl=0.1), "turns"),
        ({"loss_type": "dr_grpo"}, Rule(), "episodes"),
        ({"loss_type": "dapo"}, Rule(), "tokens"),
        ({"loss_type": "bnpo"}, Rule(), "tokens"),
        ({"importance_sampling_level": "sequence"}, Rule(loss="gspo"), "turns"),
        ({"loss_type": "cispo", "epsilon_high": 1.28}, Rule(loss="cispo"), "tokens"),
    ],
    ids=["grpo", "grpo with kl", "dr_grpo", "dapo", "bnpo", "gspo", "cispo"],
)
def test_losses_and_gradients_are_equal(
    attributes: dict[str, Any], rule: Rule, aggregate: str
) -> None:
    loss, gradient = ours(rule, aggregate)
    peer, peer_gradient = theirs(**attributes)
    assert loss == pytest.approx(peer, rel=1e-9)
    assert torch.allclose(gradient, peer_gradient, rtol=1e-7, atol=1e-12)


def test_grpos_advantages_are_equal() -> None:
    rewards = torch.tensor([1.0, 0.0, 0.5, 0.0])
    peer = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
    assert GROUPED["grpo"](rewards.tolist()) == pytest.approx(peer.tolist(), rel=1e-5)
