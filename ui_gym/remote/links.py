"""Links: sessions elsewhere, seen from here, and the runners of the slots that are played there.

What is behind a link is a `Session`: of a server, or of a Ray actor. An episode lives in one
session. Where that is lost, the episode ends as with any lost device, and the slot goes on at its
next reset, in the same place or in another.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ui_gym.contract.device import Image
from ui_gym.errors import DeviceError
from ui_gym.playing.env import UIEnv
from ui_gym.playing.slot import Call, Deliver, Reset, SlotResult, close_all
from ui_gym.remote import wire
from ui_gym.remote.frames import FrameReader


class SessionLink(ABC):
    """A session elsewhere."""

    def __init__(self) -> None:
        self.refusal = ""
        """Why nothing of ours is played there; empty while it may be."""
        self.is_down = False
        """Whether what was played there was given up, and no new session has begun."""
        self.epoch = 0
        """How many sessions were lost."""

    @abstractmethod
    def ask(
        self, runner: LinkedRunner, number: int, message: dict[str, Any], epoch: int | None = None
    ) -> None:
        """Have a slot do a call; the runner is told of the answer, or that the link is lost.

        `epoch` is that of the episode that goes on; None where one begins.
        """

    @abstractmethod
    def forget(self, slot: int, number: int) -> None:
        """Give up a call."""

    @abstractmethod
    def inquire(self, message: dict[str, Any]) -> Any:
        """What is said there to a question about a slot.

        Raises:
            DeviceLost: nothing is.
            UIGymError: what was raised there.
        """

    @abstractmethod
    def close(self) -> None:
        """End the session. May be repeated."""


class LinkCrew:
    """The crew of a vector env whose slots are played elsewhere."""

    def __init__(self, first: UIEnv, links: Sequence[SessionLink]) -> None:
        self._first = first
        self.links = list(links)

    def runner(self, slot: int, deliver: Deliver) -> LinkedRunner:
        return LinkedRunner(slot, self, self._first.clone(), deliver)

    def home(self, slot: int) -> SessionLink:
        """Where a slot is played while all is well."""
        return self.links[slot % len(self.links)]

    def other(self, tried: Sequence[SessionLink]) -> SessionLink | None:
        """A link that was not tried yet, one that is up if possible; None if none is left."""
        left = [link for link in self.links if link not in tried]
        return min(left, key=lambda link: link.is_down) if left else None

    def close(self) -> None:
        close_all(self.links)


class LinkedRunner:
    """Plays a slot over a link, or over another one where that is lost."""

    def __init__(self, slot: int, crew: LinkCrew, template: UIEnv, deliver: Deliver) -> None:
        self.slot = slot
        self._crew = crew
        self._template = template
        self._deliver = deliver
        self._link = self._home = crew.home(slot)
        self._frames = FrameReader()
        self._last: Image | None = None
        self._call: Call | None = None
        self._number = 0
        self._tried: list[SessionLink] = []
        self._set: dict[str, Any] = {}
        """Attributes that were set from outside, for the next session's env as well."""
        self._epoch = 0

    def begin(self, number: int, call: Call) -> None:
        if isinstance(call, Reset):  # seeds are drawn here: they do not depend on who plays
            call = Reset(self._template.draw_seed(call.seed), call.options)
            self._tried = []
            self._move(self._crew.other(()) if self._home.is_down else self._home)
        self._call, self._number = call, number
        self._ask()

    def replace(self) -> Sequence[threading.Thread]:
        self._link.forget(self.slot, self._number)
        return ()

    def stop(self, *, busy: bool) -> Sequence[threading.Thread]:
        return ()  # the session ends as a whole

    @property
    def node(self) -> str:
        """Where it is played now, if that has an address."""
        return str(getattr(self._link, "url", ""))

    def render(self) -> Image | None:
        if self._template.render_mode != "rgb_array" or self._last is None:
            return None
        return self._last.copy()

    def call(self, name: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        asked = {"slot": self.slot, "get": [name, list(arguments), dict(named)]}
        return self._link.inquire(asked)

    def set(self, name: str, value: Any) -> None:
        self._link.inquire({"slot": self.slot, "set": [name, value]})
        self._set[name] = value
        self._template.set_wrapper_attr(name, value)

    # -- for the link, in its thread --

    def read(self, message: dict[str, Any]) -> SlotResult | Exception:
        """What a message says. `DeviceError` if its picture came damaged."""
        if "error" in message:
            return wire.error_of(message["error"])
        observation, reward, terminated, truncated, info = message["result"]
        if message["frame"] is not None:
            self._last = observation["screenshot"] = self._frames.read(
                message["call"], message["frame"]
            )
        reset = isinstance(self._call, Reset)
        return SlotResult(self.slot, observation, reward, terminated, truncated, info, reset)

    def take(self, number: int, said: SlotResult | Exception) -> None:
        """What came of a call; a reset that fails is tried over the other links."""
        if number != self._number:
            return  # it was given up
        if isinstance(self._call, Reset):
            self._epoch = self._link.epoch
            if isinstance(said, DeviceError) or self._link.refusal:
                self._tried.append(self._link)
                other = self._crew.other(self._tried)
                if other is not None:
                    self._move(other)
                    self._ask()
                    return
        self._deliver((self.slot, number, said))

    # -- inside --

    def _move(self, link: SessionLink | None) -> None:
        if link is not None and link is not self._link:
            self._link, self._frames = link, FrameReader()

    def _ask(self) -> None:
        message = {"slot": self.slot, "call": self._number, "held": self._frames.held}
        if isinstance(self._call, Reset):
            told = {"reset": [self._call.seed, self._call.options], "sets": self._set}
            self._link.ask(self, self._number, message | told)
        elif self._call is not None:
            told = {"step": self._call.action}
            self._link.ask(self, self._number, message | told, self._epoch)


@dataclass
class Asked:
    """A call that was not answered yet."""

    runner: LinkedRunner
    number: int
    message: dict[str, Any]
