"""Make a Hugging Face Space (``sdk: static``) of a folder of recorded episodes.

``python deploy/space/build.py EPISODES OUT``: EPISODES is what ``ui-gym-eval --out`` wrote, or the
folder ``episodes`` of a run. OUT can be uploaded as it is, or served by ``python -m http.server``.
Source of the front matter in README.md: huggingface.co/docs/hub/spaces-config-reference.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ui_gym.dialects import get_dialect
from ui_gym.dialects.reread import reread
from ui_gym.errors import UIGymError, UserError
from ui_gym_agents.episode import Episode
from ui_gym_agents.store import EpisodeStore, ScreenshotStore, suffix

PAGES = ("README.md", "index.html", "style.css", "player.js")
MOST = 200
"""Episodes that a Space shows: the first ones."""


def build(recorded: Path, out: Path, dialect: str | None = None) -> int:
    """Write the Space into the new folder `out`; returns how many episodes it shows.

    Args:
        recorded: A folder with ``episodes.jsonl`` and ``screenshots``.
        dialect: How the actions are written, where ``evaluation.json`` does not say it.

    Raises:
        UserError: there is nothing to show, or `out` is there already.
    """
    if out.exists():
        raise UserError(f"{out} is there already; name a new folder")
    asked = recorded / "evaluation.json"
    said = json.loads(asked.read_text(encoding="utf-8")) if asked.exists() else {}
    store = EpisodeStore(recorded)
    whole = (e for e in store if e.failure is None and _is_whole(e, store.screenshots))
    played = sorted(islice(whole, MOST), key=lambda episode: (episode.task, episode.seed))
    if not played:
        raise UserError(
            f"{recorded} holds no episodes with their pictures; to record some: "
            "ui-gym-eval --agent oracle --task ClickButton --episodes 2 --out FOLDER"
        )
    (out / "screenshots").mkdir(parents=True)
    dialect = dialect or said.get("dialect", "canonical")
    shown = [_shown(episode, store.screenshots, out, dialect) for episode in played]
    won = sum(episode.success for episode in played)
    agent = f" by {said['agent']}" if said.get("agent") else ""
    summary = f"{len(played)} episodes{agent}, {won} of them successes."
    value = {"summary": summary, "episodes": shown}
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    (out / "episodes.json").write_text(text, encoding="utf-8")
    for page in PAGES:
        shutil.copyfile(Path(__file__).with_name(page), out / page)
    return len(played)


def _is_whole(episode: Episode, pictures: ScreenshotStore) -> bool:
    return all(key and pictures.keeps(key) for key in episode.screenshot_ids)


def _shown(episode: Episode, pictures: ScreenshotStore, out: Path, dialect: str) -> dict[str, Any]:
    """What the player reads of an episode; its pictures are written."""
    frames = list(_frames(episode, pictures, out, dialect))
    return {
        "task": episode.task, "seed": episode.seed, "goal": episode.goal,
        "success": episode.success, "score": round(episode.score, 3), "frames": frames,
    }  # fmt: skip


def _frames(
    episode: Episode, pictures: ScreenshotStore, out: Path, dialect: str
) -> Iterator[dict[str, Any]]:
    """A frame for each screen: the action on it, with its points as shares of width and height, and
    the feedback to the action before."""
    height, width, _ = pictures.get(episode.screenshot_ids[0]).shape
    written = [(turn.action_text, turn.elements) for turn in episode.turns]
    done = reread(written, get_dialect(dialect), (width, height))
    feedback = ["", *(turn.feedback for turn in episode.turns)]
    last: tuple[Any, Any] = (None, [])
    turns = [*zip(episode.turns, done, strict=True), last]
    shown = zip(episode.screenshot_ids, turns, feedback, strict=True)
    for key, (turn, actions), told in shown:
        data = pictures.encoded(key) or b""
        picture = f"screenshots/{key}{suffix(data)}"
        (out / picture).write_bytes(data)
        points = [point for action in actions for point in action.points()]
        yield {
            "picture": picture,
            "action": turn.action_text if turn else "",
            "points": [[(x + 0.5) / width, (y + 0.5) / height] for x, y in points],
            "feedback": told,
        }


def main() -> int:
    """The command. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Make a Space of a folder of recorded episodes.")
    parser.add_argument("episodes", type=Path, help="what ui-gym-eval --out wrote")
    parser.add_argument("out", type=Path, help="a new folder")
    parser.add_argument("--dialect", help="how actions are written, if no evaluation.json says it")
    asked = parser.parse_args()
    try:
        count = build(asked.episodes, asked.out, asked.dialect)
    except UIGymError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{asked.out}: {count} episodes; python -m http.server -d {asked.out}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
