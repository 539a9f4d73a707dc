"""What comes over the wire: packed, damaged, and meant badly. The server outlives all of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
import tinker
import zstandard
from clients import (
    SECONDS,
    MakeServer,
    client_of,
    file_of,
    input_of,
    question_of,
    sampled,
    text_of,
    trainer_of,
    turn_datum,
)
from tinker import types
from tinker.proto import tinker_public_pb2 as pb

from tests.policy.tiny_models import picture
from ui_gym_agents.policy import VLMPolicy
from ui_gym_tinker.server import TinkerServer

PROMPT = text_of(20, 21, 22)


@pytest.fixture
def sampler(client: tinker.ServiceClient) -> Any:
    return client.create_sampling_client(base_model="tiny-clerk").result()


@pytest.fixture(autouse=True)
def still_alive(server: TinkerServer) -> Iterator[None]:
    """After each test the server computes as before."""
    yield
    with client_of(server) as other:
        assert sampled(other.create_sampling_client(base_model="tiny-clerk").result(), PROMPT)


def send(server: TinkerServer, path: str, body: bytes, **headers: str) -> httpx.Response:
    headers = {"X-API-Key": server.key, **headers}
    return httpx.post(f"{server.url}/api/v1{path}", content=body, headers=headers, timeout=SECONDS)


def shown(bare: VLMPolicy, **chunk: Any) -> types.ModelInput:
    """A prompt with one picture, whose chunk is otherwise than it should be."""
    prompt = input_of(bare, question_of(bare, "Enter row 3", [1]))
    return types.ModelInput(
        chunks=[
            one.model_copy(update=chunk) if isinstance(one, types.ImageChunk) else one
            for one in prompt.chunks
        ]
    )


def test_the_sdk_packs_its_data_and_the_server_unpacks_them(
    trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    encodings = []
    build = tinker._base_client.BaseClient._build_request

    def spying(self: Any, options: Any, **more: Any) -> Any:
        request = build(self, options, **more)
        if request.url.path.endswith("forward_backward"):
            encodings.append(request.headers.get("content-encoding"))
        return request

    monkeypatch.setattr("tinker._base_client.BaseClient._build_request", spying)
    datum = turn_datum(PROMPT, [30], weights=[1.0])
    assert trainer.forward([datum], "cross_entropy").result(SECONDS).metrics["loss:sum"] > 0
    assert encodings == ["zstd"]


def test_a_plain_message_is_taken_too(server: TinkerServer, trainer: Any) -> None:
    message = pb.ForwardBackwardRequest(
        model_id=trainer.model_id, seq_id=1, loss_fn="cross_entropy", forward_only=True
    )
    kind = {"content-type": "application/x-protobuf"}
    body = message.SerializeToString()
    assert send(server, "/forward_backward", body, **kind).status_code == 200
    packed = zstandard.ZstdCompressor().compress(body)
    found = send(server, "/forward_backward", packed, **kind, **{"content-encoding": "zstd"})
    assert found.json()["request_id"].endswith(":1")


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "told"),
    [
        ("/forward_backward", b"{}", {}, 415, "by protobuf"),
        ("/forward_backward", b"\xff\xff", {"content-type": "application/x-protobuf"}, 400,
         "no ForwardBackwardRequest"),
        ("/forward_backward", b"", {"content-type": "application/x-protobuf"}, 400,
         "names no model"),
        ("/forward_backward", b"damaged",
         {"content-type": "application/x-protobuf", "content-encoding": "zstd"}, 400, "no zstd"),
        ("/forward_backward", b"",
         {"content-type": "application/x-protobuf", "content-encoding": "gzip"}, 400, "not as"),
        ("/optim_step", b"{", {}, 422, "no OptimStepRequest"),
        ("/optim_step", b'{"model_id": "x", "surprise": 1}', {}, 422, "surprise"),
        ("/asample", b'{"prompt": {"chunks": []}, "sampling_params": {}}', {}, 422, "sampling_ses"),
        ("/create_session", b"[]", {}, 422, "no CreateSessionRequest"),
        ("/weights_info", b"[" * 99999, {}, 422, "no JSON object"),
        ("/weights_info", b'{"tinker_path": "file:///etc"}', {}, 404, "no path of a checkpoint"),
    ],
)  # fmt: skip
def test_a_damaged_request_is_told(
    server: TinkerServer, path: str, body: bytes, headers: dict[str, str], status: int, told: str
) -> None:
    found = send(server, path, body, **headers)
    assert found.status_code == status, found.text
    assert told in found.json()["detail"]


def test_what_unpacks_to_too_much_is_refused(server: TinkerServer) -> None:
    bomb = zstandard.ZstdCompressor().compress(bytes(300 << 20))
    headers = {"content-type": "application/x-protobuf", "content-encoding": "zstd"}
    assert send(server, "/forward_backward", bomb, **headers).status_code == 413


def test_pictures_may_be_jpegs(sampler: Any, bare: VLMPolicy, trainer: Any) -> None:
    prompt = shown(bare, data=file_of(picture(1), "jpeg"), format="jpeg")
    (found,) = sampled(sampler, prompt)
    datum = turn_datum(prompt, found.tokens, weights=[1.0] * len(found.tokens))
    scored = trainer.forward([datum], "cross_entropy").result(SECONDS)
    assert scored.metrics["loss:sum"] == pytest.approx(-sum(found.logprobs), rel=1e-4)


@pytest.mark.parametrize(
    ("chunk", "told"),
    [
        ({"expected_tokens": 7}, "of 96x64 takes 6 tokens of this model, not the expected_tok"),
        ({"data": b"no picture"}, "a picture of 10 bytes is no PNG"),
        ({"data": file_of(picture(1))[:200]}, "is no PNG"),
        ({"format": "jpeg"}, "is no JPEG"),
    ],
)
def test_a_picture_that_is_another_is_refused(
    sampler: Any, bare: VLMPolicy, trainer: Any, chunk: dict[str, Any], told: str
) -> None:
    prompt = shown(bare, **chunk)
    with pytest.raises(tinker.RequestFailedError, match=told) as refused:
        sampled(sampler, prompt)
    assert refused.value.category == "user"
    count = sum(one.length for one in prompt.chunks)
    datum = types.Datum(
        model_input=prompt,
        loss_fn_inputs={"target_tokens": np.zeros(count, dtype=np.int64), "weights": [0.0] * count},
    )
    with pytest.raises(tinker.RequestFailedError, match=told):
        trainer.forward([datum], "cross_entropy").result(SECONDS)


def test_expected_tokens_may_be_left_out(sampler: Any, bare: VLMPolicy) -> None:
    (told,) = sampled(sampler, shown(bare))
    (untold,) = sampled(sampler, shown(bare, expected_tokens=None))
    assert told.tokens == untold.tokens


def test_a_text_cannot_pose_as_a_picture(sampler: Any, bare: VLMPolicy) -> None:
    with pytest.raises(tinker.RequestFailedError, match="the placeholder of a picture"):
        sampled(sampler, text_of(20, bare.encoder.image_id or 0, 21))


@pytest.mark.parametrize(
    ("tokens", "told"),
    [
        ([20, 99999], "99999 is no token of this model, whose ids end at"),
        ([-1], "-1 is no token"),
        ([], "a model input has no tokens"),
        ([20] * 5000, "longer than the context of 4096 tokens"),
    ],
)
def test_tokens_that_are_none_are_refused(sampler: Any, tokens: list[int], told: str) -> None:
    with pytest.raises(tinker.RequestFailedError, match=told):
        sampled(sampler, text_of(*tokens))


def test_a_model_that_reads_only_is_shown_no_pictures(serve: MakeServer, tiny: Any) -> None:
    with client_of(serve(f"reader={tiny('llama')}")) as client:
        reader = client.create_sampling_client(base_model="reader").result()
        assert sampled(reader, PROMPT)
        chunk = types.ImageChunk(data=file_of(picture(1)), format="png")
        with pytest.raises(tinker.RequestFailedError, match="sees no pictures"):
            sampled(reader, types.ModelInput(chunks=[chunk]))
        trainer = trainer_of(client, "reader")
        datum = turn_datum(PROMPT, [30], weights=[1.0])
        assert trainer.forward_backward([datum], "cross_entropy").result(SECONDS)


def test_nothing_of_a_request_is_executed(server: TinkerServer, trainer: Any) -> None:
    loss: Any = "__import__('os').system('touch /tmp/ui-gym-tinker-executed')"
    with pytest.raises(tinker.RequestFailedError, match="there is no loss"):
        trainer.forward([turn_datum(PROMPT, [30])], loss).result(SECONDS)
    assert not os.path.exists("/tmp/ui-gym-tinker-executed")
