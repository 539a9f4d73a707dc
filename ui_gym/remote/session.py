"""Session: the slots that one client plays on a server, whatever connects the two.

Every call of a slot has a number that only grows. A call that was answered is not done again when
it is repeated: the answer is kept until the next call, since it may have been lost on the way. An
older call is refused. So each is done exactly once, also where a connection breaks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from ui_gym.errors import DeviceError, UserError
from ui_gym.playing.slot import Answer, Call, Crew, Reset, SlotResult, SlotRunner, Step
from ui_gym.remote import wire
from ui_gym.remote.frames import FrameWriter

Message = dict[str, Any]

About = tuple[str, int, int]
"""What a message is about: ("call", slot, number of the call) or ("ask", slot, the question's)."""

Post = Callable[[bytes, About], None]
"""Takes a message for the client, from any thread; returns at once."""

CLOSE_SECONDS = 10.0
"""How long a session waits for its slots' threads at its end."""

NOT_FOR_CLIENTS = frozenset(
    (
        "abandon", "clone", "close", "disown_pool", "draw_seed", "get_wrapper_attr",
        "has_wrapper_attr", "reset", "set_wrapper_attr", "step",
    )
)  # fmt: skip
"""Methods of an env that the session itself calls, or nobody."""


class SessionGone(UserError):
    """A session that is not there, or no more."""


class ServedSlot:
    """One slot: its runner, its last call, and what came of it."""

    def __init__(self, slot: int, crew: Crew, post: Post) -> None:
        self._slot = slot
        self._post = post
        self._lock = threading.Lock()
        self._frames = FrameWriter()
        self._number = 0
        self._held = 0
        self._answer: SlotResult | BaseException | None = None
        self.busy = False
        self.runner: SlotRunner = crew.runner(slot, self._answered)

    @property
    def playing(self) -> bool:
        """Whether an episode is not over."""
        answer = self._answer
        return self.busy or (isinstance(answer, SlotResult) and not answer.ended)

    def begin(
        self, number: int, call: Call, held: int, sets: Mapping[str, Any] | None = None
    ) -> None:
        """Begin a call, or tell again what came of it.

        Args:
            number: Of the call.
            call: What is asked.
            held: The number of the last frame that the client has.
            sets: Attributes that the env is to have before.

        Raises:
            UserError: a later one was made since, or the last one is not over yet.
        """
        with self._lock:
            if number < self._number:
                raise UserError(f"call {number} of slot {self._slot} is older than {self._number}")
            self._held = held
            if number == self._number:
                if self._answer is not None:
                    self._tell()
                return
            if self.busy:
                # A reset comes where the client gave up, which it may say on a slower way.
                if isinstance(call, Step):
                    raise UserError(f"slot {self._slot} has not answered call {self._number} yet")
                self.runner.replace()
            for name, value in (sets or {}).items():
                _check_name(name)
                self.runner.set(name, value)
            self._number, self._answer, self.busy = number, None, True
            self.runner.begin(number, call)

    def abandon(self, number: int) -> None:
        """Give up a call, if it is still the one in progress."""
        with self._lock:
            if not self.busy or number != self._number:
                return
            self.busy = False
            self._answer = DeviceError("the call was given up")
            self.runner.replace()  # before the next call may begin

    def _answered(self, answer: Answer) -> None:
        """From the slot's thread."""
        _, number, said = answer
        with self._lock:
            if not self.busy or number != self._number:
                return
            self.busy, self._answer = False, said
            self._tell()

    def _tell(self) -> None:
        said = self._answer
        told: Message = {"slot": self._slot, "call": self._number}
        try:
            packed = wire.pack(told | self._told(said))
        except Exception as error:  # a task's own values that are no plain data
            told["error"] = wire.error_parts(error)
            packed = wire.pack(told)
        self._post(packed, ("call", self._slot, self._number))

    def _told(self, said: SlotResult | BaseException | None) -> Message:
        if not isinstance(said, SlotResult):
            assert said is not None
            return {"error": wire.error_parts(said)}
        observation = dict(said.observation)
        image = observation.pop("screenshot", None)
        # Encoded as the device sent it, a picture would be larger than all else together.
        info = said.info | {"screenshot_encoded": None, "screenshot_format": None}
        return {
            "result": [observation, said.reward, said.terminated, said.truncated, info],
            "frame": None if image is None else self._frames.write(self._number, image, self._held),
        }


class Session:
    """A client's slots on this server, made as they are first called.

    Args:
        crew: What plays them; closed with the session.
        reserve: Takes a slot of the server's, or raises; asked for each new slot.
        release: Gives so many back.
    """

    def __init__(
        self, crew: Crew, reserve: Callable[[], None], release: Callable[[int], None]
    ) -> None:
        self._crew = crew
        self._reserve = reserve
        self._release = release
        self._outlet: Post | None = None
        self._lock = threading.Lock()
        self._closed = False
        self.slots: dict[int, ServedSlot] = {}

    @property
    def attached(self) -> bool:
        return self._outlet is not None

    @property
    def playing(self) -> int:
        """How many episodes are not over."""
        with self._lock:
            return sum(slot.playing for slot in self.slots.values())

    def attach(self, outlet: Post | None) -> None:
        """Where messages go from now on; without an outlet they are kept as answers to repeats."""
        self._outlet = outlet

    def handle(self, message: Message) -> None:
        """Do what a client's message about a slot says; answers and errors are posted."""
        slot = int(message["slot"])
        try:
            self._handle(slot, message)
        except Exception as error:
            told = {name: message[name] for name in ("slot", "call", "ask") if name in message}
            self._post(wire.pack(told | {"error": wire.error_parts(error)}), about(message))

    def close(self) -> None:
        """End all slots, whatever they are doing. May be repeated; takes some seconds at most."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            slots = list(self.slots.values())
        self._outlet = None
        threads = [t for slot in slots for t in slot.runner.stop(busy=slot.busy)]
        try:
            for thread in threads:
                thread.join(CLOSE_SECONDS)
            self._crew.close()
        finally:
            self._release(len(slots))

    def _handle(self, slot: int, message: Message) -> None:
        if "reset" in message:
            call: Call = Reset(*message["reset"])
            self._slot(slot).begin(message["call"], call, message["held"], message["sets"])
        elif "step" in message:
            self._slot(slot).begin(message["call"], Step(message["step"]), message["held"])
        elif "abandon" in message:
            self._slot(slot).abandon(message["abandon"])
        elif "get" in message:
            self._say(message, self._get(slot, *message["get"]))
        elif "set" in message:
            name, value = message["set"]
            _check_name(name)
            self._slot(slot).runner.set(name, value)
            self._say(message, None)
        else:
            raise UserError(f"nothing known is asked of slot {slot}")

    def _get(self, slot: int, name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
        _check_name(name)
        said = self._slot(slot).runner.call(name, arguments, named)
        try:
            wire.pack(said)
        except TypeError as error:
            raise UserError(f"{name!r} of an env on a server cannot come over: {error}") from None
        return said

    def _slot(self, slot: int) -> ServedSlot:
        with self._lock:
            if self._closed:
                raise UserError("this session is over")
            if slot not in self.slots:
                self._reserve()
                try:
                    self.slots[slot] = ServedSlot(slot, self._crew, self._post)
                except BaseException:
                    self._release(1)
                    raise
            return self.slots[slot]

    def _say(self, message: Message, said: Any) -> None:
        told = {"slot": message["slot"], "ask": message["ask"], "said": said}
        self._post(wire.pack(told), about(message))

    def _post(self, packed: bytes, of: About) -> None:
        outlet = self._outlet
        if outlet is not None:
            outlet(packed, of)


def about(message: Message) -> About:
    """What a message of a client is about."""
    kind = "ask" if "ask" in message else "call"
    return kind, message["slot"], message.get(kind, 0)


def _check_name(name: str) -> None:
    if name.startswith("_") or name in NOT_FOR_CLIENTS:
        raise UserError(f"{name!r} is not for clients")
