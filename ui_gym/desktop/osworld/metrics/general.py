"""Metrics of values: equal, included, alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    as_list,
    as_text,
    parse_json,
    ratio,
    scored,
    unknown,
)

FAILED = "__EVALUATION_FAILED__"
"""What a task file's expected value holds where it could not be found out."""


@scored(names=("exact_match", "compare_answer"))
def exact_match(result: object, rules: Mapping[str, Any], **options: Any) -> float:
    """1 if the result is ``rules["expected"]``."""
    return bool(result == rules["expected"])


@scored()
def match_in_list(result: object, rules: Mapping[str, Any]) -> float:
    """1 if the result is one of ``rules["expected"]``."""
    return result is not None and result in rules["expected"]


@scored()
def is_in_list(result: object, rules: Mapping[str, Any]) -> float:
    """1 if ``rules["expected"]`` is among the results, or in a text of them."""
    if not isinstance(result, str | list | tuple | set | dict):
        return 0.0
    if isinstance(result, str) and not isinstance(rules["expected"], str):
        return 0.0
    return rules["expected"] in result


@scored()
def is_extension_installed(result: object, rules: Mapping[str, Any], **options: Any) -> float:
    """1 if the output of a listing holds ``rules["expected"]`` (``type`` "contain") or does not
    ("not_contain")."""
    if rules["type"] not in {"contain", "not_contain"}:
        raise unknown("type of rule", rules["type"], "contain, not_contain")
    return bool((rules["expected"] in as_text(result)) == (rules["type"] == "contain"))


@scored(as_text)
def check_include_exclude(text: str, rules: Mapping[str, Any]) -> float:
    """1 if the text holds every one of ``include`` and none of ``exclude``."""
    included = all(part in text for part in rules.get("include", ()))
    return included and not any(part in text for part in rules.get("exclude", ()))


@scored()
def literal_match(result: object, expected: object, **options: Any) -> float:
    """1 if result and expected are the same as texts, or (``type`` "list") item by item.

    ``ignore_case`` compares them in lower case.
    """
    kind = options.get("type", "str")
    if kind not in {"str", "list"}:
        raise unknown("type of literal", kind, "str, list")

    def literal(value: object) -> str:
        return str(value).lower() if options.get("ignore_case") else str(value)

    if kind == "str":
        return result is not None and literal(result) == literal(expected)
    ours, theirs = as_list(result), as_list(expected)
    return [literal(item) for item in ours] == [literal(item) for item in theirs]


@scored(as_text)
def fuzzy_match(text: str, rules: Mapping[str, Any]) -> float:
    """How much of both texts is common to them, in order (``rapidfuzz.fuzz.ratio``)."""
    return ratio(text, rules["expected"])


@scored()
def check_direct_json_object(result: object, rules: Mapping[str, Any]) -> float:
    """1 if the object has every key of ``rules["expected"]`` with its value.

    A text is read as JSON, its single quotes taken for double ones. ``expect_in_result``: a text
    must be part of the value, and of a list one item must be the value, or one of its items.
    ``ignore_list_order``, beside or among the expected values, compares lists sorted; OSWorld's own
    never gets to it.
    """
    if isinstance(result, str):
        result = parse_json(result.strip().replace("'", '"'))
    if not isinstance(result, dict):
        raise Broken(f"not an object: {result!r}")
    expected = rules.get("expected", {})
    if FAILED in [value for value in expected.values() if isinstance(value, str)]:
        return 0.0
    if rules.get("expect_in_result"):
        return all(_found_in(value, result.get(key)) for key, value in expected.items())
    unordered = bool(rules.get("ignore_list_order") or expected.get("ignore_list_order"))
    return all(
        _same(value, result.get(key), unordered)
        for key, value in expected.items()
        if key != "ignore_list_order"
    )


def _same(expected: object, actual: object, unordered: bool) -> bool:
    if unordered and isinstance(expected, list) and isinstance(actual, list):
        return sorted(map(repr, expected)) == sorted(map(repr, actual))
    return expected == actual


def _found_in(expected: object, actual: object) -> bool:
    if isinstance(expected, str):
        return isinstance(actual, str | list) and expected in actual
    if not isinstance(expected, list):
        return False
    if isinstance(actual, list):
        return any(item in actual for item in expected)
    return isinstance(actual, str) and actual in expected
