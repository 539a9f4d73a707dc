"""Pictures and texts that wait until they are looked at."""

from __future__ import annotations

import ast
import copy
import io
import json
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFile

from ui_gym_agents.integrations.lazy_picture import LazyPicture, LazyText, lazy_works

SIZE = (48, 32)
PICTURE = np.random.default_rng(0).integers(0, 256, (32, 48, 3), dtype=np.uint8)
PART = {"type": "text", "text": "hello"}


class Asked:
    """Gives a picture, and counts how often."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> np.ndarray[Any, Any]:
        self.times += 1
        return PICTURE


def saved(image: Image.Image) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return Image.open(buffer)


LOOKS: dict[str, Callable[[Any], Any]] = {
    "asarray": np.asarray,
    "convert": lambda image: image.convert("RGB"),
    "copy": lambda image: image.copy(),
    "copy.copy": copy.copy,
    "crop": lambda image: image.crop((0, 0, *SIZE)),
    "deepcopy": copy.deepcopy,
    "getpixel": lambda image: [
        [image.getpixel((x, y)) for x in range(SIZE[0])] for y in range(SIZE[1])
    ],
    "pickle": lambda image: pickle.loads(pickle.dumps(image)),  # noqa: S301  # its own
    "resize": lambda image: image.resize(SIZE, Image.Resampling.NEAREST),
    "save": saved,
    "tobytes": lambda image: np.frombuffer(image.tobytes(), np.uint8).reshape(PICTURE.shape),
}


@pytest.mark.parametrize("look", LOOKS)
def test_whoever_looks_sees_the_picture(look: str) -> None:
    asked = Asked()
    picture = LazyPicture(SIZE, asked)
    np.testing.assert_array_equal(np.asarray(LOOKS[look](picture)), PICTURE)
    np.testing.assert_array_equal(np.asarray(picture), PICTURE)
    assert asked.times == 1
    assert type(picture) is Image.Image


def test_what_is_known_before_waits_for_nothing() -> None:
    asked = Asked()
    picture = LazyPicture(SIZE, asked)
    assert isinstance(picture, Image.Image)
    assert (picture.size, picture.width, picture.height, picture.mode) == (SIZE, 48, 32, "RGB")
    assert asked.times == 0


def test_a_look_waits_in_any_thread() -> None:
    answer: Future[Any] = Future()
    picture = LazyPicture(SIZE, answer.result)
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(np.asarray(picture)))
    thread.start()
    assert seen == []
    answer.set_result(PICTURE)
    thread.join()
    np.testing.assert_array_equal(seen[0], PICTURE)


def test_what_went_wrong_is_raised_by_a_look() -> None:
    answer: Future[Any] = Future()
    answer.set_exception(ValueError("the task is broken"))
    with pytest.raises(ValueError, match="the task is broken"):
        np.asarray(LazyPicture(SIZE, answer.result))


READS: dict[str, Callable[[Any], Any]] = {
    "item": lambda part: {"type": part["type"], "text": part["text"]},
    "get": lambda part: {"type": part["type"], "text": part.get("text")},
    "dict": dict,
    "unpacked": lambda part: {**part},
    "items": lambda part: dict(part.items()),
    "values": lambda part: dict(zip(part, part.values(), strict=True)),
    "json": lambda part: json.loads(json.dumps(part)),
    "repr": lambda part: ast.literal_eval(repr(part)),
    "deepcopy": copy.deepcopy,
    "pickle": lambda part: pickle.loads(pickle.dumps(part)),  # noqa: S301  # its own
    "equal": lambda part: PART if part == PART else None,
}


@pytest.mark.parametrize("read", READS)
def test_whoever_reads_a_text_gets_it(read: str) -> None:
    asked: list[bool] = []

    def wait() -> str:
        asked.append(True)
        return "hello"

    part = LazyText(wait)
    assert isinstance(part, dict)
    assert part["type"] == part.get("type") == "text"
    assert "text" in part
    assert asked == []
    assert READS[read](part) == PART
    assert [*dict.items(part)] == [*PART.items()]  # as C code sees it afterwards
    assert asked == [True]


def test_what_went_wrong_is_raised_by_whoever_reads() -> None:
    answer: Future[str] = Future()
    answer.set_exception(ValueError("the task is broken"))
    with pytest.raises(ValueError, match="the task is broken"):
        LazyText(answer.result)["text"]


def test_this_pillow_has_lazy_pictures() -> None:
    assert lazy_works()


@pytest.mark.parametrize("broken", ["it is read at once", "readers are asked otherwise"])
def test_another_pillow_is_noticed(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_at_once(self: Any, *given: Any) -> None:
        Image.Image.__init__(self)
        self._open()
        self.load()

    def refuse(self: Any, *given: Any) -> None:
        raise TypeError("another interface")

    changed = read_at_once if broken == "it is read at once" else refuse
    monkeypatch.setattr(ImageFile.ImageFile, "__init__", changed)
    assert not lazy_works.__wrapped__()
