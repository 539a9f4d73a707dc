"""Pictures of what a run achieved, made from its directory alone: the curve, and a film."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ui_gym.dialects import get_dialect
from ui_gym.dialects.reread import reread
from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode
from ui_gym_agents.files import replacing, whole_lines
from ui_gym_agents.store import EpisodeStore


def draw(run: Path) -> list[Path]:
    """Draw what the run in `run` has the data for; returns the pictures' paths.

    Raises:
        NotWritten: the disk is full, or may only be read.
    """
    return [path for path in (*_films(run), _curve(run)) if path is not None]


def film(episode: Episode, store: EpisodeStore, dialect: str, title: str) -> Any:
    """The film strip of a recorded episode, a Pillow image.

    Raises:
        UserError: it has no pictures: they were not kept, or never shown.
    """
    from ui_gym.tools.film import film_strip

    keys = episode.screenshot_ids
    if not all(keys):
        raise UserError(f"episode {episode.id} has no pictures")
    frames = [store.screenshots.get(key) for key in keys]
    height, width = frames[0].shape[:2]
    written = ((turn.action_text, turn.elements) for turn in episode.turns)
    done = reread(written, get_dialect(dialect), (width, height))
    said = [" ".join(turn.action_text.split("\n")) for turn in episode.turns]
    return film_strip(frames, said, actions=done, title=title)


# -- a film of one episode, before and after --


def _films(run: Path) -> Iterator[Path]:
    """An episode that failed before and succeeded after, played by both."""
    finished = (run / "evaluations").glob("step_*-greedy*/report.json")
    folders = sorted(report.parent for report in finished)
    if len(folders) < 2:
        return
    stores = {"before": EpisodeStore(folders[0]), "after": EpisodeStore(folders[-1])}
    before, after = (
        {e.id: e for e in store if e.turns and e.final_screenshot_id} for store in stores.values()
    )
    shared = [key for key in before if key in after]
    shared.sort(key=lambda key: (before[key].success, not after[key].success))
    if not shared:
        return
    dialect = _dialect(run)
    for name, played in (("before", before), ("after", after)):
        episode = played[shared[0]]
        outcome = "success" if episode.success else "failure"
        title = f"{name} training: {episode.goal} - {outcome}"
        path = run / f"film_{name}.png"
        with replacing(path) as part:
            film(episode, stores[name], dialect, title).save(part, "PNG")
        yield path


def _dialect(run: Path) -> str:
    import yaml

    config = yaml.safe_load((run / "config.yaml").read_text())
    return str(config.get("env", {}).get("dialect", "canonical"))


# -- the learning curve --


def _curve(run: Path) -> Path | None:
    """Success over steps of training; None without matplotlib, or where but one step has a rate."""
    rows = [row for row in _metrics(run) if "success" in row]
    steps = [row for row in rows if row["kind"] == "train"]
    if len({row["step"] for row in rows}) < 2:
        return None
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    if steps:  # not where the policy learns from what others did
        rates = [100 * row["success"] for row in steps]
        numbers = [row["step"] for row in steps]
        axes.plot(numbers, rates, color="#9db4d8", linewidth=1, label="training episodes")
        axes.plot(numbers, _smooth(rates), color="#1f5fd6", linewidth=2, label="their running mean")
    for mode, color, marker in (("greedy", "#d1495b", "o"), ("sampled", "#2e8b57", "s")):
        _measured(axes, [r for r in rows if r.get("mode") == mode], mode, color, marker)
    axes.set(xlabel="training step", ylabel="success, %", ylim=(0, 102))
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right")
    path = run / "curve.png"
    with replacing(path) as part:
        figure.savefig(part, format="png")
    return path


def _measured(axes: Any, rows: list[dict[str, Any]], mode: str, color: str, marker: str) -> None:
    """Evaluations as points with their 95 % intervals."""
    if not rows:
        return
    rates = [100 * row["success"] for row in rows]
    # At 0 and at 100 % an interval may miss its own rate by a rounding error.
    below = [max(0.0, rate - 100 * row["low"]) for rate, row in zip(rates, rows, strict=True)]
    above = [max(0.0, 100 * row["high"] - rate) for rate, row in zip(rates, rows, strict=True)]
    axes.errorbar(
        [row["step"] for row in rows], rates, yerr=[below, above], fmt=marker, color=color,
        capsize=3, markersize=5, label=f"evaluation, {mode} (95 %)",
    )  # fmt: skip


def _smooth(values: list[float], keep: float = 0.8) -> list[float]:
    """A running mean that forgets, without the bias towards its start."""
    smooth, total, weight = [], 0.0, 0.0
    for value in values:
        total = keep * total + (1 - keep) * value
        weight = keep * weight + (1 - keep)
        smooth.append(total / weight)
    return smooth


def _metrics(run: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line, _ in whole_lines(run / "metrics.jsonl"))
