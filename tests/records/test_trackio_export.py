"""``ui-gym-records trackio``: what a trace is made of, and the package's own storage of it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import story
from PIL import Image

from ui_gym_agents.records import cli
from ui_gym_agents.records.recorder import RunRecorder
from ui_gym_agents.records.target import of_file
from ui_gym_agents.records.traces import episode_trace


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's directory with its database, six episodes and the first picture of each."""
    folder = tmp_path / "runs" / "first"
    for place in ("episodes", "evaluations/step_000000-greedy"):
        picture = folder / place / "screenshots" / "ab" / ("ab" * 32 + ".webp")
        picture.parent.mkdir(parents=True)
        Image.new("RGB", (8, 6), "red").save(picture, "WEBP", lossless=True)
    story.Run(folder, RunRecorder(of_file(folder / "records.sqlite"), folder, print)).whole()
    return folder


def plain() -> Any:
    """Stand-ins for the two classes: what they are given."""
    return SimpleNamespace(
        Image=lambda picture: ("picture", picture.size),
        Trace=lambda messages, metadata, spans: SimpleNamespace(
            messages=messages, metadata=metadata, spans=spans
        ),
    )


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def test_a_trace_is_the_conversation_with_the_screens_that_were_kept() -> None:
    made = BytesIO()
    Image.new("RGB", (8, 6), "red").save(made, "WEBP", lossless=True)
    kept = {"ab" * 32: made.getvalue()}
    trace = episode_trace(plain(), story.episode("1-0.0"), kept.get)
    assert trace.messages == [
        {"role": "user", "content": [text("copy é"), ("picture", (8, 6))]},
        {"role": "assistant", "content": 'type("é")'},
        {"role": "assistant", "content": "click("},
        {"role": "user", "content": [text("cannot read")]},
    ]  # fmt: skip
    assert trace.metadata["status"] == "success"
    assert trace.metadata["duration_ms"] == 1500
    whole, *turns = trace.spans
    assert (whole["name"], whole["duration_ms"]) == ("UI/DataEntry-v0", 1500)
    assert [turn["input"] for turn in turns] == ['type("é")', "click("]
    assert {turn["parent_id"] for turn in turns} == {whole["id"]}
    assert turns[0]["duration_ms"] == 100


@pytest.mark.parametrize(
    ("named", "status"),
    [({"success": False}, "failed"), ({"failure": "device: lost"}, "error")],
)
def test_a_device_that_failed_is_told_from_an_agent_that_did(
    named: dict[str, Any], status: str
) -> None:
    trace = episode_trace(plain(), story.episode("1-0.0", **named), lambda key: None)
    assert trace.metadata["status"] == status


def test_without_the_package_its_extra_is_named(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "trackio", None)
    assert cli.main(["trackio", str(run)]) == 2
    assert "pip install 'ui-gym[trackio]'" in " ".join(capsys.readouterr().err.split())


@pytest.mark.skipif(find_spec("trackio") is None, reason="tox -e trackio")
def test_the_package_keeps_the_traces_and_their_pictures(run: Path, tmp_path: Path) -> None:
    home = tmp_path / "trackio"  # read when the package is imported, so by a process of its own
    asked = ["trackio", str(run), "--project", "p", "--episodes", "4"]
    subprocess.run(
        [sys.executable, "-m", "ui_gym_agents.records.cli", *asked],
        env={**os.environ, "TRACKIO_DIR": str(home)},
        check=True,
    )
    (file,) = home.glob("*.db")
    with closing(sqlite3.connect(file)) as database:
        columns = "run_name, step, key, messages, metadata"
        rows = database.execute(f"select {columns} from traces order by rowid").fetchall()
    assert [row[:3] for row in rows] == [
        ("first", 0, "episodes/baseline"),
        *[("first", step, "episodes/step") for step in (1, 1, 2)],
    ]
    assert json.loads(rows[0][4])["status"] == "failed"
    words, picture = json.loads(rows[1][3])[0]["content"]
    assert words == text("copy é")
    assert picture["_type"] == "trackio.image"
    with Image.open(home / "media" / picture["file_path"]) as image:
        assert image.convert("RGB").getpixel((0, 0)) == (255, 0, 0)
