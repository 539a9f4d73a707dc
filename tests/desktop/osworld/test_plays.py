"""Published task files are set up, solved and nearly solved with the real applications.

The files are OSWorld's own and not a part of this project: ``UI_GYM_OSWORLD_FILES`` names the
folder that holds their ``examples``. What they fetch from a cloud is made here (`plays.py`).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from play_case import Play, fill, judge
from plays import ALL

from ui_gym.desktop.osworld.cache import FileCache

PUBLISHED = Path(os.environ.get("UI_GYM_OSWORLD_FILES", "/nowhere"))
DOCS = Path(__file__).parents[3] / "docs" / "osworld.md"
SESSION = ("Xvfb", "openbox", "dbus-daemon", "xfce4-terminal")
DOMAINS = {
    *("chrome", "gimp", "libreoffice_calc", "libreoffice_impress", "libreoffice_writer"),
    *("multi_apps", "os", "thunderbird", "vlc"),
}


def test_the_documentation_lists_every_play() -> None:
    rows = [f"| `{p.task}` | {p.made} | {p.right} | {p.wrong} |" for p in ALL]
    lines = [line for line in DOCS.read_text().splitlines() if line.startswith("| `")]
    assert [line for line in lines if line.split("`")[1].partition("/")[0] in DOMAINS] == rows


def test_there_are_thirty_over_all_domains_that_debian_can_host() -> None:
    assert len(ALL) >= 30
    assert len({play.task for play in ALL}) == len(ALL)
    assert {play.task.partition("/")[0] for play in ALL} == DOMAINS


@pytest.mark.nightly
@pytest.mark.skipif(
    not (PUBLISHED / "examples").is_dir(),
    reason="UI_GYM_OSWORLD_FILES names no folder of OSWorld's files",
)
@pytest.mark.parametrize("play", ALL, ids=lambda play: play.task.replace("/", "-"))
def test_a_published_file_is_solved_and_a_near_miss_is_not(play: Play, tmp_path: Path) -> None:
    missing = [name for name in (*SESSION, *play.programs) if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    fill(FileCache(tmp_path / "cache"), play, PUBLISHED, tmp_path)
    info = judge(play, PUBLISHED, tmp_path / "cache", play.oracle)
    assert (info["failure"], info["score"]) == (None, 1.0), info["details"]
    info = judge(play, PUBLISHED, tmp_path / "cache", play.miss)
    assert (info["failure"], info["score"]) == (None, 0.0), info["details"]
