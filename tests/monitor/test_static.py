"""The page's own files: what is of others is unchanged, and nothing is asked for elsewhere."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path

import pytest

from ui_gym_agents.monitor.app import STATIC

VENDOR = STATIC / "vendor"
OURS = sorted(
    path
    for path in STATIC.rglob("*")
    if path.suffix in (".js", ".css", ".html") and VENDOR not in path.parents
)
FIRST = ("index.html", "main.js", "api.js", "router.js", "format.js", "parts.js", "style.css",
         "player.css", "vendor/htm-preact.js", "vendor/uplot.js", "vendor/uplot.css", "charts.js",
         "views/runs.js", "views/run.js", "views/run_charts.js", "views/run_tables.js",
         "views/run_settings.js", "episodes.js")  # fmt: skip


def test_code_of_others_is_as_it_was_published() -> None:
    table = (VENDOR / "README.md").read_text()
    told = dict(re.findall(r"^\| `([\w.-]+)` \|.*`([0-9a-f]{64})` \|$", table, re.MULTILINE))
    there = {path.name for path in VENDOR.iterdir()} - {"README.md"}
    assert told.keys() == there
    for name, digest in told.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_our_files_name_no_other_origin_and_set_no_markup(path: Path) -> None:
    text = path.read_text().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|innerHTML|outerHTML|insertAdjacentHTML|document\.write", text)
    assert not re.search(r"\beval\(|new Function|\son\w+=\"", text)


def test_modules_are_named_by_relative_paths_that_are_there() -> None:
    for path in OURS:
        names = re.findall(r"""(?:from|import\()\s*["']([^"']+)["']""", path.read_text())
        for name in names if path.suffix == ".js" else ():
            assert name.startswith("."), (path, name)
            assert (path.parent / name).resolve().is_file(), (path, name)


def test_the_first_page_is_small() -> None:
    packed = sum(len(gzip.compress((STATIC / name).read_bytes(), 5)) for name in FIRST)
    assert packed < 100_000
