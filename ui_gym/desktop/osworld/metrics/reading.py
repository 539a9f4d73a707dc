"""How a metric reads what it is given: a broken result is a score of 0, a broken reference is a
mistake of the task file."""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ui_gym.desktop.osworld.registry import metric
from ui_gym.errors import UserError

T = TypeVar("T")


class Broken(Exception):
    """What an agent left is missing, or not of its kind: its score is 0."""


def scored(*names: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """A decorator that registers a metric under these names; `Broken` is a score of 0."""

    def keep(function: Callable[..., float]) -> Callable[..., float]:
        @functools.wraps(function)
        def judge(*args: Any, **options: Any) -> float:
            try:
                return float(function(*args, **options))
            except Broken:
                return 0.0

        metric(*names)(judge)
        return judge

    return keep


def given(read: Callable[[Any], T], source: Any) -> T:
    """`read(source)` for what a result is compared with. `UserError` where it is broken."""
    try:
        return read(source)
    except Broken as error:
        raise UserError(
            f"what the result is compared with cannot be used: {error}. Mend the task's "
            "'expected', or fetch its file again."
        ) from error


def library(name: str) -> Any:
    """The module of that name. `UserError` says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UserError(
            f"this metric needs the library {name!r}, which is not installed: "
            'pip install "ui-gym[osworld]"'
        ) from error


def a_file(path: object) -> Path:
    """The path of a file that is there."""
    try:
        if isinstance(path, str | Path) and Path(path).is_file():
            return Path(path)
    except OSError:  # no name of a file
        pass
    raise Broken(f"there is no file {str(path)[:200]!r}")


def read_bytes(path: object) -> bytes:
    """A file's content."""
    try:
        return a_file(path).read_bytes()
    except OSError as error:
        raise Broken(f"{path!r} cannot be read: {error}") from error


def read_text(path: object) -> str:
    """A file's text (UTF-8), each of its lines ended by a newline alone."""
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Broken(f"{path!r} is not UTF-8: {error}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_json(text: str) -> Any:
    """The value that a JSON text holds."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Broken(f"not JSON: {error}") from error


def read_json(path: object) -> Any:
    """The value in a JSON file."""
    return parse_json(read_text(path))


def as_text(value: object) -> str:
    """A value that must be a text."""
    if not isinstance(value, str):
        raise Broken(f"not a text: {value!r}")
    return value


def as_mapping(value: object) -> dict[str, Any]:
    """A value that must be a mapping."""
    if not isinstance(value, dict):
        raise Broken(f"not a mapping: {value!r}")
    return value


def as_list(value: object) -> list[Any]:
    """A value that must be a list."""
    if not isinstance(value, list | tuple):
        raise Broken(f"not a list: {value!r}")
    return list(value)


def unknown(what: str, value: object, known: str) -> UserError:
    """The error for a rule that asks for something there is not."""
    return UserError(f"there is no {what} {value!r} (known: {known}). Mend the task's 'expected'.")
