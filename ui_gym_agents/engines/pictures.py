"""Pictures and messages on the wire of the OpenAI chat API: PNG, never JPEG."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any

from PIL import Image as PILImage

from ui_gym.contract.device import Image


def data_url(image: Image) -> str:
    """A picture (height, width, 3) uint8 as a ``data:`` URL that holds it exactly."""
    buffer = io.BytesIO()
    PILImage.fromarray(image).save(buffer, "PNG", compress_level=1)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def wire_messages(
    messages: Sequence[dict[str, Any]], images: Sequence[Image]
) -> list[dict[str, Any]]:
    """Chat messages with the pictures put where ``{"type": "image"}`` stands, in order.

    Raises:
        ValueError: there are more pictures than places, or fewer.
    """
    waiting = iter(images)
    found = [
        {**message, "content": [_part(part, waiting) for part in message["content"]]}
        for message in messages
    ]
    if next(waiting, None) is not None:
        raise ValueError("there are more pictures than places for them in the messages")
    return found


def _part(part: dict[str, Any], waiting: Any) -> dict[str, Any]:
    if part["type"] != "image":
        return part
    image = next(waiting, None)
    if image is None:
        raise ValueError("there are fewer pictures than places for them in the messages")
    return {"type": "image_url", "image_url": {"url": data_url(image)}}
