"""Files of office programs, opened with care: one of the two is what an agent left."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from ui_gym.desktop.osworld.metrics.reading import Broken, a_file, given, scored
from ui_gym.errors import UIGymError

T = TypeVar("T")


def examined(*names: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """As `scored`, for metrics of files of which a library may find only while it is asked that
    they are broken: what the library raises is a score of 0, and what is raised here is not."""

    def keep(function: Callable[..., float]) -> Callable[..., float]:
        @functools.wraps(function)
        def judge(*args: Any, **options: Any) -> float:
            try:
                return function(*args, **options)
            except (Broken, UIGymError):
                raise
            except Exception as error:
                *_, (last, _) = traceback.walk_tb(error.__traceback__)
                if str(last.f_globals.get("__name__", "")).startswith("ui_gym."):
                    raise
                raise Broken(f"a file is broken: {type(error).__name__}: {error}") from error

        return scored(*names)(judge)

    return keep


def opened(path: object, load: Callable[[str], T]) -> T:
    """What `load` makes of the file at `path`. `Broken` where it is missing or not of its kind."""
    file = a_file(path)
    try:
        return load(str(file))
    except (Broken, UIGymError):
        raise
    except Exception as error:  # the libraries raise whatever a broken file leads them to
        raise Broken(f"{file} cannot be read: {type(error).__name__}: {error}") from error


def pair(load: Callable[[str], T], result: object, expected: object) -> tuple[T, T]:
    """What an agent left and what the task expects.

    Raises:
        Broken: the result is missing or broken.
        UserError: the expected file is.
    """

    def read(path: object) -> T:
        return opened(path, load)

    return read(result), given(read, expected)


def chain(value: Any, *names: str | int) -> Any:
    """``value.a[0].b`` for the names ``"a", 0, "b"``; None where one of them is not there."""
    for name in names:
        try:
            value = value[name] if isinstance(name, int) else getattr(value, name)
        except (AttributeError, IndexError, TypeError):
            return None
    return value
