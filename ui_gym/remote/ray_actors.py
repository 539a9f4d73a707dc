"""Slots that Ray actors play: ``workers="ray"``, on all nodes of a cluster.

An actor plays several slots, in threads, on the node that it was placed on. Ray starts it again, on
another node if need be, when it dies; what it played ends as with any lost device, and goes on at
the next reset. Pictures come as what changed, as from a server (`frames`).
"""

from __future__ import annotations

import logging
import math
import os
import queue
import re
import secrets
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError

from ui_gym.errors import DeviceError, DeviceLost, UIGymError, UserError
from ui_gym.playing.worker_client import Blueprint
from ui_gym.playing.workers import WorkersOrder, order_crew
from ui_gym.remote import wire
from ui_gym.remote.links import Asked, LinkCrew, LinkedRunner, SessionLink
from ui_gym.remote.session import About, Session, about

log = logging.getLogger(__name__)

SLOTS = 4
"""Slots of an actor, unless `workers` says how many."""

RESOURCE = "ui_env"
"""The custom resource of which an actor takes one a slot, where nodes say how much they have."""

RESTART_SECONDS = 30.0
"""How long a reset waits for an actor that Ray starts again."""

CALL_SECONDS = 60.0
"""How long a call from outside the episode may take."""

ANSWER_SECONDS = 5.0
"""How long an actor may take to answer what needs no device, before it is killed."""

STORE_BYTES = 200_000_000
"""The object store of a Ray that is started here: pictures are small, and do not need it."""

TRY_AGAIN_SECONDS = 0.5

WATCH_SECONDS = 1.0
"""How often an actor looks whether its node is there."""

LEAVE_CHILDREN = {"RAY_kill_child_processes_on_worker_exit": "0"}
"""Ray would kill the shells that end our programs with us (`ChildProcess`), and leave those."""


class SlotsActor:
    """In the actor's process: a session, and who waits for what it says."""

    def __init__(self, blueprint: Blueprint, slots: int) -> None:
        self.incarnation = secrets.token_hex(4)
        end_with_node()
        _, crew = order_crew("threads", slots, blueprint.open(), blueprint.arguments)
        self._session = Session(crew, lambda: None, lambda count: None)
        self._session.attach(self._said)
        self._waiting: dict[About, queue.SimpleQueue[bytes]] = {}

    def ask(self, message: bytes, incarnation: str) -> tuple[str, bytes]:
        """What the session says to a message, and who says it.

        `incarnation` is that of the actor that the episode began in; empty where one begins.
        """
        asked = wire.unpack(message)
        if incarnation not in ("", self.incarnation):
            lost = wire.error_parts(DeviceLost("the actor was started again"))
            return self.incarnation, wire.pack({"call": asked["call"], "error": lost})
        said = self._waiting[about(asked)] = queue.SimpleQueue()
        self._session.handle(asked)
        return self.incarnation, said.get()

    def forget(self, message: bytes) -> None:
        """Give up a call; whoever waits for it waits no longer."""
        asked = wire.unpack(message)
        self._session.handle(asked)
        lost = wire.error_parts(DeviceLost("the call was given up"))
        given_up = {"slot": asked["slot"], "call": asked["abandon"], "error": lost}
        self._said(wire.pack(given_up), about(given_up))

    def pid(self) -> int:
        """The process that the actor is, on its node."""
        return os.getpid()

    def close(self) -> None:
        self._session.close()

    def _said(self, packed: bytes, of: About) -> None:
        waiting = self._waiting.pop(of, None)
        if waiting is not None:
            waiting.put(packed)


def end_with_node() -> None:
    """Have this actor's process end with its node's raylet: Ray leaves it alive, with its devices,
    where that was killed."""
    raylet = os.getppid()

    def watch() -> None:
        while os.getppid() == raylet:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class ActorLink(SessionLink):
    """An actor, and this vector env's session in it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__()
        self._make = make
        self._lock = threading.RLock()
        self._handle: Any = None
        self._asked: dict[int, Asked] = {}
        self._incarnation = ""
        self._questions = 0
        self._closed = False

    def ask(
        self, runner: LinkedRunner, number: int, message: dict[str, Any], epoch: int | None = None
    ) -> None:
        with self._lock:
            current = not self._closed and epoch in (None, self.epoch)
            if current:
                self._asked[runner.slot] = Asked(runner, number, message)
        if current:
            begun_in = "" if epoch is None else self._incarnation
            until = time.monotonic() + (RESTART_SECONDS if epoch is None else 0.0)
            self._send(runner.slot, number, message, begun_in, until)
        else:
            runner.take(number, DeviceLost("the actor that played it is lost"))

    def forget(self, slot: int, number: int) -> None:
        with self._lock:
            self._asked.pop(slot, None)
        told = self._actor.forget.remote(wire.pack({"slot": slot, "abandon": number}))
        threading.Thread(target=self._end_if_silent, args=(told,), daemon=True).start()

    def inquire(self, message: dict[str, Any]) -> Any:
        with self._lock:
            self._questions += 1
            asked = wire.pack(message | {"ask": self._questions})
        try:
            _, said = ray.get(self._actor.ask.remote(asked, ""), timeout=CALL_SECONDS)
        except RayError as error:
            raise _lost(error) from None
        told = wire.unpack(said)
        if "error" in told:
            raise wire.error_of(told["error"])
        return told["said"]

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._asked.clear()
            handle, self._handle = self._handle, None
        if handle is not None and ray.is_initialized():
            try:
                ray.get(handle.close.remote(), timeout=2 * ANSWER_SECONDS)
            except RayError as error:
                log.debug("an actor did not close: %s", error)
            ray.kill(handle)

    # -- inside --

    @property
    def _actor(self) -> Any:
        with self._lock:
            if self._closed:
                raise DeviceLost("the actor is closed")
            if self._handle is None:
                self._handle = self._make()
            return self._handle

    def _send(
        self, slot: int, number: int, message: dict[str, Any], incarnation: str, until: float
    ) -> None:
        """Ask the actor; once it is lost, ask again until then."""
        try:
            told = self._actor.ask.remote(wire.pack(message), incarnation)
        except (RayError, DeviceLost) as error:
            self._failed(slot, number, error)
            return

        def answered(future: Any) -> None:
            error = future.exception()
            if error is None:
                self._take(slot, number, *future.result())
            elif time.monotonic() < until and self._is_asked(slot, number):
                timer = threading.Timer(
                    TRY_AGAIN_SECONDS, self._send, (slot, number, message, incarnation, until)
                )
                timer.daemon = True
                timer.start()
            else:
                self._failed(slot, number, error)

        told.future().add_done_callback(answered)

    def _take(self, slot: int, number: int, incarnation: str, said: bytes) -> None:
        with self._lock:
            if incarnation != self._incarnation:
                self.epoch += self._incarnation != ""
                self._incarnation = incarnation
            asked = self._asked.get(slot)
            if asked is None or asked.number != number:
                return  # it was given up
            del self._asked[slot]
        self.is_down = False
        try:
            result = asked.runner.read(wire.unpack(said))
        except UIGymError as error:
            result = error
        asked.runner.take(number, result)

    def _failed(self, slot: int, number: int, error: BaseException) -> None:
        with self._lock:
            asked = self._asked.get(slot)
            if asked is None or asked.number != number:
                return
            del self._asked[slot]
            self.is_down = True
        asked.runner.take(number, _lost(error))

    def _is_asked(self, slot: int, number: int) -> bool:
        asked = self._asked.get(slot)
        return asked is not None and asked.number == number

    def _end_if_silent(self, told: Any) -> None:
        """Kill an actor that hangs as a whole: Ray starts it again."""
        try:
            ray.get(told, timeout=ANSWER_SECONDS)
        except GetTimeoutError:
            with self._lock:
                handle = self._handle
            if handle is not None:
                ray.kill(handle, no_restart=False)
        except RayError as error:
            log.debug("an actor is lost: %s", error)


def _lost(error: BaseException) -> DeviceError:
    error = getattr(error, "cause", None) or error  # what was raised in the actor
    first = str(error).strip().split("\n")[0]
    return DeviceLost(f"a Ray actor is lost ({type(error).__name__}): {first}")


class RayActors(LinkCrew):
    """Slots that are played by Ray actors, which are made when they are first needed."""

    def __init__(self, order: WorkersOrder) -> None:
        said = re.fullmatch(r"ray(?::([^?]+))?(?:\?slots=([1-9]\d*))?", order.workers)
        if said is None:
            raise UserError(
                f"Ray actors are said as 'ray', 'ray:auto' or 'ray:ADDRESS', with '?slots=8' for "
                f"the slots of each, not {order.workers!r}"
            )
        address, slots = said[1], int(said[2] or SLOTS)
        count = math.ceil(order.count / slots)
        blueprint = Blueprint.of(order.first, order.task, order.arguments)

        def make() -> Any:
            connect(address, order.count)
            takes = {RESOURCE: slots} if RESOURCE in ray.cluster_resources() else {}
            options = ray.remote(SlotsActor).options(
                num_cpus=0, resources=takes, max_restarts=-1, max_task_retries=0,
                max_concurrency=2 * slots + 4, scheduling_strategy="SPREAD",
                runtime_env={"env_vars": LEAVE_CHILDREN},
            )  # fmt: skip
            return options.remote(blueprint, slots)

        super().__init__(order.first, [ActorLink(make) for _ in range(count)])


def connect(address: str | None, slots: int) -> None:
    """Be connected to Ray: as this program is already, or to `address`, or to a cluster that is
    there, or to one that is started here.

    Raises:
        UserError: there is no Ray at the address.
    """
    with _connecting:
        if not ray.is_initialized():
            _connect(address, slots)


_connecting = threading.Lock()


def _connect(address: str | None, slots: int) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    found = address or os.environ.get("RAY_ADDRESS") or "auto"
    try:
        ray.init(address=found, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        if address or os.environ.get("RAY_ADDRESS"):
            raise UserError(f"there is no Ray at {found!r}: {error}") from None
        sys.stderr.write("ui-gym: no Ray is running, so one is started here, until this ends\n")
        ray.init(
            address="local", num_cpus=1, include_dashboard=False,
            object_store_memory=STORE_BYTES, resources={RESOURCE: slots + SLOTS}, **quiet,
        )  # fmt: skip
