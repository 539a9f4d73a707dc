"""Writes docs/gallery.md and its pictures: the first screen of every family, with its goal.

Run with ``python docs/gallery.py``; the seed is fixed, so that only changed pages change.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import gymnasium as gym
from PIL import Image

from ui_gym.contract.suite import families
from ui_gym.contract.task import TaskSpec

HERE = Path(__file__).resolve().parent
SEED = 7
WIDTH = 640
PAGE = """# The browser suite, at a glance

The first screen of each family (seed {seed}), with what it asks; written by
`python docs/gallery.py`.

| | |
|---|---|
{rows}
"""


def main() -> None:
    (HERE / "gallery").mkdir(exist_ok=True)
    cells = [_cell(spec) for spec in families("browser")]
    rows = [f"| {' | '.join((*cells[i : i + 2], '')[:2])} |" for i in range(0, len(cells), 2)]
    (HERE / "gallery.md").write_text(PAGE.format(seed=SEED, rows="\n".join(rows)))


def _cell(spec: TaskSpec) -> str:
    with contextlib.closing(gym.make(spec.id)) as env:
        made: Any = env
        observation, _ = made.reset(seed=SEED)
    picture = Image.fromarray(observation["screenshot"])
    height = picture.height * WIDTH // picture.width
    picture = picture.resize((WIDTH, height), Image.Resampling.LANCZOS)
    picture.save(HERE / "gallery" / f"{spec.name}.webp", quality=82, method=6)
    goal = observation["goal"].replace("|", "\\|").replace("\n", "<br>")
    image = f"![{spec.name}](gallery/{spec.name}.webp)"
    return f"**{spec.name}** ({spec.difficulty})<br>{goal}<br>{image}"


if __name__ == "__main__":
    main()
