"""``deploy/space``: a Space of recorded episodes, its front matter, and its page in a browser."""

from __future__ import annotations

import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import yaml

from ui_gym_agents.episode import Episode, Turn
from ui_gym_agents.store import EpisodeStore

SPACE = Path(__file__).resolve().parents[2] / "deploy" / "space"
CHROMIUM = shutil.which("chromium-headless-shell")
COLORS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


def build(recorded: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SPACE / "build.py", recorded, out]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three episodes: one won, one lost in words that look like markup, one without pictures."""
    folder = tmp_path_factory.mktemp("recorded")
    store = EpisodeStore(folder)
    first, second = (
        store.screenshots.put(np.full((40, 80, 3), shade, np.uint8)) for shade in (90, 200)
    )
    won = Episode(
        "UI/Two-v0", 1, "press it", [Turn(first, "click(20, 30)")],
        success=True, score=1.0, final_screenshot_id=second,
    )  # fmt: skip
    lost = Episode(
        "UI/One-v0", 2, "<b>goal</b>",
        [Turn(first, "<script>document.title = 1</script>", "no action")],
        final_screenshot_id=second,
    )  # fmt: skip
    blind = Episode("UI/One-v0", 3, "unseen", [Turn("", "wait()")])
    store.add([won, lost, blind])
    (folder / "evaluation.json").write_text('{"agent": "oracle", "dialect": "canonical"}')
    return folder


@pytest.fixture(scope="module")
def space(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("spaces") / "space"
    done = build(recorded, out)
    assert done.returncode == 0, done.stderr
    assert "2 episodes" in done.stdout
    return out


def test_the_front_matter_is_what_the_hub_reads(space: Path) -> None:
    _, front, _ = (space / "README.md").read_text().split("---\n", 2)
    fields = yaml.safe_load(front)
    assert {"title", "emoji", "colorFrom", "colorTo", "sdk", "app_file"} <= set(fields)
    assert {fields["colorFrom"], fields["colorTo"]} <= COLORS
    assert fields["sdk"] == "static"
    assert (space / fields["app_file"]).exists()
    assert len(fields["short_description"]) <= 60


def test_the_hubs_own_package_reads_the_card(space: Path) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="needs the extra `agents`")
    card = hub.SpaceCard.load(space / "README.md")
    assert (card.data.sdk, card.data.app_file, card.data.license) == ("static", "index.html", "mit")


def test_episodes_are_shown_with_their_points_and_those_without_pictures_left_out(
    space: Path,
) -> None:
    found = json.loads((space / "episodes.json").read_text())
    assert found["summary"] == "2 episodes by oracle, 1 of them successes."
    lost, won = found["episodes"]
    assert (lost["task"], won["task"]) == ("UI/One-v0", "UI/Two-v0")
    click, end = won["frames"]
    assert click["action"] == "click(20, 30)"
    assert click["points"] == [[20.5 / 80, 30.5 / 40]]
    assert (end["action"], end["points"]) == ("", [])
    assert lost["frames"][1]["feedback"] == "no action"
    for frame in (*won["frames"], *lost["frames"]):
        assert (space / frame["picture"]).exists()


@pytest.fixture(scope="module")
def served(space: Path) -> Iterator[str]:
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(space))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()
        thread.join()


def page(url: str, profile: Path) -> str:
    """The page's document once its script has run."""
    assert CHROMIUM is not None
    options = ["--no-sandbox", "--dump-dom", "--virtual-time-budget=5000"]
    return subprocess.run(
        [CHROMIUM, *options, f"--user-data-dir={profile}", url],
        capture_output=True, text=True, timeout=100, check=True,
    ).stdout  # fmt: skip


@pytest.mark.skipif(not CHROMIUM, reason="there is no chromium-headless-shell here")
def test_the_address_chooses_the_step_and_what_agents_wrote_is_only_text(
    served: str, tmp_path: Path
) -> None:
    shown = page(f"{served}#1/0", tmp_path)
    assert "press it</h2>" in shown
    assert 'class="point" style="left: 25.625%; top: 76.25%;"' in shown
    shown = page(f"{served}#0/0", tmp_path)
    assert "&lt;b&gt;goal&lt;/b&gt;" in shown
    assert "&lt;script&gt;document.title" in shown
    assert "<title>ui-gym episodes</title>" in shown
    assert "no success, score 0" in page(f"{served}#0/1", tmp_path)


def test_nothing_comes_from_elsewhere(space: Path) -> None:
    text = "".join((space / name).read_text() for name in ("index.html", "style.css", "player.js"))
    assert not re.findall(r"https?://", text)
    assert "default-src 'none'" in text


def test_what_cannot_be_shown_is_said(space: Path, tmp_path: Path) -> None:
    there = build(tmp_path, space)
    assert (there.returncode, "is there already" in there.stderr) == (2, True)
    nothing = build(tmp_path, tmp_path / "out")
    assert (nothing.returncode, "ui-gym-eval --agent oracle" in nothing.stderr) == (2, True)
    assert not (tmp_path / "out").exists()
