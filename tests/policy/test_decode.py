"""The lean decode step against the forward of transformers' model, to the last bit."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest
import torch
from policy_helpers import KINDS, TWO_PICTURES, Make, MakeView, act, mixed, shake

from ui_gym_agents.agents.agent import View
from ui_gym_agents.policy import VLMPolicy, generation, load_policy, lora
from ui_gym_agents.policy.decode import ROOM, lean
from ui_gym_agents.policy.forward import Prefix, Prompt
from ui_gym_agents.policy.images import Given

ADAPTERS = ["none", "merged", "active"]


def views(policy: VLMPolicy, rows: int, padded: bool) -> list[View]:
    """Views of the shipped model's pictures; the prompts of one length, or of several."""
    random = np.random.default_rng(rows)
    pictures = [random.integers(0, 256, (256, 320, 3), dtype=np.uint8) for _ in range(rows)]
    goals = ["Enter the data of row 3" + " now" * (i % 4 if padded else 0) for i in range(rows)]
    return [
        View(slot=i, goal=goal, screenshots=[picture], turns=[], noise=i)
        for i, (goal, picture) in enumerate(zip(goals, pictures, strict=True))
    ]


def prefix(policy: VLMPolicy, asked: Sequence[View]) -> Prefix:
    pictures = Given()
    prompts = []
    for view in asked:
        question = policy.question(view)
        keys = tuple(pictures.add(image) for image in question.images)
        prompts.append(Prompt(question.ids, keys))
    features = policy.eyes.look([key for prompt in prompts for key in prompt.images], pictures)
    return policy.forward.prefill(prompts, features)


def weights(policy: VLMPolicy, adapter: str) -> AbstractContextManager[Any]:
    return lora.merged(policy.base) if adapter == "merged" else nullcontext()


@torch.inference_mode()
def assert_equal_bits(policy: VLMPolicy, asked: Sequence[View], steps: int) -> None:
    """Logits, and what is in the cache afterwards."""
    theirs, ours = prefix(policy, asked), prefix(policy, asked)
    decoder = lean(policy.base, ours)
    assert decoder is not None
    random = torch.Generator().manual_seed(len(asked))
    for done in range(steps):
        tokens = torch.randint(0, 400, (len(asked),), generator=random)
        expected = policy.forward.extend(theirs, tokens[:, None], done=done)[:, -1]
        assert torch.equal(decoder.step(tokens, done), expected), done
    for mine, other in zip(ours.cache.layers, theirs.cache.layers, strict=True):
        assert torch.equal(mine.keys, other.keys)
        assert torch.equal(mine.values, other.values)


@pytest.mark.parametrize("padded", [False, True], ids=["one length", "padded"])
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_logits_are_those_of_the_models_forward(adapter: str, padded: bool) -> None:
    rank = 0 if adapter == "none" else 16
    policy = load_policy("tiny-clerk", lora_rank=rank, threads=1)
    if rank:
        shake(policy)
    with weights(policy, adapter):
        for rows in (*range(1, 10), 12, 16, 23, 24, 31, 32):
            assert_equal_bits(policy, views(policy, rows, padded), steps=4)


def test_so_are_those_of_answers_that_outgrow_the_room() -> None:
    policy = load_policy("tiny-clerk", threads=1)
    assert_equal_bits(policy, views(policy, 5, padded=True), steps=2 * ROOM + 3)


def test_answers_are_the_same_without_it(
    make_policy: Make, make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = make_policy(lora_rank=4, prompt=TWO_PICTURES)
    shake(policy)
    found = act(policy, mixed(make_view))
    monkeypatch.setattr(generation, "lean", lambda model, prefix: None)
    assert act(policy, mixed(make_view)) == found


def test_the_models_forward_is_called_once_a_batch(make_policy: Make, make_view: MakeView) -> None:
    policy = make_policy(lora_rank=4)
    calls, forward = [], policy.base.forward

    def counted(**inputs: Any) -> Any:
        calls.append(inputs["input_ids"].shape)
        return forward(**inputs)

    policy.base.forward = counted
    records = act(policy, mixed(make_view))
    assert max(len(record.output_ids) for record in records) > 2
    assert len(calls) == 1


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"qwen3_vl"}))
def test_other_classes_decode_by_their_own_forward(
    kind: str, make_policy: Make, make_view: MakeView
) -> None:
    policy = make_policy(kind)
    with torch.inference_mode():
        assert lean(policy.base, prefix(policy, [make_view()])) is None
    act(policy, mixed(make_view))


def _hook(model: Any) -> None:
    model.model.language_model.layers[0].mlp.register_forward_hook(lambda *_: None)


def _train(model: Any) -> None:
    model.model.language_model.layers[0].self_attn.train()


def _eager(model: Any) -> None:
    model.model.language_model.config._attn_implementation = "eager"


def _half(model: Any) -> None:
    model.bfloat16()


def _own_part(model: Any) -> None:
    class Own(type(model.model.language_model.norm)):  # type: ignore[misc]
        """A norm that computes who knows what."""

    model.model.language_model.layers[1].input_layernorm.__class__ = Own


@pytest.mark.parametrize("change", [_hook, _train, _eager, _half, _own_part])
def test_so_does_a_model_that_is_not_as_it_was_made(
    change: Any, make_policy: Make, make_view: MakeView
) -> None:
    policy = make_policy()
    with torch.inference_mode():
        made = prefix(policy, [make_view()])
        assert lean(policy.base, copy.deepcopy(made)) is not None
        change(policy.base)
        assert lean(policy.base, made) is None


def test_so_does_one_whose_heads_share_keys(make_policy: Make, make_view: MakeView) -> None:
    from transformers import Qwen3VLForConditionalGeneration

    policy = make_policy()
    config = copy.deepcopy(policy.base.config)
    config.text_config.num_key_value_heads = 1
    shared = VLMPolicy(
        Qwen3VLForConditionalGeneration(config).eval(), policy.processor, policy.prompt
    )
    with torch.inference_mode():
        assert lean(shared.base, prefix(shared, [make_view()])) is None
    act(shared, mixed(make_view))


def test_with_gradients_the_models_own_forward_is_used(
    make_policy: Make, make_view: MakeView
) -> None:
    policy = make_policy()
    assert lean(policy.base, prefix(policy, [make_view()])) is None
