"""Messages to the env server: whatever a client says, it is told what is wrong, or hung up on."""

from __future__ import annotations

import contextlib
import http.client
import random
from collections.abc import Iterator
from typing import Any

import msgpack
import numpy as np
import paint  # noqa: F401  the suite that is served
from waiting import eventually
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from tests.fuzz import mutation
from tests.fuzz.running import Overheard, Unexpected, listed, parts_of
from ui_gym.playing.env import Seconds
from ui_gym.remote import wire
from ui_gym.remote.lending import ServerLimits
from ui_gym.remote.server import EnvServer

SLOTS = 6
LIMITS = ServerLimits(slots=SLOTS, sessions=64, grace=0.1, silence=20.0)

LOOK = 50
"""Cases between two looks at whether a client that behaves is served."""

PATIENCE = 30.0

SERVER_LOGS = ("uvicorn",)

HELLO = {
    "protocol": wire.PROTOCOL, "version": wire.VERSION, "session": None,
    "task": {"id": "UI/PaintText-v0"}, "arguments": {"device": "paint"},
}  # fmt: skip
TASKS = (
    {"id": "UI/PaintClick-v0"},
    {"id": "UI/PaintText-v0", "arguments": {"boxes": 2}, "viewport": (96, 64), "max_steps": 4},
    {"members": {"a": {"id": "UI/PaintText-v0", "arguments": {}, "viewport": (96, 64),
                       "max_steps": 6}}},
)  # fmt: skip
ARGUMENTS = (
    {}, {"dialect": "qwen", "observation": "both"}, {"timeout": 5.0, "max_steps": 3},
    {"viewport": (64, 64)}, {"reward": "success"}, {"observation": "elements"},
)  # fmt: skip
MESSAGES: tuple[dict[str, Any], ...] = (
    {"slot": 0, "call": 1, "held": 0, "reset": [1, None], "sets": {}},
    {"slot": 0, "call": 2, "held": 1, "step": 'click(8, 8); type("a")'},
    {"slot": 0, "call": 3, "held": 1, "step": "finish()"},
    {"slot": 1, "call": 1, "held": 0, "reset": [7, {"ground_truth": True}], "sets": {"x": 1}},
    {"slot": 0, "abandon": 2},
    {"slot": 0, "ask": 1, "get": ["size", [], {}]},
    {"slot": 0, "ask": 2, "get": ["oracle_action", [], {}]},
    {"slot": 0, "ask": 3, "set": ["note", 3]},
    {"beat": 1},
)
ODD: tuple[Any, ...] = (
    *mutation.ODD, b"", b"\xff" * 40, (1, (2,)), frozenset("ab"), {1: 2}, {(): []}, Seconds(1.0),
    np.arange(3), np.float32("nan"), np.zeros((0, 9)), "UI/Browser-v0", "paint", "OSWorld",
    "_loan", "__class__", "device", "close", 2**64, 3840, 50_000, 1e300,
)  # fmt: skip


class EnvMessages:
    """A case is a list of messages, as bytes: what one client sends, the first one its hello.

    The outcome of a message is what the server had said when it answered to the next heartbeat.
    """

    def __init__(self) -> None:
        self._server = EnvServer(port=0, tasks=["paint"], devices=["paint"], limits=LIMITS)
        self._server.__enter__()
        self._overheard = Overheard(*SERVER_LOGS)
        self._cases = 0

    def case(self, rng: random.Random) -> bytes:
        hello: Any = HELLO | {"session": None}
        if rng.random() < 0.5:
            hello |= {"task": rng.choice(TASKS), "arguments": rng.choice(ARGUMENTS)}
        messages = [_packed(rng, hello, 0.25)]
        call = 0
        for _ in range(rng.randrange(1, 16)):
            message = dict(rng.choice(MESSAGES))
            if "call" in message and rng.random() < 0.8:  # else it is one that was said before
                call += 1
                message["call"] = call
            messages.append(_packed(rng, message, 0.45))
        return listed(messages)

    def feed(self, case: bytes) -> Iterator[str]:
        hello, *messages = parts_of(case)
        with self._connected() as socket:
            outcome = _welcomed(socket, hello)
            yield outcome
            for message in messages if outcome == "welcome" else ():
                outcome = _answer(socket, message)
                yield outcome
                if outcome == "hung up on":
                    break
        if outcome == "hung up on":  # what it made of that, it says before its next answer
            self._ask_how_it_is()
        self._overheard.check()
        self._cases += 1
        if self._cases % LOOK == 0:
            self._look()

    def close(self) -> None:
        self._server.close()
        self._overheard.close()

    def _look(self) -> None:
        """All slots were given back, and a client that behaves plays in one."""
        if not eventually(lambda: self._server.free == SLOTS, PATIENCE):
            raise Unexpected(f"{SLOTS - self._server.free} slots were not given back")
        with self._connected() as socket:
            said = [_welcomed(socket, wire.pack(HELLO))]
            said += [_answer(socket, wire.pack(message)) for message in MESSAGES[:2]]
        if said[0] != "welcome":
            raise Unexpected(f"a client that behaves is told {said}")

    def _ask_how_it_is(self) -> None:
        asking = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=PATIENCE)
        try:
            asking.request("GET", "/healthz")
            if asking.getresponse().status != 200:
                raise Unexpected("the server is not well")
        except (OSError, http.client.HTTPException) as error:
            raise Unexpected(f"the server does not say how it is: {error!r}") from None
        finally:
            asking.close()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[ClientConnection]:
        try:
            socket = connect(
                self._server.address + wire.PATH, open_timeout=PATIENCE, close_timeout=PATIENCE,
                max_size=None,
            )  # fmt: skip
        except (OSError, WebSocketException, TimeoutError) as error:
            raise Unexpected(f"the server lets nobody in: {error!r}") from None
        with socket:
            yield socket
            with contextlib.suppress(ConnectionClosed):
                socket.send(wire.pack({"bye": True}))


def _welcomed(socket: ClientConnection, hello: bytes) -> str:
    try:
        socket.send(hello)
        said = wire.unpack(socket.recv(PATIENCE))  # type: ignore[arg-type]
    except ConnectionClosed:
        raise Unexpected("a first message is not answered") from None
    except TimeoutError:
        raise Unexpected("no answer to a first message") from None
    if "welcome" in said:
        return "welcome"
    kind, why = said["refused"]
    if not kind or not why:
        raise Unexpected(f"a refusal without words: {said}")
    return f"refused: {kind}"


def _answer(socket: ClientConnection, message: bytes) -> str:
    """What is said until the next heartbeat."""
    outcome = "nothing yet"
    try:
        socket.send(message)
        socket.send(wire.pack({"beat": True}))
        while "beat" not in (said := wire.unpack(socket.recv(PATIENCE))):  # type: ignore[arg-type]
            outcome = f"error: {said['error'][0]}" if "error" in said else "answer"
    except ConnectionClosed as closed:
        if closed.rcvd is not None and closed.rcvd.code == 1011:  # a fault of the server's
            raise Unexpected("the server stumbled over a message") from None
        return "hung up on"
    except TimeoutError:
        raise Unexpected("no answer to a heartbeat") from None
    return outcome


def _packed(rng: random.Random, message: dict[str, Any], share: float) -> bytes:
    """A message as bytes; of this share, one that nobody means."""
    if rng.random() > share:
        return wire.pack(message)
    kind = rng.random()
    if kind < 0.1:
        return _deep(rng)
    if kind < 0.3:
        return mutation.flipped(rng, wire.pack(message))
    if kind < 0.4:
        return mutation.torn(rng, wire.pack(message))
    try:
        return wire.pack(mutation.value(rng, message, ODD))
    except (TypeError, ValueError, OverflowError):  # nested too deeply, or a key that none can be
        return wire.pack([message])


def _deep(rng: random.Random) -> bytes:
    """Values inside of each other, as no packer writes them."""
    packed = b"\xc0"
    code = rng.choice((0, 1, 3, 7, rng.randrange(128)))
    for _ in range(rng.choice((3, 40, 400))):
        packed = msgpack.packb(msgpack.ExtType(code, packed))
    return packed
