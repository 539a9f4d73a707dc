"""A phone that tasks are played on by ADB."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ui_gym_phone.serving import serve


@pytest.fixture
def wired() -> Iterator[str]:
    """A phone behind ADB, as a device."""
    with serve(0, 1) as ports:
        yield f"adb-direct:127.0.0.1:{ports[0]}"
