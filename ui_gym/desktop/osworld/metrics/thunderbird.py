"""Metrics of Thunderbird's profile: preferences, message filters, mail folders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ui_gym.desktop.osworld.metrics.reading import (
    Broken,
    as_list,
    given,
    parse_json,
    read_bytes,
    read_text,
    scored,
)
from ui_gym.desktop.osworld.metrics.rules import matches, record_matches

PREFERENCE = re.compile(r'^user_pref\("(?P<key>(?:[^"]|\\")+)", (?P<value>.+)\);$')
CONDITION = re.compile(
    r"\b(?:AND|OR) \((?:[\w ]+),(?:[\w ']+),(?:\"(?:(?:[^\"]|\")+)\"|(?:[^)]+))\)|\bALL\b"
)
FIELD = re.compile(r'^(?P<key>\w+)="(?P<value>.*)"$')
FIELDS = {"name", "enabled", "type", "action", "actionValue", "condition"}
MESSAGE = re.compile(r"^From - ", re.M | re.I)
"""What begins each message of a folder (mbox)."""


@scored("check_thunderbird_prefs")
def check_thunderbird_prefs(result: object, rule: Mapping[str, Any]) -> float:
    """1 if the preferences in a ``prefs.js`` obey the rules under their names.

    ``expect`` ones must be there and obey, ``unexpect`` ones, where they are there, must not.
    """
    expect, unexpect = rule.get("expect", {}), rule.get("unexpect", {})
    met = dict.fromkeys(expect, False)
    for line in read_text(result).splitlines():
        found = PREFERENCE.match(line.strip())
        if found is None or found["key"] not in {*expect, *unexpect}:
            continue
        key, value = found["key"], parse_json(found["value"])
        if key in expect:
            met[key] = matches(value, expect[key])
        elif matches(value, unexpect[key]):
            return 0.0
    return float(all(met.values()))


@scored("check_thunderbird_filter")
def check_thunderbird_filter(result: object, rules: Mapping[str, Any]) -> float:
    """1 if each record of ``expect`` matches some filter in a ``msgFilterRules.dat``, and none of
    ``unexpect`` any.

    A filter has ``name``, ``enabled``, ``type``, ``action``, ``actionValue`` and ``condition``, a
    list of texts like ``AND (from,contains,someone)``.
    """
    filters = _filters(read_text(result))

    def found(pattern: Mapping[str, Any]) -> bool:
        return any(record_matches(pattern, item) for item in filters)

    expected = all(found(pattern) for pattern in rules.get("expect", ()))
    return float(expected and not any(found(pattern) for pattern in rules.get("unexpect", ())))


@scored("check_thunderbird_folder")
def check_thunderbird_folder(result: object, expected: object, **options: Any) -> float:
    """1 if each mail folder (an mbox file) has the messages of its counterpart, in any order.

    ``ignore_status`` and ``ignore_keys`` leave out Mozilla's header lines of these names;
    ``remove_deleted`` (on) leaves out messages whose status says so, ``remove_duplicate`` (on)
    takes equal ones for one. OSWorld's own keeps only empty messages, by a slip, so that there
    any two folders are equal; here the messages are compared.
    """
    references = expected if isinstance(expected, list) else [expected]
    results = as_list(result) if isinstance(expected, list) else [result]
    if len(results) < len(references):
        raise Broken("a folder is missing")

    def messages(path: object) -> list[str]:
        return _messages(path, options)

    pairs = zip(results, references, strict=False)
    return float(all(messages(one) == given(messages, other) for one, other in pairs))


def _filters(text: str) -> list[dict[str, Any]]:
    """The filters of the file: fields up to each condition."""
    filters: list[dict[str, Any]] = []
    current: dict[str, Any] = {}
    for line in text.splitlines():
        found = FIELD.match(line)
        if found is None or found["key"] not in FIELDS:
            continue
        key, value = found["key"], found["value"].replace('\\"', '"').replace("\\\\", "\\")
        if key == "name":
            current = {}
        current[key] = CONDITION.findall(value) if key == "condition" else value
        if key == "condition":
            filters.append(current)
    return filters


def _messages(path: object, options: Mapping[str, Any]) -> list[str]:
    # A message may be in any encoding; latin-1 reads every byte as one sign.
    text = read_bytes(path).decode("latin-1").replace("\r\n", "\n")
    first, *others = MESSAGE.split(text)
    # The line after "From - " says when it was delivered here, and is not a part of the message.
    parts = [first, *(message.partition("\n")[2] for message in others)]
    if options.get("remove_deleted", True):
        parts = [part for part in parts if not re.search(r"X-Mozilla-Status: 000[89]", part)]
    found = [_plain(part, options) for part in parts if part.strip()]
    return sorted(set(found) if options.get("remove_duplicate", True) else found)


def _plain(message: str, options: Mapping[str, Any]) -> str:
    if options.get("ignore_status"):
        message = re.sub(r"X-Mozilla-Status\d?:[\s\d]+", "", message)
    if options.get("ignore_keys"):
        message = re.sub(r"(X-Mozilla-Keys:[^\n]*?)\n(MIME-Version)", r"\2", message)
    return message.strip()
