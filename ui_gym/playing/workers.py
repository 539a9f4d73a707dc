"""What plays the slots of a vector env: ``workers="threads"``, ``"processes:4"``, and what other
packages bring.

A distribution that brings another kind declares a factory under the word that `workers` begins with
(our own ``ws://`` servers and Ray actors are found so):

    [project.entry-points."ui_gym.workers"]
    mykind = "my_package.workers:make"

The factory is called with a `WorkersOrder` when a vector env is made, and gives a `Crew`. It
refuses as a `UserError` what cannot be right, and starts nothing: runners do when they are first
given a call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ui_gym import extras
from ui_gym.contract.device import Device
from ui_gym.contract.task import Task
from ui_gym.errors import UserError, nearest
from ui_gym.playing.env import UIEnv
from ui_gym.playing.slot import Crew, Deliver
from ui_gym.playing.threads import ThreadRunner
from ui_gym.playing.worker_client import Blueprint, ProcessRunner, WorkerEnv, Workers

ENTRY_POINT_GROUP = "ui_gym.workers"


@dataclass(frozen=True)
class WorkersOrder:
    """A vector env's slots, for those who play them."""

    workers: str
    """As the user wrote it, such as ``ws://a:7000,ws://b:7000``."""
    first: UIEnv
    """An env with these arguments. Where slots are played elsewhere, it has no devices."""
    count: int
    task: str | Task[Any, Any]
    arguments: Mapping[str, Any]
    """Those that `first` was made with, but for a pool of devices elsewhere."""


class _DevicesElsewhere:
    """The pool of an env that only stands for those that play."""

    def acquire(self) -> Device:
        raise UserError("this env's devices belong to the workers that play its slots")

    def release(self, device: Device, *, healthy: bool) -> None:
        """Nothing was lent."""

    def close(self) -> None:
        """Nothing is open."""


def order_crew(
    workers: str, count: int, task: str | Task[Any, Any], arguments: Mapping[str, Any]
) -> tuple[UIEnv, Crew]:
    """An env like those of the slots, and what makes the runners of up to `count` slots.

    Raises:
        UserError: there are no such workers, or something in it cannot be.
    """
    kind = re.split("[:?]", str(workers), maxsplit=1)[0]
    if kind in _BUILT_IN:
        first = UIEnv(task, **arguments)
        first.copies_pictures = False  # batches are copies, and who calls recv() only reads
        return first, _BUILT_IN[kind](WorkersOrder(workers, first, count, task, arguments))
    installed = extras.installed(ENTRY_POINT_GROUP)
    if kind not in installed:
        raise UserError(
            f"there are no workers {workers!r}. {nearest(kind, [*_BUILT_IN, *installed])}"
        )
    if arguments.get("pool") is not None:
        raise UserError(f"a pool cannot be given to workers={workers!r}: they make their own")
    factory = extras.load("kind of workers", installed[kind], UserError)
    own = {name: value for name, value in arguments.items() if name != "pool"}
    first = UIEnv(task, **own, pool=_DevicesElsewhere())
    made: Crew = factory(WorkersOrder(workers, first, count, task, own))
    return first, made


class _Threads:
    """Slots in threads of this process, which share a pool."""

    def __init__(self, order: WorkersOrder) -> None:
        if order.workers != "threads":
            raise UserError(f"workers='threads' takes nothing more, unlike {order.workers!r}")
        self._first = order.first
        self._pool = order.first.disown_pool()

    def runner(self, slot: int, deliver: Deliver) -> ThreadRunner[UIEnv]:
        return ThreadRunner(slot, self._first.clone(), deliver)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()


class _Processes:
    """Slots in worker processes."""

    def __init__(self, order: WorkersOrder) -> None:
        said = re.fullmatch(r"processes:([1-9]\d*)", order.workers)
        if said is None:
            raise UserError(f"worker processes are said as 'processes:4', not {order.workers!r}")
        blueprint = Blueprint.of(order.first, order.task, order.arguments)
        self._first = order.first
        self._workers = Workers(min(int(said[1]), order.count), blueprint)

    def runner(self, slot: int, deliver: Deliver) -> ProcessRunner:
        env = WorkerEnv(self._workers.of(slot), self._first.clone())
        return ProcessRunner(slot, env, deliver)

    def close(self) -> None:
        self._workers.close()


_BUILT_IN: dict[str, Callable[[WorkersOrder], Crew]] = {
    "threads": _Threads,
    "processes": _Processes,
}
