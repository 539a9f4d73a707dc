"""The host: runs a trainer step by step, measures, saves, shows, and leaves cleanly.

The life of a run: baseline evaluation, steps with evaluations and checkpoints in between, a last
checkpoint, the final evaluation, `result.json`. A resumed run enters it after the steps that its
checkpoint holds and goes on as if it had never stopped.
"""

from __future__ import annotations

import json
import logging
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from ui_gym.errors import UIGymError
from ui_gym_agents.episode import Purpose, PurposeKind
from ui_gym_agents.files import NotWritten
from ui_gym_agents.policy.parallel import ProcessError, Processes
from ui_gym_agents.training import checkpoint, control, outcome, random_state
from ui_gym_agents.training.alerts import lost_losses
from ui_gym_agents.training.checkpoint import Checkpoint
from ui_gym_agents.training.context import TrainerContext
from ui_gym_agents.training.control import RunControl, Wish
from ui_gym_agents.training.display import StepProgress, clock, make_display
from ui_gym_agents.training.event_log import EventLog
from ui_gym_agents.training.facts import facts
from ui_gym_agents.training.failures import TrainingError, blaming
from ui_gym_agents.training.follower import StepOrder
from ui_gym_agents.training.guards import guards
from ui_gym_agents.training.heartbeat import Heartbeat
from ui_gym_agents.training.interrupts import Interrupts
from ui_gym_agents.training.listeners import (
    Listeners,
    RunInfo,
    RunListener,
    Status,
    SuccessReport,
)
from ui_gym_agents.training.plugin import Trainer
from ui_gym_agents.training.promises import StepPromises
from ui_gym_agents.training.run_directory import RunDirectory
from ui_gym_agents.training.settings import RunConfig
from ui_gym_agents.training.step_watch import StepWatch

MOST_NAMED = 6
"""Tasks that are named one by one when a run begins."""

INTERRUPTED = 130
"""Exit status of a run that was stopped by Ctrl-C, SIGTERM or SIGHUP."""


@dataclass(frozen=True)
class SuccessRate:
    """A success rate with its 95 % confidence interval, over `n` episodes."""

    success: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, report: SuccessReport) -> SuccessRate:
        low, high = report.interval
        return cls(float(report.success), float(low), float(high), int(report.n))

    def __str__(self) -> str:
        low, high = 100 * self.low, 100 * self.high
        return f"{100 * self.success:.1f} % ({low:.1f} to {high:.1f} %, {self.n} episodes)"


Modes = dict[str, SuccessRate]
"""What was measured by how answers were chosen: ``greedy`` and ``sampled``."""

MODES = {True: "greedy", False: "sampled"}


class Host:
    """One run of one trainer. `run` returns the exit status of the process."""

    def __init__(
        self,
        trainer: type[Trainer],
        config: RunConfig,
        directory: RunDirectory,
        console: Console,
        resumed: Checkpoint | None = None,
        listeners: Sequence[RunListener] = (),
        processes: Processes | None = None,
    ) -> None:
        self.config = config
        self.directory = directory
        self._trainer_class = trainer
        self._resumed = resumed
        self._display = make_display(console)
        self._interrupts = Interrupts(self._announce_stop)
        self._context = TrainerContext(
            run=directory,
            config=config,
            stop_requested=lambda: self._interrupts.requested,
            note=self._note,
            processes=processes or Processes(),
        )
        self._processes = self._context.processes
        # The log first: the others may read what happened there.
        self._watch = StepWatch(self._display.going, self._note)
        listeners = [EventLog(directory.path), self._watch, *listeners]
        listeners += guards(config.run, directory.path, self._note, self._alert)
        self._listeners = self._context.listener = Listeners(listeners, self._note)
        self._heartbeat = Heartbeat(self._context)
        self._control = RunControl(directory.path)
        self._trainer: Trainer
        self._done = 0
        self._played = 0.0
        self._saved = 0
        self._evaluated = -1
        self._torn = False
        self._baseline: Modes = {}
        self._seconds_before = 0.0
        self._started: float | None = None

    def run(self) -> int:
        """Train to the end, or until somebody stops it.

        Raises:
            UIGymError: training cannot go on; all that was saved stays.
        """
        self._display.start()
        self._heartbeat.start()
        status: Status = "failed"
        failure = ""
        try:
            with self._interrupts:
                try:
                    self._begin()
                    reason = self._train()
                    self._finish(reason)
                except KeyboardInterrupt:
                    status = "interrupted"
                    self._leave()
                    return INTERRUPTED
                except NotWritten as error:
                    raise type(error)(f"{error}; {self._way_back()}") from error
                finally:
                    self._close()
            status = "finished"
            return 0
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                status = "interrupted"
            else:
                failure = str(error) or type(error).__name__
            if isinstance(error, UIGymError):
                self.directory.log(f"failed: {error}", logging.ERROR)
            raise
        finally:
            self._listeners.ended(status, self._done, failure)
            self._heartbeat.close(status)
            self._display.stop()

    # -- the phases of a run --

    def _begin(self) -> None:
        """Seed, build the trainer, take over the checkpoint's state, measure the baseline."""
        self._greet()
        done = self._resumed.step if self._resumed is not None else None
        suites = {entry.spec.suite for entry in self._context.entries}
        told = facts(self.config.plugin, suites, self.config.env.workers)
        self._listeners.begun(RunInfo(self.directory.path, self.config, done, told))
        self._processes.from_main(self.directory.path.resolve)
        seeded = random_state.seeded(self.config.run.seed)
        with seeded, self._blaming("could not be built"):
            self._trainer = self._trainer_class(self.config.trainer, self._context)
            self._promises = StepPromises(self._context, self._trainer, self._note)
        if self._resumed is not None:
            self._take_over(self._resumed)
        else:
            self.directory.cut_metrics(-1)
        if self._evaluated < 0 and self.config.evaluation.before:
            self._baseline = self._measure("baseline")

    def _greet(self) -> None:
        """Say what begins, and how to go on with it, before anything that takes its time."""
        config = self.config
        names = list(dict.fromkeys(entry.spec.name for entry in self._context.entries))
        tasks = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} tasks"
        where = shlex.quote(str(self.directory.path))
        self._note(f"{config.plugin} on {tasks}, in {config.env.num_envs} envs; all of it: {where}")
        self._note(f"should it stop, go on with: ui-gym-train --resume {where}")

    def _take_over(self, resumed: Checkpoint) -> None:
        with self._blaming(f"could not load {resumed.path}"):
            self._order(StepOrder(load=resumed.path.resolve()))
            self._trainer.load(resumed.path)
            self._context.settle()
        state = resumed.state
        self._done = self._saved = resumed.step
        self._evaluated = state["evaluated"]
        self._seconds_before = state["elapsed"]
        self._played = state.get("played", 0.0)
        self._baseline = {mode: SuccessRate(**m) for mode, m in state["baseline"].items()}
        self.directory.cut_metrics(self._done)
        self._context.load_state_dict(state.get("context", {}))
        random_state.restore(state["rng"])
        self._note(f"resumed after step {self._done} from {resumed.path}")

    def _train(self) -> str:
        """Step until the end; returns why it ended."""
        self._started = time.monotonic()
        while True:
            asked = self._asked()
            ending = self._ending()
            reached = self._evaluate_if_due(last=ending is not None, asked="evaluate" in asked)
            ending = ending or reached
            every = self.config.run.save_every
            due = (every and self._done % every == 0) or "save" in asked
            if self._done > self._saved and (due or ending):
                self._save()
            if ending:
                return ending
            if "stop" in asked:
                self._interrupts.request()
                raise KeyboardInterrupt
            with self._interrupts.deferred():
                self._one_step()
            if self._interrupts.requested:
                raise KeyboardInterrupt

    def _finish(self, reason: str) -> None:
        """The final evaluation, `result.json` and the summary."""
        elapsed = self._seconds_before = self._elapsed()
        self._started = None  # The final evaluation is no training time.
        after = self._measure("final")
        newest = checkpoint.latest(self.directory.checkpoints)
        result = {
            "plugin": self.config.plugin,
            "stopped_by": reason,
            "steps": self._done,
            "seconds": round(elapsed, 3),
            "before": _plain(self._baseline),
            "after": _plain(after),
            "checkpoint": str(newest.relative_to(self.directory.path)) if newest else None,
        }
        self.directory.write("result.json", json.dumps(result, indent=1) + "\n")
        self._display.stop()  # The table stays above the summary.
        self._note(f"{self._done} steps in {clock(elapsed)}, ended by {reason}")
        for mode in after:
            if mode in self._baseline:
                self._note(f"{mode:7}  before training: {self._baseline[mode]}")
                self._note(f"{'':7}  after training:  {after[mode]}")
        for path in outcome.draw(self.directory.path):
            self._note(f"picture: {path}")
        if newest:
            self._note(f"the result is in {newest}")
        if after and self._context.has_policy:
            self._note(f"to evaluate it: ui-gym-eval --run {shlex.quote(str(self.directory.path))}")
        self._dismiss()

    def _leave(self) -> None:
        """After an interruption: save what is whole, and say how to go on."""
        if self._done > self._saved and not self._torn:
            try:
                with self._interrupts.deferred():
                    self._save()
            except KeyboardInterrupt:
                self._note("saving was interrupted")
        self._display.stop()
        if self._torn:
            self._note(f"left in the middle of step {self._done + 1}, which is lost")
        self._note(f"interrupted after step {self._done}; {self._way_back()}")
        self._dismiss()

    def _close(self) -> None:
        """Let go of everything; trouble in it is told, and changes no outcome.

        A second Ctrl-C cuts the trainer's part short, and the host's part still follows.
        """
        close = getattr(getattr(self, "_trainer", None), "close", None)
        try:
            for part in (close, self._context.close):
                try:
                    if part is not None:
                        part()
                except Exception as error:
                    self._note(f"warning: closing failed: {type(error).__name__}: {error}")
        except KeyboardInterrupt:
            self._context.close()
            raise

    # -- the other processes --

    def _order(self, order: StepOrder) -> None:
        """Say what comes next to those who learn with this process."""
        self._processes.from_main(lambda: order)

    def _dismiss(self) -> None:
        """Let the others go, if they wait for an order; else they see that this process ends."""
        if hasattr(self, "_trainer") and not self._torn:
            with suppress(ProcessError):
                self._order(StepOrder())

    # -- one step --

    def _one_step(self) -> None:
        self._context.step = self._done + 1
        self._listeners.step_begun(self._context.step, self._steps())
        begun = time.monotonic()
        self._torn = True
        with self._blaming(f"failed in step {self._context.step}"):
            self._order(StepOrder(step=self._context.step))
            # Those of evaluations, which are not repeated on resuming.
            self._context.sampler_metrics()
            self._watch.faults()
            self._promises.begin()
            metrics = _numbers(self._trainer.step()) | self._context.sampler_metrics()
            metrics |= self._context.curriculum.metrics() | self._watch.faults()
            self._context.settle()
            self._promises.check()
            self._context.check_rewards()
        self._torn = False
        metrics["time_step"] = time.monotonic() - begun
        self._done += 1
        self._played += metrics.get("episodes", 0.0)
        self._record("train", metrics)
        self._listeners.step_finished(self._done, metrics, self._elapsed())
        for name in lost_losses(metrics):
            raise TrainingError(
                f"step {self._done}: {name} is {metrics[name]}, so training cannot go on; "
                f"{self._way_back()}, perhaps with a lower learning rate (--override-config)"
            )
        steps = self._steps()
        rate = self._elapsed() / self._done
        remaining = rate * (steps - self._done)
        self._display.step(StepProgress(self._done, steps, metrics, self._elapsed(), remaining))

    def _steps(self) -> int:
        """How many steps there are in all: the trainer's own number, else the configured one."""
        own = getattr(self._trainer, "steps", None)
        return self.config.run.steps if own is None else int(own)

    def _asked(self) -> list[Wish]:
        """What somebody asks of the run from outside, which the log keeps."""
        asked = self._control.asked()
        for what in asked:
            self._note(f"asked to {what}, by a line in {self.directory.path / control.FILE}")
        return asked

    def _ending(self) -> str | None:
        """Why no further step is done, if so."""
        if self._done >= self._steps():
            return "the number of steps"
        limit = self.config.run.time_limit
        if limit is not None and self._elapsed() >= limit:
            return f"the time limit of {limit:g} s"
        most = self.config.run.episode_limit
        if most is not None and self._played >= most:
            return f"the limit of {most} episodes"
        return None

    # -- measuring and saving --

    def _evaluate_if_due(self, last: bool, asked: bool) -> str | None:
        """The evaluation between steps; returns why the run ends, if the target is reached.

        The last step goes without, where the final evaluation follows at once. One that is `asked`
        for is due, unless this was measured already.
        """
        every, settings = self.config.run.eval_every, self.config.evaluation
        due = asked or (every and self._done and self._done % every == 0)
        if not due or self._evaluated == self._done or (last and settings.episodes):
            return None
        measured = self._evaluate(settings.quick_episodes, "evaluation", settings.greedy)
        if measured and settings.target is not None and measured.success >= settings.target:
            return f"reaching the target of {100 * settings.target:g} %"
        return None

    def _measure(self, kind: PurposeKind) -> Modes:
        """The full evaluation of before and after: greedily, by sampling, or both."""
        settings = self.config.evaluation
        modes = (True, False) if settings.both else (settings.greedy,)
        if self._context.evaluator is not None:
            modes = (settings.greedy,)
        found = {MODES[m]: self._evaluate(settings.episodes, kind, m) for m in modes}
        return {mode: measured for mode, measured in found.items() if measured is not None}

    def _evaluate(self, episodes: int, kind: PurposeKind, greedy: bool) -> SuccessRate | None:
        """Play and record; the random generators of training are left as they were."""
        purpose = self._context.evaluating = Purpose(kind, self._done, MODES[greedy])
        if episodes and (self._context.has_player or self._context.evaluator is not None):
            planned = episodes * self._context.attempts(greedy) * self._context.team_size
            self._display.busy(f"evaluating {planned} episodes, {MODES[greedy]}")
            self._listeners.evaluation_begun(purpose, planned)
        self._context.done = self._done
        with random_state.preserved():
            report = self._context.evaluate(episodes, greedy)
        self._display.busy("")
        self._evaluated = self._done
        if report is None:
            return None
        measured = SuccessRate.of(report)
        line = "final" if kind == "final" else "evaluation"
        self._record(line, {"mode": MODES[greedy], **asdict(measured)})
        self._listeners.evaluation_finished(purpose, report, self._elapsed())
        self._note(f"after step {self._done}, {MODES[greedy]}: success {measured}")
        return measured

    def _save(self) -> None:
        """Write a checkpoint of the present state."""
        state = {
            "config_hash": self.config.digest(),
            "elapsed": self._elapsed(),
            "played": self._played,
            "evaluated": self._evaluated,
            "baseline": _plain(self._baseline),
            "rng": random_state.capture(),
            "context": self._context.state_dict(self._done),
        }
        keep = self.config.run.keep
        self.directory.sync_metrics()
        self._listeners.saving(self._done)
        with self._interrupts.deferred(), self._blaming("could not be saved"):
            path = checkpoint.save(
                self.directory.checkpoints, self._done, self._trainer.save, state, keep
            )
        self._saved = self._done
        self.directory.log(f"saved {path.name}")
        self._listeners.checkpoint(self._done, path)

    def _record(self, kind: str, values: Mapping[str, Any]) -> None:
        record = {"kind": kind, "step": self._done, **values}
        self.directory.append_metrics({**record, "time_elapsed": round(self._elapsed(), 3)})

    # -- small things --

    def _elapsed(self) -> float:
        """Seconds of training in all, evaluations in between included."""
        running = 0.0 if self._started is None else time.monotonic() - self._started
        return self._seconds_before + running

    def _way_back(self) -> str:
        newest = checkpoint.latest(self.directory.checkpoints)
        command = f"ui-gym-train --resume {shlex.quote(str(self.directory.path))}"
        if newest is None:
            return f"nothing was saved yet; to begin anew: {command}"
        return f"to continue after step {int(newest.name[5:])}: {command}"

    def _note(self, text: str) -> None:
        self.directory.log(text)
        self._display.note(text)

    def _alert(self, step: int, rule: str, message: str) -> None:
        self._listeners.alert(step, rule, message)

    def _announce_stop(self) -> None:
        # Called in a signal handler, which may have interrupted a write: no buffered stream here.
        os.write(2, b"\nstopping after this step; press Ctrl-C again to leave at once\n")

    def _blaming(self, what: str) -> AbstractContextManager[None]:
        return blaming(f"the trainer {self.config.plugin!r} {what}", self.directory)


def _plain(modes: Modes) -> dict[str, Any]:
    return {mode: asdict(measured) for mode, measured in modes.items()}


def _numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    """A step's metrics as floats; TypeError or ValueError where one is no number."""
    if not isinstance(metrics, Mapping):
        raise TypeError(f"step() returned {metrics!r} instead of metrics by name")
    reserved = {"kind", "step", "time_step", "time_elapsed"} & metrics.keys()
    if reserved:
        raise ValueError(f"step() returned {min(reserved)!r}, a name that the host keeps")
    return {str(name): float(value) for name, value in metrics.items()}
