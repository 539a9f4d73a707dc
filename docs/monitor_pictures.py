"""The pictures of docs/monitor.md: each view of the monitor over a real run, in real Chromium.

    python docs/monitor_pictures.py runs/NAME

They are written to docs/monitor/, with the run as a single HTML file beside them.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "tests" / "monitor" / "browser"))

from watched_page import Browser, WatchedPage  # noqa: E402

from ui_gym_agents.monitor import single_file  # noqa: E402
from ui_gym_agents.monitor.app import MonitorServer  # noqa: E402
from ui_gym_agents.monitor.index import MonitorIndex  # noqa: E402
from ui_gym_agents.monitor.library import Library, Shelf  # noqa: E402

OUT = ROOT / "docs" / "monitor"
DESK, PHONE = (1440, 900), (390, 844)
COLOURS = 128
"""Of a picture: screens are flat, and the repository stays small."""


def main(run: Path) -> None:
    library = Library([Shelf(run)], MonitorIndex(None))
    library.look()
    with MonitorServer(library) as server:
        places = _places(server.api.answer)
        browser = Browser()
        try:
            with browser.tab(DESK) as page:
                for name, place in places.items():
                    _take(page, server, name, place)
                page.resize(PHONE)
                _take(page, server, "run-390", places["run"])
                page.prefer("dark")
                _take(page, server, "episode-390-dark", places["episode"])
        finally:
            browser.close()
        source = library.all()[0].source
        text = single_file.page(server.api.answer, source.picture, source.id)
        whole = "".join(text)
        for path, name in ((str(run.resolve()), f"runs/{run.name}"), (f"{sys.prefix}/bin/", "")):
            whole = whole.replace(path, name)  # the settings name folders of this machine
        (OUT / "main-job.html").write_text(whole, encoding="utf-8")


def _places(answer: Callable[..., Any]) -> dict[str, str]:
    """Where each view is, as a hash: with an episode that went wrong, and a group that parts."""
    (run,) = answer("runs", {})["runs"]
    id = run["id"]
    sides = answer("compare/choices", {})["choices"]
    first, last = (
        next(f"{c['run']}/{c['kind']}/{c['step']}/{c['mode']}" for c in sides if c["kind"] == kind)
        for kind in ("baseline", "final")
    )
    flips = answer("compare", {"a": first, "b": last, "show": "b_only"})["episodes"]
    pair = ",".join(flips[0][side]["id"] for side in ("a", "b"))
    wrong = answer(f"runs/{id}/episodes", {"kind": "baseline", "won": "0", "order": "long"})
    parted = [g for g in answer(f"runs/{id}/groups", {})["groups"] if not g["equal"]]
    seeds = answer(f"runs/{id}/seeds", {})["seeds"]
    learned = max(seeds, key=lambda one: (one["n"], -abs(one["successes"] - one["n"] / 2)))
    return {
        "runs": "#/",
        "run": f"#/run/{id}",
        "episode": f"#/run/{id}/episode/{wrong['episodes'][0]['id']}?turn=0",
        "group": f"#/run/{id}/group/{parted[0]['group']}?step={parted[0]['step']}",
        "through": f"#/run/{id}/through?task={learned['task']}&seed={learned['seed']}",
        "failures": f"#/run/{id}/failures",
        "compare": f"#/compare?a={first}&b={last}&show=b_only&pair={pair}",
        "workers": f"#/run/{id}/workers",
    }


def _take(page: WatchedPage, server: MonitorServer, name: str, place: str) -> None:
    """One picture, once nothing is asked for any more."""
    page.open(f"{server.url}/{place}")
    page.reload()
    page.until("document.querySelector('main h1, main h2, main table, main img') !== null")
    page.js("new Promise((done) => setTimeout(done, 1200))", promise=True)
    OUT.mkdir(exist_ok=True)
    picture = Image.open(io.BytesIO(page.picture())).convert("RGB")
    small = picture.quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(OUT / f"{name}.png", optimize=True)
    if page.console:
        raise SystemExit(f"{name}: {page.console}")
    print(f"{OUT / name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
