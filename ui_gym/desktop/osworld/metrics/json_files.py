"""Metrics of JSON and YAML files: settings, key bindings, rules by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    as_list,
    as_mapping,
    given,
    parse_json,
    read_json,
    read_text,
    scored,
)
from ui_gym.desktop.osworld.metrics.rules import matches

MISSING = object()


@scored("check_json")
def check_json(result: object, rules: Mapping[str, Any], is_yaml: bool = False) -> float:
    """1 if the value under each ``key`` (a list, from the outside in) obeys its rule.

    ``expect`` rules must be obeyed, the key being there; ``unexpect`` rules must not, and a key
    that is missing is None to them.
    """
    data = _read_yaml(result) if is_yaml else read_json(result)
    for rule in rules.get("expect", ()):
        value = _under(data, rule["key"])
        if value is MISSING or not matches(value, rule):
            return 0.0
    for rule in rules.get("unexpect", ()):
        value = _under(data, rule["key"])
        if matches(None if value is MISSING else value, rule):
            return 0.0
    return 1.0


@scored("check_json_settings")
def check_json_settings(result: object, rules: Mapping[str, Any], **options: Any) -> float:
    """1 if the object in the file has every key of ``rules["expected"]`` with its value."""
    data = as_mapping(read_json(result))
    return float(all(data.get(k, MISSING) == v for k, v in rules["expected"].items()))


@scored("check_json_keybindings")
def check_json_keybindings(result: object, rules: Mapping[str, Any], **options: Any) -> float:
    """1 if ``rules["expected"]`` is an item of the list in the file.

    VS Code's keybindings.json may start with a line of comment.
    """
    text = read_text(result)
    try:
        bindings = as_list(parse_json(text))
    except Broken:
        bindings = as_list(parse_json(text.partition("\n")[2]))
    return float(rules["expected"] in bindings)


@scored("is_included_all_json_objects")
def is_included_all_json_objects(expected: object, result: object) -> float:
    """1 if the second file's object has all keys of the first's, with their values."""
    wanted, data = given(read_json, expected), as_mapping(read_json(result))
    return float(all(data.get(key, MISSING) == value for key, value in wanted.items()))


def _read_yaml(path: object) -> Any:
    import yaml

    try:
        data = yaml.safe_load(read_text(path))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Broken(f"{path} is not YAML: {error}") from error
    if data is None:
        raise Broken(f"{path} is empty")
    return data


def _under(data: Any, keys: list[Any]) -> Any:
    for key in keys:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return data
