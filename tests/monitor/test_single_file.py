"""A run as one HTML file: what is in it, and that a browser shows it without any network."""

from __future__ import annotations

import base64
import html
import io
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image as PILImage

from ui_gym_agents.episode import Episode, Purpose, TokenRecord, Turn
from ui_gym_agents.monitor import single_file
from ui_gym_agents.monitor.api import MonitorApi
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.library import Library, Shelf
from ui_gym_agents.store import EpisodeStore
from ui_gym_agents.training.event_log import EventLog
from ui_gym_agents.training.listeners import RunInfo
from ui_gym_agents.training.settings import RunConfig

EVIL = '</script><script>document.title = "taken"</script><img src=x onerror="boom()">'
BASELINE, FINAL = Purpose("baseline", 0, "greedy"), Purpose("final", 2, "greedy")
CHROMIUM = shutil.which("chromium-headless-shell")


class Exported:
    """A small run: an evaluation before and after, and two steps of two groups."""

    def __init__(self, folder: Path, evaluated: int = 20) -> None:
        self.folder = folder
        self.log = EventLog(folder)
        self.log.begun(RunInfo(folder, RunConfig(plugin="grpo"), None))
        self.evaluate(BASELINE, evaluated, lambda seed: seed % 4 == 0)
        for step in (1, 2):
            self.log.step_begun(step, 2)
            for member in range(4):
                group = f"{step}-{member // 2}"
                won = group == f"{step}-1" and member == 2  # in the second, not all go alike
                self.play(f"{group}.{member % 2}", step, Purpose("step", step), won, group)
            self.log.step_finished(step, {"loss": 1.0 / step}, 60.0 * step)
        self.evaluate(FINAL, evaluated, lambda seed: seed % 2 == 0)
        self.log.ended("finished", 2)
        self.library = Library([Shelf(folder)], MonitorIndex(None))
        self.library.look()
        (shelved,) = self.library.all()
        self.source, self.id = shelved.source, shelved.source.id
        self.api = MonitorApi(self.library)

    def evaluate(self, purpose: Purpose, count: int, wins: Any) -> None:
        self.log.evaluation_begun(purpose, count)
        for seed in range(count):
            self.play(f"e{seed}.0", seed, purpose, wins(seed))
        report = SimpleNamespace(success=0.5, n=count, interval=(0.3, 0.7))
        self.log.evaluation_finished(purpose, report, 1.0)

    def play(self, name: str, seed: int, purpose: Purpose, won: bool, group: str = "") -> None:
        place = "episodes"
        if purpose.kind != "step":
            place = f"evaluations/step_{purpose.step:06}-{purpose.mode}"
        store = EpisodeStore(self.folder / place)
        noise = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), np.uint8)
        key = store.screenshots.put(noise)
        record = TokenRecord((1, 2), (3,), (-0.5,), (key,))
        episode = Episode(
            task="UI/DataEntry-v0", seed=seed, goal=f"{EVIL} {seed}", id=name, group=group,
            turns=[Turn(key, 'type("x")', tokens=record)], final_screenshot_id=key,
            score=float(won), success=won, terminated=True, purpose=purpose, notes="é " + EVIL,
            started_at="2026-01-01T08:00:00+00:00", seconds=1.0, max_turns=9,
        )  # fmt: skip
        store.add([episode])

    def page(self, **given: Any) -> str:
        return "".join(single_file.page(self.api.answer, self.source.picture, self.id, **given))


@pytest.fixture
def run(tmp_path: Path) -> Exported:
    return Exported(tmp_path / "run")


def archive(page: str) -> dict[str, Any]:
    """What `static/api.js` finds in the page."""
    held = re.search(r'<script type="application/json" id="archive">(.*?)</script>', page, re.S)
    assert held is not None
    return json.loads(held[1])


def kept(page: str, run: Exported) -> list[dict[str, Any]]:
    return archive(page)["responses"][f"/api/runs/{run.id}/episodes"]["episodes"]


def test_some_episodes_of_each_evaluation_are_chosen_the_best_and_the_worst(run: Exported) -> None:
    page = run.page(episodes=12)
    rows = kept(page, run)
    assert len(rows) == 12
    assert rows[0]["kind"] == "final"
    of = {kind: [row for row in rows if row["kind"] == kind] for kind in ("final", "baseline")}
    assert {row["success"] for row in of["final"]} == {True, False}
    seeds = {kind: {row["seed"] for row in found} for kind, found in of.items()}
    assert seeds["baseline"] <= seeds["final"], "the same instances, to be watched side by side"
    (group,) = {row["group"] for row in rows if row["kind"] == "step"}
    assert group == "2-1", "the newest in which not all went alike, whole"
    assert "of its 48 episodes 12 are here" in html.unescape(page)


def test_a_run_with_few_episodes_is_there_whole(tmp_path: Path) -> None:
    run = Exported(tmp_path / "run", evaluated=2)
    page = run.page()
    assert len(kept(page, run)) == 12
    assert "All its episodes are here (12)" in page


def test_all_that_the_page_asks_for_is_answered(run: Exported) -> None:
    page = run.page(episodes=12)
    told, base = archive(page)["responses"], f"/api/runs/{run.id}"
    for path in (
        "",
        "/steps",
        "/episodes",
        "/groups",
        "/failures",
        "/seeds",
        "/through",
        "/workers",
    ):
        assert base + path in told, path
    assert told["/api/runs"]["static"] is True
    assert told[base]["control"] is False
    ids = [row["id"] for row in kept(page, run)]
    for before, id, after in zip(["", *ids], ids, [*ids[1:], ""], strict=False):
        detail = told[f"{base}/episodes/{id}"]
        assert [detail["prev"] or "", detail["next"] or ""] == [before, after]
        assert detail["may_override"] is False
    (seed, *_) = told[f"{base}/seeds"]["seeds"]
    plays = told[f"{base}/through?seed={seed['seed']}&task=UI%2FDataEntry-v0"]["plays"]
    assert [row["kind"] for row in plays] == ["baseline", "final"]
    group = told[f"{base}/groups"]["groups"][0]
    assert len(told[f"{base}/groups/{group['group']}"]["episodes"]) == 2


def test_every_picture_is_in_it_and_no_tokens(run: Exported) -> None:
    page = run.page(episodes=12)
    held = archive(page)
    for row in kept(page, run):
        detail = held["responses"][f"/api/runs/{run.id}/episodes/{row['id']}"]
        (turn,) = detail["turns"]
        uri = held["pictures"][turn["picture"]]
        shown = PILImage.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))
        want = np.random.default_rng(row["seed"]).integers(0, 256, (8, 8, 3), np.uint8)
        assert np.array_equal(np.asarray(shown.convert("RGB")), want)
        assert turn["tokens"] is False


def test_one_episode_comes_with_its_tokens(run: Exported) -> None:
    chosen = kept(run.page(), run)[3]
    page = run.page(episode=chosen["id"])
    told = archive(page)["responses"]
    assert [row["id"] for row in kept(page, run)] == [chosen["id"]]
    assert f"/api/runs/{run.id}/episodes/{chosen['id']}/turns/0/tokens" in told
    assert f"#/run/{run.id}/episode/{chosen['id']}" in page


def test_large_pictures_lose_a_little_and_what_is_too_much_is_told(
    run: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_file, "LARGE", 10)
    noise = io.BytesIO()
    picture = np.random.default_rng(0).integers(0, 256, (99, 99, 3), np.uint8)
    PILImage.fromarray(picture).save(noise, "PNG")
    found = SimpleNamespace(media="image/png", data=noise.getvalue())
    pieces = single_file.page(
        run.api.answer, lambda _: found, run.id, episodes=8, most_bytes=len(noise.getvalue())
    )
    page = "".join(pieces)
    uris = list(archive(page)["pictures"].values())
    assert uris
    assert all(uri.startswith("data:image/webp") for uri in uris)
    assert sum(map(len, uris)) < len(noise.getvalue())
    assert "coded anew" in page
    assert re.search(r"\d more were left out, for their pictures", page)
    assert len(kept(page, run)) < 8


def test_pictures_that_were_not_kept_leave_the_rest(run: Exported) -> None:
    page = "".join(single_file.page(run.api.answer, lambda _: None, run.id, episodes=4))
    assert archive(page)["pictures"] == {}
    assert len(kept(page, run)) == 4


def test_no_text_of_a_run_ends_the_element_it_is_in(run: Exported) -> None:
    page = run.page()
    assert "boom()" in page
    assert "<img src=x" not in page
    assert page.count("<script") == page.count("</script>") == 4


def test_modules_name_each_other_without_paths() -> None:
    source = """
        import { html } from "../vendor/htm-preact.js";
        import '../side.js';
        export { a } from './b.js';
        const view = () => import("./more/c.js").then((found) => found.C);
        const said = "from here to ./there.js";
    """
    assert (
        single_file.bare(source, "views/run.js")
        == """
        import { html } from "ui/vendor/htm-preact.js";
        import 'ui/side.js';
        export { a } from 'ui/views/b.js';
        const view = () => import("ui/views/more/c.js").then((found) => found.C);
        const said = "from here to ./there.js";
    """
    )


def test_no_module_is_left_with_a_path(run: Exported) -> None:
    held = re.search(r'<script type="importmap">(.*?)</script>', run.page(episodes=1), re.S)
    assert held is not None
    modules = json.loads(held[1])["imports"]
    assert len(modules) > 10
    for name, uri in modules.items():
        code = base64.b64decode(uri.partition(",")[2]).decode()
        named = re.findall(r"""(?:\bfrom|\bimport)[\s(]*["'`]([^"'`\s]+)["'`]""", code)
        assert all(one in modules for one in named), (name, named)


# -- in a browser --


class Opened:
    """What a browser made of a page that was opened from the disk."""

    def __init__(self, page: Path, hash: str, scratch: Path) -> None:
        log = scratch / "net.json"
        done = subprocess.run(
            [
                str(CHROMIUM), "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                f"--user-data-dir={scratch / 'profile'}", "--virtual-time-budget=10000",
                f"--log-net-log={log}", "--dump-dom", f"{page.as_uri()}{hash}",
            ],
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        self.dom = done.stdout
        self.said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        addresses = set(re.findall(r'"url":"(\w+:[^"]{0,200})', log.read_text()))
        self.asked = {a for a in addresses if not a.startswith(("file:", "data:", "chrome:"))}


@pytest.fixture
def opened(run: Exported, tmp_path: Path) -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("chromium-headless-shell is not installed")
    page = tmp_path / "export.html"
    page.write_text(run.page(), encoding="utf-8")
    number = iter(range(99))

    def open_at(hash: str) -> Opened:
        scratch = tmp_path / f"browser{next(number)}"
        scratch.mkdir()
        return Opened(page, hash, scratch)

    return open_at


def test_a_browser_shows_it_from_the_disk_and_asks_nobody(run: Exported, opened: Any) -> None:
    shown = opened("")
    assert shown.said == []
    assert shown.asked == set()
    assert "<canvas" in shown.dom, "charts are drawn"
    assert "exported page" in shown.dom
    assert "<title>taken" not in shown.dom


def test_an_episode_can_be_watched_in_it(run: Exported, opened: Any) -> None:
    row = run.api.answer(f"runs/{run.id}/episodes", {"kind": "final", "order": "worst"})
    shown = opened(f"#/run/{run.id}/episode/{row['episodes'][0]['id']}")
    assert shown.said == []
    assert shown.asked == set()
    assert re.search(r"<(img|canvas)\b", shown.dom)
    assert html.escape(EVIL, quote=False) in shown.dom
