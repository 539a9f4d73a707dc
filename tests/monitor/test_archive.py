"""Episodes to take away: what a ZIP holds, and that a learner reads it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from PIL import Image as PILImage

from ui_gym_agents import overrides
from ui_gym_agents.collecting import Recording
from ui_gym_agents.episode import Episode, Purpose, TokenRecord, Turn
from ui_gym_agents.monitor import archive
from ui_gym_agents.overrides import Override
from ui_gym_agents.store import FILE, EpisodeStore, to_json

MANIFEST = {"run": "demo", "config": {"policy": {"model": "tiny"}, "env": {"dialect": "cells"}}}


@dataclass(frozen=True)
class File:
    media: str
    data: bytes


def a_store(folder: Path, count: int) -> EpisodeStore:
    """Episodes of two turns each, with pictures of their own and one that all share."""
    store = EpisodeStore(folder)
    shared = store.screenshots.put(np.full((4, 6, 3), 7, np.uint8))
    for number in range(count):
        own = store.screenshots.put(np.full((4, 6, 3), 100 + number, np.uint8))
        record = TokenRecord((1, 2), (3,), (-0.5,), (shared,))
        episode = Episode(
            task="UI/DataEntry-v0", seed=number, goal="copy é \ud83d", id=f"1-{number}.0",
            turns=[Turn(shared, "click()", tokens=record), Turn(own, 'type("x")')],
            final_screenshot_id=own, score=1.0, success=True, terminated=True,
            purpose=Purpose("step", 1),
        )  # fmt: skip
        store.add([episode])
    return store


def finder(store: EpisodeStore):
    def find(key: str) -> File | None:
        data = store.screenshots.encoded(key)
        return None if data is None else File("image/webp", data)

    return find


def unpacked(data: bytes, folder: Path) -> Path:
    """Extracted by Python's own command, which takes nothing of a stream's on trust."""
    folder.mkdir()
    packed = folder.with_suffix(".zip")
    packed.write_bytes(data)
    subprocess.run([sys.executable, "-m", "zipfile", "-e", packed, folder], check=True)
    return folder


def test_a_learner_reads_what_was_taken_away(tmp_path: Path) -> None:
    store = a_store(tmp_path / "run", 3)
    data = b"".join(archive.episodes_zip(store, finder(store), manifest=MANIFEST))
    folder = unpacked(data, tmp_path / "taken")

    assert [to_json(e) for e in EpisodeStore(folder)] == [to_json(e) for e in store]
    recording = Recording.of_run(folder)
    assert len(recording.episodes) == 3
    assert not recording.skipped
    assert recording.settings == MANIFEST["config"]
    shown = recording.screenshots.get(recording.episodes[2].turns[1].screenshot_id)
    assert shown[0, 0, 0] == 102


def test_it_tells_what_it_is_and_what_is_missing(tmp_path: Path) -> None:
    store = a_store(tmp_path / "run", 2)
    gone = next(iter(store)).turns[1].screenshot_id

    def find(key: str) -> File | None:
        if key == gone:
            raise OSError("the disk is gone")
        return finder(store)(key)

    data = b"".join(archive.episodes_zip(store, find, manifest=MANIFEST))
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        assert packed.testzip() is None
        names = packed.namelist()
        told = packed.read("README.txt").decode()
    assert "2 episodes of demo" in told
    assert "1 pictures are missing" in told
    assert sum(name.startswith("screenshots/") for name in names) == 2


def test_a_verdict_goes_with_its_episode_to_where_that_lies_now(tmp_path: Path) -> None:
    store = a_store(tmp_path / "run", 3)
    played = Purpose("step", 1)
    said = [
        Override("2026-01-01T00:00:00+00:00", name, f"episodes/{FILE}:7:9", verdict, "é", "me", at)
        for name, verdict, at in (
            ("1-2.0", "failure", played),
            ("1-0.0", "failure", played),
            ("1-0.0", "withdrawn", played),
            ("1-2.0", "success", Purpose("final", 1)),
        )
    ]
    data = b"".join(
        archive.episodes_zip(
            store, finder(store), manifest=MANIFEST, overrides=[asdict(one) for one in said]
        )
    )
    folder = unpacked(data, tmp_path / "taken")
    held = overrides.read(folder)
    assert [(one.episode, one.verdict, one.reason) for one in held.values()] == [
        ("1-2.0", "failure", "é")
    ]
    start, end = map(int, next(iter(held)).split(":")[1:])
    assert json.loads((folder / FILE).read_bytes()[start:end])["id"] == "1-2.0"


def test_pictures_of_other_formats_are_kept_as_png(tmp_path: Path) -> None:
    key = "ab" * 32
    coded = io.BytesIO()
    PILImage.new("RGB", (5, 3), (200, 0, 0)).save(coded, "JPEG")
    episode = Episode("t", 0, "g", [Turn(key, "x")])
    packed = archive.episodes_zip(
        [episode], lambda _: File("image/jpeg", coded.getvalue()), manifest=MANIFEST
    )
    folder = unpacked(b"".join(packed), tmp_path / "taken")
    assert EpisodeStore(folder).screenshots.get(key).shape == (3, 5, 3)


def test_a_name_that_is_no_hash_cannot_lead_out_of_the_folder() -> None:
    asked = []
    episode = Episode("t", 0, "g", [Turn("../../etc/passwd", "x"), Turn("", "y")])
    data = b"".join(archive.episodes_zip([episode], asked.append, manifest=MANIFEST))
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        assert not [name for name in packed.namelist() if "passwd" in name]
        assert "1 pictures are missing" in packed.read("README.txt").decode()
    assert asked == []


def test_episodes_are_asked_for_while_it_is_read(tmp_path: Path) -> None:
    """A download of a long run holds one episode at a time, and begins at once."""
    taken = 0
    noise = np.random.default_rng(0)

    def episodes() -> Iterator[Episode]:
        nonlocal taken
        for number in range(200):
            taken += 1
            said = noise.integers(0, 256, 20_000, np.uint8).tobytes().hex()
            yield Episode("t", number, "g", [Turn("", said)])

    pieces = archive.episodes_zip(episodes(), lambda _: None, manifest=MANIFEST)
    first = next(pieces)
    assert 0 < taken < 20
    rest = list(pieces)
    assert taken == 200
    assert max(map(len, [first, *rest])) < 4 * archive.BLOCK


def test_metrics_are_a_table() -> None:
    rows = [[1, 2.5, 0.25, None], [2, 5.0, None, 1e-7]]
    text = "".join(archive.metrics_csv(["loss", 'a "b", c'], rows))
    assert text == 'step,seconds,loss,"a ""b"", c"\n1,2.5,0.25,\n2,5.0,,1e-07\n'
