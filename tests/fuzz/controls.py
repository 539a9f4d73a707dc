"""Targets that are broken on purpose: what fuzzing must notice of any target."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator

from ui_gym.errors import ActionError


class Sound:
    """One case in ten is `wrong`: here, nothing comes of that."""

    def case(self, rng: random.Random) -> bytes:
        return b"wrong" if rng.random() < 0.1 else rng.randbytes(4)

    def feed(self, case: bytes) -> Iterator[str]:
        if case == b"wrong":
            self.stumble()
        yield "fine"

    def stumble(self) -> None:
        pass

    def close(self) -> None:
        pass


class Dying(Sound):
    """It takes the process with it."""

    def stumble(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


class Greedy(Sound):
    """It takes memory, and keeps it."""

    kept: list[bytes] = []

    def stumble(self) -> None:
        self.kept.append(b"x" * (64 << 20))


class Endless(Sound):
    """It works for ever, and catches whatever might end that."""

    def stumble(self) -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:
                continue


class BrokenDialect:
    """It takes what lies behind a bracket for granted."""

    name = "broken"

    def parse(self, text: str, size: tuple[int, int], seen: object = None) -> list[object]:
        if "(" in text:
            text[text.index("(") + 1]
        raise ActionError("parse", "nothing is read here")

    def render(self, actions: object, size: tuple[int, int], thought: str = "") -> str:
        return "click(1, 2)"

    def prompt(self, size: tuple[int, int], *, elements: bool = False) -> str:
        return ""

    def can_say(self, action: object) -> bool:
        return True
