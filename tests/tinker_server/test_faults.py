"""The SDK against a network and a service with faults: nothing is done twice, all is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tinker
from clients import (
    SECONDS,
    MakeServer,
    sampled,
    text_of,
    trainer_of,
    turn_datum,
)
from faults import (
    SDK_TOO_NEW,
    Drop,
    FaultProxy,
    HalfAnswer,
    Status,
    TryAgain,
)
from tinker import types

from ui_gym_tinker.server import TinkerServer

PROMPT = text_of(20, 21, 22)
DATUM = turn_datum(PROMPT, [30, 31], weights=[1.0, 1.0])


@pytest.fixture
def proxy(server: TinkerServer) -> Iterator[FaultProxy]:
    with FaultProxy(server.url) as found:
        yield found


@pytest.fixture
def through(proxy: FaultProxy, server: TinkerServer) -> Iterator[tinker.ServiceClient]:
    client = tinker.ServiceClient(base_url=proxy.url, api_key=server.key)
    yield client
    proxy.clear()
    client.close("success").result(SECONDS)


def curve(trainer: Any, steps: int = 2) -> list[float]:
    found = []
    for _ in range(steps):
        out = trainer.forward_backward([DATUM], "cross_entropy").result(SECONDS)
        step = trainer.optim_step(types.AdamParams(learning_rate=0.05)).result(SECONDS)
        found += [out.metrics["loss:sum"], step.metrics["grad_norm:mean"]]
    return found


@pytest.mark.parametrize(
    "fault",
    [Drop(after=True), Drop(), HalfAnswer(), Status(429, retry_after=0.05), Status(500)],
    ids=lambda fault: type(fault).__name__ + str(getattr(fault, "after", "")),
)
def test_training_goes_through_faults_as_if_there_were_none(
    fault: Any, through: tinker.ServiceClient, proxy: FaultProxy, client: tinker.ServiceClient
) -> None:
    expected = curve(trainer_of(client))
    trainer = trainer_of(through)
    proxy.inject("/forward_backward", fault, times=1)
    proxy.inject("/optim_step", fault, times=1)
    assert curve(trainer) == expected
    assert proxy.count("/optim_step") == 3


def test_samples_go_through_faults(
    through: tinker.ServiceClient, proxy: FaultProxy, client: tinker.ServiceClient
) -> None:
    expected = sampled(client.create_sampling_client(base_model="tiny-clerk").result(), PROMPT)
    sampler = through.create_sampling_client(base_model="tiny-clerk").result()
    proxy.inject("/asample", Drop(after=True), times=1)
    proxy.inject("/retrieve_future", HalfAnswer(), times=1)
    proxy.inject("/retrieve_future", TryAgain(), times=3)
    proxy.inject("/retrieve_future", Status(500), times=1)
    (found,) = sampled(sampler, PROMPT)
    assert found.tokens == expected[0].tokens
    assert found.logprobs == pytest.approx(expected[0].logprobs, abs=1e-6)


def test_for_ever_later_is_cut_by_whoever_waits(
    through: tinker.ServiceClient, proxy: FaultProxy
) -> None:
    sampler = through.create_sampling_client(base_model="tiny-clerk").result()
    proxy.inject("/retrieve_future", TryAgain())
    waiting = sampler.sample(PROMPT, 1, types.SamplingParams(max_tokens=2))
    with pytest.raises(TimeoutError):
        waiting.result(1.0)
    assert proxy.count("/retrieve_future") > 2
    proxy.clear()
    assert sampled(sampler, PROMPT)


def test_an_sdk_that_is_too_new_is_told(proxy: FaultProxy, server: TinkerServer) -> None:
    proxy.inject("/client/config", SDK_TOO_NEW)
    client = tinker.ServiceClient(base_url=proxy.url, api_key=server.key)
    with pytest.raises(tinker.BadRequestError, match=r"9\.9\.9 is newer than the 0\.38"):
        client.create_sampling_client(base_model="tiny-clerk").result()


def test_a_server_that_was_started_again_says_so(serve: MakeServer, tmp_path: Path) -> None:
    """What was saved goes on; what was not is told to be gone."""
    kept = tmp_path / "kept"
    key = "tml-" + "a" * 32
    first = serve(checkpoints=kept, key=key)
    with FaultProxy(first.url) as proxy:
        client = tinker.ServiceClient(base_url=proxy.url, api_key=key)
        trainer = trainer_of(client)
        curve(trainer)
        path = trainer.save_state("kept").result(SECONDS).path
        sampler = trainer.save_weights_and_get_sampling_client().result()
        expected = curve(trainer)
        first.close()
        proxy.retarget(serve(checkpoints=kept, key=key).url)
        with pytest.raises(tinker.NotFoundError, match="started again since"):
            curve(trainer)
        with pytest.raises(tinker.NotFoundError, match="started again since"):
            sampled(sampler, PROMPT)
        anew = tinker.ServiceClient(base_url=proxy.url, api_key=key)
        again = anew.create_training_client_from_state_with_optimizer(path).result()
        assert curve(again) == expected
        anew.close("success").result(SECONDS)
