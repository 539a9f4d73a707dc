"""Futures: what a request is promised, and what becomes of it.

A future's name is a function of what was asked (a run and its `seq_id`, a sampler and its
`seq_id`), so that a request that is sent twice, since its answer was lost on the way, is done once.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

KEPT = 4096
"""Futures that were told and are still kept: whoever lost an answer asks again."""

KEPT_BYTES = 256 * 2**20
"""Bytes of results that are kept so; the newest stay."""

DROP_EVERY = 64
"""After so many new futures it is looked which are too many."""


@dataclass(frozen=True)
class JsonResult:
    """A result that is told as JSON."""

    value: dict[str, Any]


@dataclass(frozen=True)
class ProtoResult:
    """A result that is told as a protobuf message."""

    data: bytes


@dataclass(frozen=True)
class Failure:
    """What went wrong; `category` is ``user`` or ``server``."""

    error: str
    category: str


Result = JsonResult | ProtoResult | Failure


class Promised:
    """A future. It is resolved once; what comes later is dropped."""

    def __init__(self, request_id: str, session: str) -> None:
        self.request_id = request_id
        self.session = session
        self._done: Future[Result] = Future()
        self._resolving = threading.Lock()
        self.told = False
        """Whether somebody was told its result, or nobody is there any more to be told."""

    @property
    def done(self) -> bool:
        return self._done.done()

    def resolve(self, result: Result) -> None:
        """For any thread."""
        with self._resolving:
            if not self._done.done():
                self._done.set_result(result)

    @property
    def nbytes(self) -> int:
        """Of its result, where that is large."""
        result = self._done.result() if self._done.done() else None
        return len(result.data) if isinstance(result, ProtoResult) else 0

    async def wait(self, seconds: float) -> Result | None:
        """What became of it; None where it is still open after so many seconds."""
        if not self._done.done():
            loop = asyncio.get_running_loop()
            told = asyncio.Event()

            def tell(_: object) -> None:
                try:
                    loop.call_soon_threadsafe(told.set)
                except RuntimeError:  # the server has ended meanwhile
                    return

            self._done.add_done_callback(tell)
            try:
                await asyncio.wait_for(told.wait(), seconds)
            except TimeoutError:
                return None
        self.told = True
        return self._done.result()


class Futures:
    """The futures of a server, by their names. For any thread."""

    def __init__(self) -> None:
        self._known: dict[str, Promised] = {}
        self._added = 0
        self._lock = threading.Lock()

    def get(self, request_id: str) -> Promised | None:
        with self._lock:
            return self._known.get(request_id)

    def add(self, request_id: str, session: str) -> tuple[Promised, bool]:
        """The future of that name, and whether it is new."""
        with self._lock:
            found = self._known.get(request_id)
            if found is not None:
                return found, False
            self._known[request_id] = made = Promised(request_id, session)
            self._added += 1
            if self._added % DROP_EVERY == 0:
                self._drop_old()
            return made, True

    def fail_all(self, session: str, failure: Failure) -> None:
        """Fail what is open of a session."""
        with self._lock:
            ours = [one for one in self._known.values() if one.session == session]
        for one in ours:
            one.resolve(failure)
            one.told = True

    def close(self) -> None:
        """Fail all that is open: the server ends."""
        with self._lock:
            known = list(self._known.values())
        for one in known:
            one.resolve(Failure("the server has ended", "server"))

    def _drop_old(self) -> None:
        sizes = {name: one.nbytes for name, one in self._known.items() if one.told}
        total = sum(sizes.values())
        for name, size in sizes.items():
            if len(self._known) <= KEPT and total <= KEPT_BYTES:
                return
            del self._known[name]
            total -= size
