"""Lists of episodes: filters, pages by a key instead of an offset, groups, failures, seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sqlite3 import OperationalError, Row
from typing import Any

from ui_gym.errors import UserError, nearest
from ui_gym_agents.monitor.index import MonitorIndex
from ui_gym_agents.monitor.whats import WHATS

MOST = 200
"""Episodes of a page, at most."""
SEARCHED = 50_000
"""Of what is found by words, so many of the newest are put into another order or counted."""
COUNTED = 10_000
"""So many are counted one by one; of more the total is not said."""
ORDERS = {
    "new": ("n", "desc"), "old": ("n", "asc"), "worst": ("score", "asc"), "best": ("score", "desc"),
    "long": ("turns", "desc"),
}  # fmt: skip
TALLIED = ("kind", "step", "mode", "task", "suite")
"""Filters that counts are kept for."""
EQUAL = {"kind": "kind", "step": "step", "mode": "mode", "task": "task", "suite": "suite",
         "seed": "seed", "group": "grp", "notes": "notes", "failure": "failure"}  # fmt: skip
NUMBERS = ("step", "seed")
FILTERS = (*EQUAL, "what", "won", "q")

_INDEXES = {"score": "episode_score", "turns": "episode_turns", "failure": "episode_fault",
            "notes": "episode_notes"}  # fmt: skip
"""The way to rows in an order without a filter, and to those with such texts."""

_COLUMNS = """
e.n, e.id, e.kind, e.step, e.mode, e.task, e.suite, e.seed, e.grp as "group", e.episode, e.split,
e.score, e.success, e.turns, e.seconds, e.failure, e.whats, e.notes, e.goal, e.first, e.last,
e.started, l.reward, l.advantage, o.verdict as override
"""
_JOINS = """
left join learned l on e.kind = 'step' and l.run = e.run and l.step = e.step
  and l.episode = e.episode
left join override o on o.run = e.run and o.id = e.place
"""


def page(index: MonitorIndex, run: str, params: Mapping[str, str]) -> dict[str, Any]:
    """A page of the episodes that fit the filters in `params`, and where the next begins.

    Raises:
        UserError: a filter, an order or a cursor is none.
    """
    order = params.get("order", "new")
    if order not in ORDERS:
        raise UserError(f"there is no order {order!r}. {nearest(order, ORDERS)}")
    key, way = ORDERS[order]
    limit = max(1, min(number(params, "limit") or 50, MOST))
    tables, conditions, values = filtered(run, params, key)
    total = _total(index, run, params)
    if after := params.get("after"):
        conditions.append(_behind(key, way))
        values |= _cursor(after, key)
    chosen = _chosen(tables, conditions, key, way)
    query = (
        f"select {_COLUMNS} from ({chosen}) c cross join episode e on e.n = c.n {_JOINS} "
        f"order by {_keys(key, way)}"
    )
    found = _rows(index, query, {**values, "limit": limit + 1})
    following = None
    if len(found) > limit:
        last = found[limit - 1]
        following = f"{last[key]}:{last['n']}"
    return {"episodes": [summary(r) for r in found[:limit]], "next": following, "total": total}


def neighbours(
    index: MonitorIndex, run: str, id: str, params: Mapping[str, str]
) -> tuple[str | None, str | None]:
    """The ids before and behind an episode in the list that `params` ask for."""
    key, way = ORDERS.get(params.get("order", "new"), ORDERS["new"])
    own = index.row("select * from episode where run = ? and id = ?", (run, id))
    if own is None:
        return None, None
    back = "asc" if way == "desc" else "desc"
    found = []
    for direction in (back, way):
        tables, conditions, values = filtered(run, params, key)
        conditions.append(_behind(key, direction))
        values |= {"after": own[key], "number": own["n"]}
        chosen = _chosen(tables, conditions, key, direction)
        query = f"select id from episode where n = ({chosen})"
        rows = _rows(index, query, {**values, "limit": 1})
        found.append(rows[0]["id"] if rows else None)
    return found[0], found[1]


def filtered(
    run: str, params: Mapping[str, str], key: str = "n"
) -> tuple[str, list[str], dict[str, Any]]:
    """The tables, conditions and values that the filters in `params` are in SQL.

    The way to the rows is said as well: SQLite knows nothing of how many there are. `key` is what
    they are ordered by.
    """
    conditions = ["e.run = :run"]
    values: dict[str, Any] = {"run": run}
    asked = {name for name in FILTERS if params.get(name, "") != ""}
    for name in sorted(asked & EQUAL.keys()):
        conditions.append(f"e.{EQUAL[name]} = :{name}")
        values[name] = number(params, name) if name in NUMBERS else params[name]
    if "notes" in asked:
        conditions.append("e.notes != ''")
    if what := params.get("what"):
        if what not in WHATS:
            raise UserError(f"there is no kind {what!r}. {nearest(what, WHATS)}")
        conditions.append("instr(e.whats, :what)")
        values["what"] = f" {what} "
    if params.get("won", "") in ("0", "1"):
        conditions.append(f"e.success = {params['won']}")
    index = _INDEXES.get(key, "episode_filter") if not asked else "episode_filter"
    index = next((_INDEXES[name] for name in ("failure", "notes") if name in asked), index)
    tables = f"episode e indexed by {index}"
    if words := params.get("q", "").replace("\0", " ").split():
        found = "said"
        if key == "n":
            conditions.append("said match :said")
        else:
            found = (
                "(select rowid from said where said match :said "
                f"order by rowid desc limit {SEARCHED})"
            )
        tables = f"{found} s cross join {tables} on e.n = s.rowid"
        quoted = " ".join('"' + word.replace('"', '""') + '"*' for word in words)
        values["said"] = f'run : "{run}" AND text : ({quoted})'
    return tables, conditions, values


def summary(row: Row) -> dict[str, Any]:
    """A row of `page` as it is told."""
    told = dict(row)
    del told["n"]
    return told | {"success": bool(row["success"]), "whats": row["whats"].split()}


def by_ids(index: MonitorIndex, run: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Summaries by id, of those that there are."""
    found = {}
    for id in ids:
        query = f"select {_COLUMNS} from episode e {_JOINS} where e.run = ? and e.id = ?"
        row = index.row(query, (run, id))
        if row is not None:
            found[id] = summary(row)
    return found


def place_of(index: MonitorIndex, run: str, id: str) -> str | None:
    """Where the source finds an episode."""
    row = index.row("select place from episode where run = ? and id = ?", (run, id))
    return None if row is None else str(row["place"])


def groups(index: MonitorIndex, run: str, params: Mapping[str, str]) -> dict[str, Any]:
    """The groups of a training step, by default the newest."""
    step = number(params, "step")
    if step is None:
        row = index.row(
            "select max(step) as step from tally where run = ? and kind = 'step'", (run,)
        )
        step = row["step"] if row is not None else None
    query = f"""
        select e.grp as "group", e.step, e.task, e.seed, min(e.goal) as goal, count(*) as n,
          sum(e.success) as successes, avg(coalesce(l.reward, e.score)) as mean_reward,
          max(coalesce(l.reward, e.score)) - min(coalesce(l.reward, e.score)) < 1e-9 as equal,
          group_concat(e.id, ' ') as ids
        from episode e {_JOINS}
        where e.run = ? and e.kind = 'step' and e.step = ? and e.grp != '' and e.failure is null
        group by e.grp order by min(e.n)
    """
    found = [
        {**dict(row), "equal": bool(row["equal"]), "ids": row["ids"].split()}
        for row in index.rows(query, (run, step))
    ]
    return {"step": step, "groups": found, "next": None}


def members(index: MonitorIndex, run: str, group: str, step: int | None) -> list[dict[str, Any]]:
    """The episodes of a group."""
    conditions = "e.run = ? and e.kind = 'step' and e.grp = ?"
    values: list[Any] = [run, group]
    if step is not None:
        conditions += " and e.step = ?"
        values.append(step)
    query = (
        f"select {_COLUMNS} from episode e indexed by episode_parent {_JOINS} "
        f"where {conditions} order by e.n"
    )
    return [summary(row) for row in index.rows(query, values)]


def failures(index: MonitorIndex, run: str, params: Mapping[str, str]) -> dict[str, Any]:
    """What went wrong, counted: by kind, by task, by the judge's notes; faults apart."""
    asked = {"won": "0", **{k: v for k, v in params.items() if k in FILTERS and v != ""}}
    conditions, values = ["run = :run"], {"run": run}
    for name in TALLIED:
        if name in asked:
            conditions.append(f"{name} = :{name}")
            values[name] = asked[name]
    sums = ", ".join(f"sum({what}) as {what}" for what in WHATS)
    tallies = index.rows(
        f"select task, sum(n) as n, sum(n - successes) as fails, {sums} from tally "
        f"where {' and '.join(conditions)} group by task",
        values,
    )
    whats = {what: sum(row[what] for row in tallies) for what in WHATS}
    tasks = [
        {"task": row["task"], "n": row["n"], "fails": row["fails"],
         "whats": {what: row[what] for what in WHATS if row[what]}}
        for row in tallies
    ]  # fmt: skip
    notes, faults = (
        _texts(index, run, asked, name, condition)
        for name, condition in (
            ("notes", "e.notes != '' and e.failure is null"),
            ("failure", "e.failure is not null"),
        )
    )
    failing = sorted(tasks, key=lambda t: -int(t["fails"]))
    return {
        "whats": whats, "tasks": failing, "n": sum(task["n"] for task in failing),
        "notes": notes, "faults": faults,
    }  # fmt: skip


def _texts(
    index: MonitorIndex, run: str, asked: Mapping[str, str], column: str, condition: str
) -> list[dict[str, Any]]:
    """The 50 most frequent texts of a column; notes with one of their tasks."""
    tables, conditions, values = filtered(run, {k: v for k, v in asked.items() if k != "what"}, "")
    few = asked.keys() & {"seed", "group"}
    tables = tables.replace("indexed by episode_filter", "" if few or "q" in asked else
                            f"indexed by {_INDEXES[column]}")  # fmt: skip
    task = ", min(e.task) as task" if column == "notes" else ""
    found = _rows(
        index,
        f"select e.{column}, count(*) as n{task} from {tables} "
        f"where {' and '.join([*conditions, condition])} "
        f"group by e.{column} order by count(*) desc limit 50",
        values,
    )
    return [dict(row) for row in found]


def seeds(index: MonitorIndex, run: str, params: Mapping[str, str]) -> dict[str, Any]:
    """Instances that were played at several steps: those of evaluations."""
    query = """
        select task, seed, count(*) as n, group_concat(distinct step) as steps,
          sum(success) as successes
        from episode indexed by episode_seeds
        where run = :run and kind != 'step' and (:task = '' or task = :task)
        group by task, seed having count(distinct step || kind || mode) > 1
        order by task, min(n) limit 200
    """
    found = index.rows(query, {"run": run, "task": params.get("task", "")})
    told = [dict(row) | {"steps": sorted(map(int, row["steps"].split(",")))} for row in found]
    return {"seeds": told, "next": None}


def through(index: MonitorIndex, run: str, params: Mapping[str, str]) -> dict[str, Any]:
    """All plays of one instance, in the order of training."""
    order = "case e.kind when 'baseline' then 0 when 'final' then 2 else 1 end"
    query = (
        f"select {_COLUMNS} from episode e {_JOINS} where e.run = ? and e.task = ? and e.seed = ? "
        f"order by e.step, {order}, e.n limit 500"
    )
    values = (run, params.get("task", ""), number(params, "seed"))
    return {"plays": [summary(row) for row in index.rows(query, values)]}


def number(params: Mapping[str, str], name: str) -> int | None:
    """A whole number among `params`; None without one. UserError where it is none."""
    text = params.get(name, "")
    if text == "":
        return None
    try:
        found = int(text)
    except ValueError:
        raise UserError(f"{name} is no whole number: {text[:40]!r}") from None
    if not -(2**63) <= found < 2**63:
        raise UserError(f"{name} is too large: {text[:40]}")
    return found


def _keys(key: str, way: str) -> str:
    return f"e.n {way}" if key == "n" else f"e.{key} {way}, e.n {way}"


def _chosen(tables: str, conditions: Sequence[str], key: str, way: str) -> str:
    """The query for the numbers of the first rows in an order."""
    where, keys = " and ".join(conditions), _keys(key, way)
    if "said match" in where:  # the words' index gives them in their order, one after the other
        where, keys = where.replace("e.n ", "+s.rowid "), f"s.rowid {way}"
    return f"select e.n from {tables} where {where} order by {keys} limit :limit"


def _behind(key: str, way: str) -> str:
    sign = "<" if way == "desc" else ">"
    return f"e.n {sign} :number" if key == "n" else f"(e.{key}, e.n) {sign} (:after, :number)"


def _cursor(text: str, key: str) -> dict[str, Any]:
    value, _, last = text.rpartition(":")
    try:
        if len(last) > 18:
            raise ValueError
        return {"after": float(value), "number": int(last)}
    except ValueError:
        raise UserError(f"no page begins behind {text[:40]!r}") from None


def _total(index: MonitorIndex, run: str, params: Mapping[str, str]) -> int | None:
    """How many fit; None where counting them takes long."""
    asked = {name for name in FILTERS if params.get(name, "") != ""}
    if asked <= set(TALLIED):
        conditions = ["run = :run", *(f"{name} = :{name}" for name in sorted(asked))]
        values = {"run": run, **{name: params[name] for name in asked}}
        query = f"select sum(n + faults) as n from tally where {' and '.join(conditions)}"
        row = index.row(query, values)
        return int(row["n"] or 0) if row is not None else 0
    tables, conditions, values = filtered(run, params)
    if "said" in values:
        hits = f"select 1 from said where said match :said limit {SEARCHED + 1}"
        if _rows(index, f"select count(*) as n from ({hits})", values)[0]["n"] > SEARCHED:
            return None
    inner = f"select 1 from {tables} where {' and '.join(conditions)} limit {COUNTED + 1}"
    count = int(_rows(index, f"select count(*) as n from ({inner})", values)[0]["n"])
    return count if count <= COUNTED else None


def _rows(index: MonitorIndex, query: str, values: Mapping[str, Any]) -> list[Row]:
    try:
        return index.rows(query, values)
    except OperationalError as error:
        if "said" not in values:
            raise
        raise UserError(f"this cannot be searched for: {error}") from None
