"""What goes to vendors' APIs, and what our tests' servers answer, by the vendors' own packages."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import paint  # noqa: F401 - registers its tasks
import pytest
from pydantic import SecretStr, TypeAdapter

pytest.importorskip("openai", reason="tox -e vendors")
pytest.importorskip("anthropic", reason="tox -e vendors")
pytest.importorskip("google.genai", reason="tox -e vendors")

import anthropic
import openai
from anthropic.types.beta import BetaContentBlockParam, BetaMessage
from anthropic.types.beta.message_create_params import MessageCreateParamsNonStreaming
from google import genai
from google.genai import types
from openai.types.responses import Response
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

from tests.engines.vendor_servers import (
    KEY,
    GeminiServer,
    MessagesServer,
    ResponsesServer,
    VendorServer,
    camel,
    oracle_brain,
)
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents.anthropic_messages import AnthropicAgent
from ui_gym_agents.agents.gemini import GeminiAgent
from ui_gym_agents.agents.responses import ResponsesAgent
from ui_gym_agents.agents.vendor import VendorAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest

Json = dict[str, Any]
Played = Callable[[type[VendorServer], type[VendorAgent], str], VendorServer]


@pytest.fixture
def played() -> Iterator[Played]:
    """Plays an episode with a model, and gives the server that it asked."""
    with contextlib.ExitStack() as stack:

        def play(kind: type[VendorServer], agent: type[VendorAgent], model: str) -> VendorServer:
            dialect = agent.dialects(model)[0]
            server = kind(oracle_brain("PaintText", dialect, [5], "train"))
            stack.callback(server.close)
            player = agent(model, server.url, key=SecretStr(KEY))
            stack.callback(player.close)
            envs = UIVectorEnv(1, "PaintText", dialect=dialect)
            stack.callback(envs.close)
            (episode,) = Collector(envs, player).collect([EpisodeRequest(5, split="train")])
            assert episode.success
            return server

        yield play


def as_read(kind: Any, said: Json) -> Json:
    """An object as a type reads it: what the type does not know is lost."""
    adapter = TypeAdapter(kind)
    found: Json = json.loads(adapter.dump_json(adapter.validate_python(said, strict=False)))
    return found


@pytest.mark.parametrize("model", ["gpt-5.4", "computer-use-preview"])
def test_what_goes_to_openai_is_of_its_types(played: Played, model: str) -> None:
    server = played(ResponsesServer, ResponsesAgent, model)
    for body in server.bodies:
        for item in body["input"]:  # the guide has it, and these types do not
            if item["type"] == "computer_call_output":
                item["output"].pop("detail", None)
        assert as_read(ResponseCreateParamsNonStreaming, body) == body
    for answer in server.answers:
        Response.model_validate(answer)


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-opus-4-6", "claude-sonnet-4-5"])
def test_what_goes_to_anthropic_is_of_its_types(played: Played, model: str) -> None:
    server = played(MessagesServer, AnthropicAgent, model)
    for body in server.bodies:
        for message in body["messages"]:
            for block in message["content"]:
                assert as_read(BetaContentBlockParam, block) == block
        bare = body | {"messages": [{"role": "user", "content": "Look."}]}
        assert as_read(MessageCreateParamsNonStreaming, bare) == bare
    for answer in server.answers:
        BetaMessage.model_validate(answer)


@pytest.mark.parametrize("model", ["gemini-3.5-flash", "gemini-2.5-computer-use-preview-10-2025"])
def test_what_goes_to_gemini_is_of_its_types(played: Played, model: str) -> None:
    server = played(GeminiServer, GeminiAgent, model)
    for body in server.bodies:  # these types forbid what they do not know
        types.Content.model_validate(body["systemInstruction"])
        types.GenerationConfig.model_validate(body["generationConfig"])
        for tool in body["tools"]:
            types.Tool.model_validate(tool)
        for content in body["contents"]:
            types.Content.model_validate(content)
    for answer in server.answers:
        types.GenerateContentResponse.model_validate(answer)


def test_openais_own_client_is_answered(played: Played) -> None:
    server = played(ResponsesServer, ResponsesAgent, "gpt-5.4")
    client = openai.OpenAI(base_url=server.url, api_key=KEY, max_retries=0)
    found = client.responses.create(**server.bodies[1])
    assert [item.type for item in found.output][-1] == "computer_call"
    wrong = openai.OpenAI(base_url=server.url, api_key="sk-wrong", max_retries=0)
    with pytest.raises(openai.AuthenticationError):
        wrong.responses.create(**server.bodies[1])


def test_anthropics_own_client_is_answered(played: Played) -> None:
    server = played(MessagesServer, AnthropicAgent, "claude-opus-5-5")
    root = server.url.removesuffix("/v1")
    client = anthropic.Anthropic(base_url=root, api_key=KEY, max_retries=0)
    found = client.beta.messages.create(**server.bodies[1])
    assert found.content[-1].type == "tool_use"
    assert found.content[-1].toolset_name == "computer"
    wrong = anthropic.Anthropic(base_url=root, api_key="sk-wrong", max_retries=0)
    with pytest.raises(anthropic.AuthenticationError):
        wrong.beta.messages.create(**server.bodies[1])


def test_geminis_own_client_is_answered(played: Played) -> None:
    server = played(GeminiServer, GeminiAgent, "gemini-3.5-flash")
    body = server.bodies[1]
    root = server.url.removesuffix("/v1beta")
    options = types.HttpOptions(base_url=root, api_version="v1beta")
    config = types.GenerateContentConfig(
        system_instruction=types.Content.model_validate(body["systemInstruction"]),
        tools=[types.Tool.model_validate(tool) for tool in body["tools"]],
        max_output_tokens=body["generationConfig"]["maxOutputTokens"],
    )
    asked = {"model": "gemini-3.5-flash", "contents": body["contents"], "config": config}
    client = genai.Client(api_key=KEY, http_options=options)
    found = client.models.generate_content(**asked)
    assert found.function_calls
    assert urlsafe(camel(server.bodies[-1])) == urlsafe(body)
    wrong = genai.Client(api_key="sk-wrong", http_options=options)
    with pytest.raises(genai.errors.ClientError, match="API key not valid"):
        wrong.models.generate_content(**asked)


def urlsafe(body: Json) -> Json:
    """A request with its base64 as their client writes it."""
    found: Json = json.loads(json.dumps(body).replace("+", "-").replace("/", "_"))
    return found
