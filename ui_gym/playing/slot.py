"""Slots: what one is asked, what it answers, and what may play it.

A *slot runner* plays one slot: a thread here, a worker process, a server elsewhere, a Ray actor. It
is given a call with a number, and delivers one answer with that number. What it is never changes
what an episode is. `fleet.py` keeps all slots of a vector env.
"""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ui_gym.contract.device import Image
from ui_gym.playing.env import Observation, Seconds


@dataclass(frozen=True)
class SlotResult:
    """What one slot answered to a step, or to a reset (`is_reset`; reward 0, nothing ended)."""

    slot: int
    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    is_reset: bool = False

    @property
    def ended(self) -> bool:
        return self.terminated or self.truncated


OF_A_RESET = ("faults", "ground_truth")
"""What stands in the info of a reset alone."""


def lost(last: SlotResult, why: object, seconds: float = 0.0) -> SlotResult:
    """The end of an episode whose device failed, after `seconds`: what was seen last, and why it
    ended."""
    info = {k: copy.deepcopy(v) for k, v in last.info.items() if k not in OF_A_RESET}
    info |= {"score": 0.0, "success": False, "notes": "", "details": {}, "action_error": None}
    info |= {"failure": f"device: {why}", "step": info["step"] + 1}
    info |= {key: Seconds(0.0) for key in info if key.startswith("time_")}
    info["time_action"] = Seconds(seconds)
    observation = copy.deepcopy(last.observation) | {"feedback": ""}
    return SlotResult(last.slot, observation, 0.0, False, True, info)


@dataclass(frozen=True)
class Reset:
    """Begin the episode of `seed`; without one, of the next seed that the slot draws."""

    seed: int | None = None
    options: dict[str, Any] | None = None


@dataclass(frozen=True)
class Step:
    """Do one action in the env's dialect."""

    action: str


Call = Reset | Step

Answer = tuple[int, int, SlotResult | BaseException]
"""(slot, number of the call, what came of it)."""

Deliver = Callable[[Answer], None]
"""Takes an answer, from any thread."""


class SlotRunner(Protocol):
    """What plays one slot. It is given a call when the last one was answered, or given up."""

    def begin(self, number: int, call: Call) -> None:
        """Begin a call, whose answer is delivered from another thread; returns at once."""
        ...

    def replace(self) -> Sequence[threading.Thread]:
        """Give up a call that is overdue: whoever does it is replaced, and may say what they like.

        Returns the threads that must still come to an end.
        """
        ...

    def stop(self, *, busy: bool) -> Sequence[threading.Thread]:
        """No more calls; one that is in progress (`busy`) loses its device. Threads as above."""
        ...

    def render(self) -> Image | None:
        """The last screenshot, in ``rgb_array`` mode."""
        ...

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """What a method of the slot's env returns, or the value of an attribute."""
        ...

    def set(self, name: str, value: Any) -> None:
        """Set an attribute of the slot's env."""
        ...


class Closeable(Protocol):
    """What has an end."""

    def close(self) -> None: ...


class Crew(Protocol):
    """The runners of a vector env, and what they share: a pool, processes, connections."""

    def runner(self, slot: int, deliver: Deliver) -> SlotRunner:
        """What plays a slot, asked for once."""
        ...

    def close(self) -> None:
        """End what is shared, once all runners were stopped. May be repeated."""
        ...


def call_env(env: Any, name: str, arguments: Any, named: Any) -> Any:
    """What a method of an env returns, or the value of an attribute, as Gymnasium's `call` does."""
    found = env.get_wrapper_attr(name)
    return found(*arguments, **named) if callable(found) else found


def quietly(close: Callable[[], None]) -> None:
    """Close something that may be broken already: nobody is left to whom its error matters."""
    with contextlib.suppress(Exception):
        close()


def close_all(things: Iterable[Closeable]) -> None:
    """Close all of them at the same time."""
    threads = [threading.Thread(target=thing.close) for thing in things]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def daemon(name: str, target: Callable[..., None], *arguments: Any) -> threading.Thread:
    """Run something in a thread that keeps nobody from exiting."""
    thread = threading.Thread(target=target, args=arguments, name=name, daemon=True)
    thread.start()
    return thread
