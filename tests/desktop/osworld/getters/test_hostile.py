"""What an agent leaves to mislead a getter is as nothing, and no error of the task."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator

import pytest
from fake import FakeDesktop
from getter_case import deck
from serving import QuietHandler, serving

from ui_gym.desktop.osworld.registry import GETTERS, EvaluationContext

SLIDE = {"ppt_file_path": "deck.pptx", "slide_index": 0, "dest": "sound.wav"}
RELATIONS = "ppt/slides/_rels/slide1.xml.rels"


def with_relations(data: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(RELATIONS, data)
    return content.getvalue()


def deflated_badly() -> bytes:
    data = bytearray(with_relations(b"<a/>" * 100))
    start = 30 + len(RELATIONS)
    data[start : start + 4] = b"\xff\xff\xff\xff"
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        deflated_badly(),
        with_relations(b'<?xml version="1.0" encoding="shift_jis"?><a/>'),
        with_relations(b'<?xml version="1.0" encoding="none-such"?><a/>'),
        with_relations(b" " * (17 << 20)),
        deck(target="file:///a%00b"),
        deck(target="../media/none.wav"),
    ],
    ids=["deflate", "multi-byte", "encoding", "large", "nul", "absent"],
)
def test_a_broken_presentation_has_no_sound(context: EvaluationContext, data: bytes) -> None:
    context.device.write("deck.pptx", data)
    assert GETTERS["audio_in_slide"](context, SLIDE) is None


def test_settings_nested_without_end_are_none(context: EvaluationContext) -> None:
    context.device.write(".config/google-chrome/Default/Preferences", b"[" * 100_000)
    assert GETTERS["default_search_engine"](context, {}) == "Google"


class Posing(QuietHandler):
    """Says that it is Chrome, and `said` for its tabs."""

    said = b""

    def answer(self) -> None:
        self.say(b'{"Browser": "Chrome"}' if self.path == "/json/version" else self.said)


@pytest.fixture
def posing() -> Iterator[int]:
    """The port of a program that is not Chrome."""
    with serving(Posing) as server:
        yield server.server_port


@pytest.mark.parametrize(
    "said",
    [
        b"no",
        b"{}",
        b"[1, null]",
        b'[{"type": "page"}]',
        b'[{"type": "page", "id": 5}]',
        b'[{"type": "page", "id": "a", "url": 5}]',
        b'[{"type": "page", "id": "a\\r\\nb", "url": ""}]',
        b"[" * 100_000,
    ],
    ids=["text", "object", "items", "no id", "number", "url", "line", "deep"],
)
def test_what_poses_as_chrome_has_no_tabs(
    context: EvaluationContext,
    desktop: FakeDesktop,
    posing: int,
    said: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desktop.ports[9222] = ("127.0.0.1", posing)
    monkeypatch.setattr(Posing, "said", said)
    assert GETTERS["open_tabs_info"](context, {}) == []
