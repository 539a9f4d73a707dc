"""Rows: what the lines of a run's files (`training.event_log`, `store`) mean in the tables.

Rows have ids that are derived from what they stand for (`key`), and are put by id: a line that is
taken in twice is there once.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, case, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode, Purpose
from ui_gym_agents.files import finite
from ui_gym_agents.records.models import TABLES, Base

Values = Mapping[str, Any]

EVENTS = (
    "begun", "step_begun", "step_finished", "checkpoint", "evaluation_begun",
    "evaluation_finished", "ended",
)  # fmt: skip

_RANK = {table.name: rank for rank, table in enumerate(Base.metadata.sorted_tables)}
_KEPT = frozenset({"id", "created_at"})
"""Columns that a later put leaves as they are."""


def key(*parts: object) -> str:
    """An id: 32 hexadecimal digits that depend on `parts` alone."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class RowBatch:
    """Puts rows into tables within the caller's transaction, many rows a statement.

    Rows wait until `flush`, which comes before every other statement: parents first.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._waiting: dict[tuple[str, bool, tuple[str, ...]], list[dict[str, Any]]] = {}

    def put(self, table: str, *rows: Values, keep: bool = False) -> None:
        """Insert rows, or update the given columns of those that are there, unless `keep`."""
        for row in rows:
            self._waiting.setdefault((table, keep, tuple(row)), []).append(dict(row))

    def change(self, table: str, where: Values, **values: Any) -> None:
        self.execute(update(TABLES[table]).where(*_equal(table, where)).values(**values))

    def drop(self, table: str, *more: Any, **where: Any) -> None:
        """Delete rows, with all that belongs to them."""
        self.execute(delete(TABLES[table]).where(*_equal(table, where), *more))

    def execute(self, statement: Any) -> None:
        self.flush()
        self.connection.execute(statement)

    def flush(self) -> None:
        # Stable: among equal tables the order of arrival stays.
        for kind in sorted(self._waiting, key=lambda kind: _RANK[kind[0]]):
            statement = _statement(self.connection.dialect.name, *kind)
            self.connection.execute(statement, self._waiting[kind])
        self._waiting.clear()


class Rows:
    """Takes in the lines of one training, in order. `finish` ends what they leave open."""

    def __init__(self, connection: Connection, training: str, directory: Path) -> None:
        """`training` is the training's id."""
        self.id = training
        self._directory = directory
        self._batch = RowBatch(connection)
        self._environment = key(training, "environment")
        self._tasks: set[str] = set()
        self._parents: set[tuple[str, str]] = set()

    def event(self, line: Values) -> None:
        """Take in a line of the event log. KeyError where it lacks something."""
        if line["event"] not in EVENTS:
            raise ValueError(f"there is no event {line['event']!r}")
        getattr(self, f"_{line['event']}")(line["at"], line)

    def mark(self, file: str, position: int) -> None:
        """Say that `file` was read up to `position`."""
        row = {"id": key(self.id, "bookmark", file), "training_id": self.id, "file": file}
        self._batch.put("bookmark", row | {"position": position})

    def finish(self) -> None:
        """Count what belongs to the steps and evaluations that episodes were added to."""
        rollouts, groups = TABLES["rollout"], TABLES["rollout_group"]
        in_group = rollouts.c.group_id == groups.c.id
        size = select(func.count()).where(in_group).scalar_subquery()
        won = select(func.count()).where(in_group, rollouts.c.success).scalar_subquery()
        for name, parent in sorted(self._parents):
            table = TABLES[name]
            if name == "step":
                # A group goes on as long as its step does.
                step = {
                    c: select(table.c[c]).where(table.c.id == parent).scalar_subquery()
                    for c in ("status", "progress", "finished_at", "heartbeat_at")
                }
                counted = update(groups).where(groups.c.step_id == parent)
                self._batch.execute(counted.values(size=size, successes=won, **step))
                continue
            played = select(func.count()).where(rollouts.c[f"{name}_id"] == parent)
            share = played.scalar_subquery() * 1.0 / table.c.planned
            counted = update(table).where(table.c.id == parent, table.c.status == "running")
            self._batch.execute(counted.where(table.c.planned > 0).values(progress=share))
        self._parents.clear()
        self._batch.flush()

    # -- events --

    def _begun(self, at: str, line: Values) -> None:
        """The training, its env, and away with all that is done again."""
        config, resumed = line["config"], line["resumed"]
        done = resumed or 0
        running = {"status": "running", "created_at": at, "started_at": at, "heartbeat_at": at}
        self._batch.put(
            "training",
            {
                "id": self.id,
                "name": line["name"],
                "directory": str(self._directory.absolute()),
                "plugin": config["plugin"],
                "seed": config["run"]["seed"],
                "steps": config["run"]["steps"],
                "step": done,
                "host": line["host"],
                "process": line["process"],
                "config": config,
                "phase": "starting",
                "message": f"resumed after step {done}" if resumed else "",
                "error": "",
                "finished_at": None,
                "progress": _share(done, config["run"]["steps"]),
                **running,
            },
        )
        env = config["env"]
        described = {name: env[name] for name in ("device", "dialect", "observation", "num_envs")}
        row = {"id": self._environment, "training_id": self.id, "settings": env}
        self._batch.put("environment", row | described | running)
        mine = {"training_id": self.id}
        evaluations = TABLES["evaluation"].c
        self._batch.drop("step", TABLES["step"].c.number > done, **mine)
        void = (evaluations.step > done) | (evaluations.status != "finished")
        self._batch.drop("evaluation", void | (evaluations.kind == "final"), **mine)
        if resumed is None:
            self._batch.drop("baseline", **mine)
            self._batch.drop("evaluation", **mine)
        self._history(at, "training", self.id, "running", "starting")

    def _step_begun(self, at: str, line: Values) -> None:
        step, number = self._step_id(line["step"]), line["step"]
        row = {"status": "running", "created_at": at, "started_at": at, "heartbeat_at": at}
        row |= {"id": step, "training_id": self.id, "number": number}
        self._batch.put("step", row)
        news = {"steps": line["steps"], "phase": f"step {number}", "heartbeat_at": at}
        self._batch.change("training", {"id": self.id}, **news)
        self._history(at, "step", step, "running")

    def _step_finished(self, at: str, line: Values) -> None:
        step, number = self._step_id(line["step"]), line["step"]
        over = {"status": "finished", "finished_at": at, "heartbeat_at": at, "progress": 1.0}
        row = {"id": step, "training_id": self.id, "number": number, "created_at": at}
        self._batch.put("step", row | {"metrics": line["metrics"]} | over)
        self._batch.change("rollout_group", {"step_id": step}, **over)
        steps = TABLES["training"].c.steps
        share = case((steps > number, number * 1.0 / steps), else_=1.0)
        news = {"step": number, "seconds": line["elapsed"], "heartbeat_at": at}
        self._batch.change("training", {"id": self.id}, progress=share, **news)
        self._history(at, "step", step, "finished")

    def _checkpoint(self, at: str, line: Values) -> None:
        step = {"id": self._step_id(line["step"])}
        self._batch.change("step", step, checkpoint=line["name"], heartbeat_at=at)

    def _evaluation_begun(self, at: str, line: Values) -> None:
        purpose = Purpose(**line["purpose"])
        table, parent = self._parent(purpose)
        row = {"status": "running", "planned": line["episodes"], "started_at": at}
        self._batch.put(table, self._measurement(at, purpose) | row | {"heartbeat_at": at})
        phase = f"{purpose.kind}, {purpose.mode}"
        self._batch.change("training", {"id": self.id}, phase=phase, heartbeat_at=at)
        self._history(at, table, parent, "running")

    def _evaluation_finished(self, at: str, line: Values) -> None:
        purpose = Purpose(**line["purpose"])
        table, parent = self._parent(purpose)
        over = {"status": "finished", "progress": 1.0, "finished_at": at, "heartbeat_at": at}
        found = {name: line[name] for name in ("n", "success", "low", "high", "report")}
        self._batch.put(table, self._measurement(at, purpose) | over | found)
        self._batch.change("training", {"id": self.id}, phase="", heartbeat_at=at)
        training = TABLES["training"]
        self._batch.flush()
        config = self._batch.connection.execute(
            select(training.c.config).where(training.c.id == self.id)
        ).scalar()
        measured = (config or {}).get("evaluation", {})
        headline = "greedy" if measured.get("both") or measured.get("greedy") else "sampled"
        if purpose.mode == headline:  # Where both are measured, one of them is the headline.
            self._batch.change("training", {"id": self.id}, success=line["success"])
        self._history(at, table, parent, "finished")

    def _ended(self, at: str, line: Values) -> None:
        """The training's end; what was still running ends with it."""
        status, error = line["status"], line["error"]
        over = {"status": status, "finished_at": at, "heartbeat_at": at}
        self._batch.change("training", {"id": self.id}, step=line["step"], phase="", error=error,
                           **over)  # fmt: skip
        steps, groups = TABLES["step"], TABLES["rollout_group"]
        left = {"training_id": self.id, "status": "running"}
        for table in ("step", "baseline", "evaluation", "environment"):
            self._batch.change(table, left, **over)
        mine = select(steps.c.id).where(steps.c.training_id == self.id)
        open_groups = groups.c.step_id.in_(mine) & (groups.c.status == "running")
        self._batch.execute(update(groups).where(open_groups).values(**over))
        self._history(at, "training", self.id, status, "", error)

    # -- episodes --

    def episode(self, episode: Episode) -> None:
        """A rollout, with all that belongs to it."""
        at = episode.finished_at
        row: dict[str, Any]
        table, parent = self._parent(episode.purpose)
        self._parents.add((table, parent))
        # Collected ahead of its step, or measured without the host.
        row = {"status": "pending", "created_at": at}
        if table == "step":
            row |= {"id": parent, "training_id": self.id, "number": episode.purpose.step}
        else:
            row |= self._measurement(at, episode.purpose)
        self._batch.put(table, row, keep=True)
        task, validator = self._task(episode.task)
        group = None
        if table == "step" and episode.group:
            group = key(parent, "group", episode.group)
            row = {
                "id": group, "step_id": parent, "task_id": task, "name": episode.group,
                "seed": episode.seed, "size": 0, "successes": 0, "status": "running",
                "created_at": at, "heartbeat_at": at,
            }  # fmt: skip
            self._batch.put("rollout_group", row)
        rollout = key(parent, episode.id)
        row = {
            "id": rollout, f"{table}_id": parent, "group_id": group, "task_id": task,
            "environment_id": self._environment,
        }  # fmt: skip
        self._batch.put("rollout", row | _rollout(episode))
        self._turns(rollout, episode)
        row = {
            "id": key(rollout, "validation"), "rollout_id": rollout, "validator_id": validator,
            "score": episode.score, "success": episode.success, "notes": episode.notes,
        }  # fmt: skip
        self._batch.put("validation", row)

    def _turns(self, rollout: str, episode: Episode) -> None:
        row: dict[str, Any]
        seen = [(turn.screenshot_id, turn.elements) for turn in episode.turns]
        if episode.final_screenshot_id:
            seen.append((episode.final_screenshot_id, ""))
        for number, (screenshot_id, elements) in enumerate(seen):
            row = {"id": key(rollout, "observation", number), "rollout_id": rollout}
            row |= {"number": number, "screenshot_id": screenshot_id, "elements": elements}
            self._batch.put("observation", row)
        for number, turn in enumerate(episode.turns):
            turn_id = key(rollout, "turn", number)
            tokens = None if turn.tokens is None else dataclasses.asdict(turn.tokens)
            row = {"id": turn_id, "rollout_id": rollout, "number": number, "tokens": tokens}
            self._batch.put("turn", row | {"caption": turn.caption, "times": turn.times})
            row = {
                "id": key(turn_id, "action"), "turn_id": turn_id, "action_text": turn.action_text,
                "error": turn.action_error, "feedback": turn.feedback, "reward": turn.reward,
            }  # fmt: skip
            self._batch.put("action", row)

    def _task(self, name: str) -> tuple[str, str]:
        """Ids of a task and its validator, which are there from now on."""
        task, validator = key("task", name), key("validator", name)
        if task not in self._tasks:
            self._tasks.add(task)
            row: dict[str, Any] = {"id": task, "name": name}
            judge = "the environment"
            try:
                from ui_gym.contract.registry import spec

                found = spec(name)
                judge = found.entry_point
                described = ("suite", "category", "max_steps", "difficulty", "summary")
                row |= {name: getattr(found, name) for name in described}
            except UserError:
                pass  # An env of somebody else's: its name is all that is known.
            self._batch.put("task", row, keep=True)
            row = {"id": validator, "task_id": task, "name": judge}
            self._batch.put("validator", row, keep=True)
        return task, validator

    # -- ids --

    def _step_id(self, step: int) -> str:
        return key(self.id, "step", step)

    def _parent(self, purpose: Purpose) -> tuple[str, str]:
        """Table and id of what an episode is played for."""
        if purpose.kind == "step":
            return "step", self._step_id(purpose.step)
        if purpose.kind not in ("baseline", "evaluation", "final"):
            raise ValueError(f"a training plays no episode for {purpose.kind!r}")
        table = "baseline" if purpose.kind == "baseline" else "evaluation"
        return table, key(self.id, purpose.kind, purpose.step, purpose.mode)

    def _measurement(self, at: str, purpose: Purpose) -> dict[str, Any]:
        table, parent = self._parent(purpose)
        row = {"id": parent, "training_id": self.id, "mode": purpose.mode, "created_at": at}
        return row if table == "baseline" else row | {"kind": purpose.kind, "step": purpose.step}

    def _history(
        self, at: str, entity: str, entity_id: str, status: str, phase: str = "", message: str = ""
    ) -> None:
        row = {
            "id": key(entity_id, at, status, phase), "training_id": self.id, "entity": entity,
            "entity_id": entity_id, "status": status, "phase": phase, "message": message, "at": at,
        }  # fmt: skip
        self._batch.put("status_history", row, keep=True)


def _rollout(episode: Episode) -> dict[str, Any]:
    same = (
        "seed", "split", "goal", "score", "success", "terminated", "truncated", "failure",
        "seconds", "blind_rate", "version", "max_turns",
    )  # fmt: skip
    return {name: getattr(episode, name) for name in same} | {
        "status": "failed" if episode.failure else "finished",
        "progress": 1.0,
        "error": episode.failure or "",
        "created_at": episode.started_at,
        "started_at": episode.started_at,
        "finished_at": episode.finished_at,
        "heartbeat_at": episode.finished_at,
        "episode": episode.id,
        "group_name": episode.group,
        "params": finite(episode.params),
        "turns": len(episode.turns),
    }


@functools.lru_cache(maxsize=256)
def _statement(dialect: str, table: str, keep: bool, columns: tuple[str, ...]) -> Any:
    module: Any = postgresql if dialect == "postgresql" else sqlite
    statement = module.insert(TABLES[table])
    changed = {name: statement.excluded[name] for name in columns if name not in _KEPT}
    if keep or not changed:
        return statement.on_conflict_do_nothing()
    return statement.on_conflict_do_update(index_elements=["id"], set_=changed)


def _equal(table: str, where: Values) -> list[Any]:
    return [TABLES[table].c[name] == value for name, value in where.items()]


def _share(part: int, whole: int) -> float:
    return min(1.0, part / whole) if whole else 0.0
