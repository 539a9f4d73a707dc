"""Gradients add up until a step, which is AdamW's; what fails leaves nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tinker
import torch
from clients import (
    SECONDS,
    MakeServer,
    adapter_folder,
    client_of,
    input_of,
    policy_with,
    question_of,
    sampled,
    shaken,
    text_of,
    trainer_of,
    turn_datum,
)
from safetensors.torch import load_file
from tinker import types

from ui_gym_agents.episode import TokenRecord
from ui_gym_agents.policy import VLMPolicy, load_policy, lora
from ui_gym_agents.policy.images import Given
from ui_gym_tinker.server import TinkerServer

pytestmark = pytest.mark.filterwarnings("ignore:DEPRECATED:FutureWarning")

DATA = [
    turn_datum(text_of(20, 21, 22), [30, 31], weights=[1.0, 0.5]),
    turn_datum(text_of(25), [33, 34, 35], weights=[1.0, 1.0, -0.5]),
    turn_datum(text_of(*range(40, 60)), [36], weights=[2.0]),
]


def weights(trainer: Any, server: TinkerServer, name: str) -> dict[str, torch.Tensor]:
    path = trainer.save_state(name).result(SECONDS).path
    return load_file(adapter_folder(server, path) / "adapter_model.safetensors")


def test_a_new_adapter_is_the_one_that_peft_makes(
    client: tinker.ServiceClient, server: TinkerServer
) -> None:
    trainer = trainer_of(client, seed=5, train_unembed=False)
    found = weights(trainer, server, "new")
    expected = load_policy("tiny-clerk", lora_rank=4, seed=5)
    for name, value in lora.weights(expected.net).items():  # type: ignore[arg-type]
        assert torch.equal(found[name], value), name
    assert len(found) == len(lora.weights(expected.net))  # type: ignore[arg-type]


def test_an_adapter_is_of_the_layers_that_were_asked_for(
    client: tinker.ServiceClient, server: TinkerServer
) -> None:
    trainer = trainer_of(client, train_mlp=False, train_unembed=False)
    for _ in range(2):
        trainer.forward_backward(DATA, "cross_entropy")
        trainer.optim_step(types.AdamParams(learning_rate=0.01))
    layers = {name.split(".")[-3] for name in weights(trainer, server, "attention")}
    assert layers == {"q_proj", "k_proj", "v_proj", "o_proj"}


@pytest.mark.parametrize("more", [{}, {"grad_clip_norm": 0.5, "weight_decay": 0.1}])
def test_a_step_is_that_of_torchs_adamw(
    more: dict[str, float], trainer: Any, server: TinkerServer, bare: VLMPolicy
) -> None:
    shaken(trainer, bare, steps=1)
    path = trainer.save_state("start").result(SECONDS).path
    policy = policy_with(server, path)
    trainer.load_state(path).result(SECONDS)  # a new optimizer
    parameters = policy.parameters()
    optimizer = torch.optim.AdamW(
        parameters, lr=0.01, betas=(0.8, 0.9), eps=0.01, weight_decay=more.get("weight_decay", 0)
    )
    settings = {"learning_rate": 0.01, "beta1": 0.8, "beta2": 0.9, "eps": 0.01, **more}
    question = question_of(bare, "Enter row 3", [1])
    for step in range(3):
        tokens = [30 + step, 40, 50]
        datum = turn_datum(input_of(bare, question), tokens, weights=[1.0] * 3)
        trainer.forward_backward([datum], "cross_entropy")
        told = trainer.optim_step(types.AdamParams(**settings)).result(SECONDS)
        pictures = Given()
        keys = tuple(pictures.add(image) for image in question.images)
        loss, _ = policy.supervised_loss(
            [TokenRecord(question.ids, tuple(tokens), images=keys)], pictures
        )
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = torch.nn.utils.clip_grad_norm_(parameters, more.get("grad_clip_norm", 1e9))
        optimizer.step()
        assert told.metrics["grad_norm:mean"] == pytest.approx(norm.item(), rel=1e-3)
    found = weights(trainer, server, "end")
    for name, value in lora.weights(policy.net).items():  # type: ignore[arg-type]
        assert torch.allclose(found[name], value, atol=2e-5), name


def test_gradients_add_up_until_a_step(client: tinker.ServiceClient, server: TinkerServer) -> None:
    apart, together = trainer_of(client), trainer_of(client)
    for datum in DATA:
        apart.forward_backward([datum], "cross_entropy")
    whole = together.forward_backward(DATA, "cross_entropy").result(SECONDS)
    each = [together.forward([datum], "cross_entropy").result(SECONDS) for datum in DATA]
    assert whole.metrics["loss:sum"] == pytest.approx(
        sum(one.metrics["loss:sum"] for one in each), rel=1e-6
    )
    norms = [
        one.optim_step(types.AdamParams(learning_rate=0.1)).result(SECONDS).metrics
        for one in (apart, together)
    ]
    assert norms[0]["grad_norm:mean"] == pytest.approx(norms[1]["grad_norm:mean"], rel=1e-5)
    empty = together.optim_step(types.AdamParams(learning_rate=0.1)).result(SECONDS)
    assert empty.metrics["grad_norm:mean"] == 0


def test_micro_batches_make_no_difference(serve: MakeServer) -> None:
    found = []
    for tokens in (8, 4096):
        with client_of(serve(batch_tokens=tokens)) as client:
            trainer = trainer_of(client)
            out = trainer.forward_backward(DATA * 3, "cross_entropy").result(SECONDS)
            step = trainer.optim_step(types.AdamParams()).result(SECONDS)
            values = [one["logprobs"].to_numpy() for one in out.loss_fn_outputs]
            found.append((out.metrics["loss:sum"], step.metrics["grad_norm:mean"], values))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-6)
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-5)
    for one, other in zip(found[0][2], found[1][2], strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_a_custom_loss_is_computed_in_the_client(client: tinker.ServiceClient) -> None:
    """That of a loss that is among ours has the same gradient as that one."""
    custom, ours = trainer_of(client), trainer_of(client)

    def squares(data: Any, logprobs: Any) -> Any:
        total = sum(
            -(torch.tensor(d.loss_fn_inputs["weights"].to_numpy()) * p).sum()
            for d, p in zip(data, logprobs, strict=True)
        )
        return total, {"answer": 42.0}

    told = custom.forward_backward_custom(DATA, squares).result(SECONDS)
    other = ours.forward_backward(DATA, "cross_entropy").result(SECONDS)
    assert told.metrics["answer"] == 42
    assert told.metrics["loss:sum"] == pytest.approx(other.metrics["loss:sum"], rel=1e-5)
    steps = [t.optim_step(types.AdamParams()).result(SECONDS).metrics for t in (custom, ours)]
    assert steps[0]["grad_norm:mean"] == pytest.approx(steps[1]["grad_norm:mean"], rel=1e-5)


@pytest.mark.parametrize(
    ("inputs", "loss", "told"),
    [
        ({"target_tokens": [1, 2]}, "cross_entropy", "do not go with a model_input of 3 tokens"),
        ({"target_tokens": [1, 2, 999]}, "cross_entropy", "no tokens of this model"),
        ({"weights": [1.0, 1.0, 1.0]}, "cross_entropy", "it has no target_tokens"),
        ({"target_tokens": [1, 2, 3]}, "ppo", "no logprobs and no advantages"),
        ({"target_tokens": [1, 2, 3], "weights": [1.0]}, "cross_entropy", "weights has the shape"),
        ({"target_tokens": [1, 2, 3], "mask": types.TensorData.from_numpy(np.ones(3))},
         "cross_entropy", "no loss takes 'mask'"),
        ({"target_tokens": [1, 2, 3], "logprobs": [-9e9] * 3, "advantages": [1.0] * 3},
         "importance_sampling", "the loss is -inf"),
    ],
)  # fmt: skip
def test_a_datum_that_makes_no_sense_fails_alone(
    trainer: Any, inputs: dict[str, Any], loss: Any, told: str
) -> None:
    """And adds nothing to the gradients; what was asked before and after it is done."""
    bad = types.Datum(model_input=text_of(20, 21, 22), loss_fn_inputs=inputs)
    before = trainer.forward_backward(DATA, "cross_entropy")
    good = turn_datum(
        text_of(20), [30, 31], weights=[1.0] * 2, logprobs=[-1.0] * 2, advantages=[1.0] * 2
    )
    failing = trainer.forward_backward([good, bad], loss)
    after = trainer.forward(DATA, "cross_entropy")
    step = trainer.optim_step(types.AdamParams(learning_rate=0.0))
    with pytest.raises(tinker.RequestFailedError, match=told) as refused:
        failing.result(SECONDS)
    assert refused.value.category == "user"
    assert before.result(SECONDS).metrics == pytest.approx(after.result(SECONDS).metrics)
    norm = step.result(SECONDS).metrics["grad_norm:mean"]
    trainer.forward_backward(DATA, "cross_entropy")
    alone = trainer.optim_step(types.AdamParams(learning_rate=0.0)).result(SECONDS)
    assert norm == pytest.approx(alone.metrics["grad_norm:mean"], rel=1e-6)


def test_many_data_are_sent_in_parts_and_come_back_in_their_order(trainer: Any) -> None:
    data = [turn_datum(text_of(20, 21), [30 + i % 50], weights=[1.0]) for i in range(1100)]
    found = trainer.forward_backward(data, "cross_entropy").result(SECONDS)
    values = [one["logprobs"].to_numpy()[-1] for one in found.loss_fn_outputs]
    assert len(values) == 1100
    assert values[:50] == pytest.approx(values[50:100], abs=1e-4)
    assert found.metrics["loss:sum"] == pytest.approx(-np.sum(values), rel=1e-4)


def test_an_optimizer_that_is_not_there_is_refused(client: tinker.ServiceClient) -> None:
    with pytest.raises(tinker.RequestFailedError, match="adamw alone"):
        trainer_of(client, optimizer=types.DimuonOptimizerConfig())
    trainer = trainer_of(client)
    with pytest.raises(tinker.RequestFailedError, match="AdamW alone"):
        trainer.optim_step(types.DimuonParams(learning_rate=0.1)).result(SECONDS)


def test_a_rank_that_is_none_is_refused(client: tinker.ServiceClient) -> None:
    with pytest.raises(tinker.RequestFailedError, match="a rank is from 1"):
        trainer_of(client, rank=0)


def test_stable_reinforce_takes_what_was_recorded_of_the_sequences(
    client: tinker.ServiceClient,
) -> None:
    """The same as when the datum holds the log-probabilities itself."""
    trainer = trainer_of(client)
    sampler = trainer.save_weights_and_get_sampling_client(record_stability_info=True).result()
    prompt = text_of(20, 21, 22)
    (sequence,) = sampled(sampler, prompt)
    count, before = len(sequence.tokens), prompt.length - 1
    advantages = [1.0 + i for i in range(count)]
    told = turn_datum(
        prompt, sequence.tokens, advantages=advantages, logprobs=sequence.logprobs or []
    )
    bare = turn_datum(prompt, sequence.tokens, advantages=advantages)
    spans = [
        types.PromptProvenanceSpan(sequence_id=sequence.sequence_id, offset=0, length=before),
        types.SampledProvenanceSpan(sequence_id=sequence.sequence_id, offset=0, length=count),
    ]
    whole = [
        types.PromptProvenanceSpan(
            sequence_id=sequence.sequence_id, offset=0, length=before + count
        )
    ]
    named = bare.with_provenance(model_input=whole, loss_fn_inputs=spans)
    config = {"kl_coeff": 0.5}
    expected = trainer.forward([told], "stable_reinforce", config).result(SECONDS)
    found = trainer.forward([named], "stable_reinforce", config).result(SECONDS)
    assert found.metrics == expected.metrics
    silent = trainer.save_weights_and_get_sampling_client().result()
    (other,) = sampled(silent, prompt)
    spans[1] = types.SampledProvenanceSpan(sequence_id=other.sequence_id, offset=0, length=count)
    unknown = bare.with_provenance(model_input=whole, loss_fn_inputs=spans)
    with pytest.raises(tinker.RequestFailedError, match="record_stability_info=True"):
        trainer.forward([unknown], "stable_reinforce").result(SECONDS)
