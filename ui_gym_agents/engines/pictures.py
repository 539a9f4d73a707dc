"""Pictures and messages on the wire of the OpenAI chat API: PNG, never JPEG."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Any

from PIL import Image as PILImage

from ui_gym.contract.device import Image
from ui_gym.remote import png
from ui_gym_agents.agents.agent import View
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.store import screenshot_hash

MOST = 256
"""Pictures that are remembered, unless somebody knows better."""
LIMIT = 1 << 30
"""Characters of pictures that are remembered."""


def data_url(image: Image) -> str:
    """A picture (height, width, 3) uint8 as a ``data:`` URL that holds it exactly."""
    buffer = io.BytesIO()
    PILImage.fromarray(image).save(buffer, "PNG", compress_level=1)
    return png.data_url(buffer.getvalue())


class PictureCache:
    """Pictures as `data_url`, each encoded once as long as it is remembered. For any thread.

    Every turn of a conversation shows the last pictures again: to remember as many as there are
    slots times pictures that a prompt shows is enough for all but new ones. Those that were not
    asked for the longest go first, beyond `most` pictures or `limit` characters.
    """

    def __init__(self, most: int = MOST, limit: int = LIMIT) -> None:
        self.asked = 0
        self.hits = 0
        """How many of those that were `asked` for were remembered."""
        self._most = most
        self._limit = limit
        self._lock = Lock()
        self._urls: dict[str, Future[str]] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._urls)

    def fit(self, most: int) -> None:
        """Remember so many pictures, if it would be fewer."""
        self._most = max(self._most, most)

    def url(self, image: Image) -> str:
        """A picture's `data_url`."""
        key = screenshot_hash(image)
        with self._lock:
            self.asked += 1
            found = self._urls.pop(key, None)
            if known := found is not None:
                self.hits += 1
            found = found or Future()
            self._urls[key] = found
        if not known:
            self._encode(key, image, found)
        return found.result()

    def _encode(self, key: str, image: Image, found: Future[str]) -> None:
        try:
            url = data_url(image)
        except Exception as error:
            with self._lock:
                self._urls.pop(key, None)
            found.set_exception(error)
            return
        with self._lock:
            found.set_result(url)
            if self._urls.get(key) is found:
                self._size += len(url)
            while len(self._urls) > self._most or self._size > self._limit:
                gone = self._urls.pop(next(iter(self._urls)))
                self._size -= len(gone.result()) if gone.done() else 0


class HitRate:
    """The share of pictures that a cache remembered, of those asked for since the last time."""

    def __init__(self, cache: PictureCache) -> None:
        self._cache = cache
        self._asked = self._hits = 0

    def metrics(self) -> dict[str, float]:
        """The share as ``picture_hits``; nothing, if none was asked for."""
        asked, hits = self._cache.asked - self._asked, self._cache.hits - self._hits
        self._asked, self._hits = self._cache.asked, self._cache.hits
        return {"picture_hits": hits / asked} if asked else {}


def wire_messages(
    messages: Sequence[dict[str, Any]],
    images: Sequence[Image],
    url: Callable[[Image], str] = data_url,
) -> list[dict[str, Any]]:
    """Chat messages with the pictures put where ``{"type": "image"}`` stands, in order.

    `url` makes the URL of each, as `data_url` does.

    Raises:
        ValueError: there are more pictures than places, or fewer.
    """
    waiting = iter([url(image) for image in images])
    found = [
        {**message, "content": [_part(part, waiting) for part in message["content"]]}
        for message in messages
    ]
    if next(waiting, None) is not None:
        raise ValueError("there are more pictures than places for them in the messages")
    return found


def conversation(
    prompt: PromptBuilder, view: View, url: Callable[[Image], str] = data_url
) -> list[dict[str, Any]]:
    """What a model is asked of a view, with its pictures as `url` makes them."""
    messages, shown = prompt.build(view)
    return wire_messages(messages, view.screenshots[len(view.screenshots) - shown :], url)


def _part(part: dict[str, Any], waiting: Iterator[str]) -> dict[str, Any]:
    if part["type"] != "image":
        return part
    url = next(waiting, None)
    if url is None:
        raise ValueError("there are fewer pictures than places for them in the messages")
    return {"type": "image_url", "image_url": {"url": url}}
