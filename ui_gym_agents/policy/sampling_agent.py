"""Who may sample in place of a policy's own process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ui_gym_agents.agents.agent import Decision, Submit, View


class SamplingAgent(Protocol):
    """Who samples in place of a policy's own process: `engines.agent.EngineAgent`."""

    def act_as(self, policy: Any, views: Sequence[View]) -> list[Decision]:
        """An answer for each view, with the weights, version and temperature of `policy`."""

    def submit_as(self, policy: Any) -> Submit | None:
        """Asks for one view's answer as `act_as` does; None where batches alone are answered."""

    def metrics(self) -> dict[str, float]:
        """What was measured since the last time, by names of metrics."""

    def close(self) -> None:
        """Let go of whatever samples."""
