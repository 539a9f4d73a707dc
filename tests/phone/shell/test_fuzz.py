"""Whatever is typed, the shell answers: no exception, no hang, no more than its limits."""

from __future__ import annotations

import logging
import os
import random
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shell_machine import TREE, machine_with

from ui_gym_phone.shell import Limits, Session, registry, run
from ui_gym_phone.shell.regex import RegexFault, compile_regex

LINES = int(os.environ.get("UI_GYM_FUZZ", "20000"))
CORPUS = [
    line.lstrip("@").replace("\\n", "\n")
    for line in (Path(__file__).parent / "corpus.txt").read_text().splitlines()
    if line and line[:2] != "# " and line[:2] != "##"
]
PIECES = (
    "|", ";", "&&", "||", "(", ")", "{", "}", "$(", "`", "'", '"', "\\", "\n", "<", ">", ">>", "&",
    "<<EOF\n", "$((", "))", "${", "}", "*", "?", "[", "]", "!", "#", "~", "=", "$@", "$x", "\0",
    "\udcff", "é", "if ", "then ", "fi", "while ", "do ", "done", "case ", "esac", "in ", "for x ",
    "-1", "99999999999", "0x", "%s", "%999999999d", "%*d", ".*", "(a*)*", "\\{1,9\\}", "/dev/zero",
    "/dev/urandom", "/", "..", "xargs ", "find ", "sed ", "awk ", "sh -c ", "eval ", "-exec {} +",
)  # fmt: skip
ANDROID = frozenset(
    name
    for name in registry.names()
    if not registry.lookup(name).__module__.rpartition(".")[2].startswith(("text_", "files_"))
)
"""Commands that need a phone, and have tests of their own."""
LIMITS = Limits(steps=4000, output=200_000, text=20_000, depth=15, matches=200)


def mutated(random_: random.Random) -> str:
    line = random_.choice(CORPUS)
    for _ in range(random_.randint(1, 4)):
        at = random_.randint(0, len(line))
        kind = random_.random()
        if kind < 0.5:
            line = line[:at] + random_.choice(PIECES) + line[at:]
        elif kind < 0.75:
            line = line[:at] + line[at + random_.randint(1, 6) :]
        elif kind < 0.9:
            other = random_.choice(CORPUS)
            line = line[:at] + other[random_.randint(0, len(other)) :]
        else:
            line = line[:at] + line[at : at + 8] * random_.randint(2, 12) + line[at + 8 :]
    return line


def test_no_line_breaks_the_shell(caplog: pytest.LogCaptureFixture) -> None:
    random_ = random.Random(0)
    caplog.set_level(logging.ERROR)
    for number in range(LINES):
        if number % 200 == 0:
            machine = machine_with(TREE)
        line = mutated(random_)
        if ANDROID.intersection(re.findall(r"[\w-]+", line)):
            line = re.sub(r"[\w-]+", lambda word: "cat" if word[0] in ANDROID else word[0], line)
        output = run(machine, line, stdin=b"a 1\nb 2\n", session=Session("/sdcard"), limits=LIMITS)
        names = {str(record.args[0][0]).rpartition("/")[2] for record in caplog.records}
        assert names <= ANDROID, f"{line!r}: {caplog.text}"
        assert 0 <= output.code <= 255, line
        assert sum(len(data) for _, data in output.chunks) <= LIMITS.output + 1000, line


def test_no_pattern_breaks_the_regular_expressions() -> None:
    random_ = random.Random(1)
    spent = 0

    def spend(steps: int) -> None:
        nonlocal spent
        spent += steps

    for _ in range(LINES // 10):
        letters = "".join(random_.choices("ab*?+|()[]{}^$.\\1<2,", k=random_.randint(1, 14)))
        try:
            regex = compile_regex(letters, extended=random_.random() < 0.5)
            found = regex.search("abaabbaab" * 4, 0, spend)
        except RegexFault:
            continue
        assert found is None or 0 <= found.start <= found.end <= 36, letters
