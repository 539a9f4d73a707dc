"""Whatever is typed, the shell answers: no exception, no hang, no more than its limits."""

from __future__ import annotations

import logging
import random
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from table_phone import fresh_handset, table

from ui_gym_phone.shell import Limits, ShellSession, run

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
