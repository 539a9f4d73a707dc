"""What a person sees of a run: a live table in a terminal, a line a step anywhere else."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

LEADING = ("success", "reward", "loss", "episodes")
"""Metrics that are shown first, where a trainer has them."""
MOST_COLUMNS = 7
ROWS = 12


@dataclass(frozen=True)
class StepProgress:
    """One finished step, as the host knows it. Times are in seconds."""

    step: int
    steps: int
    metrics: Mapping[str, float]
    elapsed: float
    remaining: float | None


class ProgressDisplay(Protocol):
    """Where a run is shown."""

    def start(self) -> None: ...
    def note(self, text: str) -> None:
        """Something that a person should keep: it stays on the screen."""

    def busy(self, text: str) -> None:
        """What is going on now; empty when it is over."""

    def step(self, progress: StepProgress) -> None:
        """A step is done."""

    def stop(self) -> None: ...


def make_display(console: Console) -> ProgressDisplay:
    """A live table if `console` is a terminal, else plain lines."""
    return LiveDisplay(console) if console.is_terminal else PlainDisplay(console)


@dataclass
class PlainDisplay:
    """A line a step: for logs, pipes and continuous integration."""

    console: Console

    def start(self) -> None:
        pass

    def note(self, text: str) -> None:
        # soft_wrap: a line stays a line, however narrow the reader is taken to be.
        self.console.print(Text(text), soft_wrap=True)

    def busy(self, text: str) -> None:
        if text:
            self.note(text)

    def step(self, progress: StepProgress) -> None:
        words = [f"step {progress.step}/{progress.steps}"]
        words += [f"{name} {number(value)}" for name, value in shown(progress.metrics).items()]
        words += [f"{phase} {value:.1f} s" for phase, value in phases(progress.metrics).items()]
        self.note("  ".join([*words, _times(progress)]))

    def stop(self) -> None:
        pass


@dataclass
class LiveDisplay:
    """A table of the last steps that grows while the run goes on."""

    console: Console
    _rows: deque[StepProgress] = field(default_factory=lambda: deque(maxlen=ROWS))
    _busy: str = ""
    _live: Live | None = None

    def start(self) -> None:
        self._live = Live(self._render(), console=self.console, refresh_per_second=8)
        self._live.start()

    def note(self, text: str) -> None:
        self.console.print(Text(text))

    def busy(self, text: str) -> None:
        self._busy = text
        self._refresh()

    def step(self, progress: StepProgress) -> None:
        self._rows.append(progress)
        self._refresh()

    def stop(self) -> None:
        self._busy = ""
        self._refresh()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _refresh(self) -> None:
        if self._live is not None:
            self._live.update(self._render())

    def _render(self) -> RenderableType:
        parts: list[RenderableType] = []
        if self._rows:
            parts += [_table(list(self._rows)), Text(_times(self._rows[-1]), style="dim")]
        if self._busy:
            parts.append(Spinner("dots", Text(self._busy)))
        return Group(*parts)


def _table(rows: list[StepProgress]) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1))
    columns = list(dict.fromkeys(name for row in rows for name in shown(row.metrics)))
    timed = list(dict.fromkeys(phase for row in rows for phase in phases(row.metrics)))
    for heading in ["step", *columns, *(f"{phase} s" for phase in timed)]:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        values, seconds = shown(row.metrics), phases(row.metrics)
        table.add_row(
            f"{row.step}/{row.steps}",
            *(number(values[name]) if name in values else "" for name in columns),
            *(f"{seconds[phase]:.1f}" if phase in seconds else "" for phase in timed),
        )
    return table


def shown(metrics: Mapping[str, float]) -> dict[str, float]:
    """The metrics that are worth a column: the leading ones, then the trainer's own order."""
    names = [name for name in LEADING if name in metrics]
    names += [name for name in metrics if name not in names and not name.startswith("time_")]
    return {name: metrics[name] for name in names[:MOST_COLUMNS]}


def phases(metrics: Mapping[str, float]) -> dict[str, float]:
    """Seconds by phase."""
    return {n.removeprefix("time_"): v for n, v in metrics.items() if n.startswith("time_")}


def number(value: float) -> str:
    """Four digits, whole numbers as such."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e6 else f"{value:.4g}"


def clock(seconds: float) -> str:
    """``1:02:03`` or ``2:03``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _times(progress: StepProgress) -> str:
    left = "" if progress.remaining is None else f"  left {clock(progress.remaining)}"
    return f"elapsed {clock(progress.elapsed)}{left}"
