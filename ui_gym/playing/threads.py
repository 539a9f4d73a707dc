"""Slots that threads of this process play, on a `UIEnv` each or on what stands for one."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, Self, TypeVar

from ui_gym.contract.device import Image
from ui_gym.playing.env import Observation
from ui_gym.playing.slot import Call, Deliver, Reset, SlotResult, call_env, daemon, quietly


class SlotEnv(Protocol):
    """What a thread needs of its env: a `UIEnv`, or what stands for one in another process."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]: ...

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]: ...

    def render(self) -> Image | None: ...

    def clone(self) -> Self: ...

    def abandon(self) -> None: ...

    def close(self) -> None: ...


E = TypeVar("E", bound=SlotEnv)


class ThreadRunner(Generic[E]):
    """Plays a slot in a thread. One that hangs is replaced, and so is its env, whose device is
    closed from outside."""

    def __init__(self, slot: int, env: E, deliver: Deliver) -> None:
        self._slot = slot
        self.env = env
        self._deliver = deliver
        self._start()

    def begin(self, number: int, call: Call) -> None:
        self._inbox.put((number, call))

    def replace(self) -> Sequence[threading.Thread]:
        hung, env = self._thread, self.env
        self._inbox.put(None)
        self.env = env.clone()
        self._start()
        # In a thread of its own, because closing a device that hangs may hang as well.
        closer = daemon(f"ui-gym-closer-{self._slot}", quietly, env.abandon)
        return [hung, closer]

    def stop(self, *, busy: bool) -> Sequence[threading.Thread]:
        threads = [self._thread]
        if busy:
            threads.append(daemon(f"ui-gym-closer-{self._slot}", quietly, self.env.abandon))
        self._inbox.put(None)
        return threads

    def render(self) -> Image | None:
        return self.env.render()

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        return call_env(self.env, name, arguments, named)

    def set(self, name: str, value: Any) -> None:
        env: Any = self.env
        env.set_wrapper_attr(name, value)

    def _start(self) -> None:
        self._inbox: queue.SimpleQueue[tuple[int, Call] | None] = queue.SimpleQueue()
        arguments = (self._slot, self.env, self._inbox, self._deliver)
        self._thread = daemon(f"ui-gym-slot-{self._slot}", _work, *arguments)


def answer(slot: int, env: SlotEnv, call: Call) -> SlotResult:
    """Do what a slot is asked."""
    if isinstance(call, Reset):
        observation, info = env.reset(seed=call.seed, options=call.options)
        return SlotResult(slot, observation, 0.0, False, False, info, is_reset=True)
    return SlotResult(slot, *env.step(call.action))


def _work(
    slot: int,
    env: SlotEnv,
    inbox: queue.SimpleQueue[tuple[int, Call] | None],
    deliver: Deliver,
) -> None:
    """A slot's thread: answer calls until told to stop, then close the env."""
    while (item := inbox.get()) is not None:
        number, call = item
        try:
            said: SlotResult | BaseException = answer(slot, env, call)
        except BaseException as error:
            said = error
        deliver((slot, number, said))
    quietly(env.close)
