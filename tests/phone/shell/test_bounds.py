"""Whatever is typed, the shell answers: no exception, no hang, no more than its limits."""

from __future__ import annotations

import logging
import random
import re
from pathlib import Path

import pytest
from table_phone import fresh_handset, table

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


# -- lines that nobody has thought of --

CORPUS = [case["line"] for cases in table().values() for case in cases]
WORDS = [word for line in CORPUS for word in re.findall(r"\S+", line)]
PIECES = (
    "|", ";", "&&", "||", "(", ")", "{", "}", "$(", "`", "'", '"', "\\", "\n", "<", ">", ">>", "&",
    "<<EOF\n", "$((", "))", "${", "}", "*", "?", "[", "]", "!", "#", "~", "=", "$@", "$x", "\0",
    "\udcff", "é", "if ", "then ", "fi", "while ", "do ", "done", "case ", "esac", "in ", "for x ",
    "-1", "99999999999", "0x", "%s", "%999999999d", ".*", "(a*)*", "\\{1,9\\}", "/dev/zero", "²",
    "/dev/urandom", "/", "..", "xargs ", "find ", "sed ", "sh -c ", "-exec {} +", "content://[",
    "--uri", "--bind", "x:n:", "nan", "1e400", "com.example.chess", "1=1) OR (1=1",
)  # fmt: skip
LIMITS = Limits(steps=4000, output=200_000, text=20_000, depth=15, matches=200)
STUMBLED = 134
"""The exit code of a command with a fault of ours."""


def mutated(random_: random.Random) -> str:
    line = random_.choice(CORPUS)
    for _ in range(random_.randint(1, 4)):
        at, kind = random_.randint(0, len(line)), random_.random()
        if kind < 0.4:
            line = line[:at] + random_.choice(PIECES) + line[at:]
        elif kind < 0.6:
            words = line.split(" ")
            words[random_.randrange(len(words))] = random_.choice(WORDS)
            line = " ".join(words)
        elif kind < 0.8:
            line = line[:at] + line[at + random_.randint(1, 6) :]
        elif kind < 0.9:
            other = random_.choice(CORPUS)
            line = line[:at] + other[random_.randint(0, len(other)) :]
        else:
            line = line[:at] + line[at : at + 8] * random_.randint(2, 12) + line[at + 8 :]
    return line


@pytest.mark.parametrize("lines", [300, pytest.param(20_000, marks=pytest.mark.nightly)])
def test_no_line_breaks_the_shell(lines: int, caplog: pytest.LogCaptureFixture) -> None:
    random_ = random.Random(lines)
    caplog.set_level(logging.ERROR)
    handset = fresh_handset()
    fresh = handset.snapshot()
    for number in range(lines):
        if number % 100 == 0:
            handset.renew(fresh)
        line = mutated(random_)
        if "screencap" in line:  # a picture is more than these limits
            continue
        output = run(
            handset, line, stdin=b"a 1\nb 2\n", session=ShellSession("/sdcard"), limits=LIMITS
        )
        assert not caplog.records, f"{line!r}: {caplog.text}"
        assert output.code != STUMBLED or "exit" in line, line
        assert 0 <= output.code <= 255, line
        assert sum(len(data) for _, data in output.chunks) <= LIMITS.output + 1000, line
