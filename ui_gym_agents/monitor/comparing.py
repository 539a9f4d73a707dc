"""Two checkpoints or agents on the same instances: what flipped, and whether that is chance."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from ui_gym.errors import UserError
from ui_gym_agents.evaluation.report.statistics import Z95
from ui_gym_agents.monitor import episodes
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.runs import rate

PAGE = 50
FLIPS = {(True, True): "both", (True, False): "a_only", (False, True): "b_only",
         (False, False): "neither"}  # fmt: skip


def choices(index: MonitorIndex) -> list[dict[str, Any]]:
    """What can be compared: the evaluations of all runs, the newest first."""
    query = """
        select t.run, t.kind, t.step, t.mode, sum(t.n) as n, sum(t.successes) as successes
        from tally t where t.kind != 'step' group by t.run, t.kind, t.step, t.mode having sum(t.n)
    """
    found = []
    for row in index.rows(query):
        name = index.facts(row["run"]).get("name", row["run"])
        found.append({**dict(row), "name": name, "success": row["successes"] / row["n"]})
    return sorted(found, key=lambda c: (str(c["name"]), -c["step"], c["kind"], c["mode"]))


def compare(index: MonitorIndex, params: Mapping[str, str]) -> dict[str, Any]:
    """Pairs of episodes on the same task and seed, their flips and an exact paired test.

    Of several plays of an instance, the first goes with the first, and so on. The interval is
    Wald's with Agresti and Min's correction (2005, "Simple improved confidence intervals for
    comparing matched proportions"); p is McNemar's exact test.

    Raises:
        UserError: a side is not written as RUN/KIND/STEP/MODE, or there is nothing to compare.
    """
    sides = {name: _side(params.get(name, "")) for name in ("a", "b")}
    plays = {name: _plays(index, side) for name, side in sides.items()}
    pairs = [
        (one, other)
        for key in sorted(plays["a"].keys() & plays["b"].keys())
        for one, other in zip(plays["a"][key], plays["b"][key], strict=False)
    ]
    flips = dict.fromkeys(FLIPS.values(), 0)
    for one, other in pairs:
        flips[FLIPS[one[1], other[1]]] += 1
    shown = params.get("show") or "all"
    if shown not in ("all", *flips):
        raise UserError(f"show is all, {', '.join(flips)}, and not {shown!r}")
    begin = episodes.number(params, "after") or 0
    kept = [p for p in pairs if shown in ("all", FLIPS[p[0][1], p[1][1]])]
    part = kept[begin : begin + PAGE]
    known = {
        name: episodes.by_ids(index, sides[name][0], [pair[place][0] for pair in part])
        for place, name in enumerate(("a", "b"))
    }
    listed = []
    for one, other in part:
        a, b = known["a"].get(one[0]), known["b"].get(other[0])
        if a and b:
            listed.append({"task": a["task"], "seed": a["seed"], "a": a, "b": b})
    following = str(begin + PAGE) if len(kept) > begin + PAGE else None
    difference, low, high = paired_difference(flips)
    return {
        **{name: _told(index, sides[name], plays[name]) for name in sides},
        "pairs": len(pairs), "flips": flips, "difference": difference, "low": low, "high": high,
        "p": mcnemar(flips["a_only"], flips["b_only"]), "episodes": listed, "next": following,
    }  # fmt: skip


def mcnemar(a_only: int, b_only: int) -> float:
    """The exact two-sided p of flips one way and the other, if both were as likely."""
    n, least = a_only + b_only, min(a_only, b_only)
    if not n:
        return 1.0
    logs = (
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2)
        for k in range(least + 1)
    )
    return min(1.0, 2 * sum(map(math.exp, logs)))


def paired_difference(flips: Mapping[str, int]) -> tuple[float, float, float]:
    """Success of b less that of a on the same instances, with its 95 % interval."""
    n = sum(flips.values())
    if not n:
        return 0.0, -1.0, 1.0
    difference = (flips["b_only"] - flips["a_only"]) / n
    up, down, size = flips["b_only"] + 0.5, flips["a_only"] + 0.5, n + 2
    middle = (up - down) / size
    half = Z95 * math.sqrt(up + down - (up - down) ** 2 / size) / size
    return difference, max(-1.0, middle - half), min(1.0, middle + half)


Side = tuple[str, str, int, str]
Plays = dict[tuple[str, int], list[tuple[str, bool]]]


def _side(text: str) -> Side:
    parts = text.split("/")
    if len(parts) != 4 or not re.fullmatch("[0-9]{1,12}", parts[2]):
        raise UserError(f"a side of a comparison is RUN/KIND/STEP/MODE, not {text[:80]!r}")
    return parts[0], parts[1], int(parts[2]), parts[3]


def _plays(index: MonitorIndex, side: Side) -> Plays:
    query = (
        "select task, seed, id, success from episode indexed by episode_parent "
        "where run = ? and kind = ? and step = ? and mode = ? and failure is null order by n"
    )
    found: Plays = defaultdict(list)
    for row in index.rows(query, side):
        found[row["task"], row["seed"]].append((row["id"], bool(row["success"])))
    return found


def _told(index: MonitorIndex, side: Side, plays: Plays) -> dict[str, Any]:
    run, kind, step, mode = side
    outcomes = list(_outcomes(plays))
    n, won = len(outcomes), sum(outcomes)
    name = index.facts(run).get("name", run)
    return {"run": run, "name": name, "kind": kind, "step": step, "mode": mode, **rate(won, n)}


def _outcomes(plays: Plays) -> Iterator[bool]:
    for several in plays.values():
        yield from (won for _, won in several)
