"""How a metric reads what it is given, and the rules that many metrics share.

A broken result is a score of 0, a broken reference is a mistake of the task file.
"""

from __future__ import annotations

import functools
import importlib
import json
import operator
import re
import traceback
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ui_gym.desktop.osworld.registry import metric
from ui_gym.errors import UIGymError, UserError

T = TypeVar("T")
Score = Callable[..., float]

MAX_XML = 1 << 27
"""Bytes of XML that a file of an office program may unpack to. A megabyte of zeros packed is a
gigabyte here, where the judge is."""

_XML = (".xml", ".rels", ".html", ".opf", ".ncx")


class Broken(Exception):
    """What an agent left is missing, or not of its kind: its score is 0."""


def scored(*loads: Callable[[Any], Any], names: tuple[str, ...] = ()) -> Callable[[Score], Score]:
    """A decorator that registers a metric under its own name, or under `names`.

    The metric is given what `loads` make of its arguments: the first of the result, the second of
    what the task expects. `Broken` is a score of 0, and True a score of 1.
    """

    def keep(function: Score) -> Score:
        @functools.wraps(function)
        def judge(*args: Any, **options: Any) -> float:
            try:
                return float(function(*_loaded(loads, args), **options))
            except Broken:
                return 0.0

        metric(*(names or (function.__name__,)))(judge)
        return judge

    return keep


def examined(*loads: Callable[[Any], Any], names: tuple[str, ...] = ()) -> Callable[[Score], Score]:
    """As `scored`, for metrics of files of which a library may find only while it is asked that
    they are broken: what the library raises is a score of 0, and what is raised here is not."""

    def keep(function: Score) -> Score:
        @functools.wraps(function)
        def judge(*args: Any, **options: Any) -> float:
            try:
                return function(*_loaded(loads, args), **options)
            except (Broken, UIGymError):
                raise
            except Exception as error:
                *_, (last, _) = traceback.walk_tb(error.__traceback__)
                if str(last.f_globals.get("__name__", "")).startswith("ui_gym."):
                    raise
                raise Broken(f"a file is broken: {type(error).__name__}: {error}") from error

        return scored(names=names)(judge)

    return keep


def _loaded(loads: tuple[Callable[[Any], Any], ...], args: tuple[Any, ...]) -> list[Any]:
    loaded = [
        load(value) if place == 0 else given(load, value)
        for place, (load, value) in enumerate(zip(loads, args, strict=False))
    ]
    return [*loaded, *args[len(loaded) :]]


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


def opened(path: object, load: Callable[[str], T]) -> T:
    """What `load` makes of the file at `path`. `Broken` where it is missing or not of its kind."""
    file = a_file(path)
    try:
        _check_unpacked(file)
        return load(str(file))
    except (Broken, UIGymError):
        raise
    except Exception as error:  # the libraries raise whatever a broken file leads them to
        raise Broken(f"{file} cannot be read: {type(error).__name__}: {error}") from error


def _check_unpacked(file: Path) -> None:
    if not zipfile.is_zipfile(file):
        return
    with zipfile.ZipFile(file) as package:
        parts = [p.file_size for p in package.infolist() if p.filename.endswith(_XML)]
    if sum(parts) > MAX_XML:
        raise Broken(f"{file} would unpack to {sum(parts)} bytes of XML")


def opens(load: Callable[[str], T]) -> Callable[[object], T]:
    """A decorator for `load`, so that it takes any path, as `opened` does."""

    @functools.wraps(load)
    def read(path: object) -> T:
        return opened(path, load)

    return read


def chain(value: Any, *names: str | int) -> Any:
    """``value.a[0].b`` for the names ``"a", 0, "b"``; None where one of them is not there."""
    for name in names:
        try:
            value = value[name] if isinstance(name, int) else getattr(value, name)
        except (AttributeError, IndexError, TypeError):
            return None
    return value


COMPARISONS = {"eq", "ne", "le", "lt", "ge", "gt"}
KNOWN = "re[.FLAG...], eq, ne, le, lt, ge, gt, approx:T, range.XY, str_list_eq, str_set_eq"


def ratio(first: str, second: str) -> float:
    """How alike two texts are, in [0, 1]."""
    return float(library("rapidfuzz.fuzz").ratio(first, second)) / 100


def as_expected(
    rules: Mapping[str, Any], items: Sequence[Any], fits: Callable[[Any, Any], object]
) -> bool:
    """Whether every pattern under ``expect`` fits some item, and none under ``unexpect`` any."""

    def found(pattern: Any) -> bool:
        return any(fits(pattern, item) for item in items)

    wanted, unwanted = rules.get("expect", ()), rules.get("unexpect", ())
    return all(map(found, wanted)) and not any(map(found, unwanted))


def record_matches(pattern: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Whether `item` has every key of `pattern`, with its value."""
    return all(key in item and item[key] == value for key, value in pattern.items())


def matches(value: Any, rule: Mapping[str, Any]) -> bool:
    """Whether a value obeys a rule.

    Methods: ``re`` with flags (``re.I.S``) searches; ``eq`` to ``gt`` compare; ``approx:0.1``
    allows that difference; ``range.te`` is ``ref[0] < x <= ref[1]`` (t: without, e: with the end);
    ``str_list_eq`` and ``str_set_eq`` compare a text, split at commas. A value of another kind
    than the rule's does not match. `UserError` for an unknown method.
    """
    method, ref = rule["method"], rule["ref"]
    try:
        if method in COMPARISONS:
            return bool(getattr(operator, method)(value, ref))
        if method in {"str_list_eq", "str_set_eq"}:
            parts = value.strip("\"'").split(",")
            return bool(set(parts) == set(ref) if "set" in method else parts == list(ref))
        if method == "re" or method.startswith("re."):
            return re.search(ref, value, _flags(method)) is not None
        kind, _, limit = method.partition(":")
        if kind == "approx" and limit:
            return bool(abs(float(value) - ref) <= float(limit))
        if re.fullmatch(r"range\.[te]{2}", method):
            low, high = (getattr(operator, "l" + end) for end in method[-2:])
            return bool(low(ref[0], value) and high(value, ref[1]))
    except (TypeError, ValueError, AttributeError):
        return False
    raise unknown("method of a rule", method, KNOWN)


def _flags(method: str) -> re.RegexFlag:
    names = method.split(".")[1:]
    if any(not isinstance(getattr(re, name, None), re.RegexFlag) for name in names):
        raise unknown("method of a rule", method, KNOWN)
    flags = (getattr(re, name) for name in names)
    return functools.reduce(operator.or_, flags, re.RegexFlag(0))
