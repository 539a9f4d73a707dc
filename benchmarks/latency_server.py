"""A chat server whose answers take log-normal times, in a process of its own.

It says how many requests were under way, on the average, and how many it answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.queues import Queue
from typing import Any

import httpx
import numpy as np

ANSWER = {"choices": [{"message": {"content": "click(1, 1)"}}]}


class Gauge:
    """Requests under way, summed over time."""

    def __init__(self) -> None:
        self.now = self.answered = 0
        self.total = 0.0
        """Seconds, of all requests."""
        self._last = time.monotonic()

    def add(self, change: int) -> None:
        at = time.monotonic()
        self.total += self.now * (at - self._last)
        self._last = at
        self.now += change
        self.answered += change < 0

    def read(self) -> dict[str, float]:
        self.add(0)
        return {"at": self._last, "total": self.total, "answered": self.answered}


async def serve(median: float, sigma: float, port: Queue[int]) -> None:
    """Answer until the process is ended. `median` is in seconds."""
    gauge = Gauge()
    rng = np.random.default_rng(0)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = head.partition("content-length:")[2].partition("\r\n")[0]
                await reader.readexactly(int(length or 0))
                if head.startswith("get"):
                    found: Any = gauge.read()
                else:
                    gauge.add(1)
                    await asyncio.sleep(float(rng.lognormal(np.log(median), sigma)))
                    gauge.add(-1)
                    found = ANSWER
                body = json.dumps(found).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, limit=1 << 26)
    port.put(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _main(median: float, sigma: float, port: Queue[int]) -> None:
    asyncio.run(serve(median, sigma, port))


@contextlib.contextmanager
def latency_server(median: float, sigma: float) -> Iterator[str]:
    """The address of a server that is there for a while."""
    context = multiprocessing.get_context("spawn")
    port: Queue[int] = context.Queue()
    process = context.Process(target=_main, args=(median, sigma, port), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{port.get(timeout=60)}/v1"
    finally:
        process.terminate()
        process.join()


def read(url: str) -> dict[str, float]:
    """What the gauge of a server says: ``at`` and ``total`` in seconds, and ``answered``."""
    found: dict[str, float] = httpx.get(url, trust_env=False).json()
    return found
