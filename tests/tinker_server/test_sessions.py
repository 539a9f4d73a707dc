"""Who is let in, who is here, and whose turn it is."""

from __future__ import annotations

import json
import threading
from typing import Any

import httpx
import numpy as np
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
from tinker import types
from tinker.proto.request_conv import forward_backward_request_to_proto
from waiting import eventually

from ui_gym.errors import UserError
from ui_gym_tinker.server import TinkerServer

PROMPT = text_of(20, 21, 22)
DATUM = turn_datum(PROMPT, [30, 31], weights=[1.0, 1.0])


def post(server: TinkerServer, path: str, value: Any, **headers: str) -> httpx.Response:
    headers = {"X-API-Key": server.key, **headers}
    return httpx.post(f"{server.url}/api/v1{path}", json=value, headers=headers, timeout=SECONDS)


def new_session(server: TinkerServer) -> str:
    asked = {"tags": [], "user_metadata": {}, "sdk_version": "0.38.0"}
    found = post(server, "/create_session", asked)
    assert found.status_code == 200
    return str(found.json()["session_id"])


def new_run(server: TinkerServer, session: str, number: int = 0) -> str:
    asked = {
        "session_id": session, "model_seq_id": number, "base_model": "tiny-clerk",
        "lora_config": {"rank": 4, "seed": 0},
    }  # fmt: skip
    return str(result(server, post(server, "/create_model", asked))["model_id"])


def result(server: TinkerServer, promised: httpx.Response) -> Any:
    """What became of a request."""
    assert promised.status_code == 200, promised.text
    asked = {"request_id": promised.json()["request_id"]}
    while True:
        found = post(server, "/retrieve_future", asked)
        if found.headers["content-type"] != "application/json":
            return found.content
        if found.json().get("type") != "try_again":
            return found.json()


def send_pass(server: TinkerServer, model: str, seq: int) -> httpx.Response:
    request = types.ForwardBackwardRequest(
        forward_backward_input=types.ForwardBackwardInput(data=[DATUM], loss_fn="cross_entropy"),
        model_id=model,
        seq_id=seq,
    )
    body = forward_backward_request_to_proto(request).SerializeToString()
    headers = {"X-API-Key": server.key, "content-type": "application/x-protobuf"}
    return httpx.post(f"{server.url}/api/v1/forward_backward", content=body, headers=headers)


def step(server: TinkerServer, model: str, seq: int) -> httpx.Response:
    return post(
        server, "/optim_step",
        {"model_id": model, "seq_id": seq, "adam_params": {"learning_rate": 0.05}},
    )  # fmt: skip


# -- who is let in --


def test_a_wrong_key_is_refused(server: TinkerServer) -> None:
    client = tinker.ServiceClient(base_url=server.url, api_key="tml-" + "0" * 32)
    with pytest.raises(tinker.AuthenticationError, match="the token is missing or wrong"):
        client.create_sampling_client(base_model="tiny-clerk").result()
    assert httpx.get(f"{server.url}/api/v1/healthz").status_code == 401
    asked = httpx.get(f"{server.url}/api/v1/healthz", headers={"X-API-Key": server.key})
    assert asked.json() == {"status": "ok"}


def test_requests_for_another_host_are_refused(server: TinkerServer) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        found = httpx.get(
            f"{server.url}/api/v1/healthz", headers={"X-API-Key": server.key, **headers}
        )
        assert found.status_code == 403


def test_keys_are_made_and_checked() -> None:
    with TinkerServer() as one, TinkerServer() as other:
        assert one.key.startswith("tml-")
        assert one.key != other.key
    with pytest.raises(UserError, match="a key begins with tml-"):
        TinkerServer(key="secret-secret-secret-secret")
    with pytest.raises(UserError, match="16 or more"):
        TinkerServer(key="tml-short")


@pytest.mark.parametrize(("version", "how"), [("0.39.1", "newer"), ("0.9.0", "older")])
def test_an_sdk_of_another_version_is_told(
    version: str, how: str, serve: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tinker.lib.internal_client_holder.tinker_sdk_version", version)
    server = serve()
    client = tinker.ServiceClient(base_url=server.url, api_key=server.key)
    with pytest.raises(tinker.BadRequestError, match=f"tinker {version} is {how} than the 0.38"):
        client.create_sampling_client(base_model="tiny-clerk").result()
    with client_of(serve(any_sdk=True)) as let_in:
        assert let_in.create_sampling_client(base_model="tiny-clerk").result()


# -- sessions --


def test_a_silent_session_expires_and_is_freed(serve: MakeServer) -> None:
    server = serve(session_timeout=1.0)
    session = new_session(server)
    run = new_run(server, session)
    used = server.service.core.memory.used
    assert eventually(lambda: not server.service.core.sessions.all())
    found = step(server, run, 1)
    assert found.status_code == 410
    assert "silent for 1 s" in found.json()["detail"]
    beat = post(server, "/session_heartbeat", {"session_id": session})
    assert beat.status_code == 410  # at which the SDK stops
    assert eventually(lambda: server.service.core.memory.used < used)


def test_a_session_that_is_heard_of_lives(serve: MakeServer) -> None:
    server = serve(session_timeout=2.0)
    session = new_session(server)
    for _ in range(6):
        threading.Event().wait(0.5)
        assert post(server, "/session_heartbeat", {"session_id": session}).status_code == 200


def test_what_waits_for_an_expired_session_is_told(serve: MakeServer) -> None:
    """A request that waits for one before it, which never comes."""
    server = serve(session_timeout=1.0)
    run = new_run(server, new_session(server))
    failed = result(server, step(server, run, 5))
    assert failed["category"] == "user"
    assert "has expired" in failed["error"]


def test_a_finished_session_is_over(server: TinkerServer) -> None:
    with client_of(server) as client:
        sampler = client.create_sampling_client(base_model="tiny-clerk").result()
        sampled(sampler, PROMPT)
        name = sampler._sampling_session_id
    asked = {
        "sampling_session_id": name, "seq_id": 99, "num_samples": 1,
        "prompt": {"chunks": [{"type": "encoded_text", "tokens": [20]}]},
        "sampling_params": {"max_tokens": 1},
    }  # fmt: skip
    found = post(server, "/asample", asked)
    assert (found.status_code, "was finished" in found.json()["detail"]) == (410, True)
    again = post(server, f"/sessions/{name.partition(':')[0]}/finish", {"reason": {}})
    assert again.status_code == 200


def test_what_was_never_there_is_told(server: TinkerServer, client: tinker.ServiceClient) -> None:
    assert step(server, "nobody:train:0", 1).status_code == 404
    assert post(server, "/session_heartbeat", {"session_id": "nobody"}).status_code == 410
    found = post(server, "/retrieve_future", {"request_id": "nothing"}).json()
    assert found["category"] == "user"
    assert "started again" in found["error"]
    with pytest.raises(tinker.NotFoundError, match="Did you mean 'tiny-clerk'"):
        trainer_of(client, "tiny-clark")
    with pytest.raises(tinker.NotFoundError, match="there is no checkpoint"):
        client.create_sampling_client(model_path="tinker://a/sampler_weights/b").result()


def test_a_request_to_begin_a_session_that_is_sent_twice_begins_one(server: TinkerServer) -> None:
    asked = {"tags": [], "user_metadata": {}, "sdk_version": "0.38.0"}
    ids = {
        post(server, "/create_session", asked, **{"X-Idempotency-Key": "same"}).json()["session_id"]
        for _ in range(2)
    }
    assert len(ids) == 1
    assert new_session(server) not in ids


def test_a_model_is_unloaded(server: TinkerServer) -> None:
    session = new_session(server)
    run = new_run(server, session)
    used = server.service.core.memory.used
    assert result(server, post(server, "/unload_model", {"model_id": run}))["model_id"] == run
    assert server.service.core.memory.used < used
    assert step(server, run, 2).status_code == 404


def test_copies_of_a_sampler_have_ids_of_their_own(client: tinker.ServiceClient) -> None:
    sampler = client.create_sampling_client(base_model="tiny-clerk").result()
    first = sampled(sampler, PROMPT)
    handle = sampler.get_sampler_handle()
    key = client._get_session_holder()._api_key
    copies = [tinker.SamplingClient.from_sampler_handle(handle, api_key=key) for _ in range(2)]
    found = [sampled(copy, PROMPT) for copy in copies]
    assert [one[0].tokens for one in found] == [first[0].tokens] * 2
    assert len({one[0].sequence_id for one in [*found, first]}) == 3


# -- turns --


def test_requests_are_done_in_the_order_of_their_numbers(server: TinkerServer) -> None:
    session = new_session(server)
    ordered, shuffled = new_run(server, session, 0), new_run(server, session, 1)
    plan = [send_pass, step, send_pass, step, send_pass]
    values = []
    for run, order in ((ordered, range(5)), (shuffled, [3, 1, 4, 2, 0])):
        promised = {i: plan[i](server, run, i + 1) for i in order}
        found = [result(server, promised[i]) for i in range(5)]
        values.append([f if isinstance(f, bytes) else json.dumps(f) for f in found])
    assert values[0] == values[1]
    assert len({one for one in values[0] if isinstance(one, bytes)}) == 3


def test_a_request_that_is_sent_twice_is_done_once(server: TinkerServer) -> None:
    session = new_session(server)
    once, twice = new_run(server, session, 0), new_run(server, session, 1)
    for run, count in ((once, 1), (twice, 3)):
        for seq, send in enumerate([send_pass, step, send_pass, step], 1):
            answers = [send(server, run, seq) for _ in range(count)]
            assert len({one.json()["request_id"] for one in answers}) == 1
            assert len({str(result(server, one)) for one in answers}) == 1
    left, right = (result(server, send_pass(server, run, 5)) for run in (once, twice))
    assert left == right


def test_a_sample_that_is_asked_for_twice_is_one(
    client: tinker.ServiceClient, server: TinkerServer
) -> None:
    sampler = client.create_sampling_client(base_model="tiny-clerk").result()
    asked = {
        "sampling_session_id": sampler._sampling_session_id, "seq_id": 7, "num_samples": 2,
        "prompt": {"chunks": [{"type": "encoded_text", "tokens": [20, 21]}]},
        "sampling_params": {"max_tokens": 4},
    }  # fmt: skip
    first, again = (post(server, "/asample", asked) for _ in range(2))
    assert first.json() == again.json()
    assert result(server, first) == result(server, again)


def test_a_cancelled_sample_is_not_begun(
    client: tinker.ServiceClient, server: TinkerServer
) -> None:
    sampler = client.create_sampling_client(base_model="tiny-clerk").result()
    asked = {
        "sampling_session_id": sampler._sampling_session_id, "seq_id": 8, "num_samples": 4,
        "prompt": {"chunks": [{"type": "encoded_text", "tokens": [20, 21]}]},
        "sampling_params": {"max_tokens": 3000, "stop": []},
    }  # fmt: skip
    promised = post(server, "/asample", asked)
    request = promised.json()["request_id"]
    assert post(server, "/cancel_future", {"request_id": request}).status_code == 200
    assert "cancelled" in result(server, promised)["error"]
    assert np.isfinite(sampled(sampler, PROMPT)[0].logprobs).all()
