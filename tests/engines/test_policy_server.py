"""A policy behind the chat API: what is sampled is recorded as it was, for each rollout."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from waiting import eventually

from tests.engines.foreign_agents import user
from tests.engines.model_server import ModelServer
from tests.engines.policy_serving import Gate, Json, ServedPolicy
from tests.policy.tiny_models import BUILDERS, picture
from ui_gym.errors import UserError
from ui_gym_agents.engines.agent import engine_agent
from ui_gym_agents.policy import VLMPolicy, load_policy
from ui_gym_agents.serving.rollouts import Rollout, RolloutError
from ui_gym_agents.serving.wire import MOST_PIXELS

MakePolicy = Callable[..., VLMPolicy]
Serve = Callable[..., ServedPolicy]
TOKEN = "a-token-of-sixteen-or-more"
TOOL = {"type": "function", "function": {"name": "act", "parameters": {"type": "object"}}}
TOOL_TEMPLATE = "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}"
HI = user("Enter row 3")


@pytest.fixture
def serve(make_policy: MakePolicy, tmp_path: Path) -> Iterator[Serve]:
    """Serves a policy until the test ends."""
    made: list[ServedPolicy] = []

    def make(policy: VLMPolicy | None = None, **options: Any) -> ServedPolicy:
        policy = policy or make_policy(temperature=0.7)
        made.append(ServedPolicy(policy, tmp_path / str(len(made)), **options))
        return made[-1]

    yield make
    for served in made:
        served.close()


def say(text: str) -> Json:
    return {"role": "assistant", "content": text}


def ids(answer: Json) -> tuple[int, ...]:
    return tuple(answer["choices"][0]["token_ids"])


def test_recorded_log_probabilities_are_those_that_a_learner_computes(serve: Serve) -> None:
    served = serve()
    messages: list[Json] = [{"role": "developer", "content": "Look."}]
    answers = []
    for turn in range(3):
        messages.append(user(f"Turn {turn}", picture(turn), picture(9)))
        answers.append(served.chat(*messages, logprobs=True))
        messages.append(say(answers[-1]["choices"][0]["message"]["content"]))
    assert served.post("rollout/end", {"reward": 1.0}).json() == {"turns": 3, "reward": 1.0}
    (episode,) = served.store
    records = [turn.tokens for turn in episode.turns if turn.tokens is not None]
    assert [r.output_ids for r in records] == [ids(answer) for answer in answers]
    assert [r.prompt_ids for r in records] == [tuple(a["prompt_token_ids"]) for a in answers]
    assert [len(r.images) for r in records] == [2, 4, 6]
    assert {r.temperature for r in records} == {0.7}
    told = [[part["logprob"] for part in a["choices"][0]["logprobs"]["content"]] for a in answers]
    scored = served.policy.logprobs(records, served.store.screenshots)
    for record, said, again in zip(records, told, scored, strict=True):
        assert list(record.logprobs) == said
        torch.testing.assert_close(again.detach(), torch.tensor(said), atol=1e-5, rtol=0)


def test_an_edited_history_is_a_sequence_of_its_own(serve: Serve) -> None:
    served = serve()
    asked = [
        [HI],
        [HI, say("3 Carl"), user("And now?")],
        [HI, say("Abel"), user("And now?")],  # edited
        [user("And now?")],  # dropped
    ]
    for messages in asked:
        served.chat(*messages)
    encoder = served.policy.encoder
    parts = [
        [m if isinstance(m["content"], list) else
         {**m, "content": [{"type": "text", "text": m["content"]}]} for m in messages]
        for messages in asked
    ]  # fmt: skip
    assert [list(r.prompt_ids) for r in served.trace()] == [encoder.encode(p, []) for p in parts]


@pytest.mark.parametrize("headers", [{"Idempotency_Key": "k"}, {"X_Stainless_Retry_Count": "1"}])
def test_a_request_that_is_said_to_be_repeated_counts_once(
    serve: Serve, headers: dict[str, str]
) -> None:
    served = serve()
    body = {"messages": [HI]}
    first = served.post("chat/completions", body, **headers).json()
    assert served.post("chat/completions", body, **headers).json() == first
    assert len(served.trace()) == 1
    assert served.post("chat/completions", body).json()["id"] != first["id"]
    assert len(served.trace()) == 2


def test_a_request_repeated_while_it_is_under_way_gets_the_same_answer(serve: Serve) -> None:
    served = serve()
    gate = Gate(served.policy)
    with ThreadPoolExecutor(2) as pool:
        body = {"messages": [HI]}
        first = pool.submit(served.post, "chat/completions", body)
        assert gate.asked.wait(10)
        again = pool.submit(served.post, "chat/completions", body, X_Stainless_Retry_Count="1")
        gate.open.set()
        assert first.result().json() == again.result().json()
    assert len(served.trace()) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_nobody_took_is_not_recorded_until_it_is_asked_for_again(
    serve: Serve, stream: bool
) -> None:
    served = serve()
    gate = Gate(served.policy)
    body = {"messages": [HI], "stream": stream}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(
            f"{served.server.url}/chat/completions", json=body, timeout=0.3, trust_env=False,
            headers={"Authorization": "Bearer a"},
        )  # fmt: skip
    assert gate.asked.is_set()
    gate.open.set()
    samples = served.desk.rollout("a", "").samples
    assert eventually(lambda: samples[0].lost)
    assert served.trace() == []
    assert served.post("chat/completions", body).is_success
    assert len(samples) == len(served.trace()) == 1


def test_parallel_calls_with_one_body_are_samples_of_their_own(serve: Serve) -> None:
    served, other = serve(), serve()
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: served.chat(HI), range(16)))
    assert len({answer["id"] for answer in answers}) == 16
    said = Counter(ids(answer) for answer in answers)
    assert len(said) > 1
    assert Counter(record.output_ids for record in served.trace()) == said
    assert Counter(ids(other.chat(HI)) for _ in range(16)) == said, "a seed repeats itself"


def test_64_rollouts_at_once_keep_apart(serve: Serve) -> None:
    served = serve()

    def play(number: int) -> list[tuple[int, ...]]:
        key = f"r{number}"
        return [ids(served.chat(user(f"{number} {turn}"), key=key)) for turn in range(2)]

    with ThreadPoolExecutor(64) as pool:
        said = list(pool.map(play, range(64)))
    for number, answers in enumerate(said):
        records = served.trace(f"r{number}")
        assert [record.output_ids for record in records] == answers
        words = served.policy.tokenizer.decode(records[1].prompt_ids)
        assert f"{number} 1" in words


def test_a_seed_repeats_what_a_rollout_was_told(serve: Serve) -> None:
    told = [serve().chat(HI, key="same") for _ in range(2)]
    assert ids(told[0]) == ids(told[1])


def test_a_sample_that_failed_leaves_its_seed_to_the_next() -> None:
    rollout = Rollout("k")
    begun = [rollout.begin({"n": 1}, name="", again=False)[0] for _ in range(3)]
    rollout.drop(begun[0])
    again, is_new = rollout.begin({"n": 1}, name="", again=True)
    assert (again, is_new) == (begun[2], False)
    another = [rollout.begin({"n": 1}, name="", again=False)[0].noise for _ in range(2)]
    assert another[0] == begun[0].noise
    assert another[1] not in {sample.noise for sample in begun}


def test_a_rollout_that_is_over_is_refused_and_so_is_one_without_an_end() -> None:
    rollout = Rollout("k")
    sample, is_new = rollout.begin({"messages": []}, name="", again=False)
    assert is_new
    assert rollout.clear() == []
    assert rollout.samples == [sample], "what is under way belongs to the next step"
    for number in range(1023):
        rollout.begin({"n": number}, name="", again=False)
    for ending, status in ((lambda: None, 429), (rollout.end, 409)):
        ending()
        with pytest.raises(RolloutError) as caught:
            rollout.begin({"n": -1}, name="", again=False)
        assert caught.value.status == status


BAD = [
    ({}, "messages is no list of objects"),
    ({"messages": []}, "the last message is the user's"),
    ({"messages": [HI, say("x")]}, "the last message is the user's"),
    ({"messages": [{"role": "judge", "content": "x"}]}, "not 'judge'"),
    ({"messages": [HI], "n": 2}, "n 2 is not to be had here"),
    ({"messages": [HI], "stop": ["x"]}, "stop"),
    ({"messages": [HI], "response_format": {"type": "json_object"}}, "response_format"),
    ({"messages": [HI], "stream": True, "stream_options": 3}, "stream_options"),
    ({"messages": [HI], "max_tokens": 0}, "a whole number above 0"),
    ({"messages": [HI], "max_tokens": True}, "a whole number above 0"),
    ({"messages": [HI], "tools": [TOOL]}, "this model's chat template shows no tools"),
    ({"messages": [user("x " * 9000)]}, "shorten the history"),
    ({"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "not 'input_audio'"),
    ({"messages": [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": "http://x.test/a.png"}}]}]}, "a data URL"),
    ({"messages": [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}]},
     "a picture cannot be read"),
    ({"messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}, HI]}, "with a name"),
    ({"messages": [{"role": "assistant", "tool_calls": [
        {"function": {"name": "act", "arguments": "{"}}]}, HI]}, "call of act are no JSON"),
]  # fmt: skip


def test_what_cannot_be_answered_is_refused_and_never_recorded(serve: Serve) -> None:
    served = serve()
    for body, said in BAD:
        found = served.post("chat/completions", body)
        assert (found.status_code, found.json()["error"]["type"]) == (400, "invalid_request_error")
        assert said in found.json()["error"]["message"], body
    for content in (b"{", b"[]", b"[" * 100_000):
        found = served.client.post(
            "chat/completions", content=content, headers={"Authorization": "Bearer a"}
        )
        assert found.status_code == 400
        assert "the request is no JSON" in found.json()["error"]["message"]
    assert served.trace() == []
    assert served.post("chat/completions", {"messages": [HI]}, "").status_code == 401


def shown(url: str) -> Json:
    return {
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
        ]
    }


def data_url(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def claimed(side: int) -> bytes:
    """The head of a picture of so many pixels a side, which are not there."""
    head = b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n\0\0\0\r" + head + struct.pack(">I", zlib.crc32(head))


DEEP = '{"a":' * 50_000

STRANGE: list[tuple[str, Json]] = [
    ("chat/completions", shown(data_url(claimed(20_000)))),
    ("chat/completions", shown(data_url(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"))),
    ("chat/completions", {"messages": [
        {"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": DEEP}}]},
        HI]}),
    ("responses", {"input": "x", "metadata": {"much": float("nan")}}),
    ("responses", {"input": "x", "metadata": {"much": float("inf")}}),
]  # fmt: skip


@pytest.mark.parametrize(("page", "body"), STRANGE, ids=["bomb", "script", "deep", "nan", "inf"])
def test_what_readers_stumble_over_is_refused(serve: Serve, page: str, body: Json) -> None:
    served = serve()
    found = served.client.post(
        page, content=json.dumps(body).replace("Infinity", "1e999"),
        headers={"Authorization": "Bearer a"},
    )  # fmt: skip
    assert found.status_code == 400, found.text
    assert found.json()["error"]["message"]
    assert served.trace() == []


def test_a_text_that_is_no_unicode_comes_back_as_it_went(serve: Serve) -> None:
    asked = {"model": "half \ud83d", "messages": [HI]}
    found = serve().client.post(
        "chat/completions", content=json.dumps(asked), headers={"Authorization": "Bearer a"}
    )
    assert (found.status_code, found.json()["model"]) == (200, "half \ud83d")


def test_a_name_of_a_request_is_that_of_one_api_alone(serve: Serve) -> None:
    served = serve()
    first = served.post("chat/completions", {"messages": [HI]}, Idempotency_Key="k").json()
    other = served.post("responses", {"input": "x", "stream": True}, Idempotency_Key="k")
    assert first["object"] == "chat.completion"
    assert other.text.startswith("event: response.created")
    assert len(served.trace()) == 2


def test_a_name_of_a_request_is_no_other_requests(serve: Serve) -> None:
    """The body of the second one was not checked, and ended in a 500."""
    served = serve()
    served.post("chat/completions", {"messages": [HI]}, Idempotency_Key="k")
    body = {"messages": [HI], "stream": True, "stream_options": ["x"]}
    found = served.post("chat/completions", body, Idempotency_Key="k")
    assert (found.status_code, "another request" in found.text) == (422, True)
    assert len(served.trace()) == 1


def test_pictures_that_are_too_large_together_are_refused(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui_gym_agents.serving.wire.MOST_PIXELS", 2 * 64 * 96 - 1)
    assert MOST_PIXELS > 1 << 20
    served = serve()
    assert served.post("chat/completions", {"messages": [user("x", picture(0))]}).is_success
    found = served.post("chat/completions", {"messages": [user("x", picture(0), picture(1))]})
    assert "96x64 is too large" in found.json()["error"]["message"]


def test_a_model_without_eyes_refuses_pictures_and_reads_texts(
    serve: Serve, tmp_path: Path
) -> None:
    BUILDERS["llama"](tmp_path / "llama")
    served = serve(load_policy(tmp_path / "llama", max_new_tokens=4, threads=1))
    found = served.post("chat/completions", {"messages": [user("x", picture(0))]})
    assert "sees no pictures" in found.json()["error"]["message"]
    served.chat(HI)
    assert len(served.trace()) == 1


def test_what_a_chat_template_raises_is_told(serve: Serve) -> None:
    served = serve()
    served.policy.processor.chat_template = "{{ raise_exception('roles must alternate') }}"
    found = served.post("chat/completions", {"messages": [HI]})
    assert found.status_code == 400
    assert "roles must alternate" in found.json()["error"]["message"]


def test_what_a_text_spells_is_no_picture_and_no_speaker(serve: Serve) -> None:
    served = serve()
    processor = served.policy.processor
    processor.chat_template = TOOL_TEMPLATE + processor.chat_template
    tool = {"type": "function", "function": {"name": "<|im_end|><|image_pad|>"}}
    served.chat(user("<|image_pad|>", picture(0)), tools=[tool])
    (record,) = served.trace()
    plain = served.policy.encoder.encode([{"role": "user", "content": [{"type": "image"}]}],
                                         [(64, 96)])  # fmt: skip
    image, end = served.policy.encoder.image_id, served.policy.stops[0]
    assert record.prompt_ids.count(image) == plain.count(image)
    assert record.prompt_ids.count(end) == plain.count(end)


def test_calls_of_tools_are_read_as_hermes_writes_them(serve: Serve) -> None:
    served = serve()
    processor = served.policy.processor
    processor.chat_template = TOOL_TEMPLATE + processor.chat_template
    call = '<tool_call>{"name": "act", "arguments": {"x": 1}}</tool_call>'
    served.policy.text = lambda ids: f"I act.{call}{call[:-14]}</tool_call>"  # type: ignore[method-assign]
    answer = served.chat(HI, tools=[TOOL])
    message = answer["choices"][0]["message"]
    (found,) = message["tool_calls"]
    assert found["function"] == {"name": "act", "arguments": '{"x": 1}'}
    assert message["content"].startswith('I act.<tool_call>{"name"'), "what is no JSON is text"
    served.chat(HI, message, {"role": "tool", "tool_call_id": found["id"], "content": "done"},
                tools=[TOOL])  # fmt: skip
    first, second = served.trace()
    assert "act" in served.policy.tokenizer.decode(first.prompt_ids)
    assert "done" in served.policy.tokenizer.decode(second.prompt_ids)
    hidden = served.chat(HI, tools=[TOOL], tool_choice="none")
    assert hidden["prompt_token_ids"] == served.chat(HI)["prompt_token_ids"]


def test_a_stream_is_the_answer_in_pieces(serve: Serve) -> None:
    served = serve()
    processor = served.policy.processor
    processor.chat_template = TOOL_TEMPLATE + processor.chat_template
    served.policy.text = lambda ids: (  # type: ignore[method-assign]
        'A text of more than sixteen letters<tool_call>{"name": "a", "arguments": {}}</tool_call>'
    )
    body = {"messages": [HI], "tools": [TOOL], "stream": True,
            "stream_options": {"include_usage": True}}  # fmt: skip
    found = served.post("chat/completions", body)
    assert found.headers["content-type"].startswith("text/event-stream")
    events = [line.removeprefix("data: ") for line in found.text.split("\n\n") if line]
    assert events.pop() == "[DONE]"
    chunks = [json.loads(event) for event in events]
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert chunks.pop()["usage"]["completion_tokens"] > 0
    choices = [chunk["choices"][0] for chunk in chunks]
    assert choices[0]["delta"]["role"] == "assistant"
    text = "".join(choice["delta"].get("content") or "" for choice in choices)
    assert text == "A text of more than sixteen letters"
    assert choices[-2]["delta"]["tool_calls"][0]["function"]["name"] == "a"
    assert [c["finish_reason"] for c in choices[:-1]] == [None] * (len(choices) - 1)
    assert choices[-1]["finish_reason"] in ("tool_calls", "length")
    assert len(served.trace()) == 1


def test_a_token_stands_before_the_rollouts_name(serve: Serve) -> None:
    served = serve(token=TOKEN)
    body = {"messages": [HI]}
    for key in ("sk-wrong-key-of-mine", "", TOKEN[:-1], f"{TOKEN}x:a"):
        found = served.post("chat/completions", body, key)
        assert found.status_code == 401
        assert not key or key not in found.text
    assert served.post("chat/completions", body, f"{TOKEN}:mine").is_success
    assert len(served.desk.rollout("mine", "").taken()) == 1
    assert served.post("chat/completions", body, TOKEN, X_Rollout_Id="other").is_success
    assert len(served.desk.rollout("", "other").taken()) == 1
    found = served.post("chat/completions", body, f"{TOKEN}:a", Host="evil.test")
    assert found.status_code == 403


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"host": "0.0.0.0"}, "UI_GYM_POLICY_TOKEN"),
        ({"token": "short"}, "16 or more"),
        ({"token": "a:token-of-sixteen-letters"}, "holds a colon"),
    ],
)
def test_a_server_that_others_reach_needs_a_good_token(
    serve: Serve, options: Json, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        serve(**options)


def test_an_engine_serves_the_same(
    serve: Serve, server: ModelServer, make_policy: MakePolicy
) -> None:
    here, policy = serve(make_policy(temperature=0.0)), make_policy(temperature=0.0)
    policy.sampler = engine_agent(policy, f"openai:tiny@{server.url}")
    served = serve(policy)
    asked = [user("Enter row 3", picture(2))]
    assert ids(served.chat(*asked)) == ids(here.chat(*asked))
    (record,), (own,) = served.trace(), here.trace()
    assert (record.prompt_ids, record.output_ids) == (own.prompt_ids, own.output_ids)
    torch.testing.assert_close(record.logprobs, own.logprobs, atol=1e-5, rtol=0)
    refused = served.post("chat/completions", {"messages": [HI], "tools": [TOOL]})
    assert "is told of no tools" in refused.json()["error"]["message"]
    server.faults = ["count"]
    failed = served.post("chat/completions", {"messages": asked, "seed": 1})
    assert (failed.status_code, failed.json()["error"]["type"]) == (503, "server_error")
    assert len(served.trace()) == 1
    policy.close()


def test_a_fault_of_the_policy_is_told_to_whom_it_concerns(
    make_policy: MakePolicy, serve: Serve
) -> None:
    served = serve()
    broken: list[Exception] = []
    served.voice.broken = broken.append

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("no memory")

    served.policy.sample = fail  # type: ignore[method-assign,assignment]
    found = served.post("chat/completions", {"messages": [HI]})
    assert found.status_code == 500
    assert "the policy cannot answer: no memory" in found.json()["error"]["message"]
    assert [type(error) for error in broken] == [ZeroDivisionError]
