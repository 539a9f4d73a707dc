"""The heartbeat: a thread that says every two seconds that a run lives, and what its parts do.

It replaces ``workers.json`` in the run's folder: ``at`` (ISO 8601 in UTC), ``status``, the
processes of this one, the slots of the vector env, what waits to be played, and the policy's
versions. A run whose file is old and whose log tells of no end was lost. The file is no record: it
is not forced onto the disk, and a disk that is full or away stops nothing.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ui_gym_agents.files import replacing
from ui_gym_agents.training.process_tree import ProcessTree, ProcessUse
from ui_gym_agents.training.run_directory import WORKERS

if TYPE_CHECKING:
    from ui_gym_agents.collecting.collector import Collector
    from ui_gym_agents.training.context import TrainerContext

SECONDS = 2.0
"""Between two beats."""
SHARE = 0.005
"""The share of a core that looking at processes may take: where it takes long, it is seldom."""


class Heartbeat:
    """Beats from `start` to `close`. It only reads: nothing that it looks at is made by it."""

    def __init__(self, context: TrainerContext, seconds: float = SECONDS) -> None:
        self.seconds = 0.0
        """Processor time that the thread has used."""
        self._context = context
        self._path = context.run.path / WORKERS
        self._pause = seconds
        self._tree = ProcessTree()
        self._processes: list[ProcessUse] = []
        self._next_look = 0.0
        self._status = "running"
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._beat()  # here, so that the file is there before anything else is
        self._thread.start()

    def close(self, status: str) -> None:
        """Beat once more, with how the run ended. Closing one that never began is harmless."""
        self._status = status
        self._closing.set()
        if self._thread.ident is not None:
            self._thread.join(10 * SECONDS)

    # -- the thread --

    def _run(self) -> None:
        while not self._closing.wait(self._pause):
            self._beat()
            self.seconds = time.thread_time()
        self._beat()

    def _beat(self) -> None:
        told: dict[str, Any] = {"at": datetime.now(UTC).isoformat(), "status": self._status}
        told |= {"host": socket.gethostname(), "pid": os.getpid()}
        try:
            told |= self._told()
        except Exception as error:  # The run lives nonetheless, and that is what matters most.
            told["note"] = f"what its parts do is not known: {type(error).__name__}: {error}"
        with suppress(OSError), replacing(self._path) as part:
            part.write_text(json.dumps(told))

    def _told(self) -> dict[str, Any]:
        """What the parts of the run do."""
        now, begun = time.monotonic(), time.thread_time()
        if now >= self._next_look:
            self._processes = self._tree.look()
            self._next_look = now + (time.thread_time() - begun) / SHARE
        playing = [c for c in self._context.collectors if c.playing]
        slots = self._slots(playing)
        return {
            "processes": [asdict(use) for use in self._processes],
            "slots": slots,
            "queue": _queue(self._context.collectors),
            "policy": self._policy(playing),
            "nodes": _nodes(slots),
            "note": "" if self._processes else "this system does not tell of processes (/proc)",
        }

    def _slots(self, playing: list[Collector]) -> list[dict[str, Any]]:
        """What each slot does. Of envs that were made, by whoever needed them first."""
        envs = self._context.__dict__.get("envs")
        states = getattr(envs.unwrapped, "slot_states", []) if envs is not None else []
        asked = {slot: request for c in playing for slot, request in c.playing.items()}
        runner = self._context.config.env.workers.partition(":")[0].partition("?")[0]
        return [
            {
                "slot": state.slot,
                "state": state.state,
                "task": asked[state.slot].task if state.slot in asked else "",
                "episode": asked[state.slot].id if state.slot in asked else "",
                "seconds": round(state.seconds, 3),
                "restarts": state.restarts,
                "runner": "ws" if runner == "wss" else runner,
                "node": state.node,
            }
            for state in states
        ]

    def _policy(self, playing: list[Collector]) -> dict[str, int | None]:
        """The policy's version now, and the one that is played with: an older one, if ahead."""
        policy = self._context.__dict__.get("policy")
        now = None if policy is None else int(policy.version)
        played = [_version(c.agent) for c in playing]
        return {"version": now, "playing": next((v for v in played if v is not None), now)}


def _version(agent: Any) -> int | None:
    """Of a policy, or of the one that somebody else's agent asks."""
    for found in (agent, getattr(agent, "policy", None)):
        version = getattr(found, "version", None)
        if isinstance(version, int):
            return version
    return None


def _queue(collectors: list[Collector]) -> dict[str, int]:
    """How many episodes wait to be begun, and of how many groups some are not over."""
    waiting = [request for c in collectors for request in c.waiting]
    begun = [request for c in collectors for request in c.playing.values()]
    return {"requests": len(waiting), "groups": len({r.group for r in (*waiting, *begun)})}


def _nodes(slots: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The machines or servers that slots are played at, with how many there are of them."""
    counts = Counter(slot["node"] for slot in slots if slot["node"])
    return [{"node": node, "slots": count} for node, count in sorted(counts.items())]
