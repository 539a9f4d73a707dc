"""StepCallback: what Stable-Baselines3 tells of a step while it plays."""

from __future__ import annotations

import time
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback


class StepCallback(BaseCallback):
    """Keeps the last info of each episode that ended, and the seconds that playing took.

    The seconds include the policy's choices; of a DQN, those between its gradient steps.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[dict[str, Any]] = []
        self.seconds = 0.0
        self._began = 0.0

    def _on_rollout_start(self) -> None:
        self._began = time.perf_counter()

    def _on_rollout_end(self) -> None:
        self.seconds += time.perf_counter() - self._began

    def _on_step(self) -> bool:
        done = zip(self.locals["infos"], self.locals["dones"], strict=True)
        self.ended += [info for info, over in done if over]
        return True
