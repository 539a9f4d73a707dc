"""Getters of what the task file itself says."""

from __future__ import annotations

import copy
from datetime import UTC, date, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from ui_gym.desktop.osworld.getters.dates import named_day, written
from ui_gym.desktop.osworld.registry import Config, EvaluationContext, getter

TODAY = "today"
"""Under this name `EvaluationContext.memory` may hold a `datetime.date` that counts as today."""
SPLIT = ("Day", "Month", "Year")


@getter("rule")
def rule(context: EvaluationContext, config: Config) -> Any:
    """``rules``, as they are."""
    return config["rules"]


@getter("time_diff_range")
def time_diff_range(context: EvaluationContext, config: Config) -> Any:
    """``diff_range_in_minutes``; None where it is not there."""
    return config.get("diff_range_in_minutes")


@getter("rule_relativeTime")
def rule_relative_time(context: EvaluationContext, config: Config) -> Any:
    """``rules``, the dates in their ``expected`` written out.

    ``relativeTime`` names the days: ``from`` alone is written into ``time``, ``from`` and ``to``
    into these two, or for names that end in "split" into ``puDay``, ``puMonth``, ``puYear`` and
    ``doDay``, ... Today is that of ``timezone``, or of UTC, where OSWorld asks a service on the web
    where its machine is.
    """
    rules: dict[str, Any] = copy.deepcopy(dict(config["rules"]))
    names, expected = rules["relativeTime"], rules["expected"]
    today: date = context.memory.get(TODAY) or datetime.now(_zone(rules.get("timezone"))).date()
    start = named_day(names["from"], today)
    if "to" not in names:
        _write(expected, ["time"], start)
        return rules
    # The end of a span that begins next week lies after its beginning.
    begins_next = names["from"].startswith("next")
    end = named_day(names["to"], today, start if begins_next else None)
    for name, day, key, split in (
        (names["from"], start, "from", "pu"),
        (names["to"], end, "to", "do"),
    ):
        is_split = name.endswith(" split")
        _write(expected, [split + part for part in SPLIT] if is_split else [key], day)
    return rules


def _write(expected: dict[str, Any], keys: list[str], day: date) -> None:
    for key in keys:
        value = expected[key]
        if isinstance(value, list):
            expected[key] = [written(item, day) for item in value]
        else:
            expected[key] = written(value, day)


def _zone(name: str | None) -> tzinfo:
    try:
        return ZoneInfo(name) if name else UTC
    except (KeyError, ValueError, OSError):  # there is no such zone here
        return UTC
