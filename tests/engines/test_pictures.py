"""Pictures on their way to a server: each is encoded once, and what is remembered is bounded."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image as PILImage

from tests.engines.model_server import ModelServer
from ui_gym.playing.vector import UIVectorEnv
from ui_gym_agents.agents.openai_chat import OpenAIAgent
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.engines.agent import EngineAgent
from ui_gym_agents.engines.openai import OpenAIEngine
from ui_gym_agents.engines.pictures import PictureCache, data_url
from ui_gym_agents.policy import PromptBuilder, VLMPolicy

MakeVector = Callable[..., UIVectorEnv]
ASKED = [EpisodeRequest(seed=seed, group=f"g{seed}") for seed in range(4)]


def shade(level: int) -> Any:
    return np.full((16, 16, 3), level, np.uint8)


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The formats in which pictures were encoded, one for each time."""
    found: list[str] = []
    save = PILImage.Image.save

    def counting(image: Any, target: Any, format: str | None = None, **options: Any) -> None:
        found.append(str(format))
        save(image, target, format, **options)

    monkeypatch.setattr(PILImage.Image, "save", counting)
    return found


@pytest.mark.parametrize("schedule", ["free", "cohorts"])
@pytest.mark.parametrize("who", ["chat", "engine"])
def test_every_picture_of_an_episode_is_encoded_once(
    who: str, schedule: Any, server: ModelServer, policy: VLMPolicy,
    make_engine: Callable[..., OpenAIEngine], make_vector: MakeVector, encoded: list[str],
) -> None:  # fmt: skip
    prompt = PromptBuilder(history=3)
    agent: Any = EngineAgent(policy, make_engine(server))
    if who == "chat":
        agent = OpenAIAgent("tiny", server.url, prompt=prompt, max_new_tokens=6)
    envs = make_vector(2, max_steps=5)
    episodes = Collector(envs, agent, schedule=schedule).collect(ASKED)
    agent.close()
    shown = [part["image_url"]["url"] for r in server.requests for m in r.get("messages", ())
             for part in m["content"] if part["type"] == "image_url"]  # fmt: skip
    assert len(shown) > len(set(shown)) == len(encoded)
    assert {turn.screenshot_id for e in episodes for turn in e.turns}
    rate = 1 - len(encoded) / len(shown)
    assert agent.metrics() == {"picture_hits": pytest.approx(rate)}
    assert agent.metrics() == {}, "of what was asked since"


def test_a_picture_is_what_it_was() -> None:
    cache = PictureCache()
    assert [cache.url(shade(i % 2)) for i in range(4)] == [data_url(shade(i % 2)) for i in range(4)]
    assert (cache.asked, cache.hits) == (4, 2)
    changed = shade(1)
    changed[0, 0] = 9
    assert cache.url(changed) == data_url(changed) != data_url(shade(1))


def test_those_that_were_not_asked_for_lately_are_forgotten_first() -> None:
    cache = PictureCache(most=2)
    for level in (1, 2, 1, 3, 1):
        cache.url(shade(level))
    assert (cache.hits, len(cache)) == (2, 2)
    cache.url(shade(2))
    assert cache.hits == 2
    cache.fit(3)
    cache.fit(1)
    for level in (1, 2, 3, 1, 2, 3):
        cache.url(shade(level))
    assert (cache.hits, len(cache)) == (7, 3)


def test_what_is_remembered_is_bounded_in_bytes() -> None:
    size = len(data_url(shade(1)))
    cache = PictureCache(limit=3 * size)
    for level in range(10):
        cache.url(shade(level))
    assert len(cache) <= 3


def test_threads_that_ask_together_encode_once(encoded: list[str]) -> None:
    cache = PictureCache()
    together = threading.Barrier(8)
    found: list[str] = []

    def ask() -> None:
        together.wait()
        found.append(cache.url(shade(5)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(encoded) == len(set(found)) == 1
    assert (cache.asked, cache.hits) == (8, 7)


def test_a_picture_that_cannot_be_encoded_is_asked_for_again() -> None:
    cache = PictureCache()
    wrong = np.zeros((2, 2, 7), np.uint8)
    for _ in range(2):
        with pytest.raises(TypeError):
            cache.url(wrong)
    assert (cache.hits, len(cache)) == (0, 0)
