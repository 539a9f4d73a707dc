"""Loggers: listeners that hand a run's curves to TensorBoard, trackio or wandb.

``metrics.jsonl`` is always written; these come on top, by the setting ``run.loggers``. All three
get the same names: ``train/<metric>``, ``time/<phase>`` in seconds, and for evaluations
``evaluation/<greedy|sampled>/success``, ``low``, ``high`` (95 %), ``score``, ``blind_rate``,
``pass@<k>`` and ``task/<id>``. The horizontal axis is the number of finished steps. A value that is
not finite is left out.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ui_gym.errors import UserError, nearest
from ui_gym_agents.episode import Purpose
from ui_gym_agents.training.listeners import RunInfo, RunListener, Status, SuccessReport

Scalars = dict[str, float]


class Logger(RunListener):
    """What the loggers share: they differ in `open`, `write` and `shut` alone."""

    def __init__(self) -> None:
        self._opened = False

    def open(self, run: RunInfo) -> None:
        """Get ready to write. What was written of steps after `run.resumed` is void."""
        raise NotImplementedError

    def write(self, step: int, values: Scalars) -> None:
        """Write numbers that hold after `step` finished steps."""
        raise NotImplementedError

    def shut(self, status: Status) -> None:
        """Write what is not written yet, and let go of everything."""
        raise NotImplementedError

    def begun(self, run: RunInfo) -> None:
        self.open(run)
        self._opened = True

    def step_finished(self, step: int, metrics: Mapping[str, float], elapsed: float) -> None:
        self._write(step, {**{_train(k): v for k, v in metrics.items()}, "time/elapsed": elapsed})

    def evaluation_finished(self, purpose: Purpose, report: SuccessReport, elapsed: float) -> None:
        step = purpose.step
        self._write(step, {f"evaluation/{purpose.mode}/{k}": v for k, v in _of(report).items()})

    def ended(self, status: Status, step: int, error: str = "") -> None:
        if self._opened:
            self._opened = False
            self.shut(status)

    def _write(self, step: int, values: Mapping[str, float]) -> None:
        if self._opened:
            self.write(step, {k: float(v) for k, v in values.items() if math.isfinite(v)})


def _train(name: str) -> str:
    phase = name.removeprefix("time_")
    return f"train/{name}" if phase == name else f"time/{phase}"


def _of(report: SuccessReport) -> dict[str, float]:
    """The numbers of a report; one of a trainer's own evaluator has only the first."""
    low, high = report.interval
    values: dict[str, float] = {"success": report.success, "low": low, "high": high}
    total = getattr(report, "total", None)
    if total is not None:
        values |= {"score": total.score, "valid_actions": total.valid_actions, "turns": total.turns}
        if total.blind_rate is not None:
            values["blind_rate"] = total.blind_rate
        values |= {f"pass@{k}": rate for k, rate in total.pass_at_k.items() if k > 1}
    by_task = getattr(report, "by_task", {})
    if len(by_task) > 1:
        values |= {f"task/{task}": part.success for task, part in by_task.items()}
    return values


class TensorBoardLogger(Logger):
    """Event files in the run's folder ``tensorboard``: `tensorboard --logdir runs`.

    It writes them with TensorBoard's own writer, which needs neither TensorFlow nor torch.
    """

    def open(self, run: RunInfo) -> None:
        self._events: Any = import_module("tensorboard.compat.proto.event_pb2")
        self._summaries: Any = import_module("tensorboard.compat.proto.summary_pb2")
        writer: Any = import_module("tensorboard.summary.writer.event_file_writer")
        self._writer: Any = writer.EventFileWriter(str(run.directory / "tensorboard"))
        # A start makes TensorBoard drop what an earlier session wrote from that step on. An
        # evaluation of the resumed step itself was before the checkpoint, and stays.
        first = 0 if run.resumed is None else run.resumed + 1
        sessions = self._events.SessionLog
        self._add(first, session_log=sessions(status=sessions.START))
        self._write_config(run)

    def write(self, step: int, values: Scalars) -> None:
        value = self._summaries.Summary.Value
        parts = [value(tag=name, simple_value=number) for name, number in values.items()]
        self._add(step, summary=self._summaries.Summary(value=parts))
        self._writer.flush()

    def shut(self, status: Status) -> None:
        self._writer.close()

    def _write_config(self, run: RunInfo) -> None:
        """The configuration, on the tab of texts."""
        tensors: Any = import_module("tensorboard.compat.proto.tensor_pb2")
        texts: Any = import_module("tensorboard.plugins.text.metadata")
        lines = json.dumps(_config(run), indent=1).split("\n")
        block = "\n".join(f"    {line}" for line in lines)  # Markdown for code
        value = self._summaries.Summary.Value(
            tag="config",
            tensor=tensors.TensorProto(dtype="DT_STRING", string_val=[block.encode()]),
            metadata=texts.create_summary_metadata(display_name="config", description=""),
        )
        self._add(run.resumed or 0, summary=self._summaries.Summary(value=[value]))

    def _add(self, step: int, **content: Any) -> None:
        self._writer.add_event(self._events.Event(wall_time=time.time(), step=step, **content))


class TrackioLogger(Logger):
    """A run of the project ``run.project`` in trackio's local database: `trackio show`.

    It has no way to take back a step: those that a resumed run does again are there twice, with
    the same values.
    """

    def open(self, run: RunInfo) -> None:
        self._trackio: Any = import_module("trackio")
        self._trackio.init(
            project=run.config.run.project,
            name=_name(run),
            config=_config(run),
            resume="never" if run.resumed is None else "allow",
            embed=False,
        )

    def write(self, step: int, values: Scalars) -> None:
        self._trackio.log(values, step=step)

    def shut(self, status: Status) -> None:
        self._trackio.finish()


class WandbLogger(Logger):
    """A run of the project ``run.project`` in Weights & Biases.

    Its files lie in the run's folder ``wandb``. ``WANDB_MODE=offline`` sends nothing; `wandb sync`
    does so later. Steps that a resumed run does again are there twice, with the same values.
    """

    def open(self, run: RunInfo) -> None:
        wandb: Any = import_module("wandb")
        (run.directory / "wandb").mkdir(exist_ok=True)
        self._run: Any = wandb.init(
            project=run.config.run.project,
            name=_name(run),
            id=_id(run),
            dir=str(run.directory),
            config=_config(run),
            resume="allow",
        )
        # Their own counter goes up with each line, and a resumed run goes back.
        self._run.define_metric("step")
        self._run.define_metric("*", step_metric="step")

    def write(self, step: int, values: Scalars) -> None:
        self._run.log({**values, "step": step})

    def shut(self, status: Status) -> None:
        self._run.finish(exit_code=0 if status == "finished" else 1)


LOGGERS: Mapping[str, Callable[[], Logger]] = {
    "tensorboard": TensorBoardLogger,
    "trackio": TrackioLogger,
    "wandb": WandbLogger,
}
"""By the name of the package that each needs, which is that of its extra as well."""


def make_loggers(names: Sequence[str]) -> list[RunListener]:
    """The loggers of a run, each once. Imports none of their packages.

    Raises:
        UserError: there is no such logger, or its package is not installed; names the extra.
    """
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in LOGGERS:
            raise UserError(f"there is no logger {name!r}. {nearest(name, LOGGERS)}")
    missing = [name for name in chosen if find_spec(name) is None]
    if missing:
        raise UserError(
            f"the logger{'s' if len(missing) > 1 else ''} {' and '.join(missing)} cannot be used: "
            f"not installed; to get it: pip install 'ui-gym[{','.join(missing)}]'"
        )
    return [LOGGERS[name]() for name in chosen]


def _config(run: RunInfo) -> dict[str, Any]:
    values: dict[str, Any] = run.config.model_dump(mode="json")
    return values


def _name(run: RunInfo) -> str:
    return run.directory.resolve().name


def _id(run: RunInfo) -> str:
    """The same for a run that is resumed, and another for one of the same name elsewhere."""
    place = str(run.directory.resolve())
    return f"{_name(run)[:40]}-{hashlib.sha256(place.encode()).hexdigest()[:8]}"
