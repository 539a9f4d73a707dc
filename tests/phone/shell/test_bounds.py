"""Whatever is typed, the shell answers: no exception, no hang, no more than its limits."""

from __future__ import annotations

from pathlib import Path

import pytest
from table_phone import fresh_handset

from ui_gym_phone.handset import Handset
from ui_gym_phone.shell import Limits, Output, ShellSession, run

SMALL = Limits(steps=20_000, output=100_000, text=50_000, depth=20, matches=50)


@pytest.fixture(scope="module")
def handset() -> Handset:
    return fresh_handset()


def answer(handset: Handset, line: str, limits: Limits = SMALL) -> Output:
    return run(handset, line, session=ShellSession("/sdcard"), limits=limits)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("while true; do :; done", "20000 steps"),
        ("until false; do sleep 0; done", "20000 steps"),
        ("while true; do head -c 5000 /dev/zero; done", "bytes of output"),
        ("seq 1 999999999", "bytes of output"),
        ("x=ab; while true; do x=$x$x; done", "a text of"),
        ('x=\'sh -c "$x"\'; export x; sh -c "$x"', "shells inside each other"),
        ("while true; do sleep 1000000; done", "of sleep"),
        ("cat /dev/urandom /dev/urandom /dev/urandom", "bytes of output"),
        ("echo aaaaaaaaaa > r; for i in 1 2 3 4 5 6 7 8 9; do cat r r r r > s; cp s r; done",
         "bytes of output"),
    ],
)  # fmt: skip
def test_a_line_without_end_is_stopped(handset: Handset, line: str, reason: str) -> None:
    output = answer(handset, line)
    assert output.code == 137
    assert reason in output.result().stderr.decode()
    assert run(handset, "echo fine").result().stdout == b"fine\n"


def test_a_pattern_with_too_many_matches_is_cut(handset: Handset) -> None:
    line = "mkdir m; cd m; for i in $(seq 200); do : > f$i; done; ls f* | wc -l"
    assert answer(handset, line, Limits(matches=50)).result().stdout == b"50\n"


@pytest.mark.parametrize("opened", ["( ", "$(", "{ ", '"$(', "${x:-", "if ", "$((("])
def test_deep_nesting_is_an_error_and_no_crash(handset: Handset, opened: str) -> None:
    output = answer(handset, opened * 500)
    assert output.code == 1
    assert output.result().stderr.startswith(b"/system/bin/sh: ")


@pytest.mark.parametrize(
    "line",
    [
        r"echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac | grep -E '^(a*)*b$'",
        r"echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac | sed -E 's/(a|aa)+b/x/'",
        r"for i in $(seq 300); do printf a; done | grep 'a*a*a*a*a*a*b'",
        r"echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac | grep -E '(a?){40}a{40}b'",
        "case aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa in *a*a*a*a*a*a*a*a*a*b) ;; esac",
        "grep -E '((((a{200}){200}){200}){200}){200}|b' notes.txt",
    ],
)
def test_a_pattern_that_backtracks_for_ages_elsewhere_ends(handset: Handset, line: str) -> None:
    assert answer(handset, line, Limits(steps=400_000)).code in (0, 1, 2)


@pytest.mark.parametrize(
    ("line", "matched"),
    [
        ("echo xabcd | grep -oE 'a|ab|abc'", "abc"),
        ("echo abcd | grep -oE '(a|ab)(c|bcd)'", "abcd"),
        ("echo foofoo. | grep -oE '(fo|foo)*'", "foofoo"),
        ("echo aab a+b | grep -o 'a+b'", "a+b"),
        (r"echo 'aaa' | grep -o 'a\{2\}'", "aa"),
        ("echo 'b*a' | grep -o '*a'", "*a"),
        ("echo ']x]' | grep -o '[]x]*'", "]x]"),
        ("echo 1.5-2x | grep -o '[[:digit:].-]*'", "1.5-2"),
        (r"echo a.b.txt | grep -o '\.[^.]*$'", ".txt"),
    ],
)
def test_a_pattern_is_posix_leftmost_and_longest(handset: Handset, line: str, matched: str) -> None:
    assert answer(handset, line).result().stdout.decode() == matched + "\n"


def test_removing_everything_removes_only_the_phones_files() -> None:
    handset = fresh_handset()
    output = run(handset, "rm -rf / /* /sdcard/*; ls /sdcard; echo $?")
    assert output.result().stdout == b"0\n"
    assert Path(__file__).exists()
    assert handset.files.exists("/system/bin")


def test_the_files_quota_is_the_disks_size() -> None:
    handset = fresh_handset()
    handset.files.quota = 10_000
    output = run(handset, "head -c 20000 /dev/zero > /sdcard/big; echo $?")
    assert b"No space left on device" in output.result().stderr
