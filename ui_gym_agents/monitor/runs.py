"""A run as the lists and its own page show it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ui_gym_agents.evaluation.report.statistics import wilson
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.library import Shelved
from ui_gym_agents.monitor.whats import WHATS
from ui_gym_agents.monitor.workers import workers

LOST_SECONDS = 30.0
"""A run that tells of itself every two seconds, and was silent so long, was killed."""
SILENT_SECONDS = 120.0
"""The same for runs of older versions, which tell of what they do only as they do it."""
HEADLINE = ("score", "entropy", "valid_actions")
"""Metrics of the newest step that stand beside success."""
RECENT = 10
"""Training steps that count as now."""
ORDER = {"baseline": 0, "evaluation": 1, "filter": 1, "final": 2}

Rate = dict[str, Any]


def rate(successes: float, n: int) -> Rate:
    """A success rate with its 95 % interval."""
    low, high = wilson(successes, n)
    share = successes / n if n else 0.0
    return {"n": n, "successes": successes, "success": share, "low": low, "high": high}


def summary(index: MonitorIndex, shelved: Shelved) -> dict[str, Any]:
    """A run as a line of the list."""
    source = shelved.source
    facts, run = index.facts(source.id), source.id
    status, silent = _status(facts, shelved)
    total = index.row(
        "select sum(n + faults) as n, "
        "sum(case when kind = 'step' and step <= ? then n end) as trained "
        "from tally where run = ?", (facts.get("step", 0), run),
    )  # fmt: skip
    tasks = index.rows("select distinct task from tally where run = ? limit 20", (run,))
    trouble = shelved.trouble
    if not trouble and facts.get("refused"):
        trouble = f"{facts['refused']} lines cannot be read; the last: {facts['refusal']}"
    before, now = _before_and_now(index, run, facts)
    elapsed = facts.get("elapsed")
    trained = total["trained"] if total is not None else 0
    return {
        "id": run, "name": facts.get("name") or Path(source.place).name, "place": source.place,
        "source": source.kind, "plugin": facts.get("plugin", ""), "status": status,
        "heartbeat": silent, "step": facts.get("step", 0), "steps": facts.get("steps", 0),
        "phase": facts.get("phase", ""), "tasks": [row["task"] for row in tasks],
        "before": before, "now": now, "episodes": int(total["n"] or 0) if total is not None else 0,
        "per_hour": 3600 * trained / elapsed if trained and elapsed else None,
        "started": facts.get("begun", "") or facts.get("changed", ""),
        "error": facts.get("error", ""), "trouble": trouble,
    }  # fmt: skip


def details(index: MonitorIndex, shelved: Shelved) -> dict[str, Any]:
    """What a run's own page shows beside its curves."""
    run = shelved.source.id
    facts = index.facts(run)
    told = summary(index, shelved)
    sums = ", ".join(f"coalesce(sum({what}), 0) as {what}" for what in WHATS)
    whats = index.row(f"select {sums} from tally where run = ?", (run,))
    measured = _measured(index, run)
    by_task, by_suite = _by_task_and_suite(_recent(index, run) or measured)
    newest = index.row("select metrics from step where run = ? order by step desc limit 1", (run,))
    metrics = {} if newest is None else json.loads(newest["metrics"])
    return told | {
        "config": facts.get("config", {}),
        "facts": facts.get("facts", {}),
        "measurements": _measurements(index, run),
        "timeline": _timeline(index, run),
        "by_task": by_task,
        "by_suite": by_suite,
        "heat": _heat(measured),
        "whats": dict(whats or {}),
        "newest": {"step": told["step"], **{name: metrics.get(name) for name in HEADLINE}},
    }


def steps(index: MonitorIndex, run: str, after: int) -> dict[str, Any]:
    """The metrics of the steps behind `after`, a row each, by the names of all."""
    rows = index.rows(
        "select step, elapsed, metrics from step where run = ? and step > ? order by step",
        (run, after),
    )
    read = [(row["step"], row["elapsed"], json.loads(row["metrics"])) for row in rows]
    names = list(dict.fromkeys(name for _, _, metrics in read for name in metrics))
    return {
        "names": names,
        "rows": [[step, elapsed, *map(metrics.get, names)] for step, elapsed, metrics in read],
        "last": read[-1][0] if read else after,
    }


def _status(facts: Mapping[str, Any], shelved: Shelved) -> tuple[str, float | None]:
    """A run's status, and for how many seconds nothing was heard of one that goes on."""
    source = shelved.source
    if shelved.gone:
        return "gone", None
    if source.kind == "evaluation" and not facts.get("done"):
        silent = _age(facts.get("changed", ""))
        return ("running" if silent is not None and silent < SILENT_SECONDS else "read"), silent
    if source.kind not in ("run", "database"):
        return "read", None
    status = str(facts.get("status", "read"))
    if status != "running":
        return status, None
    beat = _age(workers(source.folder)["at"])
    limit = SILENT_SECONDS if beat is None else LOST_SECONDS
    silent = min(
        (age for age in (beat, _age(facts.get("changed", ""))) if age is not None), default=None
    )
    return ("lost" if silent is None or silent > limit else "running"), silent


def _age(moment: Any) -> float | None:
    """How many seconds ago a moment was; None where none is said.

    One of the future, before the clock was set back, is as far away.
    """
    try:
        return abs(time.time() - datetime.fromisoformat(moment).timestamp())
    except (ValueError, TypeError):
        return None


def _before_and_now(
    index: MonitorIndex, run: str, facts: Mapping[str, Any]
) -> tuple[Rate | None, Rate | None]:
    """The headline: the first and the newest evaluation, as the run's settings choose their mode.

    Without one after the first, now is what the last training steps came to; where nothing is
    trained, it is all episodes.
    """
    measured = (facts.get("config") or {}).get("evaluation") or {}
    mode = "greedy" if measured.get("both") or measured.get("greedy", True) else "sampled"
    ended = [row for row in _measurements(index, run) if row["n"] and row["mode"] in (mode, "")]
    found = [_headline(row) for row in ended]
    before = found[0] if found and found[0]["kind"] == "baseline" else None
    later = [one for one in found if one["kind"] != "baseline"]
    if later:
        return before, later[-1]
    trained = index.row("select 1 from step where run = ? limit 1", (run,))
    rows = _recent(index, run) if trained else _measured(index, run)
    n, won = (sum(row[name] for row in rows) for name in ("n", "successes"))
    return before, rate(won, n) if n else None


def _headline(row: Mapping[str, Any]) -> Rate:
    return {
        "n": row["n"], "successes": round(row["success"] * row["n"]), "success": row["success"],
        "low": row["low"], "high": row["high"], "step": row["step"], "kind": row["kind"],
        "mode": row["mode"],
    }  # fmt: skip


def _measurements(index: MonitorIndex, run: str) -> list[dict[str, Any]]:
    """The evaluations that ended or go on, in the order of training."""
    rows = index.rows(
        "select kind, step, mode, at, planned, n, success, low, high from measurement "
        "where run = ?",
        (run,),
    )
    return sorted(map(dict, rows), key=lambda m: (m["step"], ORDER.get(m["kind"], 1), m["mode"]))


def _timeline(index: MonitorIndex, run: str) -> list[dict[str, Any]]:
    query = "select at, kind, step, text from moment where run = ? order by at desc limit 500"
    return [dict(row) for row in reversed(index.rows(query, (run,)))]


def _measured(index: MonitorIndex, run: str) -> Sequence[Any]:
    """The tallies of evaluations."""
    return index.rows("select * from tally where run = ? and kind != 'step'", (run,))


def _recent(index: MonitorIndex, run: str) -> Sequence[Any]:
    """The tallies of the last training steps."""
    newest = "select max(step) from tally where run = :run and kind = 'step'"
    return index.rows(
        f"select * from tally where run = :run and kind = 'step' and step > ({newest}) - :n",
        {"run": run, "n": RECENT},
    )


def _by_task_and_suite(
    rows: Sequence[Any],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Success by task and by suite."""
    found: list[list[dict[str, Any]]] = []
    for name in ("task", "suite"):
        sums: dict[str, dict[str, Any]] = {}
        for row in rows:
            entry = sums.setdefault(
                row[name], {"n": 0, "won": 0, "suite": row["suite"], "blind": []}
            )
            entry["n"] += row["n"]
            entry["won"] += row["successes"]
            if row["blind"] is not None:
                entry["blind"].append(row["blind"])
        found.append(
            [
                {name: value, "suite": e["suite"], **rate(e["won"], e["n"]),
                 "blind_rate": sum(e["blind"]) / len(e["blind"]) if e["blind"] else None}
                for value, e in sorted(sums.items())
            ]
        )  # fmt: skip
    return found[0], found[1]


def _heat(rows: Sequence[Any]) -> dict[str, Any]:
    """Success by task and evaluation: a row for each task, a column for each evaluation."""
    keys = {(row["step"], ORDER.get(row["kind"], 1), row["mode"], row["kind"]) for row in rows}
    columns = sorted(keys)
    cells = {
        (row["task"], row["step"], row["mode"], row["kind"]): rate(row["successes"], row["n"])
        for row in rows
    }
    return {
        "columns": [{"kind": kind, "step": step, "mode": mode} for step, _, mode, kind in columns],
        "rows": [
            {"task": task,
             "cells": [cells.get((task, step, mode, kind)) for step, _, mode, kind in columns]}
            for task in sorted({row["task"] for row in rows})
        ],
    }  # fmt: skip
