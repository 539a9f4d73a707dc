"""Serving until somebody ends it: in this process, or in several, each with a Python of its own."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from ui_gym.errors import DeviceStartError, UserError
from ui_gym.remote.lending import ServerLimits
from ui_gym.remote.server import EnvServer
from ui_gym.remote.stopping import Stop

DRAIN_SECONDS = 120.0
"""How long open episodes may go on after Ctrl-C."""

START_SECONDS = 60.0

LOOK_SECONDS = 0.5
"""How often it is looked whether a server process ended."""

Say = Callable[[str], None]


def import_all(modules: Sequence[str]) -> None:
    """Import modules that register tasks, also those of the current folder."""
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise UserError(f"--import {module}: {error}") from None


def serve_here(server: EnvServer, stop: Stop, say: Say) -> None:
    """Serve until told to stop, and then until the open episodes end or it is told again."""
    stop.started()
    stop.wait()
    server.drain()
    until = time.monotonic() + DRAIN_SECONDS
    if server.playing:
        say(f"ending: {server.playing} episodes may come to their end; Ctrl-C ends them now")
    while server.playing and time.monotonic() < until and not stop.wait(0.2):
        pass


def serve_in_processes(
    count: int,
    port: int,
    limits: ServerLimits,
    settings: dict[str, Any],
    stop: Stop,
    begun: Say,
    say: Say,
) -> None:
    """Serve in so many processes, from `port` on, each with its share of the slots, until told to
    stop. One that ends by itself is started again.

    Args:
        port: 0 is any that are free.
        settings: Further arguments of `EnvServer`; ``modules`` are imported before.
        begun: Is told the addresses, once.
        say: Is told what happens later.

    Raises:
        DeviceStartError, UserError: one does not start.
    """
    shares = [limits.slots // count + (number < limits.slots % count) for number in range(count)]
    if not all(shares):
        raise UserError(f"{limits.slots} slots are too few for {count} processes")
    parts = [
        _Part(port + number if port else 0, replace(limits, slots=share), settings)
        for number, share in enumerate(shares)
    ]
    try:
        for part in parts:
            part.begin()
        for part in parts:
            part.await_address()
        begun(f"{','.join(part.address for part in parts)}: {limits.slots} slots")
        stop.started()
        while not stop.wait(LOOK_SECONDS):
            for part in parts:
                if not part.alive:
                    say(f"{part.address} ended by itself, and is started again")
                    part.begin()  # and again, should it not start; its port is known
        for part in parts:
            part.tell_to_end()
        while any(part.alive for part in parts):
            if stop.wait(0.1):
                break
    finally:
        for part in parts:
            part.close()


class _Part:
    """A server process: its port, and its share of the slots."""

    def __init__(self, port: int, limits: ServerLimits, settings: dict[str, Any]) -> None:
        self.address = ""
        self._port = port
        self._limits = limits
        self._settings = settings
        self._process: multiprocessing.process.BaseProcess | None = None
        self._told: Connection | None = None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.is_alive()

    def begin(self) -> None:
        if self._told is not None:
            self._told.close()
        context = multiprocessing.get_context("spawn")
        self._told, theirs = context.Pipe()
        asked = (theirs, self._port, self._limits, self._settings)
        self._process = context.Process(target=_serve_part, args=asked)
        self._process.start()
        theirs.close()

    def await_address(self) -> None:
        assert self._told is not None
        said = ("late", f"a server did not start within {START_SECONDS:g} s")
        try:
            if self._told.poll(START_SECONDS):
                said = self._told.recv()
        except EOFError:
            said = ("ended", "a server ended while it was started")
        kind, told = said
        if kind != "address":
            raise (UserError if kind == "mistake" else DeviceStartError)(told)
        self.address, self._port = told, int(told.rpartition(":")[2])

    def tell_to_end(self) -> None:
        if self._told is not None:
            with contextlib.suppress(OSError):  # it has ended
                self._told.send("end")

    def close(self) -> None:
        if self._told is not None:
            self._told.close()  # which ends it now
        if self._process is not None:
            self._process.join(START_SECONDS)
            self._process.kill()


def _serve_part(
    told: Connection, port: int, limits: ServerLimits, settings: dict[str, Any]
) -> None:
    """The life of a server process, which ends with the one that started it."""
    # Who started it hears them. Not ignored, since programs that are started here would inherit it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    stop = Stop()
    try:
        own = dict(settings)
        import_all(own.pop("modules"))
        server = EnvServer(port=port, limits=limits, **own)
    except UserError as error:
        told.send(("mistake", str(error)))
        return

    def hear() -> None:
        with contextlib.suppress(EOFError, OSError):
            while told.recv():
                stop.signalled()
        while True:  # whoever started it has gone
            stop.signalled()
            time.sleep(LOOK_SECONDS)

    with server:
        told.send(("address", server.address))
        threading.Thread(target=hear, daemon=True).start()
        serve_here(server, stop, lambda text: None)
