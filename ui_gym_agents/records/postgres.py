"""Connections to PostgreSQL on which no wait is longer than its bound.

The server's own ``statement_timeout`` ends a statement that is slow. A server that is stopped, or
hangs, ends nothing: its kernel goes on to acknowledge packets, and libpq would wait for ever.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg


class Overdue(psycopg.OperationalError):
    """The server did not answer in time."""


class BoundedConnection(psycopg.Connection[Any]):
    """Closed where an answer is overdue: what the server makes of it is not known any more."""

    answer_seconds = 60.0
    """How long an answer may take."""

    def wait(self, gen: Generator[Any, Any, Any], *more: Any, **named: Any) -> Any:
        try:
            return super().wait(_within(gen, self.answer_seconds), *more, **named)
        except Overdue:
            self.pgconn.finish()
            raise


def _within(work: Generator[Any, Any, Any], seconds: float) -> Generator[Any, Any, Any]:
    """`work`, which psycopg sends nothing now and then while its socket is silent."""
    end = time.monotonic() + seconds
    try:
        wanted = next(work)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > end:
                raise Overdue(f"the server did not answer within {seconds:g} s")
            wanted = work.send(ready)
    except StopIteration as done:
        return done.value
