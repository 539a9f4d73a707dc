"""Shell lines on the built-in phone: each is answered, within its limits."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "phone" / "shell"))

from table_phone import fresh_handset, table

from tests.fuzz.running import Overheard, Unexpected
from ui_gym_phone.handset import Handset
from ui_gym_phone.shell import Limits, ShellSession, run

LINES = [case["line"] for cases in table().values() for case in cases]
"""What others send to phones."""

WORDS = [word for line in LINES for word in re.findall(r"\S+", line)]
PIECES = (
    "|", ";", "&&", "||", "(", ")", "{", "}", "$(", "`", "'", '"', "\\", "\n", "<", ">", ">>", "&",
    "<<EOF\n", "$((", "))", "${", "}", "*", "?", "[", "]", "!", "#", "~", "=", "$@", "$x", "\0",
    "\udcff", "é", "if ", "then ", "fi", "while ", "do ", "done", "case ", "esac", "in ", "for x ",
    "-1", "99999999999", "0x", "%s", "%999999999d", ".*", "(a*)*", "\\{1,9\\}", "/dev/zero", "²",
    "/dev/urandom", "/", "..", "xargs ", "find ", "sed ", "sh -c ", "-exec {} +", "content://[",
    "--uri", "--bind", "x:n:", "nan", "1e400", "com.example.chess", "1=1) OR (1=1",
)  # fmt: skip
LIMITS = Limits(steps=4000, output=200_000, text=20_000, depth=15, matches=200)
STDIN = b"a 1\nb 2\n"
STUMBLED = 134
"""The exit code of a command with a fault of ours."""


def mutated(rng: random.Random) -> str:
    """A line that somebody sends, with a few changes."""
    line = rng.choice(LINES)
    for _ in range(rng.randint(1, 4)):
        at, kind = rng.randint(0, len(line)), rng.random()
        if kind < 0.4:
            line = line[:at] + rng.choice(PIECES) + line[at:]
        elif kind < 0.6:
            words = line.split(" ")
            words[rng.randrange(len(words))] = rng.choice(WORDS)
            line = " ".join(words)
        elif kind < 0.8:
            line = line[:at] + line[at + rng.randint(1, 6) :]
        elif kind < 0.9:
            other = rng.choice(LINES)
            line = line[:at] + other[rng.randint(0, len(other)) :]
        else:
            line = line[:at] + line[at : at + 8] * rng.randint(2, 12) + line[at + 8 :]
    return line


class PhoneLines:
    """A case is a list of lines, which are run one after the other on a fresh phone."""

    def __init__(self, handset: Handset | None = None) -> None:
        self._handset = handset or fresh_handset()
        self._fresh = self._handset.snapshot()
        self._overheard = Overheard()

    def case(self, rng: random.Random) -> bytes:
        # A picture is more than these limits.
        lines = [line for line in (mutated(rng) for _ in range(40)) if "screencap" not in line]
        return json.dumps(lines).encode()

    def feed(self, case: bytes) -> Iterator[str]:
        self._handset.renew(self._fresh)
        for line in json.loads(case):
            session = ShellSession("/sdcard")
            output = run(self._handset, line, stdin=STDIN, session=session, limits=LIMITS)
            self._overheard.check()
            if output.code == STUMBLED and "exit" not in line:
                raise Unexpected(f"a command with a fault of ours: {line!r}")
            if not 0 <= output.code < 256:
                raise Unexpected("an exit code that no process has")
            if sum(len(data) for _, data in output.chunks) > LIMITS.output + 4096:
                raise Unexpected("more output than its limit")
            yield f"exit {output.code}" if output.code in (0, 1, 2, 126, 127, 137) else "exit other"
        self._handset.screen.refresh()
        self._handset.ui_tree()

    def close(self) -> None:
        self._overheard.close()
