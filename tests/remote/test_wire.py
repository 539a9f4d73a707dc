"""Values over the wire: what comes out is what went in, and nothing but plain data goes."""

from __future__ import annotations

from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paint import PaintText

from ui_gym.contract.task import GroundTruth
from ui_gym.errors import DeviceLost, DeviceSetupError, TaskError, UserError
from ui_gym.playing.env import Seconds
from ui_gym.remote import wire

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.binary(max_size=20),
    st.text(st.characters(), max_size=20),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=5), st.integers()), inner, max_size=3),
    ),
    max_leaves=12,
)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


@given(VALUES)
def test_plain_values_come_out_as_they_went_in(value: Any) -> None:
    assert same(wire.unpack(wire.pack(value)), value)


def test_what_infos_hold_comes_out_as_it_went_in() -> None:
    truth = GroundTruth({"names": ("a", "b"), "at": (1, 2)}, 0.25, {"seen": {1, 2}})
    assert wire.unpack(wire.pack(truth)) == truth
    seconds = wire.unpack(wire.pack(Seconds(1.5)))
    assert isinstance(seconds, Seconds)
    assert float(seconds) == 1.5
    for array in (np.arange(6, dtype=np.int16).reshape(2, 3), np.float32(0.1), np.bool_(True)):
        out = wire.unpack(wire.pack(array))
        assert (type(out), out.dtype) == (type(array), array.dtype)
        np.testing.assert_array_equal(out, array)
    assert wire.unpack(wire.pack("cut \ud83d")) == "cut \ud83d"
    assert wire.unpack(wire.pack(2**80)) == 2**80
    assert wire.unpack(wire.pack(frozenset("ab"))) == frozenset("ab")


def test_what_is_no_plain_data_is_named() -> None:
    with pytest.raises(TypeError, match="a function cannot go over the wire"):
        wire.pack({"call": same})
    with pytest.raises(TypeError, match="an array of objects"):
        wire.pack(np.array([object()]))


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x93\x01", b"\x81\xc0", b"\xc7\x01\x63\x00"])
def test_other_bytes_are_no_message(data: bytes) -> None:
    if data == b"\x81\xc0":
        data += b"\xd9"
    with pytest.raises(wire.WireError, match="no message of this protocol"):
        wire.unpack(data)


def test_values_inside_each_other_end_no_process() -> None:
    value: Any = ()
    for _ in range(wire.MOST_NESTED - 1):
        value = (value,)
    assert wire.unpack(wire.pack(value)) == value
    packed = wire.pack(value)
    for _ in range(500):  # each of which took its part of the stack
        packed = msgpack.packb(msgpack.ExtType(1, packed))
    with pytest.raises(wire.WireError, match="40 special values inside each other"):
        wire.unpack(packed)


def test_errors_keep_their_class_and_their_words() -> None:
    class Special(DeviceSetupError):
        pass

    for error, kind in (
        (DeviceLost("gone"), DeviceLost), (Special("gone"), DeviceSetupError),
        (AttributeError("gone"), AttributeError), (UserError("gone"), UserError),
    ):  # fmt: skip
        told = wire.error_of(wire.error_parts(error))
        assert (type(told), str(told)) == (kind, "gone")
    assert str(wire.error_of(wire.error_parts(OSError("gone")))) == "OSError: gone"
    assert isinstance(wire.error_of(["SystemExit", "0"]), TaskError)


def test_a_task_object_of_somebody_stays_at_home() -> None:
    with pytest.raises(UserError, match="a PaintText object cannot go to another machine"):
        wire.describe_task(PaintText())
