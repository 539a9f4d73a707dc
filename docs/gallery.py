"""Writes docs/gallery.md and docs/gallery/: the first screen of every task, with its goal.

``python docs/gallery.py [browser] [android] [desktop]``; the seed is fixed, so that only what
changed changes. The page shows the browser suite; the site shows each picture on its task's page.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
from PIL import Image

from ui_gym.contract.spec import TaskSpec
from ui_gym.contract.suite import families

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
    suites = sys.argv[1:] or ["browser", "android", "desktop"]
    cells = {spec.name: _cell(spec) for suite in suites for spec in families(suite)}
    if "browser" in suites:
        _write_page([cells[spec.name] for spec in families("browser")])


def _write_page(cells: list[str]) -> None:
    rows = [f"| {' | '.join((*cells[i : i + 2], '')[:2])} |" for i in range(0, len(cells), 2)]
    (HERE / "gallery.md").write_text(PAGE.format(seed=SEED, rows="\n".join(rows)))


def _cell(spec: TaskSpec) -> str:
    with contextlib.closing(gym.make(spec.id)) as env:
        made: Any = env
        observation, _ = made.reset(seed=SEED)
    picture = Image.fromarray(observation["screenshot"])
    picture.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
    picture.save(HERE / "gallery" / f"{spec.name}.webp", quality=82, method=6)
    goal = observation["goal"].replace("|", "\\|").replace("\n", "<br>")
    image = f"![{spec.name}](gallery/{spec.name}.webp)"
    return f"**{spec.name}** ({spec.difficulty})<br>{goal}<br>{image}"


if __name__ == "__main__":
    main()
