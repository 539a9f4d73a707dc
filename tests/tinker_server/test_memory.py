"""What does not fit is refused, or waits on the disk: never silently something else."""

from __future__ import annotations

from typing import Any

import pytest
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
from policy_helpers import FULL
from tinker import types

from ui_gym.errors import UserError
from ui_gym_tinker.server import TinkerServer

PROMPT = text_of(20, 21, 22)
BASE = 4_400_000
"""Bytes of `tiny-clerk`, rounded up."""


def trained(trainer: Any) -> Any:
    trainer.forward_backward([turn_datum(PROMPT, [30, 31], weights=[1.0, 1.0])], "cross_entropy")
    trainer.optim_step(types.AdamParams(learning_rate=0.05)).result(SECONDS)
    return trainer.save_weights_and_get_sampling_client().result()


def test_a_run_that_does_not_fit_is_refused(serve: MakeServer) -> None:
    server = serve(max_memory=BASE + 2_500_000)
    with client_of(server) as client:
        first = trainer_of(client)
        with pytest.raises(tinker.RequestFailedError, match=r"--max-memory of 6\.9 MB") as refused:
            trainer_of(client, rank=64)
        assert refused.value.category == "user"
        assert "there is no room for an adapter of rank 64 on tiny-clerk" in str(refused.value)
        assert trained(first)
    with client_of(server) as client:  # what the first session took is free again
        assert trainer_of(client)


def test_a_model_that_does_not_fit_is_not_served() -> None:
    with pytest.raises(UserError, match="more than --max-memory allows"):
        TinkerServer(max_memory=1_000_000)


def test_samplers_are_left_to_the_disk_and_come_back_as_they_were(serve: MakeServer) -> None:
    roomy = serve()
    expected, held = eight_samplers(roomy)
    each = max(held)
    assert held == [each] * 8
    narrow = serve(max_memory=roomy.service.core.models["tiny-clerk"].nbytes + (4 + 3) * each)
    found, held = eight_samplers(narrow)
    assert found == expected
    assert len({tuple(one) for one in found}) == 8
    assert sum(held) == 3 * each


def eight_samplers(server: TinkerServer) -> tuple[list[list[int]], list[int]]:
    """What eight samplers of one run say, twice over, and the bytes that each has in memory."""
    with client_of(server) as client:
        trainer = trainer_of(client)
        samplers = [trained(trainer) for _ in range(8)]
        said = [sampled(one, PROMPT, stop=[])[0].tokens for one in samplers * 2]
        (session,) = server.service.core.sessions.all()
        adapters = [s.snapshot and s.snapshot.adapter for s in session.samplers.values()]
        return said, [one.nbytes if one else 0 for one in adapters]


def test_a_batch_that_memory_runs_out_in_goes_in_parts(
    serve: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ui_gym_agents.policy.forward import Forward

    server = serve()
    prefill = Forward.prefill

    def short(self: Any, prompts: Any, *more: Any, **other: Any) -> Any:
        if len(prompts) > 3:
            raise FULL[0]
        return prefill(self, prompts, *more, **other)

    with client_of(server) as client:
        sampler = client.create_sampling_client(base_model="tiny-clerk").result()
        prompts = [text_of(20, 21, 30 + i) for i in range(8)]
        expected = [sampled(sampler, one)[0].tokens for one in prompts]
        monkeypatch.setattr(Forward, "prefill", short)
        waiting = [
            sampler.sample(one, 1, types.SamplingParams(max_tokens=8, seed=7)) for one in prompts
        ]
        assert [one.result(SECONDS).sequences[0].tokens for one in waiting] == expected


def test_a_pass_that_memory_runs_out_in_goes_in_parts(
    serve: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ui_gym_agents.policy.forward import Forward

    server = serve()
    whole = Forward.sequence_logits
    data = [turn_datum(text_of(20, 21, 30 + i), [40, 41], weights=[1.0, 1.0]) for i in range(8)]

    def short(self: Any, sequences: Any, features: Any) -> Any:
        if len(sequences) > 3:
            raise FULL[1]
        return whole(self, sequences, features)

    with client_of(server) as client:
        plain, parted = trainer_of(client), trainer_of(client)
        expected = plain.forward_backward(data, "cross_entropy").result(SECONDS)
        norm = plain.optim_step(types.AdamParams()).result(SECONDS).metrics
        monkeypatch.setattr(Forward, "sequence_logits", short)
        found = parted.forward_backward(data, "cross_entropy").result(SECONDS)
        assert found.metrics == pytest.approx(expected.metrics, rel=1e-6)
        told = parted.optim_step(types.AdamParams()).result(SECONDS).metrics
        assert told == pytest.approx(norm, rel=1e-5)
        monkeypatch.setattr(Forward, "sequence_logits", lambda *_: (_ for _ in ()).throw(FULL[0]))
        with pytest.raises(tinker.RequestFailedError, match="no memory for one datum alone"):
            parted.forward_backward(data, "cross_entropy").result(SECONDS)
