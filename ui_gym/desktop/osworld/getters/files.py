"""Getters of files: of the machine, of the task's addresses, of the episode's own folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import Broken, library, opens
from ui_gym.desktop.osworld.registry import Config, EvaluationContext, getter
from ui_gym.errors import UserError

EXPECTED = "expected"
"""The folder, in the episode's, of what results are compared with, so that a file fetched from
the machine never takes its place."""


@getter("vm_file")
def vm_file(context: EvaluationContext, config: Config) -> Any:
    """The local copy of a file of the machine; None where there is none there.

    ``multi``: ``path`` and ``dest`` are lists; the files whose numbers ``gives`` names (the first
    by default) are returned, one as itself, several as a list. ``time_suffix`` adds the time, in
    ``time_format``, to the copy's name.
    """
    paths, names = _paths(config)
    if config.get("time_suffix") and not _several(config):
        suffix = datetime.now().strftime(config.get("time_format", "%Y%m%d_%H%M%S"))
        names = [_with_suffix(name, suffix) for name in names]
    return _given(config, [fetch(context, *pair) for pair in zip(paths, names, strict=True)])


@getter("cloud_file")
def cloud_file(context: EvaluationContext, config: Config) -> Any:
    """The local copy of what lies at an address; ``multi`` and ``gives`` as for a ``vm_file``."""
    urls, names = _paths(config)
    copies = []
    for url, name in zip(urls, names, strict=True):
        copy = inside(context.folder / EXPECTED, name)
        shutil.copyfile(context.files.get(url), copy)
        copies.append(str(copy))
    return _given(config, copies)


@getter("cache_file")
def cache_file(context: EvaluationContext, config: Config) -> str | None:
    """A file that an earlier step left in the episode's folder (an ``execute`` with ``stdout``)."""
    path = inside(context.folder, config["path"])
    return str(path) if path.is_file() else None


@getter("content_from_vm_file")
def content_from_vm_file(context: EvaluationContext, config: Config) -> list[str] | None:
    """The last row (``file_content`` "last_row") of a workbook's first sheet, as texts.

    Numbers of a column with gaps or fractions are written with a fraction, and a gap as "nan", as
    pandas does.
    """
    if (config["file_type"], config["file_content"]) != ("xlsx", "last_row"):
        raise UserError("content_from_vm_file reads the 'last_row' of an 'xlsx' file only")
    path = fetch(context, config["path"], PurePosixPath(config["path"]).name)
    return _last_row(path) if path is not None else None


def fetch(context: EvaluationContext, path: str, name: str) -> str | None:
    """The path of a copy, in the episode's folder, of a file of the machine; None where there is
    none."""
    data = context.device.read(on_machine(context, path))
    return None if data is None else keep(context, name, data)


def keep(context: EvaluationContext, name: str, data: bytes) -> str:
    """The path of a file in the episode's folder that holds these bytes."""
    copy = inside(context.folder, name)
    copy.write_bytes(data)
    return str(copy)


def on_machine(context: EvaluationContext, path: str) -> str:
    """A path of the machine, whose ``~`` is its user's home."""
    return f"{context.device.home}/{path[2:]}" if path.startswith("~/") else path


def inside(folder: Path, name: str) -> Path:
    """That file in a folder, whose own folder is made. `UserError` where it leads out of it."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()) or path.resolve() == folder.resolve():
        raise UserError(f"the file name {name!r} in the task file leads out of its folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _several(config: Config) -> bool:
    return bool(config.get("multi"))


def _paths(config: Config) -> tuple[list[str], list[str]]:
    paths, names = config["path"], config["dest"]
    if not _several(config):
        return [paths], [names]
    if isinstance(paths, str) or isinstance(names, str) or len(paths) != len(names):
        raise UserError("'multi' needs lists of one length in 'path' and 'dest'")
    return list(paths), list(names)


def _given(config: Config, copies: Sequence[str | None]) -> Any:
    chosen = set(config.get("gives", [0]))
    given = [copy for number, copy in enumerate(copies) if number in chosen]
    return given[0] if len(given) == 1 else given


def _with_suffix(name: str, suffix: str) -> str:
    path = PurePosixPath(name)
    return str(path.with_name(f"{path.stem}_{suffix}{path.suffix}"))


@opens
def _rows(path: str) -> list[list[Any]]:
    sheet = library("openpyxl").load_workbook(path, data_only=True).worksheets[0]
    return [list(row) for row in sheet.iter_rows(values_only=True)]


def _last_row(path: str) -> list[str] | None:
    try:
        _header, *rows = _rows(path)
    except (Broken, ValueError):  # not a workbook, or one without a row
        return None
    if not rows:
        return None
    columns = list(zip(*rows, strict=True))
    return [_as_pandas(column)(value) for column, value in zip(columns, rows[-1], strict=True)]


def _as_pandas(column: Sequence[Any]) -> Callable[[Any], str]:
    """How the values of a column are written."""
    there = [value for value in column if value is not None]
    numbers = bool(there) and all(type(value) in (int, float) for value in there)
    fractions = numbers and (len(there) < len(column) or any(type(v) is float for v in there))

    def write(value: Any) -> str:
        if value is None:
            return "nan"
        return str(float(value)) if fractions else str(value)

    return write
