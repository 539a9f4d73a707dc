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

from sqlalchemy import Connection, bindparam, case, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from ui_gym.errors import UserError
from ui_gym_agents.episode import Episode, Purpose
from ui_gym_agents.files import finite
from ui_gym_agents.records.models import SAME, TABLES, Base

Values = Mapping[str, Any]

EVENTS = (
    "begun", "step_begun", "fault", "learned", "step_finished", "alert", "checkpoint",
    "evaluation_begun", "evaluation_finished", "ended",
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

    def put(self, table: str, id: str, *, keep: bool = False, **values: Any) -> None:
        """Insert a row, or update the given columns of the one that is there, unless `keep`."""
        row = {"id": id, **values}
        self._waiting.setdefault((table, keep, tuple(row)), []).append(row)

    def change(self, table: str, where: Values, **values: Any) -> None:
        self.execute(update(TABLES[table]).where(*_equal(table, where)).values(**values))

    def drop(self, table: str, *more: Any, **where: Any) -> None:
        """Delete rows, with all that belongs to them."""
        self.execute(delete(TABLES[table]).where(*_equal(table, where), *more))

    def execute(self, statement: Any) -> Any:
        self.flush()
        return self.connection.execute(statement)

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
        self._mine: dict[str, Any] = {"training_id": training}
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
        bookmark = key(self.id, "bookmark", file)
        self._batch.put("bookmark", bookmark, **self._mine, file=file, position=position)

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
                self._worth(parent)
                continue
            played = select(func.count()).where(rollouts.c[f"{name}_id"] == parent)
            share = played.scalar_subquery() * 1.0 / table.c.planned
            counted = update(table).where(table.c.id == parent, table.c.status == "running")
            self._batch.execute(counted.where(table.c.planned > 0).values(progress=share))
        self._parents.clear()
        self._batch.flush()

    def _worth(self, step: str) -> None:
        """Tell the rollouts of a step what was made of them, if that was said."""
        steps, rollouts = TABLES["step"], TABLES["rollout"]
        told = self._batch.execute(select(steps.c.learned).where(steps.c.id == step)).scalar()
        if not told:
            return
        changed = update(rollouts).where(rollouts.c.id == bindparam("rollout"))
        self._batch.connection.execute(
            changed.values(reward=bindparam("told"), advantage=bindparam("compared")),
            [
                {"rollout": key(step, episode), "told": reward, "compared": advantage}
                for episode, (reward, advantage) in told.items()
            ],
        )

    # -- events --

    def _begun(self, at: str, line: Values) -> None:
        """The training, its env, and away with all that is done again."""
        config, resumed = line["config"], line["resumed"]
        run, env = config["run"], config["env"]
        done = resumed or 0
        self._batch.put(
            "training",
            self.id,
            name=line["name"],
            directory=str(self._directory.absolute()),
            plugin=config["plugin"],
            seed=run["seed"],
            steps=run["steps"],
            step=done,
            host=line["host"],
            process=line["process"],
            config=config,
            facts=line.get("facts"),
            phase="starting",
            message=f"resumed after step {done}" if resumed else "",
            error="",
            finished_at=None,
            progress=min(1.0, done / run["steps"]) if run["steps"] else 0.0,
            **_running(at),
        )
        described = {name: env[name] for name in ("device", "dialect", "observation", "num_envs")}
        self._batch.put(
            "environment", self._environment, **self._mine, settings=env, **described,
            **_running(at),
        )  # fmt: skip
        evaluations = TABLES["evaluation"].c
        self._batch.drop("step", TABLES["step"].c.number > done, **self._mine)
        void = (evaluations.step > done) | (evaluations.status != "finished")
        self._batch.drop("evaluation", void | (evaluations.kind == "final"), **self._mine)
        if resumed is None:
            self._batch.drop("baseline", **self._mine)
            self._batch.drop("evaluation", **self._mine)
        self._history(at, "training", self.id, "running", "starting")

    def _step_begun(self, at: str, line: Values) -> None:
        number = line["step"]
        step = self._put_step(number, **_running(at))
        self._news(at, steps=line["steps"], phase=f"step {number}")
        self._history(at, "step", step, "running")

    def _fault(self, at: str, line: Values) -> None:
        """What failed an episode, though that may be played again."""
        kind = "again" if line["again"] else "given up"
        name = f"{line['episode']} {line['attempt']}"
        fault = key(self.id, "fault", at, name)
        self._history(at, "fault", fault, kind, line["cause"].partition(":")[0], line["cause"])

    def _alert(self, at: str, line: Values) -> None:
        alert = key(self.id, "alert", at, line["rule"])
        self._history(at, "alert", alert, "told", line["rule"], line["message"])
        self._news(at)

    def _learned(self, at: str, line: Values) -> None:
        step = key(self.id, "step", line["step"])
        self._batch.change("step", {"id": step}, learned=line["episodes"], heartbeat_at=at)
        self._parents.add(("step", step))  # its rollouts may be there, or come later

    def _step_finished(self, at: str, line: Values) -> None:
        number, over = line["step"], _over(at, "finished", progress=1.0)
        step = self._put_step(number, created_at=at, metrics=line["metrics"], **over)
        self._batch.change("rollout_group", {"step_id": step}, **over)
        steps = TABLES["training"].c.steps
        share = case((steps > number, number * 1.0 / steps), else_=1.0)
        self._news(at, progress=share, step=number, seconds=line["elapsed"])
        self._history(at, "step", step, "finished")

    def _checkpoint(self, at: str, line: Values) -> None:
        step = {"id": key(self.id, "step", line["step"])}
        self._batch.change("step", step, checkpoint=line["name"], heartbeat_at=at)

    def _evaluation_begun(self, at: str, line: Values) -> None:
        purpose = Purpose(**line["purpose"])
        table, parent = self._put_parent(purpose, **_running(at), planned=line["episodes"])
        self._news(at, phase=f"{purpose.kind}, {purpose.mode}")
        self._history(at, table, parent, "running")

    def _evaluation_finished(self, at: str, line: Values) -> None:
        purpose = Purpose(**line["purpose"])
        found = {name: line[name] for name in ("n", "success", "low", "high", "report")}
        over = _over(at, "finished", progress=1.0)
        table, parent = self._put_parent(purpose, created_at=at, **over, **found)
        self._news(at, phase="")
        training = TABLES["training"]
        config = select(training.c.config).where(training.c.id == self.id)
        measured = (self._batch.execute(config).scalar() or {}).get("evaluation", {})
        headline = "greedy" if measured.get("both") or measured.get("greedy") else "sampled"
        if purpose.mode == headline:  # Where both are measured, one of them is the headline.
            self._news(at, success=line["success"])
        self._history(at, table, parent, "finished")

    def _ended(self, at: str, line: Values) -> None:
        """The training's end; what was still running ends with it."""
        status, error = line["status"], line["error"]
        over = _over(at, status)
        self._news(at, step=line["step"], phase="", error=error, **over)
        steps, groups = TABLES["step"], TABLES["rollout_group"]
        for table in ("step", "baseline", "evaluation", "environment"):
            self._batch.change(table, {**self._mine, "status": "running"}, **over)
        mine = select(steps.c.id).where(steps.c.training_id == self.id)
        open_groups = groups.c.step_id.in_(mine) & (groups.c.status == "running")
        self._batch.execute(update(groups).where(open_groups).values(**over))
        self._history(at, "training", self.id, status, "", error)

    # -- episodes --

    def episode(self, episode: Episode) -> None:
        """A rollout, with all that belongs to it."""
        at = episode.finished_at
        # Collected ahead of its step, or measured without the host.
        table, parent = self._put_parent(
            episode.purpose, keep=True, status="pending", created_at=at
        )
        self._parents.add((table, parent))
        task, validator = self._task(episode.task)
        group = None
        if table == "step" and episode.group:
            group = key(parent, "group", episode.group)
            self._batch.put(
                "rollout_group", group, step_id=parent, task_id=task, name=episode.group,
                seed=episode.seed, size=0, successes=0, status="running", created_at=at,
                heartbeat_at=at,
            )  # fmt: skip
        rollout = key(parent, episode.id)
        of_parent: dict[str, Any] = {f"{table}_id": parent}
        self._batch.put(
            "rollout", rollout, **of_parent, group_id=group, task_id=task,
            environment_id=self._environment, **_rollout(episode),
        )  # fmt: skip
        self._turns(rollout, episode)
        self._batch.put(
            "validation", key(rollout, "validation"), rollout_id=rollout, validator_id=validator,
            score=episode.score, success=episode.success, notes=episode.notes,
        )  # fmt: skip

    def _turns(self, rollout: str, episode: Episode) -> None:
        put = self._batch.put
        seen = [(turn.screenshot_id, turn.elements) for turn in episode.turns]
        if episode.final_screenshot_id:
            seen.append((episode.final_screenshot_id, ""))
        for number, (screenshot_id, elements) in enumerate(seen):
            put(
                "observation", key(rollout, "observation", number), rollout_id=rollout,
                number=number, screenshot_id=screenshot_id, elements=elements,
            )  # fmt: skip
        for number, turn in enumerate(episode.turns):
            id = key(rollout, "turn", number)
            tokens = None if turn.tokens is None else dataclasses.asdict(turn.tokens)
            put(
                "turn", id, rollout_id=rollout, number=number, tokens=tokens,
                caption=turn.caption, times=turn.times,
            )  # fmt: skip
            put(
                "action", key(id, "action"), turn_id=id, action_text=turn.action_text,
                error=turn.action_error, feedback=turn.feedback, reward=turn.reward,
            )  # fmt: skip

    def _task(self, name: str) -> tuple[str, str]:
        """Ids of a task and its validator, which are there from now on."""
        task, validator = key("task", name), key("validator", name)
        if task not in self._tasks:
            self._tasks.add(task)
            described: dict[str, Any] = {}
            judge = "the environment"
            try:
                from ui_gym.contract.registry import spec

                found = spec(name)
                judge = found.entry_point
                told = ("suite", "category", "max_steps", "difficulty", "summary")
                described = {name: getattr(found, name) for name in told}
            except UserError:
                pass  # An env of somebody else's: its name is all that is known.
            self._batch.put("task", task, keep=True, name=name, **described)
            self._batch.put("validator", validator, keep=True, task_id=task, name=judge)
        return task, validator

    # -- what they share --

    def _put_step(self, number: int, *, keep: bool = False, **values: Any) -> str:
        step = key(self.id, "step", number)
        self._batch.put("step", step, keep=keep, **self._mine, number=number, **values)
        return step

    def _put_parent(
        self, purpose: Purpose, *, keep: bool = False, **values: Any
    ) -> tuple[str, str]:
        """Put what an episode is played for; returns its table and id."""
        if purpose.kind == "step":
            return "step", self._put_step(purpose.step, keep=keep, **values)
        if purpose.kind not in ("baseline", "evaluation", "final"):
            raise ValueError(f"a training plays no episode for {purpose.kind!r}")
        table = "baseline" if purpose.kind == "baseline" else "evaluation"
        values = {**self._mine, "mode": purpose.mode, **values}
        if table == "evaluation":
            values |= {"kind": purpose.kind, "step": purpose.step}
        parent = key(self.id, purpose.kind, purpose.step, purpose.mode)
        self._batch.put(table, parent, keep=keep, **values)
        return table, parent

    def _news(self, at: str, **values: Any) -> None:
        """Change the training itself."""
        self._batch.change("training", {"id": self.id}, **{"heartbeat_at": at, **values})

    def _history(
        self, at: str, entity: str, entity_id: str, status: str, phase: str = "", message: str = ""
    ) -> None:
        self._batch.put(
            "status_history", key(entity_id, at, status, phase), keep=True, **self._mine,
            entity=entity, entity_id=entity_id, status=status, phase=phase, message=message, at=at,
        )  # fmt: skip


def _running(at: str) -> dict[str, Any]:
    return {"status": "running", "created_at": at, "started_at": at, "heartbeat_at": at}


def _over(at: str, status: str, **more: Any) -> dict[str, Any]:
    return {"status": status, "finished_at": at, "heartbeat_at": at, **more}


def _rollout(episode: Episode) -> dict[str, Any]:
    return {name: getattr(episode, name) for name in SAME} | {
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
