"""What a metric is to say of what it is given: cases, and the files that they need."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

RULE_FIRST = {"is_in_vm_clickboard", "is_included_all_json_objects"}
"""Metrics that take the result as their second argument."""


class Made:
    """A file that is yet to be made: called with a path, it writes that file and gives the path."""

    def __init__(self, ending: str, write: Callable[[Path], object]) -> None:
        self.ending = ending
        self._write = write

    def __call__(self, path: Path) -> str:
        self._write(path)
        return str(path)


def text(content: str | bytes, ending: str = "txt") -> Made:
    """A file of this text."""
    data = content.encode() if isinstance(content, str) else content
    return Made(ending, lambda path: path.write_bytes(data))


class Case:
    """A metric called with `args` and `options` gives `score`.

    An argument that is `Made`, or a list of such, is the path of that file."""

    def __init__(self, score: float, *args: Any, **options: Any) -> None:
        self.score = score
        self.args = args
        self.options = options

    def __repr__(self) -> str:
        return f"Case({self.score}, {self.args}, {self.options})"


def against(wanted: Any, *cases: tuple[Any, ...]) -> list[Case]:
    """Cases (score, result[, options]) that are all compared with `wanted`."""
    return [
        Case(score, result, wanted, **(options[0] if options else {}))
        for score, result, *options in cases
    ]


def alone(*cases: tuple[Any, ...]) -> list[Case]:
    """Cases (score, result[, rules])."""
    return [Case(*case) for case in cases]


Cases = dict[str, list[Case]]
"""The cases of a metric, by its name."""


def in_folder(cases: list[Case], folder: Path) -> Iterator[Case]:
    """These cases with their files in a folder, each made once."""
    paths: dict[int, str] = {}
    numbers = itertools.count()

    def path(value: Any) -> Any:
        if isinstance(value, list):
            return [path(one) for one in value]
        if not isinstance(value, Made):
            return value
        if id(value) not in paths:
            paths[id(value)] = value(folder / f"{next(numbers)}.{value.ending}")
        return paths[id(value)]

    for case in cases:
        yield Case(case.score, *map(path, case.args), **case.options)


def read_cases(file: Path) -> Cases:
    """The cases of a TOML file, by metric.

    Each of ``cases`` is a score, and what is not said for all of them: the result, what is
    expected, and the options. Where ``files`` names the result or what is expected, it is the text
    of a file.
    """
    return {
        name: [_read_case(name, table, case) for case in table["cases"]]
        for name, table in tomllib.loads(file.read_text()).items()
    }


def _read_case(name: str, table: dict[str, Any], case: list[Any]) -> Case:
    score, *own = case
    args = []
    for part in ("result", "expected"):
        if part in table or own:
            value = table[part] if part in table else own.pop(0)
            args.append(text(value) if part in table.get("files", ()) else value)
    options = own[0] if own else table.get("options", {})
    return Case(score, *(args[::-1] if name in RULE_FIRST else args), **options)
