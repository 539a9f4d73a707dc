"""The README of the learning curves beside this file: ``python benchmarks/learning/report.py``."""

from __future__ import annotations

import csv
import itertools
import json
import statistics
import sys
from collections import Counter
from pathlib import Path

import matplotlib as mpl
from experiments import CURVES, EXPERIMENTS, HERE, PARENT_FIGURES

from ui_gym_agents.evaluation.report.statistics import mean_and_half, over_runs, percent

mpl.use("svg")
from matplotlib import pyplot

Row = dict[str, str]
Runs = dict[int, list[Row]]
"""The lines of an experiment's runs, by seed."""

PICTURES = {
    "data_entry": (
        "Held-out success, greedy",
        (
            "grpo",
            "ppo",
            "ppo-ends",
            "ppo-long",
            "ppo-plain",
            "ppo-group",
            "ppo-still",
            "ppo-whole",
            "rejection",
        ),
    ),
    "skill": (
        "Held-out success, greedy, of a skill that no demonstration contained",
        ("skill", "skill-shuffled", "skill-still", "skill-rejection"),
    ),
    "team": (
        "Success while training of two agents with one policy, mean of five steps",
        ("team", "team-shuffled"),
    ),
    "folder": (
        "Success while training on a desktop, mean of five steps",
        ("folder", "folder-arpo", "folder-few", "folder-shuffled", "folder-still"),
    ),
    "sparse": (
        "Success while training, sampled, mean of five steps",
        ("sparse-grpo", "sparse-arpo", "more-grpo", "more-arpo"),
    ),
}
BESIDE = {
    "folder-arpo": "folder-few", "sparse-arpo": "sparse-grpo", "more-arpo": "more-grpo",
    "ppo": "grpo", "ppo-ends": "ppo", "ppo-long": "grpo", "ppo-plain": "grpo", "ppo-scale": "grpo",
    "ppo-group": "grpo", "ppo-still": "grpo", "ppo-whole": "grpo",
}  # fmt: skip
"""Experiments whose runs are compared with another's, seed by seed."""
CLASSIC = HERE / "sb3.md"
"""The section of classic RL, as `sb3.py` writes it."""
LAST = 5
"""Steps that are averaged: at the end of training, and in the picture of noisy curves."""

HEAD = """# Learning curves

Each line below is a run of `ui-gym-train` on two cores without a GPU; runs share the machine, two
at a time, a thread each. Those on data entry start from `tiny-clerk`, a vision-language model of a
million parameters that fills in forms like a clumsy clerk. No held-out instance is one of
training. Brackets are 95 % intervals: of a run over its held-out episodes
(100, of some 200; Wilson), of "all" over the seeds (Student's t, cut at 0 and 100 %, and nowhere
narrower than that over the episodes; of three seeds it is wide). The tables of every step lie in
`curves/`. Those of the first runs do not tell how many episodes a GRPO step had, which replaces
groups that teach nothing; the mean of the numbers that its success rate allows (64 to 96) is taken.
All runs of `grpo` and `tinker` but the team's left turns that were cut at the limit of new tokens
out of the loss, the default then (`--trainer.mask_truncated true`).

`tiny-clerk` is `tiny-eyes`, which solves the task in 100 %, after demonstrations of mistakes: its
curves show a skill that the model once had coming back. They say whether the learners learn, and
how they compare on this model and task. A ratio between two methods, or the episodes that one
needs, at one million parameters does not travel to seven billion.

To repeat a run, delete its table:

    python benchmarks/learning/experiments.py
    python benchmarks/learning/report.py
"""

SKILL = """The runs of the skill that no demonstration contained start from `tiny-hands`, not from
`tiny-clerk`. It was taught to read a board of check boxes and buttons aloud, to say which of them
the goal names, and to click any one of these, ticked or not; never the page of `CheckboxSet`, and
never more than one click (`tests/plugins/test_parts.py`). What a learner has to find is which of
the named comes next, and when to save. Sampled, the parent succeeds in {one} of tries at 200
held-out instances; with {most} tries at each, in {best} of the instances at least once.
"""


def main() -> int:
    pyplot.rcParams.update({"svg.hashsalt": "ui-gym", "svg.fonttype": "none"})
    known = {name: read(name) for name in EXPERIMENTS}
    parts = [HEAD, *about_the_skill()]
    for picture, (title, names) in PICTURES.items():
        drawn = {name: known[name] for name in names if known[name]}
        if drawn:
            draw(HERE / f"{picture}.svg", title, drawn)
            parts.append(f"![{title}]({picture}.svg)\n")
    parts += [section(name, runs) for name, runs in known.items() if runs]
    parts += [CLASSIC.read_text()] if CLASSIC.exists() else []
    (HERE / "README.md").write_text("\n".join(parts))
    return 0


def about_the_skill() -> list[str]:
    """What the parent of the skill is, and what it does under more sampling."""
    if not PARENT_FIGURES.exists():
        return []
    rates = {int(k): v for k, v in json.loads(PARENT_FIGURES.read_text())["pass_at_k"].items()}
    most = max(rates)
    return [SKILL.format(one=percent(rates[1]), most=most, best=percent(rates[most]))]


def read(name: str) -> Runs:
    """The curves of an experiment."""
    found = {}
    for path in sorted(CURVES.glob(f"{name}-[0-9].csv")):
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
        "| seed | steps | episodes | success in the first step | in the last five "
        "| held out, greedy | held out, sampled | minutes |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for seed, rows in runs.items():
        steps = of(rows, "train")
        played = [float(row["success"]) for row in steps]
        seconds = sum(float(row["time_step"]) for row in steps)
        cells = [
            str(seed), str(len(steps)), f"{played_so_far(name, steps)[-1]:.0f}",
            percent(played[0]), percent(statistics.mean(played[-LAST:])),
            *(interval(of(rows, "final", mode)) for mode in ("greedy", "sampled")),
            f"{seconds / 60:.1f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    if len(runs) > 1:
        episodes = EXPERIMENTS[name].episodes
        held_out = [over_seeds(runs, mode, episodes) for mode in ("greedy", "sampled")]
        lines.append(f"| all | | | | | {' | '.join(held_out)} | |")
    return "\n".join([*lines, *beside(name, runs), *by_layout(name)]) + "\n"


def beside(name: str, runs: Runs) -> list[str]:
    """What the runs gain over those of the same seeds of another experiment."""
    other = read(BESIDE[name]) if name in BESIDE else {}
    seeds = sorted(runs.keys() & other.keys())
    if len(seeds) < 2:
        return []
    told = []
    for mode in ("greedy", "sampled"):
        gains = [last(runs[seed], mode) - last(other[seed], mode) for seed in seeds]
        mean, half = mean_and_half(gains)
        ends = f"{100 * (mean - half):+.0f} to {100 * (mean + half):+.0f}"
        told.append(f"{100 * mean:+.1f} points {mode} ({ends})")
    against = f"Against the same seeds of *{EXPERIMENTS[BESIDE[name]].title}*: {', '.join(told)}."
    replayed = [
        sum(float(row["replayed"] or 0) for row in of(runs[seed], "train")) for seed in runs
    ]
    if any(replayed):
        against += f" Replayed episodes of a run: {min(replayed):.0f} to {max(replayed):.0f}."
    return ["", against]


def last(rows: list[Row], mode: str) -> float:
    return float(of(rows, "final", mode)[-1]["success"])


def by_layout(name: str) -> list[str]:
    """Greedy success at the end by the order of the form's fields, over all seeds."""
    won: Counter[str] = Counter()
    played: Counter[str] = Counter()
    for path in CURVES.glob(f"{name}-[0-9]-layouts.csv"):
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                if row["mode"] == "greedy":
                    played[row["fields"]] += int(row["episodes"])
                    won[row["fields"]] += int(row["success"]) * int(row["episodes"])
    if not played:
        return []
    told = [
        f"{fields.replace(' ', ', ')}: {percent(won[fields] / count)} of {count}"
        for fields, count in sorted(played.items())
    ]
    return ["", f"Held out, greedy, by the order of the form's fields: {'; '.join(told)}."]


def over_seeds(runs: Runs, mode: str, episodes: int) -> str:
    """The mean of the runs' last measurements, with its interval over seeds."""
    values = [last(each, mode) for each in runs.values() if of(each, "final", mode)]
    if len(values) < 2:
        return ""
    mean, low, high = over_runs(values, episodes)
    return f"{percent(mean)} ({100 * low:.0f} to {100 * high:.0f})"


def played_so_far(name: str, steps: list[Row]) -> list[float]:
    """The episodes of training up to the end of each step."""
    return list(itertools.accumulate(_episodes(name, row) for row in steps))


def _episodes(name: str, row: Row) -> float:
    """The episodes of a step: as its table says, or else the mean of what its success allows."""
    if row.get("episodes"):
        return float(row["episodes"])
    rate, sizes = float(row["success"]), EXPERIMENTS[name].sizes
    return statistics.mean([n for n in sizes if abs(round(rate * n) / n - rate) < 1e-4] or sizes)


def interval(rows: list[Row]) -> str:
    if not rows:
        return ""
    last = rows[-1]
    low, high = (f"{100 * float(last[side]):.0f}" for side in ("low", "high"))
    return f"{percent(float(last['success']))} ({low} to {high})"


# -- the pictures --


def draw(path: Path, title: str, experiments: dict[str, Runs]) -> None:
    """A line a run, a colour an experiment; over steps, and over episodes."""
    figure, (by_steps, by_episodes) = pyplot.subplots(1, 2, figsize=(11, 4), sharey=True)
    for number, (name, runs) in enumerate(experiments.items()):
        for index, rows in enumerate(runs.values()):
            steps = of(rows, "train")
            if title.startswith("Held-out"):
                shown = of(rows, "evaluation", "greedy") + of(rows, "final", "greedy")
                values = [float(row["success"]) for row in shown]
            else:
                shown = steps
                values = smooth([float(row["success"]) for row in shown])
            played = dict(
                zip([row["step"] for row in steps], played_so_far(name, steps), strict=True)
            )
            for axes, across in (
                (by_steps, [int(row["step"]) for row in shown]),
                (by_episodes, [played.get(row["step"], 0) for row in shown]),
            ):
                axes.plot(
                    across, [100 * value for value in values], color=f"C{number}",
                    marker="." if len(shown) < 15 else None,
                    label=EXPERIMENTS[name].title if index == 0 else None,
                )  # fmt: skip
    by_steps.set(xlabel="step", ylabel="success, %", ylim=(0, 101), title=title)
    by_episodes.set(xlabel="episodes")
    for axes in (by_steps, by_episodes):
        axes.spines[["top", "right"]].set_visible(False)
    handles, titles = by_steps.get_legend_handles_labels()
    rows = (len(titles) + 1) // 2
    figure.legend(handles, titles, loc="lower center", ncols=2, frameon=False)
    figure.tight_layout(rect=(0, 0.02 + 0.05 * rows, 1, 1))
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def smooth(values: list[float]) -> list[float]:
    """Each value's mean with those before it, `LAST` in all."""
    return [statistics.mean(values[max(0, i + 1 - LAST) : i + 1]) for i in range(len(values))]


if __name__ == "__main__":
    sys.exit(main())
