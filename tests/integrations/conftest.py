"""What tests of other packages' loops share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import paint
import pytest


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The paint devices that are lent; none is, after a test."""
    held: list[Any] = []
    acquire, release = paint.PaintPool.acquire, paint.PaintPool.release

    def acquired(pool: paint.PaintPool) -> paint.PaintDevice:
        held.append(acquire(pool))
        return held[-1]

    def released(pool: paint.PaintPool, device: Any, *, healthy: bool) -> None:
        held.remove(device)
        release(pool, device, healthy=healthy)

    monkeypatch.setattr(paint.PaintPool, "acquire", acquired)
    monkeypatch.setattr(paint.PaintPool, "release", released)
    yield held
    assert held == []
