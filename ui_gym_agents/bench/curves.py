"""Learning curves as pictures: of each task, a line and a colour an algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from ui_gym_agents.bench.results import BenchResult, CurvePoint

SMOOTH = 5
"""Steps whose mean is drawn."""


def draw_curves(results: Iterable[BenchResult], folder: Path, order: Sequence[str]) -> list[Path]:
    """Draw the runs on each task into ``TASK.svg``.

    Success while training, over episodes and over minutes: the mean of an algorithm's seeds, as far
    as all of them go, in a band from the least to the most, and by itself a run that failed. Of
    what others played in training, a dotted line at the success afterwards; where nobody's policy
    played, there is no picture, and none of runs on many tasks, whose success goes by which of them
    come. An algorithm has the same colour in all: those in `order` come first. The same results
    give the same bytes.
    """
    results = list(results)
    others = sorted({result.algorithm for result in results} - {*order})
    colors = {name: f"C{index % 10}" for index, name in enumerate((*order, *others))}
    runs: dict[str, list[BenchResult]] = {}
    for result in results:
        if result.kind != "run" or not result.curve:
            continue
        if result.learner_played or _level(result) is not None:
            runs.setdefault(result.task, []).append(result)
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _draw(folder / f"{name}.svg", name, found, colors)
        for name, found in runs.items()
        if any(run.learner_played for run in found)
    ]


def _draw(path: Path, title: str, runs: list[BenchResult], colors: Mapping[str, str]) -> Path:
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    names = [name for name in colors if any(run.algorithm == name for run in runs)]
    with mpl.rc_context({"svg.hashsalt": "ui-gym", "svg.fonttype": "none"}):
        figure = Figure(figsize=(11, 4))
        FigureCanvasSVG(figure)
        by_episodes, by_minutes = figure.subplots(1, 2, sharey=True)
        for name in names:
            for group in _groups(run for run in runs if run.algorithm == name):
                _draw_group(group, by_episodes, by_minutes, colors[name])
        by_episodes.set(
            xlabel="episodes", ylabel="success while training, %", ylim=(0, 101), title=title
        )
        by_minutes.set(xlabel="minutes")
        for axes in (by_episodes, by_minutes):
            axes.spines[["top", "right"]].set_visible(False)
        _legend(figure, by_episodes, {n: (colors[n], _style(n, runs)) for n in names})
        figure.savefig(path, metadata={"Date": None})
    return path


def _groups(runs: Iterable[BenchResult]) -> list[list[BenchResult]]:
    """The runs of an algorithm that are drawn as one: those of a model, and each that failed."""
    found: dict[tuple[str, int | None], list[BenchResult]] = {}
    for run in runs:
        alone = run.seed if run.status == "failed" else None
        found.setdefault((run.parent.name, alone), []).append(run)
    return list(found.values())


def _draw_group(runs: Sequence[BenchResult], by_episodes: Any, by_minutes: Any, color: str) -> None:
    if not runs[0].learner_played:
        level = mean(_level(run) or 0.0 for run in runs)
        for axes in (by_episodes, by_minutes):
            axes.axhline(level, color=color, linestyle=":")
        return
    told = [[point for point in run.curve if point.success is not None] for run in runs]
    steps = min(map(len, told))
    heights = np.array([smoothed(points)[:steps] for points in told])
    style = "--" if runs[0].status == "failed" else "-"
    for axes, across in (
        (by_episodes, [[point.episodes for point in points[:steps]] for points in told]),
        (by_minutes, [[point.seconds / 60 for point in points[:steps]] for points in told]),
    ):
        where = np.mean(across, axis=0)
        axes.plot(where, heights.mean(axis=0), color=color, linestyle=style)
        if len(runs) > 1:
            band = heights.min(axis=0), heights.max(axis=0)
            axes.fill_between(where, *band, color=color, alpha=0.15, linewidth=0)


def _level(run: BenchResult) -> float | None:
    """The success of a run afterwards, in percent; None of a failed one."""
    after = run.figures[run.task].after if run.figures else {}
    return 100 * after["greedy"].success if "greedy" in after else None


def _style(algorithm: str, runs: list[BenchResult]) -> str:
    """How its lines are drawn."""
    return "-" if any(run.learner_played for run in runs if run.algorithm == algorithm) else ":"


def _legend(figure: Any, axes: Any, styles: Mapping[str, tuple[str, str]]) -> None:
    handles = [
        axes.plot([], [], color=color, label=name, linestyle=style)[0]
        for name, (color, style) in styles.items()
    ]
    rows = (len(styles) + 4) // 5
    figure.legend(handles, list(styles), loc="lower center", ncols=5, frameon=False)
    figure.tight_layout(rect=(0, 0.02 + 0.05 * rows, 1, 1))


def smoothed(points: Sequence[CurvePoint]) -> list[float]:
    """Each success's mean with those before it, `SMOOTH` in all; percent."""
    values = [100 * (point.success or 0.0) for point in points]
    return [
        sum(window) / len(window)
        for window in (values[max(0, i + 1 - SMOOTH) : i + 1] for i in range(len(values)))
    ]
