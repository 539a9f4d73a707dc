"""A run's main process without the others, for tests of what they would get."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any


class ThreeProcesses:
    """The main one of three, which keeps what it would hand out."""

    index, count, is_main = 0, 3, True

    def __init__(self) -> None:
        self.handed: list[list[Any]] = []

    def from_main(self, make: Callable[[], Any]) -> Any:
        return make()

    def hand_out(self, make: Callable[[], Sequence[Iterable[Any]]]) -> list[Any]:
        self.handed = [list(pictures) for pictures in make()]
        return []
