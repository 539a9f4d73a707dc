"""Watches a step: how many episodes it has by now, and which faults there were."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from ui_gym_agents.collecting.fault import EpisodeFault
from ui_gym_agents.episode import Episode
from ui_gym_agents.training.listeners import RunListener


class StepWatch(RunListener):
    """`going` is told after each episode how far the step is; `note` gets a line for each fault."""

    def __init__(self, going: Callable[[str], None], note: Callable[[str], None]) -> None:
        self._going, self._note = going, note
        self._lock = Lock()
        self._what = ""
        self._episodes = self._replayed = self._restarts = 0

    def step_begun(self, step: int, steps: int) -> None:
        self._begin(f"step {step}/{steps}")

    def evaluation_begun(self, purpose: object, episodes: int) -> None:
        self._begin(f"evaluation of {episodes}")

    def episode(self, episode: Episode) -> None:
        with self._lock:
            self._episodes += 1
            told = f"{self._what}: {self._episodes} episodes played"
        self._going(told)

    def fault(self, fault: EpisodeFault) -> None:
        with self._lock:
            self._restarts += fault.of_device
            self._replayed += fault.again
        self._note(str(fault))

    def faults(self) -> dict[str, float]:
        """Since it was asked last: ``replayed_episodes``, which began anew after a fault of
        anything, and ``device_restarts``."""
        with self._lock:
            counted = self._replayed, self._restarts
            self._replayed = self._restarts = 0
        return dict(zip(("replayed_episodes", "device_restarts"), map(float, counted), strict=True))

    def _begin(self, what: str) -> None:
        with self._lock:
            self._what, self._episodes = what, 0
