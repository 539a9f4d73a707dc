"""Futures: resolved once, waited for, and not kept for ever."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ui_gym_tinker.server import futures
from ui_gym_tinker.server.futures import Failure, Futures, JsonResult, ProtoResult


def test_a_future_is_made_once_and_resolved_once() -> None:
    known = Futures()
    first, new = known.add("a", "session")
    again, newer = known.add("a", "session")
    assert (first is again, new, newer) == (True, True, False)
    first.resolve(JsonResult({"n": 1}))
    first.resolve(Failure("too late", "server"))
    assert asyncio.run(first.wait(0)) == JsonResult({"n": 1})
    assert known.get("b") is None


def test_a_future_is_waited_for_from_another_thread() -> None:
    promised, _ = Futures().add("a", "session")

    async def waiting() -> object:
        assert await promised.wait(0.01) is None
        threading.Timer(0.05, lambda: promised.resolve(ProtoResult(b"x"))).start()
        return await promised.wait(30)

    assert asyncio.run(waiting()) == ProtoResult(b"x")


def test_what_is_open_of_a_session_fails_with_it() -> None:
    known = Futures()
    (mine, _), (other, _), (done, _) = (known.add(*one) for one in
                                        (("a", "s"), ("b", "t"), ("c", "s")))  # fmt: skip
    done.resolve(JsonResult({}))
    known.fail_all("s", Failure("gone", "user"))
    assert asyncio.run(mine.wait(0)) == Failure("gone", "user")
    assert asyncio.run(done.wait(0)) == JsonResult({})
    assert not other.done
    known.close()
    assert asyncio.run(other.wait(0)) == Failure("the server has ended", "server")


def test_results_that_were_told_are_dropped_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(futures, "KEPT_BYTES", 5000)
    monkeypatch.setattr(futures, "DROP_EVERY", 1)
    known = Futures()
    known.add("open", "s")
    for i in range(20):
        promised, _ = known.add(str(i), "s")
        promised.resolve(ProtoResult(bytes(1000)))
        if i != 3:
            asyncio.run(promised.wait(0))
    assert known.get("open") is not None
    assert known.get("0") is None
    assert known.get("3") is not None  # nobody was told it
    assert known.get("19") is not None
    assert sum(known.get(str(i)) is not None for i in range(20)) <= 7
