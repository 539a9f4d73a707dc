"""The README of the learning curves beside this file: ``python benchmarks/learning/report.py``."""

from __future__ import annotations

import csv
import statistics
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from runs import CURVES, EXPERIMENTS, HERE

mpl.use("svg")
from matplotlib import pyplot

Row = dict[str, str]
Runs = dict[int, list[Row]]
"""The lines of an experiment's runs, by seed."""

PICTURES = {
    "data_entry": ("Held-out success, greedy", ("grpo", "ppo", "ppo-long", "rejection")),
    "sparse": (
        "Success while training, sampled, mean of five steps",
        ("sparse-grpo", "sparse-arpo"),
    ),
}
LAST = 5
"""Steps that are averaged: at the end of training, and in the picture of noisy curves."""

HEAD = """# Learning curves

Each line below is a run of `ui-gym-train` on two cores without a GPU; runs share the machine, two
at a time, a thread each. All start from `tiny-clerk`, a vision-language model of a million
parameters that fills in forms like a clumsy clerk. Held-out task instances share no parameters with
those of training; brackets are 95 % intervals (Wilson). The tables of every step lie in `curves/`.
To repeat a run, delete its table:

    python benchmarks/learning/runs.py
    python benchmarks/learning/report.py
"""


def main() -> int:
    pyplot.rcParams.update({"svg.hashsalt": "ui-gym", "svg.fonttype": "none"})
    known = {name: read(name) for name in EXPERIMENTS}
    parts = [HEAD]
    for picture, (title, names) in PICTURES.items():
        drawn = {name: known[name] for name in names if known[name]}
        if drawn:
            draw(HERE / f"{picture}.svg", title, drawn)
            parts.append(f"![{title}]({picture}.svg)\n")
    parts += [section(name, runs) for name, runs in known.items() if runs]
    (HERE / "README.md").write_text("\n".join(parts))
    return 0


def read(name: str) -> Runs:
    """The curves of an experiment."""
    found = {}
    for path in sorted(CURVES.glob(f"{name}-[0-9]*.csv")):
        with path.open(newline="") as file:
            found[int(path.stem.rpartition("-")[2])] = list(csv.DictReader(file))
    return found


def of(rows: list[Row], kind: str, mode: str = "") -> list[Row]:
    return [row for row in rows if row["kind"] == kind and (not mode or row["mode"] == mode)]


# -- the tables --


def section(name: str, runs: Runs) -> str:
    """A table of an experiment's runs."""
    lines = [
        f"## {EXPERIMENTS[name].title}",
        "",
        f"    ui-gym-train {' '.join(EXPERIMENTS[name].shown())}",
        "",
        "| seed | steps | success in the first step | in the last five | held out, greedy "
        "| held out, sampled | minutes |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for seed, rows in runs.items():
        steps = of(rows, "train")
        played = [float(row["success"]) for row in steps]
        seconds = sum(float(row["time_step"]) for row in steps)
        cells = [
            str(seed), str(len(steps)),
            percent(played[0]), percent(statistics.mean(played[-LAST:])),
            *(interval(of(rows, "final", mode)) for mode in ("greedy", "sampled")),
            f"{seconds / 60:.1f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def percent(share: Any) -> str:
    return f"{100 * float(share):.1f} %"


def interval(rows: list[Row]) -> str:
    if not rows:
        return ""
    last = rows[-1]
    low, high = (f"{100 * float(last[side]):.0f}" for side in ("low", "high"))
    return f"{percent(last['success'])} ({low} to {high})"


# -- the pictures --


def draw(path: Path, title: str, experiments: dict[str, Runs]) -> None:
    """A line a run, a colour an experiment."""
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for number, (name, runs) in enumerate(experiments.items()):
        for index, rows in enumerate(runs.values()):
            if title.startswith("Held-out"):
                shown = of(rows, "evaluation", "greedy") + of(rows, "final", "greedy")
                values = [float(row["success"]) for row in shown]
            else:
                shown = of(rows, "train")
                values = smooth([float(row["success"]) for row in shown])
            axes.plot(
                [int(row["step"]) for row in shown], [100 * value for value in values],
                color=f"C{number}", marker="." if len(shown) < 15 else None,
                label=EXPERIMENTS[name].title if index == 0 else None,
            )  # fmt: skip
    axes.set(xlabel="step", ylabel="success, %", ylim=(0, 101), title=title)
    axes.legend(loc="lower right", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def smooth(values: list[float]) -> list[float]:
    """Each value's mean with those before it, `LAST` in all."""
    return [statistics.mean(values[max(0, i + 1 - LAST) : i + 1]) for i in range(len(values))]


if __name__ == "__main__":
    sys.exit(main())
