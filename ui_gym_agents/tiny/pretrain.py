"""Makes the shipped checkpoints: ``python -m ui_gym_agents.tiny.pretrain --out FOLDER``.

Three stages, each a run of the SFT plugin or less:

1. ``tiny-blank``: a seeded model that has learned nothing, with a tokenizer in which every name of
   the short lists is one token.
2. ``tiny-eyes``: demonstrations by the task's oracle, with the whole picture read aloud after each
   answer. This is what teaches a model of a million parameters to see.
3. ``tiny-clerk``: a few demonstrations by a clumsy clerk, whose eye slips to the row above
   the one that was asked for, and who fills the fields from top to bottom whatever their labels
   say. It reads as well as before and has bad habits, which reinforcement learning can lift.

Nothing about held-out parameters goes into any of them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from ui_gym.browser.content import words
from ui_gym.errors import UIGymError
from ui_gym_agents.policy.prompts import PromptBuilder
from ui_gym_agents.tiny.model import TinyConfig, build
from ui_gym_agents.training import checkpoint
from ui_gym_agents.training.cli import main as train

WORDS = (
    *words.FIRST_SHORT, *words.LAST_SHORT,
    "Enter", "row", "Copy", "into", "the", "form", "Submit", "person", "in", ".",
    "First", "Last", "<here>",
)  # fmt: skip
"""What is one token each: all that the compact data-entry page and its goals say."""

CLERK = {"row": 0.42, "labels": 0.6}
"""The clumsy clerk's error model: rates of the mistakes of `DataEntry.misread`."""


@dataclass(frozen=True)
class Stage:
    """A run of the SFT plugin: its name, what it starts from, and its flags."""

    name: str
    start: str
    summary: str
    flags: tuple[str, ...]


STAGES = (
    Stage(
        "tiny-eyes",
        "tiny-blank",
        "It reads the compact data-entry page and fills the form without a mistake.",
        (
            "--run.steps", "60", "--trainer.episodes", "64", "--trainer.epochs", "2",
            "--trainer.lr", "2e-3", "--trainer.warmup", "40",
        ),
    ),
    Stage(
        "tiny-clerk",
        "tiny-eyes",
        "It reads as well as `tiny-eyes`, and has the habits of a clumsy clerk.",
        (
            "--run.steps", "8", "--trainer.episodes", "64", "--trainer.lr", "5e-4",
            "--trainer.warmup", "10", "--trainer.aloud_weight", "0.5",
            "--trainer.mistakes", json.dumps(CLERK),
        ),
    ),
)  # fmt: skip


def make(out: Path, *, seed: int, names: Sequence[str]) -> None:
    """Make the checkpoints `names` in `out`, each from the one before. Minutes of CPU.

    Raises:
        UIGymError: a stage failed.
    """
    console = Console()
    out.mkdir(parents=True, exist_ok=True)
    blank = out / "tiny-blank"
    if not (blank / "config.json").exists():
        build(TinyConfig(), WORDS, seed, blank)
        PromptBuilder.bare().save(blank)
    for stage in STAGES:
        if stage.name not in names:
            continue
        console.rule(stage.name)
        started = time.monotonic()
        run = out / "runs" / stage.name
        status = train(
            [
                "--plugin", "sft", "--policy.model", str(out / stage.start),
                "--policy.lora_rank", "0", "--run.directory", str(run), "--run.seed", str(seed),
                "--run.eval_every", "10", "--run.save_every", "20", "--run.keep", "10",
                "--evaluation.before", "false", *stage.flags,
            ]
        )  # fmt: skip
        if status:
            raise UIGymError(f"{stage.name}: training ended with the exit status {status}")
        _publish(stage, run, out / stage.name, seed, time.monotonic() - started)


def _publish(stage: Stage, run: Path, folder: Path, seed: int, seconds: float) -> None:
    """The model of a finished run, without what only a learner needs, and with its card."""
    newest = checkpoint.latest(run / "checkpoints")
    assert newest is not None, "a finished run has a checkpoint"
    if folder.exists():
        shutil.rmtree(folder)
    left_out = ("optimizer.safetensors", "state.json", "manifest.json")
    shutil.copytree(newest, folder, ignore=shutil.ignore_patterns(*left_out))
    result = json.loads((run / "result.json").read_text())
    (folder / "README.md").write_text(_card(stage, result, seed, seconds))


def _card(stage: Stage, result: dict[str, Any], seed: int, seconds: float) -> str:
    lines = [
        f"# {stage.name}",
        "",
        f"A tiny vision-language model (`Qwen3VLForConditionalGeneration`). {stage.summary}",
        "",
        "It sees a picture of 320x256 pixels and the goal's sentence, and answers in the `cells` "
        "dialect: its thought, then an action.",
        "",
        "## How it was made",
        "",
        f"`python -m ui_gym_agents.tiny.pretrain --out FOLDER --seed {seed}`, from "
        f"`{stage.start}`, with the SFT plugin's settings `{' '.join(stage.flags)}`: "
        f"{result['steps']} steps in {seconds:.0f} s. The data are demonstrations on "
        "`UI/DataEntry-v0` (`compact=True`), training split only, played in Chromium.",
    ]
    if stage.name == "tiny-clerk":
        lines += [
            "",
            "The clerk's error model: in an episode, the eye slips to the row above the asked one "
            f"(of the first row: to the one below) with probability {CLERK['row']}; and with "
            f"probability {CLERK['labels']} the fields are filled in the order of the table's "
            "columns, whatever their labels say.",
        ]
    lines += ["", "## Measured, on held-out parameters", "", "| answers | success | 95 % | n |"]
    lines += ["|---|---|---|---|"]
    for mode, m in result["after"].items():
        lines.append(
            f"| {mode} | {100 * m['success']:.1f} % | {100 * m['low']:.1f} to "
            f"{100 * m['high']:.1f} % | {m['n']} |"
        )
    lines += [
        "",
        "A guesser who copies any row without fault succeeds in 16.7 %.",
        "",
        "## Limits",
        "",
        "It reads the forty short names and the labels of this one page, and nothing else.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="where the checkpoints go")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    parser.add_argument(
        "--only", choices=[s.name for s in STAGES], action="append", help="make just this one"
    )
    given = parser.parse_args()
    try:
        make(given.out, seed=given.seed, names=given.only or [s.name for s in STAGES])
    except UIGymError as error:
        Console(stderr=True).print(f"error: {error}", style="red", markup=False)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
