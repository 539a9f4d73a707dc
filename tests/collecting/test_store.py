"""Episodes and pictures on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from room import room_for

from ui_gym.errors import UserError
from ui_gym_agents.collecting.recorded import Recording
from ui_gym_agents.episode import Episode, TokenRecord, Turn
from ui_gym_agents.files import NoRoom
from ui_gym_agents.pack import PicturePack
from ui_gym_agents.store import EpisodeStore, ScreenshotStore, screenshot_hash


def picture(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (16, 24, 3), dtype=np.uint8)


def episode(name: str = "a") -> Episode:
    record = TokenRecord((1, 2), (3, 4), (-0.5, -0.25), ("ff",), (1.0, 0.5), version=3)
    turn = Turn("ab", 'type("é\u2028")', tokens=record, times={"act": 0.1})
    return Episode(task="T", seed=1, goal="say é", turns=[turn], id=name, params={"row": 2})


def test_a_picture_survives_the_disk_to_the_byte(tmp_path: Path) -> None:
    key = ScreenshotStore(tmp_path).put(picture(0))
    again = ScreenshotStore(tmp_path).get(key)
    assert np.array_equal(again, picture(0))
    assert screenshot_hash(again) == key


def test_an_equal_picture_is_kept_once(tmp_path: Path) -> None:
    store = ScreenshotStore(tmp_path)
    keys = [store.put(picture(seed)) for seed in (0, 0, 1)]
    assert list(PicturePack(tmp_path)) == sorted({*keys})
    assert len({*keys}) == 2


def test_pictures_of_older_runs_are_read_and_not_written_again(tmp_path: Path) -> None:
    key = screenshot_hash(picture(0))
    old = tmp_path / key[:2] / f"{key}.png"
    old.parent.mkdir()
    Image.fromarray(picture(0)).save(old)
    store = ScreenshotStore(tmp_path)
    assert store.put(picture(0)) == key
    assert store.encoded(key) == old.read_bytes()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [old]
    store.clear()
    assert np.array_equal(store.get(key), picture(0))


def test_memory_stays_within_its_limit_and_loses_nothing(tmp_path: Path) -> None:
    store = ScreenshotStore(tmp_path, memory_limit=2 * picture(0).nbytes)
    keys = [store.put(picture(i)) for i in range(5)]
    assert all(np.array_equal(store.get(k), picture(i)) for i, k in enumerate(keys))


def test_a_picture_that_need_not_be_kept_is_written_for_want_of_room_alone(tmp_path: Path) -> None:
    store = ScreenshotStore(tmp_path, memory_limit=2 * picture(0).nbytes)
    keys = [store.put(picture(i), keep=False) for i in range(2)]
    assert list(tmp_path.iterdir()) == []
    keys.append(store.put(picture(2), keep=False))
    assert [store.keeps(key) for key in keys] == [True, False, False]
    assert all(np.array_equal(store.get(k), picture(i)) for i, k in enumerate(keys))
    store.put(picture(2))
    assert store.keeps(keys[2])
    store.clear()
    fresh = store.put(picture(9), keep=False)
    store.clear()
    with pytest.raises(UserError, match="no screenshot"):
        store.get(fresh)


def test_shape_is_part_of_a_pictures_name() -> None:
    flat = np.zeros((2, 8, 3), np.uint8)
    assert screenshot_hash(flat) != screenshot_hash(flat.reshape(8, 2, 3))


def test_an_unknown_picture_is_named() -> None:
    with pytest.raises(UserError, match="no screenshot abcdef"):
        ScreenshotStore().get("abcdef")


def test_episodes_come_back_as_they_were(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path)
    store.add([episode("a"), episode("b")])
    store.add([episode("c")])
    assert list(EpisodeStore(tmp_path)) == [episode("a"), episode("b"), episode("c")]


def test_a_torn_last_line_is_left_out_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path)
    store.add([episode("a")])
    assert store.path is not None
    whole = store.path.read_text()
    store.path.write_text(whole + whole[:30])
    assert list(store) == [episode("a")]
    store.path.write_text(whole + "{}\n" + whole)
    with pytest.raises(UserError, match="line 2"):
        list(store)


@pytest.mark.parametrize(
    ("place", "wrong"),
    [(("turns", 0, "tokens"), 7), (("turns", 0, "tokens", "before"), [3]), (("turns",), None),
     (("turns", 0, "screenshot_id"), 0.5), (("seed",), "1"), (("turns", 0, "usage"), "x"),
     (("purpose",), [])],
    ids=str,
)  # fmt: skip
def test_a_line_of_other_values_is_named_by_whoever_reads_it(
    tmp_path: Path, place: tuple[Any, ...], wrong: Any
) -> None:
    store = EpisodeStore(tmp_path)
    store.add([episode("a")])
    assert store.path is not None
    line = json.loads(store.path.read_text())
    inner = line
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = wrong
    store.path.write_text(json.dumps(line) + "\n")
    with pytest.raises(UserError, match="line 1"):
        list(store)
    with pytest.raises(UserError, match="line 1"):
        Recording.of_file(store.path)


def test_a_line_that_is_nested_too_deeply_is_named(tmp_path: Path) -> None:
    (tmp_path / "episodes.jsonl").write_text("[" * 100_000 + "\n")
    with pytest.raises(UserError, match="line 1"):
        list(EpisodeStore(tmp_path))
    with pytest.raises(UserError, match="line 1"):
        Recording.of_file(tmp_path / "episodes.jsonl")


def test_on_a_full_disk_an_episode_is_added_whole_or_refused(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path)
    assert store.path is not None
    added = []
    with room_for(4000):
        for number in range(40):
            try:
                store.add([episode(f"e{number}")])
                added.append(f"e{number}")
            except NoRoom as error:
                told = str(error)
    assert 1 < len(added) < 40
    assert told == (
        f"there is no room for {store.path} (File too large); make room and continue: it is as "
        "it was before"
    )
    assert [e.id for e in store] == added
    store.add([episode("later")])
    assert [e.id for e in store] == [*added, "later"]
    with room_for(store.path.stat().st_size + 1000), pytest.raises(NoRoom):
        store.add([episode(f"all {number}") for number in range(40)])
    assert [e.id for e in store] == [*added, "later"]


def test_a_picture_that_found_no_room_is_written_once_there_is(tmp_path: Path) -> None:
    store = ScreenshotStore(tmp_path)
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    with room_for(100), pytest.raises(NoRoom, match="no room for"):
        store.put(noise)
    assert not store.keeps(screenshot_hash(noise))
    key = store.put(noise)
    assert (ScreenshotStore(tmp_path).get(key) == noise).all()
