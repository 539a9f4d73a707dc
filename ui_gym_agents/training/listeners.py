"""Listeners: whoever wants to know how a run goes (records, loggers), told by the host.

A listener derives from `RunListener` and overrides what it needs. It is an onlooker: what it raises
is reported once and stops nothing, and it changes nothing that it is shown.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ui_gym_agents.collecting.fault import EpisodeFault
from ui_gym_agents.episode import Episode, Purpose

if TYPE_CHECKING:
    from ui_gym_agents.training.settings import RunConfig

Learned = Mapping[str, tuple[float, float | None]]
"""The reward and the mean advantage of episodes by id; no advantage: it was not learned from."""

Status = Literal["finished", "interrupted", "failed"]
"""How a run ended: by itself, by Ctrl-C, SIGTERM or SIGHUP, or by an error."""


class SuccessReport(Protocol):
    """The outcome of an evaluation, as far as every evaluator gives it."""

    @property
    def success(self) -> float:
        """Share of episodes that succeeded, in [0, 1]."""

    @property
    def n(self) -> int:
        """How many episodes that is a share of."""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of `success`."""


@dataclass(frozen=True)
class RunInfo:
    """A run as it begins. `resumed` is how many steps its checkpoint holds; None: a new run.

    `facts` are what it runs on (`training.facts`), as plain JSON values.
    """

    directory: Path
    config: RunConfig
    resumed: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


class RunListener:
    """Told what happens in a run, in this order; every method does nothing unless overridden.

    All are called from the host's thread but `episode` and `fault`, which come from the thread that
    collects, and `alert`.
    They should return at once: the run waits for them.
    """

    def begun(self, run: RunInfo) -> None:
        """The run begins or goes on; nothing heavy is built yet.

        What was told of steps after `run.resumed` is void: they are done again.
        """

    def step_begun(self, step: int, steps: int) -> None:
        """Step number `step`, from 1 on, of `steps` begins."""

    def episode(self, episode: Episode) -> None:
        """An episode ended, or failed for good (`episode.failure`); it is in its file already."""

    def fault(self, fault: EpisodeFault) -> None:
        """A device, a server or the like failed an episode, which may be played again."""

    def alert(self, step: int, rule: str, message: str) -> None:
        """Somebody should look, after `step` finished steps. `rule` says in a word what for
        (``stalled``, ``failures``, ``nan``, ``disk``); `message` holds what was measured, and no
        text of models or pages. May come from any thread."""

    def learned(self, step: int, episodes: Learned) -> None:
        """What the episodes of step `step` were worth to the trainer, once a step if at all."""

    def step_finished(self, step: int, metrics: Mapping[str, float], elapsed: float) -> None:
        """A step is done. `metrics` are finite or not; `elapsed`: seconds of training in all."""

    def evaluation_begun(self, purpose: Purpose, episodes: int) -> None:
        """An evaluation of `episodes` episodes begins."""

    def evaluation_finished(self, purpose: Purpose, report: SuccessReport, elapsed: float) -> None:
        """An evaluation is done.

        `report` is an `EvaluationReport`, or what the trainer's own evaluator gave: only `success`,
        `n` and `interval` are sure to be there.
        """

    def saving(self, step: int) -> None:
        """A checkpoint is about to be written. What was told so far must now be safe from a kill:
        a run that resumes from the checkpoint does not tell it again."""

    def checkpoint(self, step: int, path: Path) -> None:
        """A checkpoint of `step` finished steps was written to the folder `path`."""

    def ended(self, status: Status, step: int, error: str = "") -> None:
        """The run is over after `step` finished steps; the last call. `error`: why it failed.

        The place to let go of files, connections and threads, whatever was or was not called
        before: a run may end before it has `begun`.
        """


class Listeners(RunListener):
    """Several listeners as one, whose troubles are noted and never raised."""

    def __init__(self, listeners: Sequence[RunListener], note: Callable[[str], None]) -> None:
        """`note` gets one line for the first trouble of each."""
        self._listeners = tuple(listeners)
        self._note = note
        self._reported: set[int] = set()
        self._lock = threading.Lock()

    def begun(self, run: RunInfo) -> None:
        self._tell("begun", run)

    def step_begun(self, step: int, steps: int) -> None:
        self._tell("step_begun", step, steps)

    def episode(self, episode: Episode) -> None:
        self._tell("episode", episode)

    def fault(self, fault: EpisodeFault) -> None:
        self._tell("fault", fault)

    def alert(self, step: int, rule: str, message: str) -> None:
        self._tell("alert", step, rule, message)

    def learned(self, step: int, episodes: Learned) -> None:
        self._tell("learned", step, episodes)

    def step_finished(self, step: int, metrics: Mapping[str, float], elapsed: float) -> None:
        self._tell("step_finished", step, metrics, elapsed)

    def evaluation_begun(self, purpose: Purpose, episodes: int) -> None:
        self._tell("evaluation_begun", purpose, episodes)

    def evaluation_finished(self, purpose: Purpose, report: SuccessReport, elapsed: float) -> None:
        self._tell("evaluation_finished", purpose, report, elapsed)

    def saving(self, step: int) -> None:
        self._tell("saving", step)

    def checkpoint(self, step: int, path: Path) -> None:
        self._tell("checkpoint", step, path)

    def ended(self, status: Status, step: int, error: str = "") -> None:
        self._tell("ended", status, step, error)

    def _tell(self, event: str, *arguments: Any) -> None:
        for listener in self._listeners:
            try:
                getattr(listener, event)(*arguments)
            except Exception as error:
                self._report(listener, event, error)

    def _report(self, listener: RunListener, event: str, error: Exception) -> None:
        with self._lock:
            if id(listener) in self._reported:
                return
            self._reported.add(id(listener))
        where = traceback.extract_tb(error.__traceback__)[-1]
        self._note(
            f"warning: {type(listener).__name__}.{event} failed, and the run goes on without it: "
            f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        )
