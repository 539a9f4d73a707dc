"""What the differential test cannot show: the phone's own answers, sessions, order, the API."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shell_machine import TREE, Machine, machine_with

from ui_gym_phone.shell import Session, run


@pytest.fixture
def machine() -> Machine:
    return machine_with(TREE)


def out(machine: Machine, line: str, **arguments: object) -> str:
    return run(machine, line, **arguments).result().stdout.decode("utf-8", "replace")


# -- output --


def test_the_two_outputs_keep_their_order_in_time(machine: Machine) -> None:
    output = run(machine, "echo a; echo b >&2; echo c; nosuch; echo d")
    assert [fd for fd, _ in output.chunks] == [1, 2, 1, 2, 1]
    assert b"".join(data for _, data in output.chunks).startswith(b"a\nb\nc\n/system/bin/sh: ")


def test_output_is_handed_on_as_it_comes(machine: Machine) -> None:
    seen: list[tuple[int, bytes]] = []
    line = "echo a; echo b >&2; exit 4"
    output = run(machine, line, write=lambda fd, data: seen.append((fd, data)))
    assert seen == output.chunks == [(1, b"a\n"), (2, b"b\n")]
    assert output.code == 4


def test_bytes_that_are_no_text_pass_through(machine: Machine) -> None:
    data = bytes(range(256)) * 3
    output = run(machine, "cat | tee x | cat", stdin=data, session=Session("/sdcard"))
    assert output.result().stdout == data
    assert machine.files.read("/sdcard/x") == data


@pytest.mark.parametrize(
    ("line", "message", "code"),
    [
        ("frobnicate x", "sh: frobnicate: inaccessible or not found", 127),
        ("/bin/frobnicate", "sh: /bin/frobnicate: inaccessible or not found", 127),
        ("cat < /sdcard/none", "sh: can't open /sdcard/none: No such file or directory", 1),
        ("echo > /system/x", "sh: can't create /system/x: Read-only file system", 1),
        ("cd /none", "sh: cd: /none: No such file or directory", 2),
        ("if true", "sh: syntax error: 'if' unmatched", 1),
        ("echo )", "sh: syntax error: ')' unexpected", 1),
        ("echo 'x", "sh: no closing quote", 1),
        ("/sdcard/notes.txt", "sh: /sdcard/notes.txt: can't execute: Permission denied", 126),
        ("touch /system/x", "touch: '/system/x': Read-only file system", 1),
    ],
)  # fmt: skip
def test_messages_are_androids(machine: Machine, line: str, message: str, code: int) -> None:
    result = run(machine, line).result()
    told = result.stderr.decode().replace("/system/bin/sh: ", "sh: ")
    assert (told, result.code) == (message + "\n", code)


# -- sessions --


def test_each_line_starts_afresh(machine: Machine) -> None:
    run(machine, "cd /sdcard; x=1; f() { :; }")
    assert out(machine, "pwd; echo ${x-unset}; type f") == "/\nunset\nf not found\n"


def test_a_session_that_is_kept_goes_on(machine: Machine) -> None:
    session = Session()
    run(machine, "cd /sdcard/Download; x=1; false", session=session)
    assert out(machine, "echo $? $x; pwd", session=session) == "1 1\n/sdcard/Download\n"


def test_a_session_tells_that_it_was_ended(machine: Machine) -> None:
    session = Session()
    run(machine, "(exit 3); sh -c 'exit 2'", session=session)
    assert not session.ended
    assert run(machine, "exit 4; echo never", session=session).code == 4
    assert session.ended


def test_the_input_is_asked_for_when_it_is_read(machine: Machine) -> None:
    asked: list[int] = []

    def typed() -> bytes:
        asked.append(1)
        return b"x\ny\n"

    assert out(machine, "echo no need | cat", stdin=typed) == "no need\n"
    assert asked == []
    assert out(machine, "read a; echo $a; cat", stdin=typed) == "x\ny\n"
    assert asked == [1]


def test_the_environment_is_a_phones(machine: Machine) -> None:
    line = "echo $ANDROID_ROOT $EXTERNAL_STORAGE $HOME $USER"
    assert out(machine, line) == "/system /sdcard / shell\n"


def test_adbutils_way_to_get_the_exit_code(machine: Machine) -> None:
    assert out(machine, "ls /none 2>/dev/null; echo X4EXIT:$?") == "X4EXIT:1\n"


def test_commands_answer_to_their_path(machine: Machine) -> None:
    assert out(machine, "/system/bin/echo a; which ls; /system/bin/sh -c 'echo $0'") == (
        "a\n/system/bin/ls\n/system/bin/sh\n"
    )


def test_a_script_runs_when_it_may(machine: Machine) -> None:
    machine.files.write("/data/local/tmp/run.sh", b"#!/system/bin/sh\necho got $1 $#\nexit 5\n")
    assert out(machine, "sh /data/local/tmp/run.sh a b; echo $?") == "got a 2\n5\n"
    line = "cd /data/local/tmp; chmod +x run.sh; ./run.sh c; echo $?"
    assert out(machine, line) == "got c 1\n5\n"


# -- the phone's clock and files --


def test_sleep_lets_only_virtual_time_pass(machine: Machine) -> None:
    before = machine.clock.ms
    assert out(machine, "date +%s; sleep 1.5; sleep 1m; date +%s") == "1697384040\n1697384101\n"
    assert machine.clock.ms - before == 61_500


@pytest.mark.parametrize(
    ("stamp", "seconds"), [("101515342023.00", 1697384040), ("1231235924.59", 1735689599)]
)
def test_date_sets_the_clock(machine: Machine, stamp: str, seconds: int) -> None:
    run(machine, f"date {stamp}")
    assert machine.clock.ms == seconds * 1000


def test_date_shows_the_phones_zone(machine: Machine) -> None:
    machine.clock.offset_minutes = 120
    assert out(machine, "date '+%H:%M %z'; date -u +%H:%M") == "17:34 +0200\n15:34\n"


def test_files_get_the_phones_time(machine: Machine) -> None:
    machine.clock.advance(3600)
    line = "echo x > /sdcard/new; ls -l /sdcard/new"
    assert out(machine, line) == "-rw-rw---- 1 u0_a120 media_rw 2 2023-10-15 16:34 /sdcard/new\n"


@pytest.mark.parametrize("alias", ["/storage/emulated/0", "/storage/self/primary", "/mnt/sdcard"])
def test_the_shared_storage_has_its_other_names(machine: Machine, alias: str) -> None:
    assert out(machine, f"cat {alias}/Documents/todo.md") == TREE["Documents/todo.md"]
    assert out(machine, f"find {alias} -name todo.md") == f"{alias}/Documents/todo.md\n"
    assert out(machine, f"cd {alias}/Music; touch here; ls /sdcard/Music") == "here\n"


def test_random_bytes_are_the_same_each_time() -> None:
    line = "head -c 8 /dev/urandom | xxd -p"
    assert out(machine_with(TREE), line) == out(machine_with(TREE), line)


# -- what toybox 0.8.9 of the reference lacks, or has from elsewhere --


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("printf 'a\\nb c\\n' | xargs -I{} echo '[{}]'", "[a]\n[b c]\n"),
        ("printf 'b\\na\\n' | sort | xargs -n1 echo x", "x a\nx b\n"),
        ("cd /sdcard; diff -q notes.txt table.txt", "Files notes.txt and table.txt differ\n"),
        ("cat -n /sdcard/table.txt | head -1", "     1\tapple 5\n"),
        ("echo hello | hexdump -C | cut -c50- | head -1", "           |hello.|\n"),
        ("find /sdcard -name '*.md' -printf '%f %s\\n'", "todo.md 31\n"),
        ("id -u; whoami; uname -s; nproc", "2000\nshell\nLinux\n8\n"),
        ("ls -ld /sdcard/Download | cut -c1-10", "drwxrwx---\n"),
        ("cd /sdcard; du -s notes.txt; du -sh Download", "4\tnotes.txt\n12K\tDownload\n"),
        ("readlink -f /sdcard/../sdcard/./Music", "/storage/emulated/0/Music\n"),
        ("stat -c '%A %U %G' /data/local/tmp", "drwxr-xr-x shell shell\n"),
    ],
)  # fmt: skip
def test_other_commands(machine: Machine, line: str, expected: str) -> None:
    assert out(machine, line) == expected
