"""Two trainings beside each other: what differs in their settings, and what came of it.

Differences of success rates have a 95 % interval made of both rates' own (R. G. Newcombe, "Interval
estimation for the difference between independent proportions", 1998, method 10). It takes the two
evaluations as independent draws; where both played the same instances, it is wider than it need be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Told = Mapping[str, Any]
"""A training as ``ui-gym-records show --json`` tells of it."""

MAIN = ("success", "reward", "loss")
"""The metrics that are compared where nobody names others."""

MOST_ROWS = 30

OWN = ("run.directory", "run.resume", "run.records", "run.loggers", "run.project", "plugin")
"""Settings that are of one run alone, and say nothing about its outcome; the plugin comes first."""


def compare(a: Told, b: Told, *, metrics: Sequence[str] = (), every: int | None = None) -> Told:
    """What differs between two trainings, as plain JSON values.

    ``settings`` and ``facts``: ``{name: [a's, b's]}`` of those that differ. ``curves``: for each
    metric a pair for each entry of ``steps``, the means over these steps (None: none is known).
    ``evaluations``: by mode the newest of each run, and the difference b - a of their rates.

    Args:
        a: One training.
        b: The other.
        metrics: Which metrics; by default those of `MAIN` that either has.
        every: How many steps a row stands for; None: so many that the rows are at most `MOST_ROWS`.
    """
    steps = [_by_number(told["steps"]) for told in (a, b)]
    last = max((n for of in steps for n in of), default=0)
    size = every or max(1, math.ceil(last / MOST_ROWS))
    bounds = [(start, min(start + size - 1, last)) for start in range(1, last + 1, size)]
    known = {name for of in steps for values in of.values() for name in values}
    names = metrics or [name for name in MAIN if name in known]
    return {
        "runs": [told["name"] for told in (a, b)],
        "settings": differing(_settings(a), _settings(b)),
        "facts": differing(_facts(a), _facts(b)),
        "steps": [str(low) if low == high else f"{low}-{high}" for low, high in bounds],
        "curves": {
            name: [[_mean(of, name, *bound) for of in steps] for bound in bounds] for name in names
        },
        "evaluations": _evaluations(a, b),
    }


def differing(a: Told, b: Told) -> dict[str, list[Any]]:
    """The names whose values differ, each with both values; None where there is none."""
    return {
        name: [a.get(name), b.get(name)]
        for name in dict.fromkeys((*a, *b))
        if a.get(name) != b.get(name)
    }


def difference(a: Told, b: Told) -> dict[str, float]:
    """The difference b - a of two rates (``success``, ``low``, ``high``), with its interval."""
    points = b["success"] - a["success"]
    below = math.hypot(b["success"] - b["low"], a["high"] - a["success"])
    above = math.hypot(b["high"] - b["success"], a["success"] - a["low"])
    return {"points": points, "low": points - below, "high": points + above}


def _settings(told: Told) -> dict[str, Any]:
    kept = {name: value for name, value in _flat(told["config"]).items() if name not in OWN}
    return {"plugin": told["config"].get("plugin"), **kept}


def _facts(told: Told) -> dict[str, Any]:
    """What a training ran on, without its command line, which holds the settings."""
    facts = _flat(told["facts"] or {})
    facts.pop("command", None)
    return facts


def _flat(values: Told, before: str = "") -> dict[str, Any]:
    """Nested values by dotted names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, f"{before}{name}.")
        else:
            flat[f"{before}{name}"] = value
    return flat


def _by_number(steps: Sequence[Told]) -> dict[int, Told]:
    return {step["number"]: step["metrics"] for step in steps if step["metrics"]}


def _mean(steps: Mapping[int, Told], name: str, low: int, high: int) -> float | None:
    values = [steps[n].get(name) for n in range(low, high + 1) if n in steps]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _evaluations(a: Told, b: Told) -> dict[str, dict[str, Any]]:
    of_a, of_b = _newest(a), _newest(b)
    found = {}
    for mode in dict.fromkeys((*of_a, *of_b)):
        mine, theirs = of_a.get(mode), of_b.get(mode)
        between = difference(mine, theirs) if mine and theirs else None
        found[mode] = {"runs": [mine, theirs], "difference": between}
    return found


def _newest(told: Told) -> dict[str, dict[str, Any]]:
    """The newest finished evaluation by mode, those of before training included."""
    measured = [{"kind": "baseline", "step": 0, **m} for m in told["baselines"]]
    measured += told["evaluations"]
    names = ("kind", "step", "success", "low", "high", "n")
    done = [m for m in measured if m["success"] is not None]
    done.sort(key=lambda m: (m["step"], m["kind"] == "final"))
    return {m["mode"]: {name: m[name] for name in names} for m in done}
