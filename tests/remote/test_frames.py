"""Frames over the wire: what is read is what was written, whatever was lost on the way."""

from __future__ import annotations

import tracemalloc
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_gym.errors import DeviceError
from ui_gym.remote import frames
from ui_gym.remote.frames import FrameReader, FrameWriter, Part

SIZES = st.tuples(st.integers(1, 12), st.integers(1, 12))


@st.composite
def films(draw: st.DrawFn) -> list[Any]:
    """Frames of one size, each a little different from the one before or not at all."""
    height, width = draw(SIZES)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    frame = rng.integers(0, 256, (height, width, 3), np.uint8)
    film = [frame]
    for changes in draw(st.lists(st.integers(0, 3), max_size=6)):
        frame = frame.copy()
        for _ in range(changes):
            frame[rng.integers(height), rng.integers(width), rng.integers(3)] ^= 255
        film.append(frame)
    return film


@given(films(), st.data())
def test_a_film_arrives_as_it_was_though_answers_are_lost(film: list[Any], data: Any) -> None:
    writer, reader = FrameWriter(), FrameReader()
    for number, frame in enumerate(film, 1):
        part = writer.write(number, frame, reader.held)
        while data.draw(st.booleans()):  # lost on the way, and asked for again
            part = writer.write(number, frame, reader.held)
        read = reader.read(number, part)
        np.testing.assert_array_equal(read, frame)
        assert (read.dtype, reader.held) == (np.uint8, number)
        assert not read.flags.writeable


def parts(changed: bool = True) -> tuple[FrameReader, Part]:
    """A reader that holds a frame, and the next one."""
    first = np.zeros((8, 8, 3), np.uint8)
    second = first.copy()
    second[3:5, 2:4] = 200 if changed else 0
    writer, reader = FrameWriter(), FrameReader()
    reader.read(1, writer.write(1, first, 0))
    return reader, writer.write(2, second, 1)


def test_only_what_changed_is_sent() -> None:
    _, part = parts()
    assert part["of"] == 1
    assert np.unpackbits(np.frombuffer(part["rows"], np.uint8)).tolist() == [0, 0, 0, 1, 1, 0, 0, 0]
    assert part["span"] == (0, 16)  # the words of eight bytes in which something changed
    assert parts(changed=False)[1]["span"] == (0, 0)


@pytest.mark.parametrize("damage", ["data", "rows", "span", "hash", "of", "shape"])
def test_what_came_damaged_is_noticed(damage: str) -> None:
    reader, part = parts()
    wrong: dict[str, Any] = {
        "data": zlib.compress(bytes(32)), "rows": bytes([0b00110000]), "span": (8, 24),
        "hash": b"x" * 16, "of": 7, "shape": (8, 9, 3),
    }  # fmt: skip
    with pytest.raises(DeviceError, match=r"damaged|is held"):
        reader.read(2, part | {damage: wrong[damage]})
    assert reader.held == 1


def test_a_bomb_is_not_unpacked() -> None:
    reader, part = parts()
    bomb = zlib.compress(bytes(50_000_000), 9)
    with pytest.raises(DeviceError, match="damaged"):
        reader.read(2, part | {"data": bomb})


def test_a_size_that_no_screen_has_takes_no_memory() -> None:
    whole = FrameWriter().write(1, np.zeros((4, 4, 3), np.uint8), 0)
    tracemalloc.start()
    for shape in ((20_000, 20_000, 3), (-4, -4, 3)):
        part = whole | {"shape": shape}
        part["hash"] = frames._digest(b"", part)
        with pytest.raises(DeviceError, match="none of a screen"):
            FrameReader().read(1, part)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_a_frame_of_another_size_is_sent_whole() -> None:
    writer, reader = FrameWriter(), FrameReader()
    reader.read(1, writer.write(1, np.zeros((4, 4, 3), np.uint8), 0))
    other = np.ones((5, 4, 3), np.uint8)
    part = writer.write(2, other, reader.held)
    assert part["of"] is None
    np.testing.assert_array_equal(reader.read(2, part), other)
