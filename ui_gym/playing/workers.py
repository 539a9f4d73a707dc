"""What plays the slots of a vector env: ``workers="threads"``, ``"processes:4"``, and what other
packages bring.

A distribution that brings another kind declares a factory under the word that `workers` begins with
(our own ``ws://`` servers and Ray actors are found so):

    [project.entry-points."ui_gym.workers"]
    mykind = "my_package.workers:make"

The factory is called with a `WorkersOrder` when a vector env is made, and gives a `MakeRunners`.
It refuses as a `UserError` what cannot be right, and starts nothing: its runners do when they are
first given a call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ui_gym import extras
from ui_gym.contract.device import Device
from ui_gym.contract.task import Task
from ui_gym.errors import UserError, nearest
from ui_gym.playing.env import UIEnv
from ui_gym.playing.slot import Closeable, Deliver, SlotRunner
from ui_gym.playing.threads import ThreadRunner
from ui_gym.playing.worker_client import Blueprint, Workers, process_runners

ENTRY_POINT_GROUP = "ui_gym.workers"

MakeRunners = Callable[[Deliver], tuple[Sequence[SlotRunner], Closeable | None]]
"""Given where answers go: the runners of all slots, and what is closed when all have stopped."""


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
    """Those that `first` was made with."""


class _DevicesElsewhere:
    """The pool of an env that only stands for those that play."""

    def acquire(self) -> Device:
        raise UserError("this env's devices belong to the workers that play its slots")

    def release(self, device: Device, *, healthy: bool) -> None:
        """Nothing was lent."""

    def close(self) -> None:
        """Nothing is open."""


def order_runners(
    workers: str, count: int, task: str | Task[Any, Any], arguments: Mapping[str, Any]
) -> tuple[UIEnv, MakeRunners]:
    """An env like those of the slots, and what makes the runners of `count` slots.

    Raises:
        UserError: there are no such workers, or something in it cannot be.
    """
    kind = re.split("[:/]", str(workers), maxsplit=1)[0]
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
    first = UIEnv(task, **{**arguments, "pool": _DevicesElsewhere()})
    made: MakeRunners = factory(WorkersOrder(workers, first, count, task, arguments))
    return first, made


def _threads(order: WorkersOrder) -> MakeRunners:
    if order.workers != "threads":
        raise UserError(f"workers='threads' takes nothing more, unlike {order.workers!r}")
    envs = [order.first, *(order.first.clone() for _ in range(order.count - 1))]
    pool = order.first.disown_pool()
    return lambda deliver: (
        [ThreadRunner(slot, env, deliver) for slot, env in enumerate(envs)],
        pool,
    )


def _processes(order: WorkersOrder) -> MakeRunners:
    said = re.fullmatch(r"processes:([1-9]\d*)", order.workers)
    if said is None:
        raise UserError(f"worker processes are said as 'processes:4', not {order.workers!r}")
    blueprint = Blueprint.of(order.first, order.task, order.arguments)
    workers = Workers(min(int(said[1]), order.count), blueprint)
    return lambda deliver: (process_runners(order.first, order.count, workers, deliver), workers)


_BUILT_IN: dict[str, Callable[[WorkersOrder], MakeRunners]] = {
    "threads": _threads,
    "processes": _processes,
}
