"""Which episodes stand for a run: of each evaluation some of the best and some of the worst.

Evaluations play the same instances, so the ones of the final evaluation are taken from the others
as well: they can be watched side by side. A group of training is taken whole, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

Get = Callable[[str, Mapping[str, str]], Mapping[str, Any]]
"""Gives what the API answers to a path below ``/api/`` and its parameters."""
Summary = Mapping[str, Any]

_RANK = {"final": 0, "evaluation": 1, "baseline": 2}


def chosen(get: Get, base: str, facts: Mapping[str, Any], wanted: int) -> list[Summary]:
    """At most `wanted` episodes of the run at `base`, those of one evaluation in a row.

    `facts` is what the API tells of the run.
    """
    measured = sorted(
        (m for m in facts.get("measurements", ()) if m.get("n")),
        key=lambda m: (_RANK.get(m["kind"], 3), -m["step"], m["mode"] != "greedy"),
    )
    found: dict[str, Summary] = {}
    group = _group(get, base, wanted // 3) if measured else []
    left = wanted - len(group)
    pattern: list[tuple[str, str]] = []
    for number, filters in enumerate(_filters(measured)):
        # The first, which is the final one, has twice the share of the others.
        share = max(1, left * (2 if number == 0 else 1) // (len(measured) + 1))
        taken = _take(get, base, filters, min(share, wanted - len(group) - len(found)), pattern)
        found |= {row["id"]: row for row in taken}
        pattern = pattern or [(row["task"], str(row["seed"])) for row in taken]
    found |= {row["id"]: row for row in group}
    for filters in [*_filters(measured[:1]), {}]:
        for row in _extremes(get, base, filters, wanted):
            if len(found) < wanted:
                found.setdefault(row["id"], row)
    return list(found.values())[:wanted]


def _filters(measured: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """What finds the episodes of each measurement."""
    return [{name: str(one[name]) for name in ("kind", "step", "mode")} for one in measured]


def _take(
    get: Get, base: str, filters: Mapping[str, str], count: int, pattern: Sequence[tuple[str, str]]
) -> list[Summary]:
    """Some episodes of one evaluation: those of the instances of `pattern` first."""
    if count <= 0:
        return []
    found: dict[str, Summary] = {}
    for task, seed in pattern[:count]:
        asked = {**filters, "task": task, "seed": seed, "limit": "1"}
        found |= {row["id"]: row for row in _sound(get(f"{base}/episodes", asked)["episodes"])}
    for row in _extremes(get, base, filters, count):
        if len(found) >= count:
            break
        found.setdefault(row["id"], row)
    return list(found.values())


def _extremes(get: Get, base: str, filters: Mapping[str, str], count: int) -> Iterator[Summary]:
    """The worst and the best by turns."""
    lists = [
        _sound(
            get(f"{base}/episodes", {**filters, "order": order, "limit": str(count)})["episodes"]
        )
        for order in ("worst", "best")
    ]
    yield from filter(None, chain.from_iterable(zip_longest(*lists)))


def _group(get: Get, base: str, most: int) -> list[Summary]:
    """A group of the newest training step in which not all went alike; none if there is none."""
    rows = [row for row in get(f"{base}/groups", {})["groups"] if row["n"] <= most]
    for row in sorted(rows, key=lambda row: row["equal"]):
        asked = {"step": str(row["step"])}
        return list(get(f"{base}/groups/{row['group']}", asked)["episodes"])
    return []


def _sound(rows: Sequence[Summary]) -> list[Summary]:
    """Those that say something about the agent."""
    return [row for row in rows if not row.get("failure")]
