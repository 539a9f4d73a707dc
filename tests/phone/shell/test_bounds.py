"""A line that never ends, or eats the memory, is stopped: it says so, and the phone goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shell_machine import TREE, machine_with

from ui_gym_phone.shell import Limits, Output, Session, run

SMALL = Limits(steps=20_000, output=100_000, text=50_000, depth=20, matches=50)


def answer(line: str, limits: Limits = SMALL) -> Output:
    return run(machine_with(TREE), line, session=Session("/sdcard"), limits=limits)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("while true; do :; done", "20000 steps"),
        ("until false; do sleep 0; done", "20000 steps"),
        ("awk 'BEGIN {while (1) n++}'", "20000 steps"),
        ("while true; do seq 100; done", "bytes of output"),
        ("seq 1 999999999", "bytes of output"),
        ("yes", "bytes of output"),
        ("x=ab; while true; do x=$x$x; done", "a text of"),
        ("awk 'BEGIN {x = \"ab\"; while (1) x = x x}'", "a text of"),
        ("f() { f; }; f", "shells inside each other"),
        ('eval() { :; }; x=\'sh -c "$x"\'; export x; sh -c "$x"', "shells inside each other"),
        ("while true; do sleep 1000000; done", "of sleep"),
        ("dd if=/dev/zero of=x bs=1000000 count=1000", "a text of"),
        ("cat /dev/urandom /dev/urandom /dev/urandom", "bytes of output"),
    ],
)
def test_a_line_without_end_is_stopped(line: str, reason: str) -> None:
    output = answer(line)
    assert output.code == 137
    assert reason in output.result().stderr.decode()


def test_after_a_bound_the_machine_goes_on() -> None:
    machine = machine_with(TREE)
    run(machine, "while true; do echo x >> log; done", session=Session("/sdcard"), limits=SMALL)
    assert run(machine, "echo fine").result().stdout == b"fine\n"


def test_a_pattern_with_too_many_matches_is_cut() -> None:
    line = "for i in $(seq 200); do : > f$i; done; set -- f*; echo $#"
    assert answer(line, Limits(matches=50)).result().stdout == b"50\n"


def test_deep_brackets_are_a_syntax_error() -> None:
    output = answer("( " * 500 + "true" + " )" * 500)
    assert output.code == 1
    assert b"nested too deeply" in output.result().stderr


@pytest.mark.parametrize(
    "line",
    [
        r"echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac | grep -E '^(a*)*b$'",
        r"echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac | sed -E 's/(a|aa)+b/x/'",
        r"printf 'a%.0s' $(seq 300) | grep 'a*a*a*a*a*a*b'",
        r"echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac | awk '/(a?){40}a{40}b/'",
        "case aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa in *a*a*a*a*a*a*a*a*a*b) ;; esac",
    ],
)
def test_a_pattern_that_backtracks_for_ages_elsewhere_ends(line: str) -> None:
    assert answer(line, Limits(steps=100_000)).code in (0, 1)


def test_removing_everything_removes_only_the_phones_files() -> None:
    machine = machine_with(TREE)
    output = run(machine, "rm -rf / /* /sdcard/*; ls /sdcard; echo $?")
    assert output.result().stdout == b"0\n"
    assert Path(__file__).exists()
    assert machine.files.exists("/system/bin")


def test_the_files_quota_is_the_disks_size() -> None:
    machine = machine_with(TREE)
    machine.files.quota = 10_000
    output = run(machine, "head -c 20000 /dev/zero > /sdcard/big; echo $?; ls -s /sdcard/big")
    assert b"No space left on device" in output.result().stderr
