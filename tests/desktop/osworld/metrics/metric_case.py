"""What a metric is to say of what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


class Case:
    """A metric called with `args` and `options` gives `score`."""

    def __init__(self, score: float, *args: Any, **options: Any) -> None:
        self.score = score
        self.args = args
        self.options = options

    def __repr__(self) -> str:
        return f"Case({self.score}, {self.args}, {self.options})"


Cases = dict[str, Callable[[Path], Iterable[Case]]]
"""By a metric's name, its cases, for which files may be written in the folder that is given."""


def always(*cases: Case) -> Callable[[Path], Iterable[Case]]:
    """Cases that need no files."""
    return lambda folder: cases
