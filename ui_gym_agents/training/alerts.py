"""Alerts: what somebody should look at while a run goes on that nobody watches.

``stalled``   a step takes `RunSettings.alert_stalled` times as long as the median of those before
``failures``  of the last 100 tries at an episode, more than `RunSettings.alert_failures` failed for
              the sake of the machine, and not of the agent
``nan``       a loss or a gradient's norm is no finite number, which ends the run
``disk``      room on the disk runs out (`disk`)

Each is told once, and again only after it was over in between.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from statistics import median

from ui_gym_agents.collecting.fault import EpisodeFault
from ui_gym_agents.episode import Episode
from ui_gym_agents.training.listeners import RunInfo, RunListener, Status
from ui_gym_agents.training.settings import RunSettings

Tell = Callable[[int, str, str], None]
"""Takes an alert: finished steps, rule, message (`RunListener.alert`)."""

FEWEST_STEPS = 3
"""Steps of which a median says something."""
FEWEST_TRIES = 20
"""Tries at episodes of which a share says something."""
WINDOW = 100
LOOK = 1.0
"""Seconds between two looks at the clock, at most."""
SHORTEST = 60.0
"""Seconds that every step may take: of quick ones, a few in a row may be slow for any reason."""


class Alerts(RunListener):
    """Watches a run, and tells of what somebody should look at. It has a thread while a run lasts.

    A step that takes too long is noticed while it goes on; evaluations and saves are no steps.
    """

    def __init__(
        self,
        settings: RunSettings,
        tell: Tell,
        *,
        shortest: float = SHORTEST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`clock` gives seconds; no step that takes less than `shortest` is too long."""
        self._times, self._share = settings.alert_stalled, settings.alert_failures
        self._tell = tell
        self._shortest, self._clock = shortest, clock
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._over = False
        self._done = 0
        self._begun: float | None = None
        self._took: deque[float] = deque(maxlen=WINDOW)
        self._tries: deque[bool] = deque(maxlen=WINDOW)
        self._failing = False

    def begun(self, run: RunInfo) -> None:
        self._done = run.resumed or 0
        if self._times:
            self._thread = threading.Thread(target=self._watch, name="alerts", daemon=True)
            self._thread.start()

    def step_begun(self, step: int, steps: int) -> None:
        self._goes_on(self._clock())

    def step_finished(self, step: int, metrics: Mapping[str, float], elapsed: float) -> None:
        with self._changed:
            if self._begun is not None:
                self._took.append(self._clock() - self._begun)
            self._done = step
        self._goes_on(None)
        for name in lost_losses(metrics):
            self._tell(step, "nan", f"step {step}: {name} is {metrics[name]}")

    def episode(self, episode: Episode) -> None:
        if episode.failure is None:
            self._tried(failed=False)

    def fault(self, fault: EpisodeFault) -> None:
        self._tried(failed=True)

    def ended(self, status: Status, step: int, error: str = "") -> None:
        with self._changed:
            self._over = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(10.0)

    def _goes_on(self, begun: float | None) -> None:
        with self._changed:
            self._begun = begun
            self._changed.notify()

    def _tried(self, *, failed: bool) -> None:
        """Count a try at an episode, of which a fault may have made several."""
        with self._changed:
            self._tries.append(failed)
            count = len(self._tries)
            share = sum(self._tries) / count
            too_many = count >= FEWEST_TRIES and share > self._share
            new = too_many and not self._failing
            if too_many or share <= self._share / 2:
                self._failing = too_many
            done = self._done
        if new:
            self._tell(
                done, "failures",
                f"{100 * share:.0f} % of the last {count} tries at an episode failed for the "
                f"machine's sake, and {100 * self._share:g} % may",
            )  # fmt: skip

    # -- the thread --

    def _watch(self) -> None:
        told: float | None = None
        while True:
            with self._changed:
                if self._over:
                    return
                limit, begun, done = self._limit(), self._begun, self._done
                if limit is None or begun is None or begun == told:
                    self._changed.wait()
                    continue
                left = begun + limit - self._clock()
                if left > 0:
                    self._changed.wait(min(left, LOOK))
                    continue
                usual = median(self._took)
            told = begun
            self._tell(
                done, "stalled",
                f"step {done + 1} goes on for {limit:.0f} s; the steps before took {usual:.1f} s",
            )  # fmt: skip

    def _limit(self) -> float | None:
        """Seconds that a step may take; None where that is not known yet."""
        if len(self._took) < FEWEST_STEPS:
            return None
        return max(self._shortest, self._times * median(self._took))


def lost_losses(metrics: Mapping[str, float]) -> list[str]:
    """The losses and norms of gradients (`grad_norm`) among metrics that are no finite numbers."""
    return [
        name
        for name, value in metrics.items()
        if any(word in name.rpartition("/")[2] for word in ("loss", "grad_norm"))
        and not math.isfinite(value)
    ]
