"""Learning curves: ``python benchmarks/learning/experiments.py``, some hours on two CPU cores.

Each experiment is one command line of `ui-gym-train`, run for several seeds, two runs side by side
with a thread each. What every run said of each step goes to ``curves/<experiment>-<seed>.csv``
beside this file; `report.py` makes the README's tables and pictures of it. A run whose curve is
there is not run again, and one that was stopped goes on from its newest checkpoint. The skill that
no demonstration contained, with its controls:

    python benchmarks/learning/experiments.py --group skill

Those named ``tinker`` want a server, `ui-gym-tinker-server --model tiny-clerk`, in
``TINKER_BASE_URL`` and ``TINKER_API_KEY``.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
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
    "--evaluation.before", "false", "--run.save_every", "5", "--run.keep", "1",
    "--run.records", "off",
)  # fmt: skip


@dataclass(frozen=True)
class Experiment:
    """A command line of `ui-gym-train`, and what it is to show.

    `sizes` are the numbers of episodes that a step may have, for tables that do not tell them.
    It is run for the seeds from 0 to `seeds` - 1.
    """

    title: str
    flags: tuple[str, ...]
    sizes: tuple[int, ...] = ()
    seeds: int = 3

    @property
    def episodes(self) -> int:
        """How many held-out episodes measure a run at its end."""
        backwards = (*COMMON, *self.flags)[::-1]
        return int(backwards[backwards.index("--evaluation.episodes") - 1])

    def shown(self) -> list[str]:
        """The flags that say what is learned."""
        return [
            Path(flag).name if flag == str(SPARSE) else shlex.quote(flag) for flag in self.flags
        ]

    def command(self, seed: int, folder: Path) -> list[str]:
        program = str(Path(sys.executable).with_name("ui-gym-train"))
        if _goes_on(folder):
            return [program, "--resume", str(folder)]
        own = ("--run.seed", str(seed), "--run.directory", str(folder))
        return [program, *COMMON, *self.flags, *own]


GROUPS = tuple(8 * groups for groups in range(8, 13))
"""Eight groups of eight episodes; up to four that tell nothing are replaced."""
GRPO = ("--plugin", "grpo", "--run.steps", "30", "--run.eval_every", "10")
GOES_ON = ("--trainer.critic.bootstrap", "true")
"""An episode goes on at the step limit: for every critic but that of `ppo-ends`."""
ALONE = ("--trainer.algorithm", "ppo", "--trainer.group_size", "1", "--trainer.groups", "64")
CRITIC = (*ALONE, *GOES_ON)
EQUAL = ("--run.steps", "39", "--run.eval_every", "13")
"""Steps of 64 episodes that make as many as GRPO's, which replaces groups."""


FROM_GROUPS = (
    "--trainer.algorithm", "ppo", "--trainer.critic.whiten", "none",
    "--trainer.critic.baseline", "group", *GOES_ON,
)  # fmt: skip
WHOLE = ("--trainer.critic.lam", "1", "--trainer.critic.warmup", "0")
"""Advantages are whole returns, and the policy learns from the first step on."""


def on_sparse(instances: int, groups: int, steps: int) -> tuple[str, ...]:
    """The flags of a run on the first `instances` of `SPARSE`."""
    return (
        "--plugin", "grpo", "--tasks.file", str(SPARSE), "--tasks.limit", str(instances),
        "--run.steps", str(steps), "--run.eval_every", "0", "--trainer.groups", str(groups),
        "--trainer.group_size", "4", "--trainer.refill", "1", "--trainer.lr", "3e-4",
    )  # fmt: skip


FEW, MORE = on_sparse(8, 4, 30), on_sparse(32, 8, 40)
REPLAY = ("--trainer.replay.enabled", "true")
# A skill that no demonstration contained: the parent clicks any of the things that are named, and
# the task asks which one is next, and when it is enough.
PARENT = "tiny-hands"
SKILL = (
    "--policy.model", PARENT, "--policy.max_new_tokens", "48",
    "--tasks.ids", "CheckboxSet", "--tasks.arguments", '{"compact": true}',
    "--evaluation.episodes", "200",
)  # fmt: skip
SKILL_GRPO = ("--plugin", "grpo", *SKILL, "--run.steps", "60", "--run.eval_every", "10")

TEAM = (
    "--plugin", "grpo", "--policy.model", PARENT, "--policy.max_new_tokens", "48",
    "--tasks.ids", "SharedBoard", "--tasks.arguments", '{"compact": true}',
    "--env.num_envs", "32", "--trainer.group_size", "16", "--trainer.lr", "1e-3",
    "--trainer.advantage", "gigpo", "--trainer.mask_truncated", "false",
    "--run.steps", "80", "--run.eval_every", "0", "--evaluation.episodes", "200",
)  # fmt: skip

# A folder in a real file manager: the parent clicks what is named or presses Delete, in any order.
FOLDER = (
    "--plugin", "grpo", "--policy.model", "tiny-filer", "--policy.max_new_tokens", "48",
    "--tasks.ids", "DesktopDeleteFiles", "--tasks.arguments", '{"compact": true}',
    "--env.num_envs", "16", "--trainer.lr", "1e-3", "--run.steps", "20", "--run.eval_every", "0",
    "--evaluation.episodes", "200",
)  # fmt: skip
# Replay needs instances that come again.
FOLDER_FEW = (*FOLDER, "--run.steps", "16", "--trainer.instances", "24")

EXPERIMENTS = {
    "grpo": Experiment("GRPO on compact data entry", GRPO, GROUPS),
    "ppo": Experiment("PPO on compact data entry", (*GRPO, *CRITIC), (64,)),
    "ppo-ends": Experiment("The same with an end at the step limit", (*GRPO, *ALONE), seeds=1),
    "ppo-long": Experiment(
        "PPO on compact data entry, twice as long", (*GRPO, *CRITIC, "--run.steps", "60"), (64,)
    ),
    "ppo-plain": Experiment(
        "PPO without whitening, on as many episodes as GRPO",
        (*GRPO, *CRITIC, *EQUAL, "--trainer.critic.whiten", "none"),
    ),
    "ppo-scale": Experiment(
        "PPO with whitening by scale alone, on as many episodes",
        (*GRPO, *CRITIC, *EQUAL, "--trainer.critic.whiten", "scale"),
    ),
    "ppo-group": Experiment(
        "PPO without whitening, whose critic begins from the group's mean",
        (*GRPO, *FROM_GROUPS),
    ),
    "ppo-still": Experiment(
        "The same with a critic that learns nothing: the group's mean alone",
        (*GRPO, *FROM_GROUPS, *WHOLE, "--trainer.critic.lr", "1e-30"),
    ),
    "ppo-whole": Experiment(
        "The same with a critic that learns, lambda 1 and no warm-up",
        (*GRPO, *FROM_GROUPS, *WHOLE),
    ),
    "rejection": Experiment(
        "Rejection sampling on compact data entry",
        ("--plugin", "sft", "--trainer.source", "policy", "--run.steps", "6",
         "--run.eval_every", "2"),
        (128,),
    ),
    "sparse-grpo": Experiment("GRPO on eight sparse task instances", FEW, (16,)),
    "sparse-arpo": Experiment("ARPO on eight sparse instances", (*FEW, *REPLAY), (16,)),
    "more-grpo": Experiment("GRPO on 32 sparse task instances", MORE, seeds=5),
    "more-arpo": Experiment("ARPO on 32 sparse instances", (*MORE, *REPLAY), seeds=5),
    "skill": Experiment("GRPO on a skill that no demonstration contained", SKILL_GRPO),
    "skill-shuffled": Experiment(
        "The same with rewards shuffled", (*SKILL_GRPO, "--trainer.shuffle_rewards", "true")
    ),
    "skill-still": Experiment(
        "The same with a learning rate of nothing, shorter",
        (*SKILL_GRPO, "--trainer.lr", "1e-30", "--run.steps", "10"),
        seeds=1,
    ),
    "skill-rejection": Experiment(
        "Rejection sampling on that skill, on fewer episodes",
        ("--plugin", "sft", "--trainer.source", "policy", *SKILL,
         "--run.steps", "16", "--run.eval_every", "4"),
    ),
    "folder": Experiment("GRPO on a folder in a desktop's file manager", FOLDER),
    "folder-arpo": Experiment("ARPO on 24 such folders", (*FOLDER_FEW, *REPLAY)),
    "folder-few": Experiment("GRPO on these 24 folders", FOLDER_FEW),
    "folder-shuffled": Experiment(
        "GRPO on a folder with rewards shuffled, shorter",
        (*FOLDER, "--run.steps", "12", "--trainer.shuffle_rewards", "true"),
        seeds=1,
    ),
    "folder-still": Experiment(
        "GRPO on a folder with a learning rate of nothing, shorter",
        (*FOLDER, "--run.steps", "3", "--trainer.lr", "1e-30"),
        seeds=1,
    ),
    "tinker": Experiment(
        "GRPO on compact data entry through ui-gym-tinker-server",
        ("--plugin", "tinker", "--run.eval_every", "0", "--evaluation.episodes", "200"),
    ),
    "team": Experiment("GRPO on a board that two agents share, one policy for both", TEAM, seeds=1),
    "team-shuffled": Experiment(
        "The same with rewards shuffled", (*TEAM, "--trainer.shuffle_rewards", "true"), seeds=1
    ),
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS))
    parser.add_argument("--group", default="", help="those whose names begin so")
    parser.add_argument("--seeds", nargs="+", type=int, default=range(5))
    parser.add_argument("--jobs", type=int, default=2, help="runs side by side")
    parser.add_argument("--runs", type=Path, default=Path("runs") / "learning")
    parser.add_argument("--print", action="store_true", help="say the commands, and stop")
    asked = parser.parse_args(arguments)
    waiting = [
        (name, seed)
        for seed in asked.seeds
        for name in asked.only
        if name.startswith(asked.group)
        and seed < EXPERIMENTS[name].seeds
        and not curve_path(name, seed).exists()
    ]
    if asked.print:
        for name, seed in waiting:
            print(shlex.join(EXPERIMENTS[name].command(seed, asked.runs / f"{name}-{seed}")))
        return 0
    if any(name.startswith(("sparse", "more")) for name, _ in waiting) and not SPARSE.exists():
        make_sparse()
    if any(name.startswith("skill") for name, _ in waiting):
        measure_parent()
    with ThreadPoolExecutor(asked.jobs) as jobs:
        ended = list(jobs.map(lambda each: run(*each, asked.runs), waiting))
    return 0 if all(ended) else 1


def run(name: str, seed: int, runs: Path) -> bool:
    """Train once, or on, and keep the curve; whether it went well."""
    folder = runs / f"{name}-{seed}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists() and not _goes_on(folder):
        shutil.rmtree(folder)  # stopped before its first checkpoint
    with folder.with_suffix(".log").open("a") as log:
        ended = subprocess.run(EXPERIMENTS[name].command(seed, folder), stdout=log, stderr=log)
    print(f"{name}, seed {seed}: {'done' if ended.returncode == 0 else f'failed, see {log.name}'}")
    if ended.returncode == 0:
        keep_curve(folder, curve_path(name, seed))
        keep_layouts(folder, CURVES / f"{name}-{seed}-layouts.csv")
    return ended.returncode == 0


def _goes_on(folder: Path) -> bool:
    """Whether a run left a checkpoint to go on from."""
    return any((folder / "checkpoints").glob("step_*"))


def curve_path(name: str, seed: int) -> Path:
    return CURVES / f"{name}-{seed}.csv"


# -- curves --

COLUMNS = (
    "step", "kind", "mode", "episodes", "success", "low", "high", "score", "replayed", "entropy",
    "clip_fraction", "explained_variance", "time_step",
)  # fmt: skip


def keep_curve(folder: Path, path: Path) -> None:
    """Write what a run measured as a table, a line a step or evaluation."""
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        for row in map(json.loads, lines):
            table.writerow({k: _short(v) for k, v in row.items()})


LAYOUT = ("fields", "place")
"""The parameters of `DataEntry` that say where its form's fields are."""


def keep_layouts(folder: Path, path: Path) -> None:
    """Write the last evaluation's successes by layout, where the task's parameters have one."""
    found: Counter[tuple[str, ...]] = Counter()
    for mode in ("greedy", "sampled"):
        *_, last = sorted((folder / "evaluations").glob(f"step_*-{mode}"))
        for line in (last / "episodes.jsonl").read_text().splitlines():
            episode = json.loads(line)
            if not set(LAYOUT) <= episode["params"].keys():
                return
            fields, place = (episode["params"][name] for name in LAYOUT)
            found[mode, " ".join(fields), str(place), str(int(episode["success"]))] += 1
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("mode", *LAYOUT, "success", "episodes"))
        table.writerows((*key, count) for key, count in sorted(found.items()))


def _short(value: Any) -> Any:
    return f"{value:.4g}" if isinstance(value, float) else value


# -- the parent of the skill --

PARENT_FIGURES = CURVES / "skill-parent.json"


def measure_parent() -> None:
    """What the parent does of the whole task, under more sampling too (pass@k): a control."""
    if PARENT_FIGURES.exists():
        return
    told = subprocess.run(
        [str(Path(sys.executable).with_name("ui-gym-eval")), "--model", PARENT,
         "--task", "CheckboxSet", "--set", "compact=true", "--max-new-tokens", "48",
         "--sample", "--attempts", "8", "--episodes", "200", "--json"],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout  # fmt: skip
    PARENT_FIGURES.write_text(told)


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
