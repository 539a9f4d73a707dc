"""Gradients: the same however they are computed, and only where weights are trained."""

from __future__ import annotations

import pytest
import torch
from policy_helpers import (
    KINDS,
    TWO_PICTURES,
    Make,
    MakeView,
    act,
    assert_alike,
    difference,
    learned,
    mixed,
    shake,
)

from ui_gym.errors import UserError
from ui_gym_agents.policy import load_policy
from ui_gym_agents.store import ScreenshotStore


@pytest.mark.parametrize("kind", ["qwen3_vl", "llava"])
@pytest.mark.parametrize("targets", ["auto", "auto+vision"])
def test_a_shared_prompt_gives_the_same_gradients(
    kind: str, targets: str, make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    policy = make_policy(kind, prompt=TWO_PICTURES, lora_rank=2, lora_targets=targets)
    shake(policy)
    records = act(policy, mixed(make_view))

    def gradients(share: bool, batch_tokens: int) -> list[torch.Tensor]:
        policy.batch_tokens = batch_tokens
        return learned(policy, records, screenshots, share)[1]

    whole = gradients(share=False, batch_tokens=1)
    for share in (True, False):
        assert_alike(gradients(share, 100_000), whole)


@pytest.mark.parametrize("kind", ["qwen3_vl", "llava"])
@pytest.mark.parametrize("share", [False, True])
def test_a_folded_adapter_gives_the_same_gradients(
    kind: str, share: bool, make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    policy = make_policy(kind, prompt=TWO_PICTURES, lora_rank=2)
    shake(policy)
    records = act(policy, mixed(make_view))
    forwards = {name: part.forward for name, part in policy.net.named_modules()}

    policy.merge = True
    values, grads = learned(policy, records, screenshots, share)
    policy.merge = False
    others, expected = learned(policy, records, screenshots, share)
    for mine, theirs in zip(values, others, strict=True):
        assert torch.allclose(mine, theirs, atol=1e-4)
    assert_alike(grads, expected)
    assert {name: part.forward for name, part in policy.net.named_modules()} == forwards


@pytest.mark.parametrize(("checkpointing", "runs"), [(False, (2, 2)), (True, (1, 2))])
def test_gradient_checkpointing_computes_layers_again(
    checkpointing: bool, runs: tuple[int, int], make_policy: Make, make_view: MakeView,
    screenshots: ScreenshotStore,
) -> None:  # fmt: skip
    """Forwards it is one pass for all, not one for the shared prompt and one for the answers."""
    policy = make_policy(lora_rank=2, gradient_checkpointing=checkpointing)
    shake(policy)
    records = act(policy, [make_view(noise=n) for n in range(4)])
    policy.train()
    counted: list[int] = []
    layer = policy.base.model.language_model.layers[0].input_layernorm
    layer.register_forward_hook(lambda *args: counted.append(1))
    found = policy.logprobs(records, screenshots)
    forwards = len(counted)
    torch.cat(found).sum().backward()
    assert (forwards, len(counted)) == runs
    grads = learned(policy, records, screenshots)[1]
    reference = make_policy(lora_rank=2)
    shake(reference)
    assert_alike(grads, learned(reference, records, screenshots, share=False)[1])


@pytest.mark.parametrize("kind", KINDS)
def test_bfloat16_samples_and_learns(
    kind: str, make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    """Log-probabilities are in single precision, from logits that are not."""
    policy = make_policy(kind, prompt=TWO_PICTURES, lora_rank=2, dtype="bfloat16")
    assert policy.base.dtype == torch.bfloat16
    records = act(policy, mixed(make_view, rows=4))
    assert difference(policy, records, screenshots, share=False) < 0.2
    found, grads = learned(policy, records, screenshots)
    assert {values.dtype for values in found} == {torch.float32}
    assert any(g.abs().sum() > 0 for g in grads)


def test_a_frozen_tower_gets_no_gradient_and_a_trained_one_does(
    make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    for rank, sees in ((2, False), (0, True)):
        policy = make_policy(lora_rank=rank)
        records = act(policy, [make_view()])
        torch.cat(policy.logprobs(records, screenshots)).sum().backward()
        patch = policy.base.model.visual.patch_embed.proj.weight.grad
        assert (patch is not None and bool(patch.abs().sum() > 0)) == sees


def test_features_are_forgotten_when_the_tower_learns(
    make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    policy = make_policy()
    records = act(policy, [make_view()])
    with torch.no_grad():
        policy.base.model.visual.patch_embed.proj.weight.mul_(1.5)
    assert difference(policy, records, screenshots) > 1e-3
    (later,) = act(policy, [make_view()])
    assert difference(policy, [later], screenshots) < 1e-5


def test_dropout_is_off_while_sampling_and_the_mode_is_kept(
    make_policy: Make, make_view: MakeView
) -> None:
    policy = make_policy()
    assert not policy.net.training
    policy.train()
    policy.act([make_view()])
    assert policy.net.training
    policy.eval()
    assert not policy.net.training


def test_frozen_parts_stay_as_they_are(make_view: MakeView, screenshots: ScreenshotStore) -> None:
    policy = load_policy("tiny-clerk", freeze=("vision", "embeddings"))
    before = {name: p.detach().clone() for name, p in policy.net.named_parameters()}
    records = act(policy, mixed(make_view))
    loss, _ = policy.supervised_loss(records, screenshots)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    loss.backward()
    optimizer.step()
    moved = {n for n, p in policy.net.named_parameters() if not torch.equal(p, before[n])}
    assert moved
    assert not {name for name in moved if "visual" in name or "embed" in name}
    assert policy.eyes.frozen(), "what was seen may be remembered"


def test_an_adapter_has_nothing_to_freeze() -> None:
    with pytest.raises(UserError, match=r"--policy.lora_rank 0"):
        load_policy("tiny-clerk", lora_rank=2, freeze=("vision",))


def test_what_is_no_part_cannot_be_frozen() -> None:
    with pytest.raises(UserError, match=r"no part 'visoin' to freeze.*vision"):
        load_policy("tiny-clerk", freeze=("visoin",))
