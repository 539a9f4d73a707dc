"""The phone's file system: what Linux would do, and a snapshot that is cheap."""

from __future__ import annotations

import errno
import os
import pickle

import pytest

from ui_gym_phone.state.clock import Clock
from ui_gym_phone.state.files import Files


@pytest.fixture
def files() -> Files:
    made = Files(Clock(), quota=1000)
    made.write("/sdcard/Download/a.txt", b"hello")
    return made


def test_a_file_is_read_back_under_each_of_its_names(files: Files) -> None:
    assert files.read("/storage/emulated/0/Download/../Download//a.txt") == b"hello"
    assert files.canonical("/storage/self/primary/x/.") == "/sdcard/x"


@pytest.mark.parametrize(
    ("action", "number"),
    [
        (lambda f: f.read("/sdcard/none"), errno.ENOENT),
        (lambda f: f.read("/none/none"), errno.ENOENT),
        (lambda f: f.read("/sdcard"), errno.EISDIR),
        (lambda f: f.read("/sdcard/Download/a.txt/b"), errno.ENOTDIR),
        (lambda f: f.list("/sdcard/Download/a.txt"), errno.ENOTDIR),
        (lambda f: f.write("/sdcard/none/b", b""), errno.ENOENT),
        (lambda f: f.write("/sdcard/Download", b""), errno.EISDIR),
        (lambda f: f.write("/sdcard/b", bytes(996)), errno.ENOSPC),
        (lambda f: f.write("/system/b", b""), errno.EROFS),
        (lambda f: f.write("/proc/version", b""), errno.EROFS),
        (lambda f: f.write("/sdcard/" + "x" * 256, b""), errno.ENAMETOOLONG),
        (lambda f: f.mkdir("/sdcard/Download"), errno.EEXIST),
        (lambda f: f.mkdir("/sdcard/a/b"), errno.ENOENT),
        (lambda f: f.rmdir("/sdcard/Download"), errno.ENOTEMPTY),
        (lambda f: f.remove("/sdcard/Download"), errno.EISDIR),
        (lambda f: f.rmtree("/sdcard/none"), errno.ENOENT),
        (lambda f: f.rename("/sdcard/none", "/sdcard/b"), errno.ENOENT),
        (lambda f: f.rename("/sdcard/Download", "/sdcard/Download/in"), errno.EINVAL),
        (lambda f: f.rename("/sdcard/Download/a.txt", "/sdcard/Music"), errno.EISDIR),
    ],
)
def test_what_cannot_be_done_has_the_errno_of_linux(files: Files, action, number: int) -> None:
    before = pickle.dumps(files)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        action(files)
    assert caught.value.errno == number
    assert pickle.dumps(files) == before


def test_removing_gives_the_space_back(files: Files) -> None:
    files.write("/sdcard/b", bytes(900))
    files.remove("/sdcard/b")
    files.write("/sdcard/c", bytes(990))
    assert files.used == 995


def test_a_directory_moves_with_all_that_is_in_it(files: Files) -> None:
    files.mkdir("/sdcard/Download/x/y", parents=True)
    files.rename("/sdcard/Download", "/sdcard/Music/Moved")
    assert list(files.walk("/sdcard/Music")) == [
        "/sdcard/Music", "/sdcard/Music/Moved", "/sdcard/Music/Moved/a.txt",
        "/sdcard/Music/Moved/x", "/sdcard/Music/Moved/x/y",
    ]  # fmt: skip
    assert not files.exists("/sdcard/Download")
    assert files.used == 5


def test_changes_take_the_clocks_time() -> None:
    clock = Clock()
    files = Files(clock)
    clock.advance(60)
    files.append("/sdcard/log", b"a")
    assert files.stat("/sdcard/log").mtime == clock.seconds()
    assert files.stat("/sdcard").mtime == clock.seconds()
    files.touch("/sdcard/log", 5.0)
    files.copy("/sdcard/log", "/sdcard/same", keep_time=True)
    assert files.stat("/sdcard/same").mtime == 5.0


def test_a_snapshot_is_independent(files: Files) -> None:
    again = pickle.loads(pickle.dumps(files))  # noqa: S301
    files.rmtree("/sdcard/Download")
    assert again.read("/sdcard/Download/a.txt") == b"hello"
    assert again.list("/storage/emulated") == ["0"]


def test_a_very_deep_tree_is_walked_and_removed() -> None:
    files = Files(Clock())
    files.mkdir("/sdcard/d" + "/d" * 1500, parents=True)
    assert len(list(files.walk("/sdcard/d"))) == 1501
    files.rmtree("/sdcard/d")
    assert not files.exists("/sdcard/d")
