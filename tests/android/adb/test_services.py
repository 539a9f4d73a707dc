"""Shell, raw output and files, over both transports."""

from __future__ import annotations

import stat as modes
import threading

import pytest
from adb_toy import Toy, big

from ui_gym.android.adb import shell, sync
from ui_gym.android.adb.stream import AdbConnection
from ui_gym.errors import DeviceError, DeviceLost, DeviceTimeout


def test_a_line_tells_its_output_its_errors_and_its_exit_code(connection: AdbConnection) -> None:
    result = shell.run(connection, "echo out; err wrong; exit 3", 10)
    assert (result.stdout, result.stderr, result.code) == (b"out\n", b"wrong\n", 3)
    assert result.text == "out"


def test_a_line_that_reads_gets_nothing_to_read(connection: AdbConnection) -> None:
    assert shell.run(connection, "cat; echo over", 10).stdout == b"over\n"


def test_a_line_goes_over_as_it_is(connection: AdbConnection, toy: Toy) -> None:
    line = "echo 'Grüße, \u4f60\u597d'\n" + "#" * 5000
    assert shell.run(connection, line, 10).text.startswith("Grüße, \u4f60\u597d")
    assert toy.lines == [line]


@pytest.mark.parametrize("size", [0, 1, 65536, (1 << 20) + 1, 10_368_016])
def test_raw_output_comes_whole(connection: AdbConnection, size: int) -> None:
    assert shell.execute(connection, f"big {size}", 20) == big(size)


def test_much_output_comes_whole_through_the_shell(connection: AdbConnection) -> None:
    result = shell.run(connection, "big 10000000; err x", 20)
    assert result.stdout == big(10_000_000)
    assert result.stderr == b"x\n"


def test_a_device_without_the_second_shell_version_tells_exit_codes_too(
    connection: AdbConnection,
) -> None:
    connection.features = frozenset()
    result = shell.run(connection, "echo out; err wrong; echo 7", 10)
    assert (result.stdout, result.stderr, result.code) == (b"out\nwrong\n7\n", b"", 0)
    assert shell.run(connection, "nothing", 10).code == 127


@pytest.mark.parametrize("size", [0, 5, 65536, 65537, 3_000_000])
def test_a_file_comes_back_as_it_was_pushed(connection: AdbConnection, toy: Toy, size: int) -> None:
    sync.push(connection, big(size), "/sdcard/a b.bin", 20, mode=0o600, mtime=1234567890)
    assert toy.files["/sdcard/a b.bin"] == (big(size), 0o600, 1234567890)
    assert sync.pull(connection, "/sdcard/a b.bin", 20) == big(size)


@pytest.mark.parametrize("features", [{"stat_v2"}, set()])
def test_files_and_folders_are_told_apart(connection: AdbConnection, features: set[str]) -> None:
    connection.features = frozenset(features)
    found = sync.stat(connection, "/sdcard/note.txt", 10)
    assert found == sync.SyncStat(modes.S_IFREG | 0o644, 6, 7)
    folder = sync.stat(connection, "/sdcard", 10)
    assert folder is not None
    assert folder.is_dir
    assert sync.stat(connection, "/sdcard/none", 10) is None


def listed(connection: AdbConnection, path: bytes) -> dict[str, sync.SyncStat]:
    """What an old adb is told of a folder; newer ones ask by ``LIS2``."""
    found = {}
    with connection.open("sync:", 10) as stream:
        stream.write(b"LIST" + len(path).to_bytes(4, "little") + path)
        while stream.read(4) == b"DENT":
            mode, size, mtime, length = sync.DENT_V1.unpack(stream.read(sync.DENT_V1.size))
            found[stream.read(length).decode()] = sync.SyncStat(mode, size, mtime)
    return found


def test_a_folder_is_listed(connection: AdbConnection, toy: Toy) -> None:
    toy.files["/sdcard/Ünder/x"] = (b"", 0o644, 1)
    found = {name: stat.is_dir for name, stat in listed(connection, b"/sdcard").items()}
    assert found.items() >= {"note.txt": False, "Ünder": True}.items()
    assert set(found) <= {".", "..", "note.txt", "Ünder"}
    assert set(listed(connection, b"/none")) <= {".", ".."}


def test_what_a_device_refuses_is_told_in_its_words(connection: AdbConnection) -> None:
    with pytest.raises(DeviceError, match="'/none': remote: No such file or directory"):
        sync.pull(connection, "/none", 10)
    with pytest.raises(DeviceError, match="'/system/x': remote: Permission denied"):
        sync.push(connection, big(3_000_000), "/system/x", 10)
    with pytest.raises(DeviceError, match="2000 bytes"):
        sync.pull(connection, "/" + "x" * 1999, 10)
    assert shell.run(connection, "echo still here", 10).text == "still here"


def test_a_file_that_is_too_large_is_refused_and_not_kept(
    connection: AdbConnection, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui_gym.android.adb.sync_service.MAX_OUTPUT", 100_000)
    with pytest.raises(DeviceError, match="remote: File too large"):
        sync.push(connection, big(100_001), "/sdcard/large", 10)
    assert "/sdcard/large" not in toy.files
    sync.push(connection, big(100_000), "/sdcard/large", 10)
    assert "/sdcard/large" in toy.files


def test_a_service_that_is_not_there_is_refused(connection: AdbConnection) -> None:
    with pytest.raises(DeviceError, match="refuses 'framebuffer:'"):
        connection.open("framebuffer:", 10)


def test_a_line_that_hangs_ends_at_its_deadline(connection: AdbConnection, toy: Toy) -> None:
    with pytest.raises(DeviceTimeout, match=r"within 0\.2 s"):
        shell.run(connection, "hang", 0.2)
    assert shell.run(connection, "echo next", 10).text == "next"
    toy.go.set()
    assert shell.run(connection, "echo next", 10).text == "next"


def test_closing_wakes_a_thread_that_waits(connection: AdbConnection, toy: Toy) -> None:
    raised: list[BaseException] = []

    def wait() -> None:
        try:
            shell.run(connection, "hang", 30)
        except DeviceError as error:
            raised.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    assert toy.hanging.wait(10)
    connection.close()
    thread.join(10)
    assert [type(error) for error in raised] == [DeviceLost]
    with pytest.raises(DeviceLost, match="closed"):
        shell.run(connection, "echo", 10)


def test_many_threads_share_a_connection(connection: AdbConnection) -> None:
    wrong: list[str] = []

    def ask(number: int) -> None:
        for turn in range(5):
            size = 1 + number * 40_000 + turn
            try:
                assert shell.execute(connection, f"big {size}", 20) == big(size)
            except Exception as error:
                wrong.append(f"{number}.{turn}: {error!r}")

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert wrong == []
    assert not any(thread.is_alive() for thread in threads)


def test_output_without_end_is_cut_off(connection: AdbConnection) -> None:
    with (
        connection.open("exec:big 5000000", 10) as stream,
        pytest.raises(DeviceError, match="more than 1000000 bytes"),
    ):
        stream.read_all(1_000_000)
    assert shell.run(connection, "echo next", 10).text == "next"
