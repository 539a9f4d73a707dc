"""Weights: of adapters, saved and read back, and merged for a while."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from policy_helpers import KINDS, Make, MakeView, act, difference, mixed, shake

from ui_gym.errors import UserError
from ui_gym_agents.policy import VLMPolicy
from ui_gym_agents.store import ScreenshotStore


def _equal(one: VLMPolicy, two: VLMPolicy) -> bool:
    pairs = zip(one.net.state_dict().items(), two.net.state_dict().items(), strict=True)
    return all(a == b and torch.equal(x, y) for (a, x), (b, y) in pairs)


def test_a_fresh_adapter_changes_nothing_and_is_seeded(
    make_policy: Make, make_view: MakeView
) -> None:
    plain = act(make_policy(), [make_view()])
    fresh = make_policy(lora_rank=4, seed=3)
    assert act(fresh, [make_view()]) == plain
    twin, other = make_policy(lora_rank=4, seed=3), make_policy(lora_rank=4, seed=4)
    assert _equal(fresh, twin)
    assert not _equal(fresh, other)
    shake(fresh)
    assert act(fresh, [make_view()]) != plain
    with fresh.reference():
        assert act(fresh, [make_view()]) == plain


def test_a_reference_needs_an_adapter(make_policy: Make) -> None:
    with pytest.raises(UserError, match="needs an adapter"):
        make_policy().reference()


@pytest.mark.parametrize("rank", [0, 4])
def test_weights_survive_saving_exactly(
    rank: int, make_policy: Make, make_view: MakeView, tmp_path: Path
) -> None:
    policy = make_policy(lora_rank=rank)
    shake(policy)
    policy.save(tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.suffix in (".bin", ".pt", ".pkl")]
    fresh = make_policy(lora_rank=rank, seed=9)
    assert not _equal(fresh, policy)
    fresh.load(tmp_path)
    assert _equal(fresh, policy)
    assert act(fresh, [make_view()]) == act(policy, [make_view()])
    if rank:
        assert (tmp_path / "adapter_model.safetensors").is_file()
        assert _equal(make_policy(adapter=tmp_path), policy)


def test_an_adapter_of_another_rank_is_refused(make_policy: Make, tmp_path: Path) -> None:
    make_policy(lora_rank=4).save(tmp_path)
    with pytest.raises(UserError, match="another rank"):
        make_policy(lora_rank=2).load(tmp_path)


def test_a_folder_without_an_adapter_is_refused(make_policy: Make, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is no adapter: it holds no adapter_config\.json"):
        make_policy(adapter=tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_an_adapter_learns_and_survives(
    kind: str, make_policy: Make, make_view: MakeView, tmp_path: Path,
    screenshots: ScreenshotStore,
) -> None:  # fmt: skip
    """Attached to the text model and the tower, trained for a step, saved and read back."""
    policy = make_policy(kind, lora_rank=2, lora_targets="auto+vision")
    shake(policy)
    records = act(policy, [make_view()])
    optimizer = torch.optim.SGD(policy.parameters(), lr=1e-3)
    loss = -torch.cat(policy.logprobs(records, screenshots)).sum()
    loss.backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in policy.parameters())
    optimizer.step()
    assert -torch.cat(policy.logprobs(records, screenshots)).sum() < loss
    policy.save(tmp_path)
    again = make_policy(kind, adapter=tmp_path)
    assert _equal(again, policy)
    again.load(tmp_path)
    assert act(again, [make_view()]) == act(policy, [make_view()])


@pytest.mark.parametrize("kind", KINDS)
def test_a_merged_checkpoint_acts_like_model_and_adapter(
    kind: str, make_policy: Make, make_view: MakeView, tmp_path: Path,
    screenshots: ScreenshotStore,
) -> None:  # fmt: skip
    policy = make_policy(kind, lora_rank=4)
    shake(policy)
    records = act(policy, mixed(make_view))
    before = [p.clone() for p in policy.net.parameters()]
    policy.save_merged(tmp_path)
    assert all(map(torch.equal, before, policy.net.parameters()))
    merged = VLMPolicy.from_config(tmp_path, max_new_tokens=8)
    assert not any("lora" in name for name, _ in merged.net.named_parameters())
    assert merged.prompt == policy.prompt
    assert difference(merged, records, screenshots) < 1e-5


def test_sampling_with_merged_weights_leaves_no_trace(
    make_policy: Make, make_view: MakeView, screenshots: ScreenshotStore
) -> None:
    policy = make_policy(lora_rank=4, lora_targets="auto+vision")
    shake(policy)
    before = {key: value.clone() for key, value in policy.net.state_dict().items()}
    assert policy.merge
    merged = act(policy, mixed(make_view))
    policy.merge = False
    apart = act(policy, mixed(make_view))
    assert [r.output_ids for r in merged] == [r.output_ids for r in apart]
    assert merged != apart, "the weights were never merged"
    assert difference(policy, merged, screenshots) < 1e-5
    after = policy.net.state_dict()
    assert all(torch.equal(value, after[key]) for key, value in before.items())


def test_merging_ends_when_sampling_fails(make_policy: Make, make_view: MakeView) -> None:
    policy = make_policy(lora_rank=4)
    shake(policy)
    expected = act(policy, [make_view()])

    def fail(*args: object) -> None:
        raise RuntimeError("out of luck")

    hook = policy.base.get_output_embeddings().register_forward_hook(fail)
    with pytest.raises(RuntimeError, match="out of luck"):
        policy.act([make_view()])
    hook.remove()
    policy.merge = False
    assert act(policy, [make_view()])[0].output_ids == expected[0].output_ids


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing.*:FutureWarning")
def test_only_plain_lora_is_merged(make_policy: Make) -> None:
    from peft import LoraConfig, get_peft_model

    from ui_gym_agents.policy import lora

    config = LoraConfig(r=2, target_modules=["q_proj"], use_dora=True)
    model = get_peft_model(make_policy().net, config)
    assert not lora.is_plain(model)
    with pytest.raises(UserError, match="only plain LoRA"), lora.merged(model):
        pass
    assert lora.is_plain(make_policy(lora_rank=2).net)


@pytest.mark.parametrize(
    ("targets", "vision", "text"),
    [("auto", False, True), ("auto+vision", True, True), (["q_proj", "qkv"], True, True)],
)
def test_targets_choose_the_adapted_layers(
    targets: str, vision: bool, text: bool, make_policy: Make
) -> None:
    policy = make_policy(lora_rank=2, lora_targets=targets)
    names = [name for name, p in policy.net.named_parameters() if p.requires_grad]
    assert any(".visual." in name for name in names) == vision
    assert any(".language_model." in name for name in names) == text
    assert all("lora_" in name for name in names)


def test_an_unknown_target_names_the_nearest(make_policy: Make) -> None:
    with pytest.raises(UserError, match=r"no linear layer is called 'q_prog'.*'q_proj'"):
        make_policy(lora_rank=2, lora_targets=["q_prog"])


def test_an_unknown_dtype_is_refused(make_policy: Make) -> None:
    with pytest.raises(UserError, match=r"no dtype 'float31'.*'float32'"):
        make_policy(dtype="float31")
