"""Log-probabilities: of `forward`, of sampling, and of the policy that runs without a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tinker
import torch
from clients import (
    SECONDS,
    TWO_PICTURES,
    MakeServer,
    client_of,
    input_of,
    logprobs_in,
    policy_with,
    question_of,
    sampled,
    shaken,
    text_of,
    trainer_of,
    turn_datum,
)
from policy_helpers import KINDS
from tinker import types

from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import VLMPolicy, load_policy
from ui_gym_agents.policy.images import Given
from ui_gym_tinker.server import TinkerServer

ASKED = [("Enter row 3", [1]), ("Enter row 3 now now", [2, 3]), ("Enter", [4]), ("Go", [1, 1])]
"""Goals and pictures of prompts of different lengths."""


def assert_forward_is_what_was_sampled(
    client: tinker.ServiceClient, policy: VLMPolicy, model: str
) -> None:
    trainer = trainer_of(client, model)
    shaken(trainer, policy)
    sampler = trainer.save_weights_and_get_sampling_client().result()
    prompts = [input_of(policy, question_of(policy, *asked)) for asked in ASKED]
    waiting = [
        sampler.sample(prompt, 2, types.SamplingParams(max_tokens=5 + i, seed=i))
        for i, prompt in enumerate(prompts)
    ]
    rows = [(p, s) for p, w in zip(prompts, waiting, strict=True)
            for s in w.result(SECONDS).sequences]  # fmt: skip
    data = [turn_datum(p, s.tokens, weights=[1.0] * len(s.tokens)) for p, s in rows]
    scored = trainer.forward(data, "cross_entropy").result(SECONDS)
    for number, (_, sequence) in enumerate(rows):
        found = logprobs_in(scored, number, len(sequence.tokens))
        assert np.abs(found - np.array(sequence.logprobs)).max() < 1e-5
        every = np.asarray(scored.loss_fn_outputs[number]["logprobs"].to_numpy())
        assert every.shape == (data[number].model_input.length,)
        assert np.isfinite(every).all()


def test_forward_is_what_was_sampled(client: tinker.ServiceClient, bare: VLMPolicy) -> None:
    assert_forward_is_what_was_sampled(client, bare, "tiny-clerk")


@pytest.mark.parametrize("kind", KINDS)
def test_forward_is_what_was_sampled_of_every_class(
    kind: str, tiny: Callable[[str], Path], serve: MakeServer
) -> None:
    folder = tiny(kind)
    policy = load_policy(folder, threads=1, prompt=TWO_PICTURES)
    with client_of(serve(f"{kind}={folder}")) as client:
        assert_forward_is_what_was_sampled(client, policy, kind)


def test_several_turns_with_pictures_between_are_scored_at_every_place(
    trainer: Any, server: TinkerServer, bare: VLMPolicy
) -> None:
    """Each is that of the sequence up to there, computed alone and without a server."""
    shaken(trainer, bare)
    answer = [20, 21, bare.stops[0]]
    whole = question_of(bare, "Enter row 3", [1, 2])
    path = trainer.save_state("turns").result(SECONDS).path
    policy = policy_with(server, path)
    prompt = input_of(bare, whole)
    targets = [*whole.ids[1:], answer[0]]
    datum = types.Datum(
        model_input=prompt,
        loss_fn_inputs={"target_tokens": np.array(targets), "weights": np.ones(len(targets))},
    )
    scored = trainer.forward([datum], "cross_entropy").result(SECONDS)
    found = np.asarray(scored.loss_fn_outputs[0]["logprobs"].to_numpy())
    compared = 0
    for place, target in enumerate(targets):
        seen = whole.ids[: place + 1].count(bare.encoder.image_id or -1)
        if policy.suppressed[target] or seen % 6:  # in the middle of a picture
            continue
        pictures = Given()
        keys = tuple(pictures.add(image) for image in whole.images[: seen // 6])
        record = TokenRecord(whole.ids[: place + 1], (target,), images=keys)
        with torch.no_grad():
            (alone,) = policy.logprobs([record], pictures)
        assert found[place] == pytest.approx(alone[0].item(), abs=1e-5)
        compared += 1
    assert compared > len(whole.ids) // 2


def test_losses_and_gradients_are_those_of_the_policy_in_this_process(
    trainer: Any, server: TinkerServer, bare: VLMPolicy
) -> None:
    """Found out by a step of AdamW that forgets: ``g / (|g| + eps)``."""
    shaken(trainer, bare)
    before = policy_with(server, trainer.save_state("before").result(SECONDS).path)
    questions = [question_of(bare, *asked) for asked in ASKED]
    answers = [[20 + i, 30, bare.stops[0]][: 3 - i % 2] for i in range(len(ASKED))]
    data = [
        turn_datum(input_of(bare, q), a, weights=[1.0, 0.5, 2.0][: len(a)])
        for q, a in zip(questions, answers, strict=True)
    ]
    told = trainer.forward_backward(data, "cross_entropy").result(SECONDS)
    fresh = {"learning_rate": 1.0, "beta1": 0.0, "beta2": 0.0, "eps": 100.0, "weight_decay": 0.0}
    trainer.optim_step(types.AdamParams(**fresh)).result(SECONDS)
    after = policy_with(server, trainer.save_state("after").result(SECONDS).path)

    pictures = Given()
    records = [
        TokenRecord(q.ids, tuple(a), images=tuple(pictures.add(i) for i in q.images),
                    weights=(1.0, 0.5, 2.0)[: len(a)])
        for q, a in zip(questions, answers, strict=True)
    ]  # fmt: skip
    loss, _ = before.supervised_loss(records, pictures)
    loss.backward()  # type: ignore[no-untyped-call]
    assert told.metrics["loss:sum"] == pytest.approx(loss.item(), rel=1e-5)
    moved = {n: p for n, p in after.net.named_parameters() if p.requires_grad}
    largest = 0.0
    for name, parameter in before.net.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None
            move = (parameter - moved[name]).detach()
            gradient = 100 * move / (1 - move.abs())
            largest = max(largest, parameter.grad.abs().max().item())
            assert torch.allclose(gradient, parameter.grad, atol=1e-4, rtol=1e-3), name
    assert largest > 1


def test_targets_may_be_several_for_each_place(trainer: Any) -> None:
    targets = np.array([[11, 12, 13], [14, 15, 16]])
    wide = types.Datum(
        model_input=text_of(20, 21),
        loss_fn_inputs={"target_tokens": targets, "weights": np.full((2, 3), 0.5)},
    )
    narrow = [
        types.Datum(
            model_input=text_of(20, 21),
            loss_fn_inputs={"target_tokens": targets[:, i], "weights": np.full(2, 0.5)},
        )
        for i in range(3)
    ]
    together = trainer.forward([wide, *narrow], "cross_entropy").result(SECONDS)
    first = together.loss_fn_outputs[0]["logprobs"].to_numpy()
    assert first.shape == (2, 3)
    for i in range(3):
        assert first[:, i] == pytest.approx(together.loss_fn_outputs[1 + i]["logprobs"].to_numpy())
    sparse = np.zeros((2, 300), dtype=np.int64)
    sparse[0, 7], sparse[1, 299] = 11, 15
    weights = torch.zeros(2, 300)
    weights[0, 7], weights[1, 299] = 1.0, 2.0
    datum = types.Datum(
        model_input=text_of(20, 21),
        loss_fn_inputs={"target_tokens": torch.tensor(sparse), "weights": weights},
    )
    assert datum.loss_fn_inputs["weights"].sparse_crow_indices is not None
    found = trainer.forward([datum], "cross_entropy").result(SECONDS)
    assert found.metrics["loss:sum"] == pytest.approx(-(first[0, 0] + 2 * first[1, 1]), rel=1e-5)


def test_a_target_that_is_never_sampled_has_a_finite_number(trainer: Any, bare: VLMPolicy) -> None:
    never = int(bare.suppressed.nonzero()[0, 0])
    datum = turn_datum(text_of(20, 21), [never], weights=[1.0])
    found = trainer.forward([datum], "cross_entropy").result(SECONDS)
    assert np.isfinite(found.metrics["loss:sum"])
    assert found.metrics["loss:sum"] > 0


def test_prompts_are_scored_as_data_are(client: tinker.ServiceClient, bare: VLMPolicy) -> None:
    trainer = trainer_of(client)
    shaken(trainer, bare)
    sampler = trainer.save_weights_and_get_sampling_client().result()
    tokens = [20, 21, 22, 23, 24]
    asked = types.SamplingParams(max_tokens=1, seed=0)
    found = sampler.sample(
        text_of(*tokens), 1, asked, include_prompt_logprobs=True, topk_prompt_logprobs=3,
        topk_sample_logprobs=2,
        target_prompt_logprobs=types.TensorData.from_numpy(
            np.array([[30, -1], [22, 31], [-1, -1], [32, 24]])
        ),
        prompt_alt_tokens_k=4,
    ).result(SECONDS)  # fmt: skip
    data = types.Datum(
        model_input=text_of(*tokens[:-1]), loss_fn_inputs={"target_tokens": np.array(tokens[1:])}
    )
    scored = trainer.forward([data], "cross_entropy").result(SECONDS)
    expected = scored.loss_fn_outputs[0]["logprobs"].to_numpy()
    logprobs = found.prompt_logprobs
    assert logprobs is not None
    assert logprobs[0] is None
    assert logprobs[1:] == pytest.approx(list(expected), abs=1e-5)

    top = found.topk_prompt_logprobs
    assert top is not None
    assert top[0] is None
    assert all(len(one) == 3 and one == sorted(one, key=lambda x: -x[1]) for one in top[1:] if one)
    targets = found.target_prompt_logprobs
    assert targets is not None
    assert targets.to_numpy().shape == (4, 2)
    assert targets.to_numpy()[1, 0] == pytest.approx(expected[1], abs=1e-5)
    assert targets.to_numpy()[3, 1] == pytest.approx(expected[3], abs=1e-5)
    assert targets.to_numpy()[2].tolist() == [0, 0]
    drawn = found.prompt_alt_tokens
    assert drawn is not None
    assert drawn.tokens.to_numpy().shape == drawn.logprobs.to_numpy().shape == (4, 4)
    chosen = found.sequences[0].topk_logprobs
    assert chosen is not None
    assert [len(one or ()) for one in chosen] == [2]

    last = sampler.compute_logprobs(text_of(*tokens), prompt_logprobs_last_n=2).result(SECONDS)
    assert last[:3] == [None, None, None]
    assert last[3:] == pytest.approx(list(expected[2:]), abs=1e-5)


def test_sparse_questions_get_sparse_answers(client: tinker.ServiceClient) -> None:
    sampler = client.create_sampling_client(base_model="tiny-clerk").result()
    tokens = list(range(20, 60))
    wanted = torch.full((39, 2), -1)
    wanted[38, 1] = 45
    asked = types.TensorData.from_torch_sparse(wanted, pad_value=-1)
    assert asked.sparse_crow_indices is not None
    found = sampler.sample(
        text_of(*tokens), 1, types.SamplingParams(max_tokens=1), target_prompt_logprobs=asked
    ).result(SECONDS)
    assert found.target_prompt_logprobs is not None
    dense = found.target_prompt_logprobs.to_numpy()
    assert dense.shape == (39, 2)
    assert np.count_nonzero(dense) == 1
    assert dense[38, 1] < 0
    assert sampled(sampler, text_of(*tokens))
