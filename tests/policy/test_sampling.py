"""What the policy says, and what it records of that."""

from __future__ import annotations

import logging

import pytest
import torch
from policy_helpers import FULL, KINDS, Make, MakeView, act, mixed

from ui_gym.errors import UserError
from ui_gym_agents.policy import VLMPolicy


@pytest.mark.parametrize("kind", ["qwen3_vl", "llava"])
def test_temperature_zero_takes_the_best_token(
    kind: str, make_policy: Make, make_view: MakeView
) -> None:
    policy = make_policy(kind, temperature=0.0)
    one, two = act(policy, [make_view(noise=1), make_view(noise=2)])
    assert one.output_ids == two.output_ids
    policy.temperature = 1e-4
    (cold,) = act(policy, [make_view(noise=3)])
    assert cold.output_ids == one.output_ids


def test_noise_decides_the_sample(make_policy: Make, make_view: MakeView) -> None:
    policy = make_policy()
    views = [make_view(noise=n) for n in (1, 1, 2)]
    first, again, other = (r.output_ids for r in act(policy, views))
    assert first == again != other


def test_samples_follow_the_distribution(make_policy: Make, make_view: MakeView) -> None:
    """Frequencies of the first token over many noises against its probability."""
    policy = make_policy(max_new_tokens=1, temperature=0.3)
    records = act(policy, [make_view(noise=n) for n in range(2000)])
    seen = [r.output_ids[0] for r in records]
    prob = {r.output_ids[0]: torch.tensor(r.logprobs[0]).exp().item() for r in records}
    best = max(prob, key=lambda token: prob[token])
    assert 0.02 < prob[best] < 0.98
    sigma = (prob[best] * (1 - prob[best]) / len(seen)) ** 0.5
    assert abs(seen.count(best) / len(seen) - prob[best]) < 4 * sigma


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_structural_tokens_are_never_sampled(
    kind: str, temperature: float, make_policy: Make, make_view: MakeView
) -> None:
    policy = make_policy(kind, temperature=temperature)
    forbidden = set(policy.suppressed.nonzero()[:, 0].tolist())
    names = policy.tokenizer.convert_ids_to_tokens(sorted(forbidden))
    assert {"<|image_pad|>", "<|vision_start|>", "<|im_start|>"} <= set(names)
    assert policy.encoder.image_id in forbidden
    assert not forbidden & set(policy.stops)

    def favour(module: object, inputs: object, logits: torch.Tensor) -> torch.Tensor:
        return logits + 1e4 * policy.suppressed

    hook = policy.base.get_output_embeddings().register_forward_hook(favour)
    records = act(policy, mixed(make_view))
    hook.remove()
    assert not forbidden & {i for r in records for i in r.output_ids}


def test_an_answer_ends_with_the_end_token_or_is_marked_cut(
    make_policy: Make, make_view: MakeView
) -> None:
    policy = make_policy(max_new_tokens=5)
    (cut,) = policy.act([make_view()])
    assert cut.tokens is not None
    assert cut.tokens.truncated
    assert len(cut.tokens.output_ids) == 5

    def favour_end(module: object, inputs: object, logits: torch.Tensor) -> torch.Tensor:
        return logits.index_fill(-1, torch.tensor(policy.stops), 1e4)

    policy.base.get_output_embeddings().register_forward_hook(favour_end)
    (ended,) = policy.act([make_view()])
    assert ended.tokens is not None
    assert not ended.tokens.truncated
    assert ended.tokens.output_ids == (policy.stops[0],)
    assert ended.action_text == ""


def test_records_say_how_they_were_sampled(make_policy: Make, make_view: MakeView) -> None:
    policy = make_policy(temperature=0.5)
    policy.version = 7
    view = make_view()
    (decision,) = policy.act([view])
    assert decision.tokens is not None
    assert (decision.tokens.version, decision.tokens.temperature) == (7, 0.5)
    assert decision.tokens.prompt_ids.count(policy.encoder.image_id) == 6
    assert decision.action_text == policy.tokenizer.decode(decision.tokens.output_ids)


def test_a_small_model_runs_on_one_thread_unless_told(
    make_policy: Make, make_view: MakeView
) -> None:
    before = torch.get_num_threads()
    try:
        assert (make_policy(threads=None).act_threads, torch.get_num_threads()) == (1, 1)
        policy = make_policy(threads=2, act_threads=None)
        assert (policy.act_threads, torch.get_num_threads()) == (1, 2)
        seen: list[int] = []
        policy.base.register_forward_pre_hook(lambda *args: seen.append(torch.get_num_threads()))
        policy.act([make_view()])
        assert set(seen) == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def _with_room_for(rows: int, policy: VLMPolicy, error: Exception) -> list[int]:
    """Give a policy a machine that samples so many rows at a time; the sizes that it is asked."""
    sizes: list[int] = []

    def out_of_memory(module: object, inputs: object, logits: torch.Tensor) -> None:
        sizes.append(logits.shape[0])
        if logits.shape[0] > rows:
            raise error

    policy.base.get_output_embeddings().register_forward_hook(out_of_memory)
    return sizes


@pytest.mark.parametrize("error", FULL)
def test_fewer_turns_are_sampled_at_a_time_where_memory_runs_out(
    error: Exception, make_policy: Make, make_view: MakeView, caplog: pytest.LogCaptureFixture
) -> None:
    policy = make_policy(batch_rows=6)
    views = [make_view(seeds=(n,), noise=n) for n in range(8)]
    expected = act(policy, views)
    sizes = _with_room_for(3, policy, error)
    with caplog.at_level(logging.WARNING):
        found = act(policy, views)
    assert [r.output_ids for r in found] == [r.output_ids for r in expected]
    assert policy.batch_rows == 3
    said = ["out of memory with 6 turns sampled at a time: from now on at most 3"]
    assert [r.message for r in caplog.records] == said
    asked = [policy.question(view) for view in views]
    sizes.clear()
    samples = policy.sample(asked, temperature=1.0, max_new_tokens=8)
    assert [s.ids for s in samples] == [r.output_ids for r in expected]
    assert max(sizes) == 3
    assert [r.message for r in caplog.records] == said, "said once"


def test_a_turn_that_can_not_even_be_sampled_alone_says_what_to_change(
    make_policy: Make, make_view: MakeView
) -> None:
    policy = make_policy()
    _with_room_for(0, policy, FULL[0])
    with pytest.raises(UserError, match=r"single turn does not fit .* --policy\.history"):
        policy.act([make_view(noise=n) for n in range(3)])
    assert policy.batch_rows == 1
    broken = make_policy()
    _with_room_for(0, broken, RuntimeError("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes do not match"):
        broken.act([make_view()])
    assert broken.batch_rows == 64


def test_the_adapter_is_added_to_the_weights_once_for_as_long_as_it_stays_the_same(
    make_policy: Make, make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    from peft.tuners.lora import Linear

    policy = make_policy(lora_rank=4)
    added: list[str] = []
    delta = Linear.get_delta_weight

    def counted(layer: Linear, name: str) -> torch.Tensor:
        added.append(name)
        return delta(layer, name)

    monkeypatch.setattr(Linear, "get_delta_weight", counted)
    act(policy, mixed(make_view))
    layers = len(added)
    before = act(policy, mixed(make_view))
    assert layers == len(added) > 0
    for parameter in policy.parameters():
        parameter.data += torch.randn(parameter.shape, generator=torch.manual_seed(0))
    changed = act(policy, mixed(make_view))
    assert len(added) == 2 * layers
    assert changed != before
    policy.merge = False
    apart = act(policy, mixed(make_view))
    assert [r.output_ids for r in apart] == [r.output_ids for r in changed]
