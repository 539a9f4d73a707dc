"""ChatEpisode: a task as a conversation, for whoever asks a model."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ui_gym.errors import UserError
from ui_gym.playing.env import UIEnv
from ui_gym_agents.chat import ChatEpisode
from ui_gym_agents.policy.prompts import PromptBuilder


@pytest.fixture
def chat() -> Iterator[ChatEpisode]:
    episode = ChatEpisode("PaintText", observation="both")
    yield episode
    episode.close()


def words(messages: list[dict[str, Any]]) -> str:
    return json.dumps([c for m in messages for c in m["content"] if c["type"] == "text"])


def pictures(messages: list[dict[str, Any]]) -> list[np.ndarray[Any, Any]]:
    found = []
    for part in (part for message in messages for part in message["content"]):
        if part["type"] == "image_url":
            data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
            found.append(np.asarray(Image.open(io.BytesIO(data))))
    return found


def test_a_question_shows_what_the_env_shows(chat: ChatEpisode) -> None:
    messages = chat.reset(seed=3)
    env = UIEnv("PaintText", observation="both")
    observation, _ = env.reset(seed=3)
    assert [message["role"] for message in messages] == ["system", "user"]
    assert observation["goal"] in words(messages)
    assert env.dialect.prompt(env.size, elements=True)[:40] in messages[0]["content"][0]["text"]
    (picture,) = pictures(messages)
    np.testing.assert_array_equal(picture, observation["screenshot"])
    env.close()


@pytest.mark.parametrize("way", ["text", "tool", "tool of the chat API"])
def test_an_oracle_wins_by_texts_and_by_tool_calls(chat: ChatEpisode, way: str) -> None:
    chat.reset(seed=1, options={"oracle": True})
    while True:
        text = chat.info["oracle"]["action_text"]
        call = {"name": "act", "arguments": {"action": text}}
        wired = {"type": "function", "function": call | {"arguments": json.dumps({"action": text})}}
        step = chat.act({"text": text, "tool": call, "tool of the chat API": wired}[way])
        if step.done:
            break
    assert (step.reward, step.terminated, step.truncated) == (1.0, True, False)


@pytest.mark.parametrize(
    "said",
    [
        "", "I do not know.", {}, {"name": "rm", "arguments": {"action": "click(1, 1)"}},
        {"name": "act", "arguments": "{half"}, {"name": "act", "arguments": {"action": 3}},
        {"function": {"name": "act", "arguments": '["click"]'}},
    ],
)  # fmt: skip
def test_what_says_no_action_costs_a_step_and_is_told(chat: ChatEpisode, said: Any) -> None:
    chat.reset(seed=1)
    step = chat.act(said)
    assert step.info["step"] == 1
    assert step.info["action_error"] is not None
    assert not step.done
    assert step.news[0]["content"][0]["text"] == chat.view.feedback != ""


def test_the_window_of_pictures_moves_and_the_news_are_the_last_of_them() -> None:
    chat = ChatEpisode("PaintText", prompt=PromptBuilder("", history=2))
    assert len(pictures(chat.reset(seed=1))) == 1
    for count in (2, 2, 2):
        step = chat.act("wait(0)")
        shown = pictures(step.messages)
        assert len(shown) == count
        np.testing.assert_array_equal(pictures(step.news)[0], shown[-1])
    assert len(pictures(chat.reset(seed=1))) == 1  # nothing of the episode before
    chat.close()


def test_where_elements_alone_are_seen_no_picture_is_shown() -> None:
    chat = ChatEpisode("PaintText", observation="elements")
    assert not pictures(chat.reset(seed=1))
    step = chat.act("wait(0)")
    assert not pictures(step.messages + step.news)
    assert step.news[0]["content"]
    chat.close()


def test_a_conversation_needs_an_episode() -> None:
    chat = ChatEpisode("PaintText")
    with pytest.raises(UserError, match=r"call reset\(\) first"):
        chat.act("wait(0)")
    with pytest.raises(UserError, match="takes no arguments: level"):
        ChatEpisode(UIEnv("PaintText"), level=2)
    chat.close()
