"""Makes the shipped checkpoints: ``python -m ui_gym_tiny.pretrain --out FOLDER``.

Each line of them has three stages, each a run of the SFT plugin or less:

1. a blank: a seeded model that has learned nothing, with a tokenizer in which every word that its
   task's pictures say is one token;
2. eyes: demonstrations by the task's oracle, with the whole picture as a caption after each answer.
   This is what teaches a model of a million parameters to see;
3. a learner: a few demonstrations by somebody clumsy. It reads as well as before and has habits,
   which reinforcement learning can lift.

``tiny-eyes`` and ``tiny-clerk`` fill in the browser's data-entry form; the clerk's eye slips to the
row above the one that was asked for, and it fills the fields from top to bottom whatever their
labels say. ``tiny-thumb`` turns the quick settings of a phone, and touches the tile above.

``tiny-hands`` knows the parts of a job and never saw a whole one (`parts`). It is where the
learning curves of a skill that no demonstration contained begin
(``benchmarks/learning/experiments.py``). It sees by the vision tower of ``tiny-eyes``; its language
layers begin afresh.

``tiny-filer`` reads a folder in a real file manager, and was shown somebody who clicks what is
named or presses Delete, in any order.

``tiny-reader`` is the parent of the laptop benchmark (docs/benchmark.md): it does parts of jobs on
the compact screens of all families (`reading`), and never saw one brought to an end. Its screens
are played once, before, and its eyes are opened by themselves (`opening`).

Nothing about held-out parameters goes into any of them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from ui_gym import UIVectorEnv
from ui_gym.android.tasks import quick_settings
from ui_gym.browser.content import words
from ui_gym.contract import registry
from ui_gym.contract.task import Split
from ui_gym.desktop import compact as folder
from ui_gym.desktop.tasks import pcmanfm_delete
from ui_gym.errors import UIGymError
from ui_gym_agents.agents import OracleAgent
from ui_gym_agents.agents.agent import Agent
from ui_gym_agents.collecting import Recording
from ui_gym_agents.collecting.collector import Collector, EpisodeRequest
from ui_gym_agents.episode import Episode
from ui_gym_agents.policy import load_policy
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training import checkpoint
from ui_gym_agents.training.cli import main as train
from ui_gym_tiny import FOLDER, board, parts
from ui_gym_tiny.model import TinyConfig, build
from ui_gym_tiny.opening import open_eyes
from ui_gym_tiny.reading import ReadDesktops, Reading, ReadPages, ReadPhones

WORDS = (
    *words.FIRST_SHORT, *words.LAST_SHORT,
    "Enter", "row", "Copy", "into", "the", "form", "Submit", "person", "in", ".",
    "First", "Last", "<here>",
)  # fmt: skip
"""What is one token each: all that the compact data-entry page and its goals say."""

PHONE_WORDS = (
    *(label for label, *_ in quick_settings.TILES.values()),
    "on", "off", "Turn", "turn", "Please", "In the quick settings,", ".",
)  # fmt: skip
"""All that the compact quick settings and their goals say."""

PARTS_WORDS = (
    *words.FIRST_SHORT, *parts.VERBS, *(verb.lower() for verb in parts.VERBS),
    "Or", "or", "Press", "press", ",", ".", parts.SAVE, *parts.OTHERS, "named", "on", "off",
)  # fmt: skip
"""All that the boards and their goals say."""

FOLDER_WORDS = (
    *pcmanfm_delete.NAMES, "Delete", "Remove", ",", "and", ".", "named", "chosen", "delete",
)  # fmt: skip
"""All that the compact folder and its goals say."""

READER_WORDS = (*board.WORDS, "<here>", ".", ",", ":", "+", "-")
"""What the compact screens of all families say, and their goals."""

CHUNK = 500
"""Episodes that are played before their pictures are let go."""


@dataclass(frozen=True)
class Screens:
    """Episodes of a task of parts, by the task's own arguments."""

    task: type[Reading]
    seeds: range
    arguments: Mapping[str, Any]
    title: str = ""


READ = (
    Screens(ReadPages, range(8000), {"parts": 1, "boards": 100, "look": "varied"}),
    Screens(ReadPages, range(8000, 12000), {"parts": 1}),
    Screens(ReadPages, range(12000, 16000), {"parts": 1, "look": "varied"}),
    Screens(ReadPhones, range(1500), {"parts": 4}),
    Screens(ReadDesktops, range(500), {"parts": 4}),
)
"""What `tiny-reader` is shown."""

TOLD = (
    Screens(ReadPages, range(1520), {}, "pages, plain"),
    Screens(ReadPages, range(400), {"look": "varied"}, "pages, looks it was shown"),
    Screens(ReadPages, range(400), {"look": "heldout"}, "pages, looks it was not shown"),
    Screens(ReadPages, range(400), {"boards": 100}, "boards, plain"),
    Screens(ReadPhones, range(400), {}, "phones"),
    Screens(ReadDesktops, range(160), {}, "desktops"),
)
"""Where its card says how it does, one part an episode."""

CLERK = {"row": 0.42, "labels": 0.6}
"""The clumsy clerk's error model: rates of the mistakes of `DataEntry.misread`."""

THUMB = {"neighbour": 0.75}
"""The clumsy thumb's: of `AndroidQuickSettings.misread`."""

AIMLESS = {"aimless": 1.0}
"""Of `DesktopDeleteFiles.misread`: whoever plays does parts of the job in any order."""


@dataclass(frozen=True)
class Subject:
    """What a line of models looks at. `flags` choose it; `data`, `blind` and `limits` are for their
    cards. Where `eyes` names a checkpoint, its blank begins with that one's vision tower."""

    config: TinyConfig
    words: Sequence[str]
    flags: tuple[str, ...]
    data: str
    blind: str
    limits: str
    eyes: str = ""
    screens: Sequence[Screens] = ()
    """What is played before anything is learned, rather than by the runs."""
    opened: int = 0
    """The updates with which its blank's eyes are opened on these screens (`opening`)."""
    sizes: str = ""
    """Of what it sees, for its card, where they are several."""


FORM = Subject(
    TinyConfig(),
    WORDS,
    (),
    "The data are demonstrations on `UI/DataEntry-v0` (`compact=True`), training split only, "
    "played in Chromium.",
    "A guesser who copies any row without fault succeeds in 16.7 %.",
    "It reads the forty short names and the labels of this one page, and nothing else.",
)
TILES = Subject(
    TinyConfig(width=256, height=320),
    PHONE_WORDS,
    ("--tasks.ids", "AndroidQuickSettings", "--tasks.arguments", '{"compact": true}',
     "--env.num_envs", "16"),
    "The data are demonstrations on `UI/AndroidQuickSettings-v0` (`compact=True`), training split "
    "only, played on the built-in phone.",
    "A guesser who touches any one tile succeeds in 12.5 %.",
    "It reads the eight tiles of this one screen, and nothing else.",
)  # fmt: skip
BOARDS = Subject(
    TinyConfig(),
    PARTS_WORDS,
    ("--tasks.ids", "[]", "--tasks.custom", "ui_gym_tiny.parts:Parts",
     "--tasks.arguments", '{"boards": 8}', "--policy.max_new_tokens", "48"),
    "The data are demonstrations on `Parts` (`ui_gym_tiny/parts.py`), training split only, played "
    "in Chromium: boards of check boxes and buttons in any rows, where one click on any of those "
    "that the goal names is right, whether it is ticked or not, and then another board is there.",
    "An episode has eight boards. A guesser who clicks any one thing on each succeeds in 0.7 %.",
    "It reads the sixteen short first names, and nothing else.",
    eyes="tiny-eyes",
)  # fmt: skip
FILES = Subject(
    TinyConfig(width=folder.SIZE[0], height=folder.SIZE[1], patch=folder.PATCH),
    FOLDER_WORDS,
    ("--tasks.ids", "DesktopDeleteFiles", "--tasks.arguments", '{"compact": true}',
     "--env.num_envs", "24", "--policy.max_new_tokens", "48"),
    "The data are demonstrations on `UI/DesktopDeleteFiles-v0` (`compact=True`), training split "
    "only, played in a real file manager by somebody aimless: each action is, with equal odds, a "
    "click on one of the named files that are left, or the key, whatever is chosen.",
    "A guesser who deletes any two of the files without fault succeeds in 10 %.",
    "It reads the seventeen short names of this one folder, and nothing else.",
)  # fmt: skip

PAGES = Subject(
    TinyConfig(
        width=416, height=320, layers=4, ff=384, vision_hidden=192, vision_layers=2, vision_heads=6,
        vision_ff=512, rope_theta=5e6, alike=True,
    ),
    READER_WORDS,
    ("--tasks.ids", "[]", "--tasks.custom", "ui_gym_tiny.reading:ReadPages",
     "--policy.max_new_tokens", "32"),
    "The data are demonstrations on `ReadPages`, `ReadPhones` and `ReadDesktops` "
    "(`ui_gym_tiny/reading.py`), training split only, played in Chromium, on the built-in phone "
    "and in X: one part of a job at a time, and any of those that are right, on the compact "
    "screens of all families, pages half in their plain look and half in those that may be "
    "trained on; and on boards of the words that these say (`ui_gym_tiny/board.py`).",
    "An episode asks for up to three parts on a page in its plain look, and counts where all of "
    "them are right.",
    "It reads words that its compact screens say, and no others. Pictures, the lines of a text on "
    "a desktop and the icons of `DesktopDropFile` are not told to it. A scroll counts as right by "
    "its direction, wherever it is.",
    screens=READ,
    opened=2500,
    sizes="320x256 pixels (pages), 256x320 (phones) or 400x320 (desktops)",
)  # fmt: skip


@dataclass(frozen=True)
class RecipeStage:
    """A run of the SFT plugin: its name, what it starts from (None: a blank), and its flags.

    `summary` and `habits` are for its card.
    """

    name: str
    subject: Subject
    start: str
    summary: str
    flags: tuple[str, ...]
    habits: str = ""


STAGES = (
    RecipeStage(
        "tiny-eyes",
        FORM,
        "tiny-blank",
        "It reads the compact data-entry page and fills the form without a mistake.",
        (
            "--run.steps", "60", "--trainer.episodes", "64", "--trainer.epochs", "2",
            "--trainer.lr", "2e-3", "--trainer.warmup", "40",
        ),
    ),
    RecipeStage(
        "tiny-clerk",
        FORM,
        "tiny-eyes",
        "It reads as well as `tiny-eyes`, and has the habits of a clumsy clerk.",
        (
            "--run.steps", "8", "--trainer.episodes", "64", "--trainer.lr", "5e-4",
            "--trainer.warmup", "10", "--trainer.caption_weight", "0.5",
            "--trainer.mistakes", json.dumps(CLERK),
        ),
        "The clerk's error model: in an episode, the eye slips to the row above the asked one (of "
        f"the first row: to the one below) with probability {CLERK['row']}; and with probability "
        f"{CLERK['labels']} the fields are filled in the order of the table's columns, whatever "
        "their labels say.\n\n"
        "This is a deliberate corruption: `tiny-eyes` succeeds in 100 % (greedy), so whoever "
        "trains this model to do the job recovers a latent skill.",
    ),
    RecipeStage(
        "tiny-thumb-eyes",
        TILES,
        "tiny-thumb-blank",
        "It reads the compact quick settings and turns what is asked.",
        (
            "--run.steps", "60", "--trainer.episodes", "192", "--trainer.epochs", "2",
            "--trainer.lr", "2e-3", "--trainer.warmup", "40",
        ),
    ),
    RecipeStage(
        "tiny-thumb",
        TILES,
        "tiny-thumb-eyes",
        "It reads the compact quick settings, and touches the tile above the right one.",
        (
            "--run.steps", "4", "--trainer.episodes", "192", "--trainer.lr", "5e-4",
            "--trainer.warmup", "10", "--trainer.caption_weight", "0.5",
            "--trainer.mistakes", json.dumps(THUMB),
        ),
        "The thumb's error model: in an episode, the tile above the asked one is touched (of the "
        f"first row: the one below) with probability {THUMB['neighbour']}.\n\n"
        "This is a deliberate corruption: `tiny-thumb-eyes` does the task, so whoever trains this "
        "model to do it recovers a latent skill.",
    ),
    RecipeStage(
        "tiny-hands",
        BOARDS,
        "tiny-hands-blank",
        "It reads a board aloud as far as any of the things that are named, says which are, clicks "
        "that one, and has never seen a job of more than one click.",
        (
            "--run.steps", "80", "--trainer.episodes", "40", "--trainer.epochs", "2",
            "--trainer.lr", "2e-3", "--trainer.warmup", "40",
        ),
    ),
    RecipeStage(
        "tiny-filer",
        FILES,
        "tiny-filer-blank",
        "It reads a folder of the compact file manager aloud, and clicks any file that is "
        "named, or presses Delete, in any order.",
        (
            "--run.steps", "50", "--trainer.episodes", "64", "--trainer.epochs", "3",
            "--trainer.lr", "2e-3", "--trainer.warmup", "40",
            "--trainer.mistakes", json.dumps(AIMLESS),
        ),
    ),
    RecipeStage(
        "tiny-reader",
        PAGES,
        "tiny-reader-blank",
        "It reads the compact screens of all families aloud, and does any part of a job there: "
        "clicks what is named, types a word, drags one thing to another, scrolls.",
        (
            "--policy.freeze", "vision,embeddings", "--policy.threads", "2",
            "--policy.picture_bytes", "1000000000",
            "--run.steps", "120", "--trainer.episodes", "320", "--trainer.batch_size", "8",
            "--trainer.lr", "1.5e-3", "--trainer.warmup", "100", "--run.eval_every", "0",
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
    for stage in STAGES:
        if stage.name not in names:
            continue
        console.rule(stage.name)
        start, subject = out / stage.start, stage.subject
        shown = _shown(out, subject)
        if stage.start.endswith("-blank") and not (start / "config.json").exists():
            _build(out, start, subject, shown, seed)
        started = time.monotonic()
        run = out / "runs" / stage.name
        status = train(
            [
                "--plugin", "sft", "--policy.model", str(start),
                "--policy.lora_rank", "0", "--run.directory", str(run), "--run.seed", str(seed),
                "--run.eval_every", "10", "--run.save_every", "20", "--run.keep", "10",
                "--evaluation.before", "false",
                *(("--trainer.source", f"file:{shown}") if shown else ()),
                *stage.subject.flags, *stage.flags,
            ]
        )  # fmt: skip
        if status:
            raise UIGymError(f"{stage.name}: training ended with the exit status {status}")
        _publish(stage, run, out / stage.name, seed, time.monotonic() - started)


def _build(out: Path, start: Path, subject: Subject, shown: Path | None, seed: int) -> None:
    """A blank: written whole or not at all."""
    eyes = _found(out, subject.eyes) if subject.eyes else None
    with tempfile.TemporaryDirectory(dir=out) as name:
        folder = Path(name) / start.name
        build(subject.config, subject.words, seed, folder, eyes)
        if shown is not None:
            loss = open_eyes(folder, subject.config, Recording.of_file(shown), subject.opened, seed)
            Console().print(f"the eyes are open: {loss:.3f} nats a thing")
        folder.rename(start)


def _shown(out: Path, subject: Subject) -> Path | None:
    """The file of the screens that a subject is shown; they are played where it is not there."""
    if not subject.screens:
        return None
    folder = out / "screens"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=out) as name:
            store = EpisodeStore(Path(name) / "screens")
            for screens in subject.screens:
                _play(OracleAgent(), screens, "train", store)
            (Path(name) / "screens").rename(folder)
    return folder / "episodes.jsonl"


def _play(
    agent: Agent, screens: Screens, split: Split, store: EpisodeStore | None = None
) -> list[Episode]:
    """Episodes by somebody."""
    envs = UIVectorEnv(
        16, screens.task.spec.id, autoreset_mode="Disabled", dialect="cells", **screens.arguments
    )
    collector = Collector(envs, agent, store=store)
    found: list[Episode] = []
    told = f"playing {screens.task.spec.name}"
    try:
        for first in track(range(0, len(screens.seeds), CHUNK), description=told):
            seeds = screens.seeds[first : first + CHUNK]
            asked = [EpisodeRequest(seed=seed, split=split) for seed in seeds]
            found += collector.collect(asked)
            collector.store.screenshots.clear()
    finally:
        envs.close()
    return found


def _found(out: Path, name: str) -> Path:
    """The checkpoint `name`: the one made here, or else the shipped one."""
    return out / name if (out / name).exists() else FOLDER / name


def _publish(stage: RecipeStage, run: Path, folder: Path, seed: int, seconds: float) -> None:
    """The model of a finished run, without what only a learner needs, and with its card."""
    newest = checkpoint.latest(run / "checkpoints")
    assert newest is not None, "a finished run has a checkpoint"
    if folder.exists():
        shutil.rmtree(folder)
    left_out = ("optimizer.safetensors", "state.json", "manifest.json")
    shutil.copytree(newest, folder, ignore=shutil.ignore_patterns(*left_out))
    result = json.loads((run / "result.json").read_text())
    card = _card(stage, result, seed, seconds)
    (folder / "README.md").write_text(
        f"{card}{_by_part(folder)}" if stage.subject.screens else card
    )


def _by_part(folder: Path, told: Sequence[Screens] = TOLD) -> str:
    """A card's sections on how often a reader does a part right that is asked for, greedily, by
    where it is shown, by what is asked and by family; the last two on pages in their plain look."""
    reader = load_policy(folder, temperature=0.0, max_new_tokens=32)
    played: list[tuple[Screens, Episode]] = []
    for screens in told:
        screens = replace(screens, arguments={**screens.arguments, "parts": 1})
        played += ((screens, episode) for episode in _play(reader, screens, "heldout"))
    pages = [episode for screens, episode in played if screens.title == told[0].title]
    names: dict[str, list[tuple[str, Episode]]] = {
        "screen": [(screens.title, episode) for screens, episode in played],
        "part": [(str(episode.params["asked"]), episode) for episode in pages],
        "family": [(registry.spec(e.params["member"]).name, e) for e in pages],
    }
    lines: list[str] = []
    for title, of in names.items():
        right: dict[str, list[bool]] = {}
        for name, episode in of:
            right.setdefault(name, []).append(episode.success)
        lines += ["", f"## By {title}", "", "One part an episode, held-out parameters, greedily."]
        lines += ["", f"| {title} | right | n |", "|---|---|---|"]
        lines += [
            f"| {name} | {100 * sum(wins) / len(wins):.0f} % | {len(wins)} |"
            for name, wins in sorted(right.items())
        ]
    return "\n".join([*lines, ""])


def _card(stage: RecipeStage, result: dict[str, Any], seed: int, seconds: float) -> str:
    subject = stage.subject
    flags = " ".join((*subject.flags, *stage.flags))
    sizes = subject.sizes or f"{subject.config.width}x{subject.config.height} pixels"
    lines = [
        f"# {stage.name}",
        "",
        f"A tiny vision-language model (`Qwen3VLForConditionalGeneration`). {stage.summary}",
        "",
        f"It sees a picture of {sizes} and the "
        "goal's sentence, and answers in the `cells` dialect: its thought, then an action.",
        "",
        "## How it was made",
        "",
        f"`python -m ui_gym_tiny.pretrain --out FOLDER --seed {seed}`, from "
        f"`{stage.start}`, with the SFT plugin's settings `{flags}`: {result['steps']} steps in "
        f"{seconds:.0f} s. {subject.data}",
    ]
    if subject.screens:
        lines += [
            "",
            f"Its {sum(len(screens.seeds) for screens in subject.screens):,} episodes were played "
            "before. The vision tower "
            f"and the words' embeddings were trained on them first, alone, in {subject.opened:,} "
            "updates (`ui_gym_tiny/opening.py`), which are not in these seconds.",
        ]
    if stage.habits:
        lines += ["", stage.habits]
    lines += ["", "## Measured, on held-out parameters", "", "| answers | success | 95 % | n |"]
    lines += ["|---|---|---|---|"]
    for mode, m in result["after"].items():
        lines.append(
            f"| {mode} | {100 * m['success']:.1f} % | {100 * m['low']:.1f} to "
            f"{100 * m['high']:.1f} % | {m['n']} |"
        )
    lines += ["", subject.blind, "", "## Limits", "", subject.limits, ""]
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
