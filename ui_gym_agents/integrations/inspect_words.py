"""What calls of Inspect's computer tool say, in the words of the dialect ``anthropic``.

Source of the arguments: inspect_ai 0.3.285, ``inspect_ai/tool/_tools/_computer/_computer.py``, into
which Inspect turns the calls of each vendor's own tool. They are Anthropic's, and beside them
`actions`, a list (OpenAI's), and words of Gemini's: ``navigate``, ``open_web_browser``, and for
what is typed a point and an Enter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image as PILImage

from ui_gym.contract.device import Image

Call = Mapping[str, Any]
Said = list[dict[str, Any]]
"""JSON objects, as the dialect reads them."""

POINTS = ("coordinate", "start_coordinate")


@dataclass(frozen=True)
class ShownScreen:
    """How a screen of `size` is shown: as it is, or from the top left corner of a picture of the
    size `frame`, made smaller where it does not fit. Sizes are (width, height) in pixels."""

    size: tuple[int, int]
    frame: tuple[int, int] | None = None

    @property
    def scale(self) -> float:
        """Pixels that are shown for one of the screen, at most 1."""
        if self.frame is None:
            return 1.0
        return min(1.0, *(there / here for there, here in zip(self.frame, self.size, strict=True)))

    def show(self, image: Image) -> Image:
        """The picture (height, width, 3) uint8 that a model sees."""
        if self.frame is None:
            return image
        screen = PILImage.fromarray(image)
        if self.scale < 1:
            width, height = (round(length * self.scale) for length in self.size)
            screen = screen.resize((width, height), PILImage.Resampling.LANCZOS)
        shown = PILImage.new("RGB", self.frame)
        shown.paste(screen)
        return np.asarray(shown)

    def place(self, point: Any) -> Any:
        """The point of the screen that is shown at `point`. What is no point stays as it is."""
        if self.scale == 1 or not _are_numbers(point, 2):
            return point
        spots = [round(at / self.scale) for at in point]
        # The last pixel that is shown may stand for one beyond the screen.
        return [
            min(spot, length - 1) if spot <= length else spot
            for spot, length in zip(spots, self.size, strict=True)
        ]


def spoken(arguments: Call, screen: ShownScreen) -> Said:
    """What a call says, a step of the env. What is wrong in it is left for the dialect to tell."""
    return [
        said
        for call in _calls(arguments)
        for said in _spoken({**call, **{k: screen.place(call[k]) for k in POINTS if k in call}})
    ]


def zoomed(arguments: Call, image: Image) -> Image | None:
    """What a call that ends in a ``zoom`` asks to see of a shown picture, in the picture's size;
    None where it does not, or names no region of it."""
    last = list(_calls(arguments))[-1:]
    region = last[0].get("region") if last and last[0].get("action") == "zoom" else None
    if region is None or not _are_numbers(region, 4):
        return None
    left, top, right, bottom = (round(at) for at in region)
    height, width = image.shape[:2]
    if not (0 <= left < right <= width and 0 <= top < bottom <= height):
        return None
    part = PILImage.fromarray(image[top:bottom, left:right])
    scale = min(width / part.width, height / part.height)
    size = max(1, round(part.width * scale)), max(1, round(part.height * scale))
    return np.asarray(part.resize(size, PILImage.Resampling.LANCZOS))


def is_held(said: Said) -> bool:
    """Whether the mouse button is down after what was said."""
    names = [one.get("action") for one in said]
    return names.count("left_mouse_down") > names.count("left_mouse_up")


def _calls(arguments: Call) -> Iterator[dict[str, Any]]:
    given = {name: value for name, value in arguments.items() if value is not None}
    several = given.get("actions", [given])
    for call in several if isinstance(several, list) else []:
        yield dict(call) if isinstance(call, Mapping) else {"action": str(call)}


def _spoken(call: dict[str, Any]) -> Said:
    match call.get("action"):
        case "type":
            point, enter = call.get("coordinate"), call.get("press_enter")
            return [
                *([{"action": "left_click", "coordinate": point}] if point is not None else []),
                {"action": "type", "text": call.get("text")},
                *([{"action": "key", "text": "Return"}] if enter else []),
            ]
        case "key" | "hold_key":
            return [call | {"text": _keys(call.get("text"))}]
        case "navigate":
            return [{"type": "tool_use", "name": "open", "input": {"target": call.get("text")}}]
        case "zoom" | "open_web_browser":  # what there is to be seen is shown after each step
            return [{"action": "screenshot"}]
    return [call]


def _keys(text: Any) -> Any:
    """Chords with letters in lower case: a capital among OpenAI's keys is no Shift."""
    if not isinstance(text, str):
        return text
    return " ".join(_chord(one) if "+" in one else one for one in text.split(" "))


def _chord(text: str) -> str:
    return "+".join(key.lower() if len(key) == 1 else key for key in text.split("+"))


def _are_numbers(value: Any, count: int) -> bool:
    return (
        isinstance(value, Sequence)
        and len(value) == count
        and all(isinstance(one, int | float) and abs(one) < 1e6 for one in value)
    )
