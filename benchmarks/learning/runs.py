"""Learning curves: ``python benchmarks/learning/runs.py``, some hours on two CPU cores.

Each experiment is one command line of `ui-gym-train`, run for several seeds, two runs side by side
with a thread each. What every run said of each step goes to ``curves/<experiment>-<seed>.csv``
beside this file; `report.py` makes the README's tables and pictures of it. A run whose curve is
there is not run again.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CURVES = HERE / "curves"
SPARSE = HERE / "sparse.jsonl"
"""Task instances that the start solves in at most one of sixteen tries; see `make_sparse`."""

COMMON = (
    "--policy.threads", "1", "--evaluation.quick_episodes", "48", "--evaluation.episodes", "100",
    "--evaluation.before", "false", "--run.save_every", "0", "--run.records", "off",
)  # fmt: skip


@dataclass(frozen=True)
class Experiment:
    """A command line of `ui-gym-train`, and what it is to show."""

    title: str
    flags: tuple[str, ...]

    def shown(self) -> list[str]:
        """The flags that say what is learned."""
        return [
            Path(flag).name if flag == str(SPARSE) else shlex.quote(flag) for flag in self.flags
        ]

    def command(self, seed: int, folder: Path) -> list[str]:
        program = str(Path(sys.executable).with_name("ui-gym-train"))
        own = ("--run.seed", str(seed), "--run.directory", str(folder))
        return [program, *COMMON, *self.flags, *own]


GRPO = ("--plugin", "grpo", "--run.steps", "30", "--run.eval_every", "10")
CRITIC = ("--trainer.algorithm", "ppo", "--trainer.group_size", "1", "--trainer.groups", "64")
ON_SPARSE = (
    "--plugin", "grpo", "--tasks.file", str(SPARSE), "--tasks.limit", "8", "--run.steps", "30",
    "--run.eval_every", "0", "--trainer.groups", "4", "--trainer.group_size", "4",
    "--trainer.refill", "1", "--trainer.lr", "3e-4",
)  # fmt: skip

EXPERIMENTS = {
    "grpo": Experiment("GRPO on compact data entry", GRPO),
    "ppo": Experiment("PPO on compact data entry", (*GRPO, *CRITIC)),
    "ppo-long": Experiment(
        "PPO on compact data entry, twice as long", (*GRPO, *CRITIC, "--run.steps", "60")
    ),
    "rejection": Experiment(
        "Rejection sampling on compact data entry",
        ("--plugin", "sft", "--trainer.source", "policy", "--run.steps", "6",
         "--run.eval_every", "2"),
    ),
    "sparse-grpo": Experiment("GRPO on sparse task instances", ON_SPARSE),
    "sparse-arpo": Experiment(
        "ARPO on sparse task instances", (*ON_SPARSE, "--trainer.replay.enabled", "true")
    ),
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=2, help="runs side by side")
    parser.add_argument("--runs", type=Path, default=Path("runs") / "learning")
    parser.add_argument("--print", action="store_true", help="say the commands, and stop")
    asked = parser.parse_args(arguments)
    if any(name.startswith("sparse") for name in asked.only) and not SPARSE.exists():
        make_sparse()
    waiting = [
        (name, seed)
        for seed in asked.seeds
        for name in asked.only
        if not curve_path(name, seed).exists()
    ]
    if asked.print:
        for name, seed in waiting:
            print(shlex.join(EXPERIMENTS[name].command(seed, asked.runs / f"{name}-{seed}")))
        return 0
    with ThreadPoolExecutor(asked.jobs) as jobs:
        ended = list(jobs.map(lambda each: run(*each, asked.runs), waiting))
    return 0 if all(ended) else 1


def run(name: str, seed: int, runs: Path) -> bool:
    """Train once and keep the curve; whether it went well."""
    folder = runs / f"{name}-{seed}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".log").open("w") as log:
        ended = subprocess.run(EXPERIMENTS[name].command(seed, folder), stdout=log, stderr=log)
    print(f"{name}, seed {seed}: {'done' if ended.returncode == 0 else f'failed, see {log.name}'}")
    if ended.returncode == 0:
        keep_curve(folder, curve_path(name, seed))
    return ended.returncode == 0


def curve_path(name: str, seed: int) -> Path:
    return CURVES / f"{name}-{seed}.csv"


# -- curves --

COLUMNS = ("step", "kind", "mode", "success", "low", "high", "score", "replayed", "time_step")


def keep_curve(folder: Path, path: Path) -> None:
    """Write what a run measured as a table, a line a step or evaluation."""
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for row in map(json.loads, lines):
            table.writerow({k: _short(v) for k, v in row.items()})


def _short(value: Any) -> Any:
    return f"{value:.4g}" if isinstance(value, float) else value


# -- sparse task instances --


def make_sparse(tries: int = 16, instances: int = 160, most: float = 0.1) -> None:
    """Keep the task instances that the start solves sometimes, in at most `most` of its tries."""
    with tempfile.TemporaryDirectory() as folder:
        solved_sometimes = Path(folder) / "instances.jsonl"
        program = str(Path(sys.executable).with_name("ui-gym-tasks"))
        subprocess.run(
            [program, "filter", "--tasks.ids", "DataEntry",
             "--tasks.arguments", '{"compact": true}', "--instances", str(instances),
             "--episodes", str(tries), "--out", str(solved_sometimes)],
            check=True,
        )  # fmt: skip
        lines = solved_sometimes.read_text().splitlines(keepends=True)
    sparse = [line for line in lines if json.loads(line)["success"] <= most]
    SPARSE.write_text("".join(sparse))
    print(f"{len(sparse)} of {instances} instances are solved in at most {100 * most:g} % of tries")


if __name__ == "__main__":
    sys.exit(main())
