"""Pictures in one file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import room

from ui_gym.errors import UserError
from ui_gym_agents.files import ReadOnly
from ui_gym_agents.pack import NAME, PicturePack
from ui_gym_agents.store import ScreenshotStore, screenshot_hash


def noise(seed: int, height: int = 64, width: int = 80) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def filled_in(page: np.ndarray, step: int) -> np.ndarray:
    """The page with something else in a few of its pixels."""
    after = page.copy()
    after[8 : 8 + step, 8:16] = 255 - after[8 : 8 + step, 8:16]
    return after


def taken(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_what_nearly_looks_the_same_takes_little_and_comes_back_to_the_byte(tmp_path: Path) -> None:
    pages = [filled_in(noise(0), step) for step in range(8)]
    apart, together = tmp_path / "apart", tmp_path / "together"
    for seed in range(8):
        ScreenshotStore(apart).put(noise(seed))
    store = ScreenshotStore(together)
    keys = [store.put(page) for page in pages]
    del store
    assert taken(together) < 0.25 * taken(apart)
    again = ScreenshotStore(together)
    assert all(np.array_equal(again.get(k), page) for k, page in zip(keys, pages, strict=True))


def test_pictures_of_other_sizes_lie_beside_each_other(tmp_path: Path) -> None:
    pages = [np.full((32, width, 3), 7, np.uint8) for width in (16, 32, 48)]
    pack = PicturePack(tmp_path)
    for number, page in enumerate(pages):
        pack.add(str(number), page)
    assert all(np.array_equal(pack.get(str(n)), page) for n, page in enumerate(pages))


def test_many_threads_write_and_read(tmp_path: Path) -> None:
    pack = PicturePack(tmp_path)

    def kept(seed: int) -> bool:
        page = filled_in(noise(seed % 3), seed % 5)
        pack.add(screenshot_hash(page), page)
        found = pack.get(screenshot_hash(page))
        return found is not None and np.array_equal(found, page)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(kept, range(60)))
    assert len(list(pack)) == 15


WRITER = """
import sys
from pathlib import Path
import numpy as np
from ui_gym_agents.store import ScreenshotStore
store = ScreenshotStore(Path(sys.argv[1]))
seed = int(sys.argv[2])
while True:
    seed += 1
    page = np.random.default_rng(seed).integers(0, 256, (64, 80, 3), dtype=np.uint8)
    print(seed, store.put(page), flush=True)
"""


def test_of_writers_that_are_killed_everything_told_is_there(tmp_path: Path) -> None:
    """Two at a time, as two evaluations of one run may be; a reader looks on."""
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [
        subprocess.Popen([*command, str(first)], stdout=subprocess.PIPE, text=True)
        for first in (0, 10_000)
    ]
    told = {}
    for _ in range(20):
        for writer in writers:
            assert writer.stdout is not None
            seed, key = writer.stdout.readline().split()
            told[key] = int(seed)
            assert ScreenshotStore(tmp_path).keeps(key)
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        whole = (line.split() for line in rest.splitlines(keepends=True) if line.endswith("\n"))
        told |= {key: int(seed) for seed, key in whole}
    store = ScreenshotStore(tmp_path)
    assert all(np.array_equal(store.get(key), noise(seed)) for key, seed in told.items())
    assert store.keeps(store.put(noise(99_999)))


def test_looking_changes_nothing(tmp_path: Path) -> None:
    store = ScreenshotStore(tmp_path)
    key = store.put(noise(0))
    del store
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert before.keys() == {NAME}
    assert ScreenshotStore(tmp_path).encoded(key) is not None
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_who_may_not_write_sees_what_is_there(tmp_path: Path) -> None:
    key = ScreenshotStore(tmp_path).put(noise(0))
    for folder in (tmp_path, *tmp_path.parents):
        folder.chmod(folder.stat().st_mode | 0o055)
    script = (
        "import sys; from pathlib import Path; from ui_gym_agents.store import ScreenshotStore;"
        "import os; os.setuid(65534);"
        "print(len(ScreenshotStore(Path(sys.argv[1])).encoded(sys.argv[2])))"
    )
    said = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), key],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert int(said.stdout or 0) > 1000, said.stderr


def test_on_a_disk_that_may_only_be_read_a_picture_is_refused_and_the_others_are_seen(
    tmp_path: Path,
) -> None:
    with room.small_disk(tmp_path / "disk") as disk:
        key = ScreenshotStore(disk).put(noise(0))
        room.mount("-o", "remount,ro", str(disk))
        store = ScreenshotStore(disk)
        with pytest.raises(ReadOnly, match=f"{NAME} cannot be written: the file system of"):
            store.put(noise(1))
        assert np.array_equal(ScreenshotStore(disk).get(key), noise(0))


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"no database" * 100)
    with pytest.raises(UserError, match=f"{NAME} is damaged: file is not a database"):
        ScreenshotStore(tmp_path).get("ab" * 32)


def test_what_is_no_picture_is_named(tmp_path: Path) -> None:
    pack = PicturePack(tmp_path)
    key = screenshot_hash(noise(0))
    pack.add(key, noise(0))
    pack._connection().execute("UPDATE picture SET data = ?", (b"RIFF" + bytes(50),))
    with pytest.raises(UserError, match=f"is damaged: {key[:12]}... is no picture"):
        pack.get(key)


def test_a_difference_to_a_picture_that_is_gone_is_no_picture(tmp_path: Path) -> None:
    pack = PicturePack(tmp_path)
    pack.add("whole", noise(0))
    pack.add("next", filled_in(noise(0), 4))
    pack._connection().execute("DELETE FROM picture WHERE hash = 'whole'")
    with pytest.raises(UserError, match=r"is damaged: next... is no picture"):
        pack.get("next")


def test_a_link_leads_to_no_other_pack(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    key = ScreenshotStore(ours).put(noise(0))
    theirs.mkdir()
    (theirs / NAME).symlink_to(ours / NAME)
    assert not ScreenshotStore(theirs).keeps(key)
    assert ScreenshotStore(ours).keeps(key)
