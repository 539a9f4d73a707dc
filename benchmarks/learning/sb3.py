"""Classic RL from pixels to clicks: ``python benchmarks/learning/sb3.py``, on two CPU cores.

Each experiment is one command line of `ui-gym-train --plugin sb3`, run for several seeds, one run
after another with one thread. What a run said of each step goes to ``curves/sb3-<name>-<seed>.csv``
beside this file, what guessing reaches to ``curves/sb3-chance.json``, and what Stable-Baselines3
does on MiniWoB++'s own env in as many seconds to ``curves/sb3-peer-<seed>.json``. A run whose curve
is there is not run again. ``--report`` writes ``sb3.md`` and ``sb3.svg`` of what there is.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ui_gym_agents.evaluation.report.statistics import percent

HERE = Path(__file__).parent
CURVES = HERE / "curves"
CHANCE = CURVES / "sb3-chance.json"
PEER = "sb3-peer"

COMMON = (
    "--policy.threads", "1", "--run.records", "off", "--run.save_every", "0",
    "--run.eval_every", "5", "--evaluation.quick_episodes", "60", "--evaluation.episodes", "200",
    "--evaluation.before", "false", "--evaluation.both", "false", "--run.keep_pictures", "0",
)  # fmt: skip
COLUMNS = (
    "step", "kind", "mode", "env_steps", "episodes", "success", "low", "high", "n", "entropy",
    "explained_variance", "failures", "time_env", "time_learn", "time_step", "time_elapsed",
)  # fmt: skip


@dataclass(frozen=True)
class Experiment:
    """What is learned: flags of `ui-gym-train --plugin sb3`, and by how many seeds."""

    title: str
    flags: tuple[str, ...]
    seeds: int = 3

    @property
    def task(self) -> str:
        return self.flags[self.flags.index("--tasks.ids") + 1]

    @property
    def grid(self) -> tuple[int, int]:
        """Columns and rows."""
        return (16, 21) if "--trainer.columns" in self.flags else (10, 8)


UNTIL = ("--evaluation.target", "0.97", "--run.steps", "40")
"""Forty steps at most; a run ends once a quick evaluation says 97 %."""
START = ("--run.steps", "0", "--evaluation.both", "true")
"""The network as it is drawn: what a greedy choice of it hits by luck."""
LONG = ("--run.steps", "10", "--evaluation.both", "true")
"""Until choices that are drawn, and not only the likeliest, are right."""
CELLS = ("--trainer.columns", "16", "--trainer.rows", "21")
"""Cells of 10x10 pixels, of which each control of MiniWoB++'s 160x210 pages has one at least."""


def on(task: str, *flags: str) -> tuple[str, ...]:
    """The flags of an experiment on a task of MiniWoB++."""
    return ("--tasks.ids", f"MiniWoB-{task}", *CELLS, *flags)


EXPERIMENTS = {
    "tab": Experiment("ClickTab", on("ClickTab", *UNTIL)),
    "dialog": Experiment("ClickDialog2", on("ClickDialog2", *UNTIL)),
    "focus": Experiment("FocusText2", on("FocusText2", *UNTIL)),
    "tab-start": Experiment("ClickTab, before training", on("ClickTab", *START)),
    "dialog-start": Experiment("ClickDialog2, before training", on("ClickDialog2", *START)),
    "focus-start": Experiment("FocusText2, before training", on("FocusText2", *START)),
    "tab-long": Experiment("ClickTab, twice as long", on("ClickTab", *LONG), 1),
    "dialog-long": Experiment("ClickDialog2, twice as long", on("ClickDialog2", *LONG), 1),
    "focus-long": Experiment("FocusText2, twice as long", on("FocusText2", *LONG), 1),
    "tab-blind": Experiment(
        "ClickTab, the goal in the picture alone",
        on("ClickTab", "--trainer.goal", "none", "--run.steps", "10"), 1,
    ),
    "tab-still": Experiment(
        "ClickTab, control: learning rate 0",
        on("ClickTab", "--trainer.lr", "0", "--run.steps", "5"), 1,
    ),
    "tab-ppo": Experiment(
        "ClickTab without the mask", on("ClickTab", "--trainer.algorithm", "ppo", *UNTIL), 1
    ),
    "button": Experiment(
        "UI/ClickButton compact, whose words must be read",
        ("--tasks.ids", "ClickButton", "--tasks.arguments", '{"compact": true}',
         *UNTIL), 1,
    ),
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(EXPERIMENTS)}; all, if none")
    parser.add_argument("--seeds", type=int, nargs="*", help="these alone")
    parser.add_argument("--chance", action="store_true", help="measure what guessing reaches")
    parser.add_argument("--peer", type=int, metavar="SEED", help="MiniWoB++'s own env")
    parser.add_argument("--seconds", type=float, help="of training on MiniWoB++'s own env")
    parser.add_argument("--report", action="store_true", help="write sb3.md and sb3.svg")
    asked = parser.parse_args(arguments)
    if asked.chance:
        measure_chance(asked.names or list(EXPERIMENTS))
    elif asked.peer is not None:
        train_peer(asked.peer, asked.seconds)
    elif not asked.report:
        for seed in range(3):
            for name in asked.names or EXPERIMENTS:
                if seed < EXPERIMENTS[name].seeds and seed in (asked.seeds or range(3)):
                    train(name, seed)
    if asked.report:
        report()
    return 0


# -- our runs --


def train(name: str, seed: int) -> None:
    """One run, unless its curve is there."""
    path = CURVES / f"sb3-{name}-{seed}.csv"
    if path.exists():
        return
    program = str(Path(sys.executable).with_name("ui-gym-train"))
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        own = EXPERIMENTS[name].flags
        common = [
            word
            for flag, value in zip(COMMON[::2], COMMON[1::2], strict=True)
            if flag not in own
            for word in (flag, value)
        ]
        command = [
            program, "--plugin", "sb3", *common, *own,
            "--run.seed", str(seed), "--run.directory", str(run),
        ]  # fmt: skip
        print(f"{name}, seed {seed}", flush=True)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for row in lines:
            table.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()})


# -- what guessing reaches --


def measure_chance(names: Sequence[str], episodes: int = 200) -> None:
    """Clicks at random, in all cells and in those of the mask, on the held-out episodes."""
    known = json.loads(CHANCE.read_text()) if CHANCE.exists() else {}
    for experiment in {EXPERIMENTS[name].task: EXPERIMENTS[name] for name in names}.values():
        known[experiment.task] = {
            kind: random_success(experiment, episodes, masked=kind == "masked")
            for kind in ("masked", "anywhere")
        }
        CHANCE.write_text(json.dumps(known, indent=1) + "\n")


def random_success(experiment: Experiment, episodes: int, *, masked: bool) -> float:
    """The success rate of clicks that are drawn evenly."""
    from ui_gym.catalog import TaskSource
    from ui_gym.wrappers import CellMask
    from ui_gym.wrappers.grid import Writer
    from ui_gym_agents.agents.agent import Decision, View
    from ui_gym_agents.collecting.collector import Collector
    from ui_gym_agents.tasks.mix import make_envs, reset_names
    from ui_gym_agents.tasks.sources import entries_of
    from ui_gym_agents.training.context import evaluation_requests

    entries = entries_of(TaskSource(ids=(experiment.task,)))
    compact = {} if "MiniWoB" in experiment.task else {"compact": True}
    envs = make_envs(entries, 8, observation="both", arguments=compact)
    write = Writer(envs.single_action_space, *experiment.grid)
    mask = CellMask(write.grid)

    class Guesser:
        def act(self, views: Sequence[View]) -> list[Decision]:
            return [Decision(write(self.draw(view))) for view in views]

        def draw(self, view: View) -> int:
            allowed = mask(view.elements) if masked else np.ones(mask.size, np.bool_)
            return int(np.random.default_rng(view.noise).choice(np.flatnonzero(allowed)))

    try:
        asked = evaluation_requests(list(reset_names(entries).values()), episodes, "heldout")
        played = Collector(envs, Guesser()).collect(asked)
    finally:
        envs.close()
    return float(np.mean([episode.success for episode in played]))


# -- MiniWoB++'s own env --


def train_peer(seed: int, seconds: float | None) -> None:
    """Stable-Baselines3 with the same settings on MiniWoB++'s own env, for as many seconds."""
    from sb3_peer import learn

    path = CURVES / f"{PEER}-{seed}.json"
    if path.exists():
        return
    seconds = seconds or training_seconds(rows_of("tab")[seed])
    path.write_text(json.dumps(learn(seed, seconds), indent=1) + "\n")


# -- the report --

Rows = list[dict[str, str]]


def rows_of(name: str) -> dict[int, Rows]:
    """The curves of an experiment, by seed."""
    found = {}
    for seed in range(3):
        path = CURVES / f"sb3-{name}-{seed}.csv"
        if path.exists():
            with path.open(newline="") as file:
                found[seed] = list(csv.DictReader(file))
    return found


def training_seconds(rows: Rows) -> float:
    """Seconds of training alone, without evaluations."""
    return sum(float(row["time_step"]) for row in rows if row["kind"] == "train")


HEAD = """## Classic RL from pixels to clicks

Runs of [`ui-gym-sb3`](../../plugins/ui-gym-sb3/README.md), one after another with a thread each, on
two cores that were shared with other work all the while (load 20 to 40): the seconds are not those
of a quiet machine. There is no model to start from; each network is drawn at random. The pages of
the first tasks are MiniWoB++'s, 160x210 pixels, seen as 84x84. A run ends once 97 % of 60 held-out
episodes succeed greedily; the table has all 200. Dotted lines are single runs.

![Success while training](sb3.svg)
"""


def report() -> None:
    """Write ``sb3.md``, which `report.py` takes into the README, and ``sb3.svg``."""
    chance = json.loads(CHANCE.read_text()) if CHANCE.exists() else {}
    lines = [
        "| task | clicks at random: anywhere, in the mask | seed | env steps | seconds of training "
        "| env steps a second | training, first step | training, last step | held out, greedy "
        "| held out, sampled |",
        f"|{' --- |' * 10}",
    ]
    for name, experiment in EXPERIMENTS.items():
        guess = chance.get(experiment.task)
        told = "" if guess is None else f"{percent(guess['anywhere'])}, {percent(guess['masked'])}"
        for seed, rows in rows_of(name).items():
            steps = [row for row in rows if row["kind"] == "train"]
            seconds = training_seconds(rows)
            trained = ["0", "0", "", "", ""]
            if steps:
                done = float(steps[-1]["env_steps"])
                played = [percent(float(steps[at]["success"])) for at in (0, -1)]
                trained = [f"{done:.0f}", f"{seconds:.0f}", f"{done / seconds:.1f}", *played]
            finals = [final(rows, mode) for mode in ("greedy", "sampled")]
            lines.append(
                f"| {' | '.join([experiment.title, told, str(seed), *trained, *finals])} |"
            )
    shown = [
        f"    ui-gym-train --plugin sb3 {' '.join(map(shlex.quote, e.flags))}"
        for e in EXPERIMENTS.values()
    ]
    peers = peer_lines()
    told = [HEAD, *shown, "", *lines, "", *peers]
    (HERE / "sb3.md").write_text("\n".join(told).rstrip() + "\n")
    draw()


def final(rows: Rows, mode: str) -> str:
    """What a run reached on held-out episodes, with its 95 % interval; empty if not measured."""
    found = [row for row in rows if row["kind"] == "final" and row["mode"] == mode]
    if not found:
        return ""
    ends = f"{100 * float(found[0]['low']):.0f} to {100 * float(found[0]['high']):.0f}"
    return f"{percent(float(found[0]['success']))} ({ends})"


def peer_lines() -> list[str]:
    """The comparison with MiniWoB++'s own env."""
    found = [json.loads(path.read_text()) for path in sorted(CURVES.glob(f"{PEER}-*.json"))]
    if not found:
        return []
    lines = [
        "| ClickTab, seed | seconds of training | env steps, ours | held out, greedy, ours "
        "| env steps, MiniWoB++'s env | greedy, MiniWoB++'s env |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for told in found:
        rows = rows_of("tab")[told["seed"]]
        steps = [row for row in rows if row["kind"] == "train"]
        (last,) = [row for row in rows if row["kind"] == "final"]
        cells = (
            str(told["seed"]), f"{told['seconds']:.0f}", steps[-1]["env_steps"],
            percent(float(last["success"])), str(told["env_steps"]),
            f"{percent(told['success'])} of {told['n']}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def draw() -> None:
    """Success while training, over env steps, the mean of three steps."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "ui-gym", "svg.fonttype": "none"})
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for number, (name, experiment) in enumerate(EXPERIMENTS.items()):
        for seed, rows in rows_of(name).items():
            steps = [row for row in rows if row["kind"] == "train" and row["success"]]
            if not steps:
                continue
            played = [float(row["success"]) for row in steps]
            smooth = [statistics.mean(played[max(0, i - 2) : i + 1]) for i in range(len(played))]
            axes.plot(
                [float(row["env_steps"]) for row in steps], smooth, color=f"C{number}",
                label=experiment.title if seed == 0 else None,
                linestyle=":" if experiment.seeds == 1 else "-",
            )  # fmt: skip
    axes.set(xlabel="env steps", ylabel="success while training, sampled", ylim=(0, 1.02))
    axes.legend(fontsize="small", frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(HERE / "sb3.svg", metadata={"Date": None})


if __name__ == "__main__":
    started = time.monotonic()
    status = main()
    print(f"{time.monotonic() - started:.0f} s")
    sys.exit(status)
