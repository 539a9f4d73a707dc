"""What tests of browser tasks share: a page that only reports, and judging what it reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ui_gym.browser.device import PageEvent
from ui_gym.contract.task import Task, Verdict

SEEDS = range(60)

Told = tuple[str, Mapping[str, Any]]
"""The type and the data of an event."""


class Reported:
    """A stand-in for a device: a page that reported these events and is in this state."""

    size = (320, 256)

    def __init__(self, *events: Told, state: Mapping[str, Any] | None = None) -> None:
        self.events = [PageEvent(type, data) for type, data in events]
        self._state = dict(state or {})

    def state(self) -> dict[str, Any]:
        return dict(self._state)


def judge(
    task: Task[Any, Any], params: Any, *events: Told, state: Mapping[str, Any] | None = None
) -> Verdict:
    """What `task` says of a page that reported `events` and is in `state`."""
    return task.judge(Reported(*events, state=state), params, ())
