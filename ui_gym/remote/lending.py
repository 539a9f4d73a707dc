"""Lending: which envs a server lets others play, how many, and what they have of them."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ui_gym.contract import registry
from ui_gym.contract.arguments import check_viewport
from ui_gym.contract.spec import FOREIGN
from ui_gym.contract.task import Task
from ui_gym.errors import DeviceError, DeviceTimeout, UserError, nearest
from ui_gym.playing.env import UIEnv
from ui_gym.playing.slot import Answer, Call, Crew, Reset, SlotResult, Step, lost
from ui_gym.playing.workers import order_crew

DEVICES = ("auto", "chromium", "phone", "x11")
"""Devices of this machine that anybody may ask for; their modes (``chromium:png``) too."""

WITHOUT_WALLS = frozenset({"x11:user", "x11:unconfined"})
"""Modes that are not for anybody: what is typed into a terminal there reads this machine's files,
or is done as this user. Where nothing better can be had, ``x11`` takes the first."""

CALL_SECONDS = 1000.0
"""How long a guest's slot may take to answer: longer than sixteen waits of a minute."""

MOST_PIXELS = 3840 * 2160
"""Of a screen that is lent."""

MOST_SECONDS = 600.0
"""The longest `timeout` of an env that is lent."""

NAMED_ONLY = frozenset({"UI/OSWorld-v0"})
"""Tasks whose arguments name files of this machine: played only where ``--task`` names them. So are
envs of others, of whose arguments nothing is known."""

CLOSE_SECONDS = 10.0
"""How long the end of a guest's slot may take."""


CLOSED = "this slot was closed"


@dataclass(frozen=True)
class ServerLimits:
    """How much a server lends, and for how long."""

    slots: int = 64
    """Of all sessions together."""
    sessions: int = 32
    grace: float = 60.0
    """Seconds for which a session waits for a client whose connection broke."""
    silence: float = 30.0
    """Seconds without a word of a client after which its connection counts as broken."""


class NoSlotFree(DeviceError):
    """All slots are lent, or no more are."""


class Player(Protocol):
    """What has slots of a server: a session, or a guest's slot."""

    @property
    def playing(self) -> int:
        """How many of its episodes are not over."""
        ...

    def close(self) -> None: ...


class Lender:
    """The slots of a server, whoever plays them.

    Args:
        limits: How many there are.
        tasks: Ids, names or suites that may be played; all that are known here, if none is named.
        devices: Further devices that clients may ask for, as they write them; ``*`` is any.
        workers: What plays the slots here: threads or processes.

    Raises:
        UserError: there is no such task.
    """

    def __init__(
        self,
        limits: ServerLimits,
        tasks: Collection[str] = (),
        devices: Collection[str] = (),
        workers: str = "threads",
    ) -> None:
        self.limits = limits
        self.tasks = _served(tasks)
        self.ending = threading.Event()
        """Set once no new episode begins."""
        self.counts = {"calls": 0, "sessions": 0, "bytes_sent": 0, "refused": 0}
        self.free = limits.slots
        """How many slots are not lent."""
        self._devices = tuple(devices)
        self._workers = workers
        self._lock = threading.Lock()
        self._sharing = threading.Lock()
        self._players: list[Player] = []
        self._shared: dict[str, _SharedCrew] = {}

    @property
    def players(self) -> list[Player]:
        with self._lock:
            return list(self._players)

    @property
    def playing(self) -> int:
        """How many episodes are not over."""
        return sum(player.playing for player in self.players)

    def enter(self, player: Player) -> None:
        with self._lock:
            self._players.append(player)

    def leave(self, player: Player) -> None:
        with self._lock:
            if player in self._players:
                self._players.remove(player)

    def may_play(self, task: str) -> None:
        """Check that a task, by its id or its name, is among those that are served.

        Raises:
            UserError: it is not, or there is none.
        """
        id = task
        # No module that a client names is imported: whatever is in it would be done.
        if task not in self.tasks and ":" not in task:
            spec = registry.spec(task)
            id = spec.id
            if not self.tasks and id not in NAMED_ONLY and spec.suite != FOREIGN:
                return
        if id not in self.tasks:
            raise UserError(f"this server does not serve {id!r}. {nearest(id, self.tasks)}")

    def crew(self, task: str | Task[Any, Any], arguments: dict[str, Any]) -> tuple[UIEnv, Crew]:
        """What plays a task with an env's arguments, and an env like those of its slots.

        Raises:
            UserError: these arguments cannot be, or are not for others.
        """
        self._check(arguments)
        if isinstance(task, Task):
            check_lent(task.viewport)
        return order_crew(self._workers, self.limits.slots, task, arguments)

    def reserve(self) -> None:
        """Take a slot.

        Raises:
            NoSlotFree: none is free, or the server is ending.
        """
        if self.ending.is_set():
            raise NoSlotFree("this server is ending, and lends no more slots")
        with self._lock:
            if not self.free:
                raise NoSlotFree(f"all {self.limits.slots} slots of this server are lent")
            self.free -= 1

    def release(self, count: int) -> None:
        """Give slots back."""
        with self._lock:
            self.free += count

    def lend(self, task: str, arguments: Mapping[str, Any]) -> LentSlot:
        """One slot that plays a task, for whoever calls it and waits.

        Raises:
            NoSlotFree: none is free.
            UserError: the task is not served, or these arguments cannot be.
        """
        self.may_play(task)
        id = registry.spec(task).id
        self.reserve()
        with contextlib.ExitStack() as undo:
            undo.callback(self.release, 1)
            shared = self._share(id, dict(arguments))
            undo.callback(shared.leave)
            slot = LentSlot(self, shared)
            undo.pop_all()
        return slot

    def _share(self, id: str, arguments: dict[str, Any]) -> _SharedCrew:
        """The crew of all slots that play the same: they share a browser."""
        key = json.dumps([id, arguments], sort_keys=True, default=repr)
        with self._sharing:  # and not `_lock`: what is made may read files
            shared = self._shared.get(key)
            if shared is None or not shared.join():
                self._shared = {key: crew for key, crew in self._shared.items() if crew.slots}
                shared = self._shared[key] = _SharedCrew(*self.crew(id, arguments))
            return shared

    def _check(self, arguments: dict[str, Any]) -> None:
        if not isinstance(arguments, dict) or "pool" in arguments:
            raise UserError("the env's arguments are names and values, and no pool is among them")
        device = str(arguments.get("device", "auto"))
        allowed = "*" in self._devices or device in self._devices
        if not allowed and not is_for_anybody(device):
            raise UserError(f"this server lends no device {device!r} (serve --device allows more)")
        if arguments.get("render_mode") == "human":
            raise UserError("render_mode='human' shows a window on the server; watch another way")
        viewport = arguments.get("viewport")
        if viewport is not None:
            check_lent(check_viewport(viewport))
        if not 0 < float(arguments.get("timeout", 1.0)) <= MOST_SECONDS:
            raise UserError(f"timeout is a number of seconds up to {MOST_SECONDS:g} here")


def is_for_anybody(device: str) -> bool:
    """Whether a device may be asked for by somebody who is not known: it is of this machine, names
    no address, and has its walls."""
    kind, _, rest = device.partition(":")
    return kind in DEVICES and "/" not in rest and ":" not in rest and device not in WITHOUT_WALLS


def check_lent(viewport: tuple[int, int]) -> None:
    """Refuse screens that would take a server's memory."""
    if viewport[0] * viewport[1] > MOST_PIXELS:
        raise UserError(f"a screen of {viewport[0]}x{viewport[1]} pixels is too large to be lent")


class _SharedCrew:
    """A crew that is closed when the last of its slots is; made for one."""

    def __init__(self, first: UIEnv, crew: Crew) -> None:
        self.first = first
        self.crew = crew
        self._lock = threading.Lock()
        self.slots = 1
        self._next = 0

    def join(self) -> bool:
        """Another slot; False once the last one has gone."""
        with self._lock:
            self.slots += bool(self.slots)
            return bool(self.slots)

    def number(self) -> int:
        with self._lock:
            self._next += 1
            return self._next - 1

    def leave(self) -> None:
        with self._lock:
            self.slots -= 1
            last = not self.slots
        if last:
            self.crew.close()


class LentSlot:
    """A slot for a client of another protocol: calls that wait for their answer, one at a time."""

    def __init__(self, lender: Lender, shared: _SharedCrew) -> None:
        self._lender = lender
        self._shared = shared
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._runner = shared.crew.runner(shared.number(), self._answers.put)
        self._template = shared.first.clone()
        self._lock = threading.Lock()
        self._closing = threading.Lock()
        self._calls = 0
        self._busy = False
        self._closed = False
        self.last: SlotResult | None = None
        """What was answered last; None before the first reset, and where nothing could be."""
        lender.enter(self)

    @property
    def env(self) -> UIEnv:
        """An env like the slot's, without a device: its task, spaces and viewport."""
        return self._template

    @property
    def playing(self) -> int:
        return int(self._busy or (self.last is not None and not self.last.ended))

    def play(self, call: Call) -> SlotResult:
        """Do a call, and wait for what comes of it. A step whose device is lost, or that gives no
        answer in time, is the episode's end, with ``info["failure"]``.

        Raises:
            UserError: it cannot be; the episode goes on.
            DeviceError: no episode could begin, the slot is closed, or the server is ending.
            UIGymError: what the env raised.
        """
        if isinstance(call, Step) and (self.last is None or self.last.ended):
            raise UserError("the episode is over (or none was begun): a reset begins another")
        if isinstance(call, Reset):
            if self._lender.ending.is_set():
                raise DeviceError("this server is ending, and begins no new episodes")
            call = Reset(self._template.draw_seed(call.seed), call.options)
        with self._lock:
            before, self.last = self.last, None
            self._lender.counts["calls"] += 1
            with self._closing:
                if self._closed:
                    raise DeviceError(CLOSED)
                self._calls += 1
                self._busy = True
                self._runner.begin(self._calls, call)
            try:
                self.last = self._await()
            except UserError:
                self.last = before
                raise
            except DeviceError as error:
                if before is None or isinstance(call, Reset):
                    raise
                self.last = lost(before, error)
            finally:
                self._busy = False
            return self.last

    def close(self) -> None:
        """Give the slot back, also while it is called. May be repeated."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._answers.put((0, self._calls, DeviceError(CLOSED)))
        with contextlib.ExitStack() as ending:
            ending.callback(self._lender.release, 1)
            ending.callback(self._lender.leave, self)
            ending.callback(self._shared.leave)
            for thread in self._runner.stop(busy=self._busy):
                thread.join(CLOSE_SECONDS)

    def _await(self) -> SlotResult:
        while True:
            try:
                _, number, said = self._answers.get(timeout=CALL_SECONDS)
            except queue.Empty:
                self._runner.replace()
                raise DeviceTimeout(f"no answer within {CALL_SECONDS:g} s") from None
            if number != self._calls:
                continue  # of a call that was given up
            if isinstance(said, BaseException):
                raise said
            return said


def _served(names: Collection[str]) -> frozenset[str]:
    """The ids of tasks that are named by themselves or by their suite; empty for all."""
    found: set[str] = set()
    for name in names:
        of_suite = {spec.id for spec in registry.specs() if spec.suite == name}
        found |= of_suite or {registry.spec(name).id}
    return frozenset(found)
