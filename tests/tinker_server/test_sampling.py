"""Samples: by their seed alone, as the policy without a server gives them, cut and stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tinker
from clients import (
    SECONDS,
    TWO_PICTURES,
    input_of,
    question_of,
    sampled,
    shaken,
    text_of,
    trainer_of,
    turn_datum,
)
from tinker import types

from ui_gym_agents.policy import VLMPolicy, load_policy
from ui_gym_tinker.server import TinkerServer

PROMPT = text_of(20, 21, 22, 23)


@pytest.fixture
def sampler(client: tinker.ServiceClient) -> Any:
    return client.create_sampling_client(base_model="tiny-clerk").result()


def test_samples_are_those_of_the_policy_in_this_process(sampler: Any, bare: VLMPolicy) -> None:
    asked = [("Enter row 3", [1]), ("Enter row 3 now", [2, 3]), ("Enter", [4])]
    questions = [question_of(bare, *one) for one in asked]
    for number, question in enumerate(questions):
        object.__setattr__(question, "noise", 100 + number)
    expected = bare.sample(questions, temperature=1.0, max_new_tokens=8)
    for number, question in enumerate(questions):
        (found,) = sampled(sampler, input_of(bare, question), seed=100 + number)
        assert tuple(found.tokens) == expected[number].ids
        assert found.logprobs == pytest.approx(expected[number].logprobs, abs=1e-5)
        assert found.stop_reason == ("length" if expected[number].truncated else "stop")


def test_a_sample_does_not_depend_on_its_neighbours(sampler: Any, bare: VLMPolicy) -> None:
    prompts = [
        input_of(bare, question_of(bare, "Enter row 3" + " now" * i, [i])) for i in range(12)
    ]
    alone = [sampled(sampler, prompt, seed=i)[0].tokens for i, prompt in enumerate(prompts)]
    waiting = [
        sampler.sample(prompt, 1, types.SamplingParams(max_tokens=8 + i % 3, seed=i))
        for i, prompt in enumerate(prompts)
    ]
    together = [one.result(SECONDS).sequences[0].tokens[:8] for one in waiting]
    assert together == alone


def test_samples_of_one_request_differ_and_repeat(sampler: Any) -> None:
    first, again = (sampled(sampler, PROMPT, 4, seed=3) for _ in range(2))
    assert [one.tokens for one in first] == [one.tokens for one in again]
    assert len({tuple(one.tokens) for one in first}) == 4
    assert len({one.sequence_id for one in [*first, *again]}) == 8
    (single,) = sampled(sampler, PROMPT, 1, seed=3)
    assert single.tokens == first[0].tokens


def test_without_a_seed_samples_differ(sampler: Any) -> None:
    # This hot, no two of 1,000 samples were alike; at 1.0, a pair in 90 is.
    found = {
        tuple(sampled(sampler, PROMPT, seed=None, temperature=2.0)[0].tokens) for _ in range(3)
    }
    assert len(found) == 3


def test_greedy_is_the_likeliest_at_each_place(sampler: Any) -> None:
    (cold,) = sampled(sampler, PROMPT, temperature=0.0)
    (one,) = sampled(sampler, PROMPT, top_k=1)
    (narrow,) = sampled(sampler, PROMPT, top_p=1e-6)
    assert cold.tokens == one.tokens == narrow.tokens
    scored = sampler.sample(
        PROMPT, 1, types.SamplingParams(max_tokens=8, temperature=0.0), topk_sample_logprobs=1
    ).result(SECONDS).sequences[0]  # fmt: skip
    assert [top[0][0] for top in scored.topk_logprobs] == cold.tokens


def test_a_cut_keeps_what_it_should(sampler: Any) -> None:
    top = sampler.sample(
        PROMPT, 1, types.SamplingParams(max_tokens=1, seed=0), topk_sample_logprobs=5
    ).result(SECONDS).sequences[0].topk_logprobs[0]  # fmt: skip
    best = [token for token, _ in top]
    some = sampled(sampler, PROMPT, 200, max_tokens=1, top_k=3)
    assert {one.tokens[0] for one in some} == set(best[:3])
    mass = float(np.exp([value for _, value in top[:2]]).sum())
    some = sampled(sampler, PROMPT, 200, max_tokens=1, top_p=mass - 1e-4)
    assert {one.tokens[0] for one in some} == set(best[:2])


def test_temperature_changes_what_is_drawn_but_not_what_is_told(sampler: Any) -> None:
    """Log-probabilities are the model's own, as `forward` gives them."""
    hot = sampled(sampler, PROMPT, 50, max_tokens=1, temperature=5.0)
    cold = sampled(sampler, PROMPT, 50, max_tokens=1, temperature=0.3)
    assert len({one.tokens[0] for one in hot}) > len({one.tokens[0] for one in cold})
    told = {one.tokens[0]: one.logprobs[0] for one in [*hot, *cold]}
    for token, value in list(told.items())[:5]:
        scored = sampler.compute_logprobs(text_of(20, 21, 22, 23, token)).result(SECONDS)
        assert scored[-1] == pytest.approx(value, abs=1e-5)


def test_stops(sampler: Any, bare: VLMPolicy) -> None:
    (whole,) = sampled(sampler, PROMPT, max_tokens=20, stop=[])
    assert (len(whole.tokens), whole.stop_reason) == (20, "length")
    at = next(i for i in range(2, 20) if whole.tokens[i] not in whole.tokens[:i])
    (cut,) = sampled(sampler, PROMPT, max_tokens=20, stop=[whole.tokens[at]])
    assert (cut.tokens, cut.stop_reason) == (whole.tokens[: at + 1], "stop")
    text = bare.tokenizer.decode(whole.tokens[at : at + 2], skip_special_tokens=False)
    for stop in (text, [text], ["nowhere to be found", text]):
        (said,) = sampled(sampler, PROMPT, max_tokens=20, stop=stop)
        assert said.stop_reason == "stop"
        assert said.tokens == whole.tokens[: len(said.tokens)]
        assert text in bare.tokenizer.decode(said.tokens, skip_special_tokens=False)
        before = bare.tokenizer.decode(said.tokens[:-1], skip_special_tokens=False)
        assert text not in before


def test_an_answer_ends_where_the_model_ends_it(
    client: tinker.ServiceClient, bare: VLMPolicy
) -> None:
    """Learns to say nothing, and then does."""
    trainer = trainer_of(client)
    datum = turn_datum(PROMPT, [bare.stops[0]], weights=[1.0])
    for _ in range(8):
        trainer.forward_backward([datum], "cross_entropy")
        trainer.optim_step(types.AdamParams(learning_rate=0.05)).result(SECONDS)
    taught = trainer.save_weights_and_get_sampling_client().result()
    (found,) = sampled(taught, PROMPT)
    assert (found.tokens, found.stop_reason) == ([bare.stops[0]], "stop")
    (going,) = sampled(taught, PROMPT, stop=[])
    assert len(going.tokens) == 8


def test_nothing_structural_is_ever_sampled(sampler: Any, bare: VLMPolicy) -> None:
    some = sampled(sampler, PROMPT, 64, max_tokens=8, temperature=20.0, stop=[])
    assert not any(bare.suppressed[token] for one in some for token in one.tokens)


def test_an_adapter_on_a_tied_output_layer_leaves_the_embedding_alone(
    client: tinker.ServiceClient, server: TinkerServer, bare: VLMPolicy
) -> None:
    """Sampling adds the adapter to the weights, which the embedding shares with the output."""
    trainer = trainer_of(client, train_attn=False, train_mlp=False)
    shaken(trainer, bare)
    sampler = trainer.save_weights_and_get_sampling_client().result()
    prompt = input_of(bare, question_of(bare, "Enter row 3", [1]))
    (one,) = sampled(sampler, prompt)
    whole = prompt.append(types.EncodedTextChunk(tokens=one.tokens))
    scored = sampler.compute_logprobs(whole).result(SECONDS)
    assert scored[-len(one.tokens) :] == pytest.approx(one.logprobs, abs=1e-5)
    base = client.create_sampling_client(base_model="tiny-clerk").result()
    (before,) = sampled(base, prompt)
    assert before.tokens != one.tokens
    again = load_policy("tiny-clerk", threads=1, prompt=TWO_PICTURES)
    question = question_of(again, "Enter row 3", [1])
    object.__setattr__(question, "noise", 7)
    (expected,) = again.sample([question], temperature=1.0, max_new_tokens=8)
    assert tuple(before.tokens) == expected.ids


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"max_tokens": 0}, "max_tokens is from 1"),
        ({"max_tokens": 10**6}, "leaves room for 4092 of the context's 4096"),
        ({"temperature": -1.0}, "a temperature is 0 or more"),
        ({"top_p": 0.0}, "top_p is above 0"),
        ({"top_k": -5}, "top_k is 1 or more"),
        ({"stop": ""}, "a stop text is empty"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    sampler: Any, params: dict[str, Any], told: str
) -> None:
    with pytest.raises(tinker.RequestFailedError, match=told) as refused:
        sampled(sampler, PROMPT, **params)
    assert refused.value.category == "user"
