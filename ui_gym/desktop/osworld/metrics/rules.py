"""Rules of the form ``{"method": ..., "ref": ...}``, which many metrics share."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Mapping
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import unknown

COMPARISONS = {"eq", "ne", "le", "lt", "ge", "gt"}
KNOWN = "re[.FLAG...], eq, ne, le, lt, ge, gt, approx:T, range.XY, str_list_eq, str_set_eq"


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
