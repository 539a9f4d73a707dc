"""What a person sees of a run: a live table in a terminal, a line a step anywhere else.

The table shows what matters for the width at hand, the rest of the newest step below it; all of it
is in ``metrics.jsonl``.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from ui_gym.tools.terminal import ShownColumn, fitting, make_table, print_lines

FIRST = ("success", "reward", "time_step")
"""Metrics that always have a column, where a trainer has them: they fit into 40 characters."""
NEXT = ("loss", "episodes")
"""Metrics that have the next columns; then the trainer's own, then seconds by phase."""
ROWS = 12
TICKS = "▁▂▃▄▅▆▇█"
PATIENCE = 30.0
"""Seconds without a line after which one says how far it is, where there is no live table."""
CURVE = 24
"""The most characters of the curve of the success rate."""


@dataclass(frozen=True)
class StepProgress:
    """One finished step, as the host knows it. Times are in seconds."""

    step: int
    steps: int
    metrics: Mapping[str, float]
    elapsed: float
    remaining: float | None


def make_display(console: Console) -> PlainDisplay:
    """A live table if `console` is a terminal, else plain lines."""
    return LiveDisplay(console) if console.is_terminal else PlainDisplay(console)


@dataclass
class PlainDisplay:
    """Where a run is shown: a line a step, for logs, pipes and continuous integration."""

    console: Console
    _told: float = 0.0
    """When the last line was written."""

    def start(self) -> None:
        """The run begins."""
        self._told = time.monotonic()

    def note(self, text: str) -> None:
        """Something that a person should keep: it stays on the screen."""
        print_lines(self.console, [text])
        self._told = time.monotonic()

    def going(self, text: str) -> None:
        """How far what is going on is by now."""
        if time.monotonic() - self._told >= PATIENCE:
            self.note(text)

    def busy(self, text: str) -> None:
        """What is going on now; empty when it is over."""
        if text:
            self.note(text)

    def step(self, progress: StepProgress) -> None:
        """A step is done."""
        words = [f"step {progress.step}/{progress.steps}"]
        words += [f"{_title(name)} {_value(name, v)}" for name, v in _ordered(progress.metrics)]
        self.note("\t".join([*words, *_times(progress)]))

    def stop(self) -> None:
        """The run is over."""


@dataclass
class LiveDisplay(PlainDisplay):
    """A table of the last steps that grows while the run goes on."""

    _rows: deque[StepProgress] = field(default_factory=lambda: deque(maxlen=ROWS))
    _success: list[float] = field(default_factory=list)
    _busy: str = ""
    _spinner: Spinner = field(default_factory=lambda: Spinner("dots"))
    _live: Live | None = None

    def start(self) -> None:
        # Drawn some times a second, and not with every episode.
        self._live = Live(get_renderable=self._render, console=self.console, refresh_per_second=8)
        self._live.start()

    def note(self, text: str) -> None:
        self.console.print(Text(text))

    def busy(self, text: str) -> None:
        self._busy = text

    def going(self, text: str) -> None:
        self._busy = text

    def step(self, progress: StepProgress) -> None:
        self._busy = ""
        self._rows.append(progress)
        if "success" in progress.metrics:
            self._success.append(progress.metrics["success"])

    def stop(self) -> None:
        self._busy = ""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _render(self) -> RenderableType:
        parts: list[RenderableType] = []
        if self._rows:
            parts += run_table(list(self._rows), self._success, self.console.width)
        if busy := self._busy:
            self._spinner.update(text=Text(busy))
            parts.append(self._spinner)
        return Group(*parts)


def run_table(
    rows: Sequence[StepProgress], success: Sequence[float], width: int
) -> list[RenderableType]:
    """The last steps as a table `width` characters wide, and below it where the run stands.

    Args:
        rows: The steps, the newest last.
        success: The success rate of every step so far.
        width: Of the terminal, in characters.
    """
    names = list(dict.fromkeys(name for row in rows for name, _ in _ordered(row.metrics)))
    columns = [ShownColumn("step", right=True)]
    columns += [
        ShownColumn(_title(name), rank=0 if name in FIRST else rank, right=True)
        for rank, name in enumerate(names, 1)
    ]
    cells = [
        (
            f"{row.step}/{row.steps}",
            *(_value(name, row.metrics[name]) if name in row.metrics else "" for name in names),
        )
        for row in rows
    ]
    shown = {names[index - 1] for index in fitting(columns, cells, width) if index}
    newest = rows[-1]
    curve = f"success {sparkline(success)}" if len(success) > 1 else ""
    said = [curve, *_times(newest)]
    rest = [f"{_title(n)} {_value(n, v)}" for n, v in _ordered(newest.metrics) if n not in shown]
    return [
        make_table(columns, cells, width),
        Text(_as_fits(filter(None, said), width)),
        *([Text(_as_fits(rest, width), style="dim")] if rest else []),
    ]


def sparkline(values: Sequence[float], most: int = CURVE) -> str:
    """Rates in [0, 1] as a small curve: of many, each character is the mean of its share."""
    count = min(len(values), most)
    bounds = [i * len(values) // count for i in range(count + 1)] if count else []
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(bounds)]
    return "".join(TICKS[min(len(TICKS) - 1, max(0, int(m * len(TICKS))))] for m in means)


def _as_fits(words: Iterable[str], width: int) -> str:
    """Words in a line, as many as fit, whole; an ellipsis where some do not."""
    line = ""
    for word in words:
        longer = f"{line}  {word}" if line else word
        if len(longer) > width - 3:
            return f"{line}  …" if line else word[: width - 1] + "…"
        line = longer
    return line


def _ordered(metrics: Mapping[str, float]) -> list[tuple[str, float]]:
    """All metrics, what matters most first, seconds by phase last."""
    lead = [name for name in (*FIRST, *NEXT) if name in metrics]
    phases = [n for n in metrics if n.startswith("time_") and n not in lead]
    others = [n for n in metrics if n not in lead and n not in phases]
    return [(name, metrics[name]) for name in (*lead, *others, *phases)]


def _title(name: str) -> str:
    """What a metric is called in a narrow place; ``time_learn`` is ``learn s``."""
    if name == "time_step":
        return "seconds"
    return f"{name.removeprefix('time_')} s" if name.startswith("time_") else name


def _value(name: str, value: float) -> str:
    if name.startswith("time_"):
        return f"{value:.1f}"
    return f"{100 * value:.1f} %" if name == "success" else number(value)


def number(value: float) -> str:
    """Four digits, whole numbers as such."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e6 else f"{value:.4g}"


def clock(seconds: float) -> str:
    """``1:02:03`` or ``2:03``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _times(progress: StepProgress) -> list[str]:
    left = [] if progress.remaining is None else [f"left {clock(progress.remaining)}"]
    return [f"elapsed {clock(progress.elapsed)}", *left]
