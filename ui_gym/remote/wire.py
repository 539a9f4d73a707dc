"""What goes over the wire: values, errors and tasks as MessagePack.

Only plain data is read: no pickle, and no code. Beside MessagePack's own types there are tuples,
sets, arrays, big integers, durations and ground truths, as observations and infos hold them, so
that what comes out is what went in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgpack
import numpy as np

from ui_gym import __version__, errors
from ui_gym.contract import registry
from ui_gym.contract.arguments import check_viewport, make_task
from ui_gym.contract.mix import Mix
from ui_gym.contract.task import GroundTruth, Task
from ui_gym.errors import TaskError, UIGymError, UserError
from ui_gym.playing.env import Seconds

VERSION = __version__
"""Of this package; other versions may differ in what an episode is."""

PROTOCOL = 1
"""The version of what is said; both sides must have the same."""

TOKEN = "UI_GYM_SERVER_TOKEN"
"""The environment variable with the token that servers want and clients say."""

PATH = "/slots"
"""Where a server's socket is."""

MOST_NESTED = 40
"""How deep special values may lie inside each other. Each level is read by a decoder of its own,
which takes 48 KiB of the thread's stack: two hundred would end the process."""

MAX_MESSAGE = 64 << 20
"""The longest message that is read, in bytes: a key frame of the largest screen has room."""


class WireError(UIGymError):
    """What came is no message of this protocol."""


def pack(value: Any) -> bytes:
    """A value as bytes.

    Raises:
        TypeError: something in it is no plain data; names its type.
    """
    packed: bytes = msgpack.packb(
        value, default=_special, strict_types=True, unicode_errors="surrogatepass"
    )
    return packed


def unpack(data: bytes) -> Any:
    """The value of what `pack` gave.

    Raises:
        WireError: it is something else.
    """
    try:
        return _unpacked(data, 0)
    except Exception as error:
        raise WireError(f"no message of this protocol: {type(error).__name__}: {error}") from None


def _special(value: Any) -> msgpack.ExtType:
    for code, (kind, taken, _) in _KINDS.items():
        if isinstance(value, kind):
            return msgpack.ExtType(code, pack(taken(value)))
    if isinstance(value, Mapping):
        return msgpack.ExtType(_MAPPING, pack(dict(value)))
    raise TypeError(f"a {type(value).__name__} cannot go over the wire")


def _unpacked(data: bytes, depth: int) -> Any:
    if depth > MOST_NESTED:
        raise ValueError(f"more than {MOST_NESTED} special values inside each other")

    def of_special(code: int, inner: bytes) -> Any:
        value = _unpacked(inner, depth + 1)
        return value if code == _MAPPING else _KINDS[code][2](value)

    return msgpack.unpackb(
        data, ext_hook=of_special, strict_map_key=False, unicode_errors="surrogatepass"
    )


def _array_of(parts: list[Any]) -> Any:
    kind, shape, data = parts
    return np.frombuffer(data, np.dtype(kind)).reshape(shape).copy()


def _scalar_of(parts: list[Any]) -> Any:
    return _array_of(parts)[()]


def _parts(array: Any) -> list[Any]:
    array = np.asarray(array)
    if array.dtype.hasobject:
        raise TypeError("an array of objects cannot go over the wire")
    return [array.dtype.str, list(array.shape), array.tobytes()]


_MAPPING = 0

_KINDS: dict[int, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    1: (tuple, list, tuple),
    2: (Seconds, float, Seconds),
    3: (np.ndarray, _parts, _array_of),
    4: (np.generic, _parts, _scalar_of),
    5: (
        GroundTruth,
        lambda truth: [truth.params, truth.blind_rate, dict(truth.hidden)],
        lambda parts: GroundTruth(*parts),
    ),
    6: (int, str, int),  # beyond 64 bits
    7: (set, list, set),
    8: (frozenset, list, frozenset),
    9: (str, str, str),  # subclasses of str, as the plain texts that they are
    10: (float, float, float),
}
"""Types by code: what of a value is written, and how it is made of that again. The first that fits
is taken."""

ERRORS = {
    **{
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type)
        and issubclass(kind, UIGymError)
        and kind is not errors.ActionError
    },
    **{kind.__name__: kind for kind in (AttributeError, TypeError, ValueError)},
}
"""The errors that are the same over there, by name; what else is raised is a task's fault."""


def error_parts(error: BaseException) -> list[str]:
    """An error as its name and its message. Of a subclass, the nearest known one's."""
    for kind in type(error).__mro__:
        if ERRORS.get(kind.__name__) is kind:
            return [kind.__name__, str(error)]
    return [TaskError.__name__, f"{type(error).__name__}: {error}"]


def error_of(parts: list[str]) -> Exception:
    """The error that the other side told."""
    name, message = parts
    return ERRORS.get(name, TaskError)(message)


# -- tasks --


def describe_task(task: str | Task[Any, Any]) -> dict[str, Any]:
    """What another machine makes this task from.

    Raises:
        UserError: it is an object that somebody made, and no id.
    """
    if isinstance(task, str):
        return {"id": registry.spec(task).id}
    if isinstance(task, Mix):
        return {"members": {key: describe_task(member) for key, member in task.members.items()}}
    if task.made_with is None:
        raise UserError(
            f"a {type(task).__name__} object cannot go to another machine: give the task by its id"
        )
    return {
        "id": task.spec.id,
        "arguments": task.made_with,
        "viewport": task.viewport,
        "max_steps": task.max_steps,
    }


def task_of(told: Mapping[str, Any], may_play: Callable[[str], None]) -> str | Task[Any, Any]:
    """The task that another machine described.

    Args:
        told: What `describe_task` gave.
        may_play: Raises where the task of an id may not be played.

    Raises:
        UserError: there is no such task here, or it takes no such argument.
    """
    if "members" in told:
        return Mix({key: _member(part, may_play) for key, part in told["members"].items()})
    if "arguments" in told:
        return _member(told, may_play)
    may_play(told["id"])
    return str(told["id"])


def _member(told: Mapping[str, Any], may_play: Callable[[str], None]) -> Task[Any, Any]:
    may_play(told["id"])
    task = make_task(told["id"], told["arguments"])
    task.viewport = check_viewport(told["viewport"])
    if told["max_steps"] != task.max_steps:
        task.max_steps = told["max_steps"]
    return task
