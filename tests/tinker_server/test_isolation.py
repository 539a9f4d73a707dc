"""Several runs and samplers at once, on one copy of the weights: none is another's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tinker
from clients import (
    SECONDS,
    MakeServer,
    client_of,
    sampled,
    text_of,
    trainer_of,
    turn_datum,
)
from tinker import types

PROMPT = text_of(20, 21, 22)
TEACH = {
    "a": turn_datum(PROMPT, [30, 31], weights=[1.0, 1.0]),
    "b": turn_datum(PROMPT, [40, 41, 42], weights=[1.0, 1.0, 1.0]),
}


def taught(trainer: Any, name: str, steps: int = 6) -> list[float]:
    found = []
    for _ in range(steps):
        out = trainer.forward_backward([TEACH[name]], "cross_entropy").result(SECONDS)
        trainer.optim_step(types.AdamParams(learning_rate=0.02)).result(SECONDS)
        found.append(out.metrics["loss:sum"])
    return found


def test_runs_that_take_turns_learn_as_if_alone(client: tinker.ServiceClient) -> None:
    alone = [taught(trainer_of(client, rank=4), "a"), taught(trainer_of(client, rank=8), "b")]
    first, second = trainer_of(client, rank=4), trainer_of(client, rank=8)
    together: list[list[float]] = [[], []]
    for _ in range(6):
        for number, (trainer, name) in enumerate(((first, "a"), (second, "b"))):
            together[number] += taught(trainer, name, 1)
            sampled(trainer.save_weights_and_get_sampling_client().result(), PROMPT)
    assert together == alone


def test_gradients_of_two_runs_are_kept_apart(client: tinker.ServiceClient) -> None:
    first, second = trainer_of(client), trainer_of(client)
    first.forward_backward([TEACH["a"]], "cross_entropy")
    second.forward_backward([TEACH["b"]], "cross_entropy")
    norms = [t.optim_step(types.AdamParams()).result(SECONDS).metrics for t in (first, second)]
    third = trainer_of(client)
    third.forward_backward([TEACH["a"]], "cross_entropy")
    assert third.optim_step(types.AdamParams()).result(SECONDS).metrics == norms[0]
    assert norms[0] != norms[1]


def test_samplers_stay_what_they_were(client: tinker.ServiceClient) -> None:
    trainer = trainer_of(client)
    base = client.create_sampling_client(base_model="tiny-clerk").result()
    fresh = trainer.save_weights_and_get_sampling_client().result()
    taught(trainer, "a")
    later = trainer.save_weights_and_get_sampling_client().result()
    taught(trainer, "b", 12)
    last = trainer.save_weights_and_get_sampling_client().result()
    tokens = [sampled(one, PROMPT, temperature=0.0, stop=[])[0].tokens for one in
              (base, fresh, later, last)]  # fmt: skip
    assert tokens[0] == tokens[1]  # a new adapter changes nothing
    assert tokens[2][0] == 30
    assert tokens[3][0] == 40
    again = [sampled(one, PROMPT, temperature=0.0, stop=[])[0].tokens for one in
             (last, base, later)]  # fmt: skip
    assert again == [tokens[3], tokens[0], tokens[2]]


def test_an_inflight_sampler_follows_its_run(client: tinker.ServiceClient) -> None:
    trainer = trainer_of(client)
    first = trainer.save_weights_and_get_sampling_client(kind="inflight").result()
    taught(trainer, "a", 10)
    second = trainer.save_weights_and_get_sampling_client(kind="inflight").result()
    for sampler in (first, second):
        assert sampled(sampler, PROMPT, temperature=0.0)[0].tokens[0] == 30


def test_two_models_beside_each_other(serve: MakeServer, tiny: Any) -> None:
    folder: Path = tiny("llava")
    with client_of(serve("tiny-clerk", f"other={folder}")) as client:
        names = {
            one.model_name
            for one in client.create_rest_client().get_server_capabilities().result()
            .supported_models
        }  # fmt: skip
        assert names == {"tiny-clerk", "other"}
        first, second = trainer_of(client), trainer_of(client, "other")
        assert [t.get_info().model_data.arch for t in (first, second)] == [
            "Qwen3VLForConditionalGeneration", "LlavaForConditionalGeneration",
        ]  # fmt: skip
        assert taught(first, "a")[-1] < taught(trainer_of(client), "a", 1)[0]
        assert taught(second, "a")[-1] < taught(trainer_of(client, "other"), "a", 1)[0]
        tokenizer = second.get_tokenizer()
        assert tokenizer.decode([20]) != ""
        by_folder = client.create_sampling_client(base_model=str(folder)).result()
        assert sampled(by_folder, PROMPT)


def test_a_session_does_not_see_into_another(serve: MakeServer) -> None:
    server = serve()
    with client_of(server) as one, client_of(server) as other:
        first, second = trainer_of(one), trainer_of(other)
        assert first.model_id != second.model_id
        found = one.create_rest_client().get_session(first.model_id.split(":")[0]).result()
        assert found.training_run_ids == [first.model_id]
