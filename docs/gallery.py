"""Writes docs/gallery.md and docs/gallery/: the first screen of every task, with its goal.

``python docs/gallery.py [browser] [android] [desktop] [looks]``; the seed is fixed, so that only
what changed changes. The page shows the browser suite, and some families in all looks; the site
shows each picture on its task's page.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import difficulty
import gymnasium as gym
from PIL import Image

from ui_gym.browser.looks import HELD_OUT, LOOKS
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

## Difficulty

What each family asks for at its levels, easy · medium · hard, and behind a stroke in its compact
form: means over a few episodes of held-out parameters, written by `python docs/difficulty.py`.
*Steps* are the oracle's. *Words* are those of the goal and of all screens on the oracle's way, as
the element list has them (what is drawn on a canvas is not in it); what stays on the screen is
counted once. *Elements* are counted likewise. *Careless* is an oracle that makes one of the
family's mistakes where a coin says so, the same coin at all levels: what falls or rises there are
mistakes that are forgiven. *Random* draws valid actions. Both are successes in per cent.

What tiny models do of the compact forms is measured elsewhere: single parts of a job, by family, in
the card of `tiny-reader` (`plugins/ui-gym-tiny/src/ui_gym_tiny/checkpoints`), whole jobs of twelve
families, before and after training, in [the laptop benchmark](benchmark.md). At the levels, whose
pages they cannot read, none is measured.

{difficulty}

## Languages

These families speak German, Spanish and Japanese, too: {spoken}.
`gym.make(id, language="de")` (`"es"`, `"ja"`) has goal and page in that language, and dates, prices
and quotation marks as people write them there; `"varied"` draws one of the four for each episode,
and nothing else of it changes. Params, events and judges are those of the English episode; names
and addresses that are to be typed stay as they are. Compact pages are in English alone. The texts:
`ui_gym/browser/content/data/languages`, a file for each language.

## Looks

The same episode as other houses would have built it: `gym.make(id, look="dark")`, or a word for
several looks (`"varied"`, `"heldout"`, `"any"`), of which each episode has one. Nothing is trained
on {held_out}. From the left: {looks}.

{sheets}

## Advertisements and cookies

`gym.make(id, adverts=True)` has two advertisements, in English, beside the page, which is narrower
by that, in any look and language; nothing else of the episode changes. A click on one covers the
page with what it sells, until somebody goes back. `cookie_bar=True` lays a question about cookies
over the page, at the bottom, in a corner or in the middle. It stays until it is answered, whatever
the answer; `max_steps` is one more. Compact pages have no room for either; ModalNoise asks by
itself.

![Pages beside advertisements and below bars about cookies](gallery/looks/around.webp)
"""
LOOKED_AT = ("Registration", "ShoppingCart", "EmailTriage", "TableSortFilter")
"""The families that are shown in all looks."""
LOOK_WIDTH = 480
AROUND = (
    ("ShoppingCart", "plain", {"adverts": True}),
    ("FlightBooking", "nineties", {"adverts": True, "cookie_bar": True}),
    ("EmailTriage", "dark", {"cookie_bar": True}),
)
"""The families and looks in which it is shown what stands around a page."""


def main() -> None:
    (HERE / "gallery").mkdir(exist_ok=True)
    suites = sys.argv[1:] or ["browser", "android", "desktop", "looks"]
    cells = {
        spec.name: _cell(spec) for suite in suites if suite != "looks" for spec in families(suite)
    }
    if "looks" in suites:
        _draw_looks()
    if "browser" in suites:
        _write_page([cells[spec.name] for spec in families("browser")])


def _write_page(cells: list[str]) -> None:
    rows = [f"| {' | '.join((*cells[i : i + 2], '')[:2])} |" for i in range(0, len(cells), 2)]
    sheets = [f"**{name}**<br>![{name}](gallery/looks/{name}.webp)" for name in LOOKED_AT]
    page = PAGE.format(
        seed=SEED,
        difficulty=difficulty.block(difficulty.read(HERE / "difficulty.json")),
        rows="\n".join(rows),
        held_out=" or ".join(HELD_OUT),
        looks=", ".join(LOOKS),
        spoken=", ".join(spec.name for spec in families("browser") if spec.takes("language")),
        sheets="\n\n".join(sheets),
    )
    (HERE / "gallery.md").write_text(page)


def _draw_looks() -> None:
    """A sheet for each family of `LOOKED_AT`, one episode in all looks; and one of what
    stands around pages."""
    (HERE / "gallery" / "looks").mkdir(parents=True, exist_ok=True)
    for name in LOOKED_AT:
        pictures = [_picture(f"UI/{name}-v0", LOOK_WIDTH, look=look)[0] for look in LOOKS]
        _save_sheet(name, pictures, 4)
    around = [_picture(f"UI/{n}-v0", WIDTH, look=look, **more)[0] for n, look, more in AROUND]
    _save_sheet("around", around, len(around))


def _save_sheet(name: str, pictures: Sequence[Image.Image], columns: int) -> None:
    """Pictures of one size, `columns` in a row."""
    width, height = pictures[0].size
    rows = -(-len(pictures) // columns)
    size = (width * columns + 8 * (columns - 1), height * rows + 8 * (rows - 1))
    sheet = Image.new("RGB", size, "white")
    for number, picture in enumerate(pictures):
        place = number % columns * (width + 8), number // columns * (height + 8)
        sheet.paste(picture, place)
    sheet.save(HERE / "gallery" / "looks" / f"{name}.webp", quality=82, method=6)


def _cell(spec: TaskSpec) -> str:
    picture, goal = _picture(spec.id, WIDTH)
    picture.save(HERE / "gallery" / f"{spec.name}.webp", quality=82, method=6)
    goal = goal.replace("|", "\\|").replace("\n", "<br>")
    image = f"![{spec.name}](gallery/{spec.name}.webp)"
    return f"**{spec.name}** ({spec.difficulty})<br>{goal}<br>{image}"


def _picture(id: str, width: int, **arguments: Any) -> tuple[Image.Image, str]:
    """The first screen of an episode, `width` pixels wide, and its goal."""
    with contextlib.closing(gym.make(id, **arguments)) as env:
        made: Any = env
        observation, _ = made.reset(seed=SEED)
    picture = Image.fromarray(observation["screenshot"])
    picture.thumbnail((width, width), Image.Resampling.LANCZOS)
    return picture, observation["goal"]


if __name__ == "__main__":
    main()
