"""What a person sees of a run: a table that fits the terminal, a line a step without one."""

from __future__ import annotations

import time
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from ui_gym_agents.training import display as shown_by
from ui_gym_agents.training.display import (
    PATIENCE,
    LiveDisplay,
    PlainDisplay,
    StepProgress,
    clock,
    run_table,
    sparkline,
)

METRICS = {
    "episodes": 96, "success": 0.4375, "score": 0.4375, "turns": 7.912, "valid_actions": 0.9981,
    "groups": 16, "informative_groups": 12, "reward": 0.4375, "loss": 0.012345678,
    "grad_norm": 1.2345678, "time_env": 1.25, "time_generate": 3.5, "time_learn": 4.25,
    "time_step": 9.125,
}  # fmt: skip
"""What GRPO tells of a step, about."""


def progress(step: int, **metrics: float) -> StepProgress:
    return StepProgress(step, 20, {**METRICS, **metrics}, 61.0, 3700.0)


def shown(width: int, steps: int = 12) -> list[str]:
    """The lines of the table after so many steps."""
    rows = [progress(step, success=step / 20) for step in range(1, steps + 1)]
    stream = StringIO()
    console = Console(file=stream, force_terminal=True, color_system=None, width=width)
    for part in run_table(rows, [row.metrics["success"] for row in rows], width):
        console.print(part)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize("width", [40, 60, 80, 120, 240])
def test_the_table_fits_and_no_number_is_squeezed(width: int) -> None:
    head, *rows = shown(width)
    assert head.split()[:4] == ["step", "success", "reward", "seconds"]
    assert rows[11].split()[:5] == ["12/20", "60.0", "%", "0.4375", "9.1"]
    assert not any("…" in row for row in rows[:12])
    assert all(cell_len(line) <= width for line in (head, *rows))
    assert rows[12].startswith("success ▁")


def test_what_has_no_column_stands_below_as_far_as_it_fits() -> None:
    assert "loss  episodes" in shown(80)[0]
    below = shown(80)[-1]
    assert "loss" not in below
    assert "episodes" not in below
    assert below.endswith("…")
    everything = " ".join(shown(240))
    assert all(
        f"{name.removeprefix('time_')}" in everything for name in METRICS if name != "time_step"
    )
    assert "…" not in everything


def test_the_curve_of_successes_rises() -> None:
    assert sparkline([]) == ""
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"
    long = sparkline([i / 99 for i in range(100)], 10)
    assert len(long) == 10
    assert list(long) == sorted(long)


def test_the_live_table_shows_the_last_steps() -> None:
    stream = StringIO()
    display = LiveDisplay(Console(file=stream, force_terminal=True, width=100))
    display.start()
    display.note("a note")
    display.busy("evaluating 20 episodes")
    for step in range(1, 21):
        display.step(StepProgress(step, 20, {"loss": 0.5, "time_learn": 1.25}, 61.0, 3700.0))
    display.stop()
    last = stream.getvalue().rpartition("step")[2]
    assert "a note" in stream.getvalue()
    assert "20/20" in last
    assert " 8/20" not in last
    assert "1.2" in last
    assert "elapsed 1:01  left 1:01:40" in last
    assert clock(3599.6) == "1:00:00"


def test_without_a_terminal_a_step_is_a_line_with_tabs() -> None:
    stream = StringIO()
    display = PlainDisplay(Console(file=stream, width=20))
    display.note("a note that is longer than the reader is taken to be wide")
    display.step(progress(3))
    note, line = stream.getvalue().splitlines()
    assert note == "a note that is longer than the reader is taken to be wide"
    cells = line.split("\t")
    assert cells[:4] == ["step 3/20", "success 43.8 %", "reward 0.4375", "seconds 9.1"]
    assert cells[-2:] == ["elapsed 1:01", "left 1:01:40"]
    assert len(cells) == 1 + len(METRICS) + 2


def test_without_a_terminal_a_long_silence_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(shown_by.time, "monotonic", lambda: now[0])
    stream = StringIO()
    display = PlainDisplay(Console(file=stream, width=80))
    display.start()
    for seconds, episodes in ((1, 1), (PATIENCE, 2), (PATIENCE + 1, 3), (2 * PATIENCE + 1, 4)):
        now[0] = seconds
        display.going(f"{episodes} episodes played")
    assert stream.getvalue().splitlines() == ["2 episodes played", "4 episodes played"]


def test_a_live_table_says_how_far_a_step_is() -> None:
    stream = StringIO()
    display = LiveDisplay(Console(file=stream, force_terminal=True, width=100))
    display.start()
    display.going("step 1/20: 7 episodes played")
    deadline = time.monotonic() + 10
    while "7 episodes played" not in stream.getvalue():  # it is painted some times a second
        assert time.monotonic() < deadline
        time.sleep(0.02)
    display.step(progress(1))
    display.stop()
    assert "7 episodes played" not in stream.getvalue().rpartition("step")[2]
