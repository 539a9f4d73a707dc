"""Reading records: which trainings there are, how they went, and their episodes as they were."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, or_, select

from ui_gym.errors import UserError, nearest
from ui_gym_agents.episode import Episode, Purpose, Turn
from ui_gym_agents.records.models import (
    SAME,
    ActionRow,
    BaselineRow,
    EvaluationRow,
    ObservationRow,
    RolloutRow,
    StatusRow,
    StepRow,
    TaskRow,
    TrainingRow,
    TurnRow,
    ValidationRow,
)
from ui_gym_agents.store import record_of

LOST_SECONDS = 120.0
"""A running training without a sign of life for so long was killed, or its machine was."""
CHUNK = 200


def trainings(connection: Connection) -> list[dict[str, Any]]:
    """Every training, the newest first, with its count of rollouts and its success before."""
    table = TrainingRow.__table__
    baseline = (
        select(func.max(BaselineRow.success))
        .where(BaselineRow.training_id == TrainingRow.id, BaselineRow.mode == "greedy")
        .scalar_subquery()
    )
    query = select(table, baseline.label("baseline")).order_by(TrainingRow.created_at.desc())
    found = []
    for row in connection.execute(query):
        values = dict(row._mapping)
        del values["config"], values["facts"]
        values["status"] = status(row)
        values["rollouts"] = connection.execute(
            select(func.count()).where(of_training(str(row.id)))
        ).scalar()
        found.append(values)
    return found


def status(row: Row[Any]) -> str:
    """A training's status, ``lost`` where it says ``running`` and gives no sign of life.

    A sign of life from the future is none: the clock was set back since, and whoever lived on
    would have given another.
    """
    if row.status != "running" or row.heartbeat_at is None:
        return str(row.status)
    silent = (datetime.now(UTC) - row.heartbeat_at).total_seconds()
    return "lost" if abs(silent) > LOST_SECONDS else "running"


def find(connection: Connection, name: str) -> Row[Any]:
    """The training that is called `name`, or whose id begins so; of several, the newest.

    Raises:
        UserError: there is none; names the nearest.
    """
    table = TrainingRow.__table__
    newest = select(table).order_by(TrainingRow.created_at.desc())
    named = connection.execute(newest.where(TrainingRow.name == name)).first()
    if named is None and len(name) >= 4 and name.isalnum():
        named = connection.execute(newest.where(TrainingRow.id.startswith(name))).first()
    if named is None:
        names = list(connection.execute(select(TrainingRow.name)).scalars())
        hint = nearest(name, names) if names else "There is none at all."
        raise UserError(f"there is no training {name!r} in the records. {hint}")
    return named


def has(connection: Connection, training: str) -> bool:
    """Whether there is a training with the id `training`."""
    query = select(TrainingRow.id).where(TrainingRow.id == training)
    return connection.execute(query).first() is not None


def forget(connection: Connection, training: str) -> None:
    """Delete the training with the id `training`, with all that belongs to it."""
    connection.execute(delete(TrainingRow).where(TrainingRow.id == training))


def details(connection: Connection, training: str) -> dict[str, Any]:
    """Steps, measurements and troubles of the training with the id `training`."""

    def rows(table: Any, *order: Any) -> list[dict[str, Any]]:
        query = select(table.__table__).where(table.training_id == training).order_by(*order)
        return [dict(row._mapping) for row in connection.execute(query)]

    failures = (
        select(RolloutRow.failure, func.count())
        .where(of_training(training), RolloutRow.failure.is_not(None))
        .group_by(RolloutRow.failure)
        .order_by(func.count().desc())
    )
    errors = (
        select(ActionRow.error, func.count())
        .join(TurnRow, TurnRow.id == ActionRow.turn_id)
        .join(RolloutRow, RolloutRow.id == TurnRow.rollout_id)
        .where(of_training(training), ActionRow.error.is_not(None))
        .group_by(ActionRow.error)
    )
    alerts = (
        select(StatusRow.at, StatusRow.phase, StatusRow.message)
        .where(StatusRow.training_id == training, StatusRow.entity == "alert")
        .order_by(StatusRow.at)
    )
    faults = (
        select(StatusRow.message, func.count())
        .where(StatusRow.training_id == training, StatusRow.entity == "fault")
        .group_by(StatusRow.message)
        .order_by(func.count().desc())
    )
    return {
        "steps": rows(StepRow, StepRow.number),
        "baselines": rows(BaselineRow, BaselineRow.mode),
        "evaluations": rows(EvaluationRow, EvaluationRow.step, EvaluationRow.created_at),
        "failures": {str(what): count for what, count in connection.execute(failures)},
        "action_errors": {str(what): count for what, count in connection.execute(errors)},
        "faults": {str(what): count for what, count in connection.execute(faults)},
        "alerts": [
            {"at": row.at, "rule": row.phase, "message": row.message}
            for row in connection.execute(alerts)
        ],
    }


def episodes(connection: Connection, training: str) -> Iterator[Episode]:
    """The episodes of a training as they were recorded, those of each parent in a row."""
    query = _WHOLE.where(of_training(training)).order_by(
        BaselineRow.mode.is_(None),
        BaselineRow.created_at,
        StepRow.number.is_(None),
        StepRow.number,
        EvaluationRow.step,
        EvaluationRow.created_at,
        RolloutRow.finished_at,
    )
    for _, episode in _read(connection, query):
        yield episode


def rollouts(connection: Connection, ids: Sequence[str]) -> dict[str, Episode]:
    """The episodes of rollouts by their ids, of those that there are."""
    return dict(_read(connection, _WHOLE.where(RolloutRow.id.in_(ids))))


_WHOLE = (
    select(
        RolloutRow.__table__,
        TaskRow.name.label("task"),
        ValidationRow.notes,
        BaselineRow.mode.label("before"),
        StepRow.number.label("of_step"),
        EvaluationRow.kind,
        EvaluationRow.step,
        EvaluationRow.mode,
    )
    .join(TaskRow, TaskRow.id == RolloutRow.task_id)
    .outerjoin(ValidationRow, ValidationRow.rollout_id == RolloutRow.id)
    .outerjoin(BaselineRow, BaselineRow.id == RolloutRow.baseline_id)
    .outerjoin(StepRow, StepRow.id == RolloutRow.step_id)
    .outerjoin(EvaluationRow, EvaluationRow.id == RolloutRow.evaluation_id)
)
"""Rollouts with what of other tables belongs to an episode."""


def _read(connection: Connection, query: Select[Any]) -> Iterator[tuple[str, Episode]]:
    """The episodes of a query of `_WHOLE`, each with its rollout's id."""
    for part in connection.execute(query).partitions(CHUNK):
        turns, seen = _inner(connection, [row.id for row in part])
        for row in part:
            yield row.id, _episode(row, turns[row.id], seen[row.id])


def _inner(
    connection: Connection, rollouts: list[str]
) -> tuple[dict[str, list[Row[Any]]], dict[str, dict[int, Row[Any]]]]:
    """The turns with their actions, and the observations by number, of rollouts by id."""
    turns: dict[str, list[Row[Any]]] = defaultdict(list)
    seen: dict[str, dict[int, Row[Any]]] = defaultdict(dict)
    said = (ActionRow.action_text, ActionRow.error, ActionRow.feedback, ActionRow.reward)
    query = (
        select(TurnRow.__table__, *said)
        .join(ActionRow, ActionRow.turn_id == TurnRow.id)
        .where(TurnRow.rollout_id.in_(rollouts))
        .order_by(TurnRow.number)
    )
    for row in connection.execute(query):
        turns[row.rollout_id].append(row)
    pictures = select(ObservationRow.__table__).where(ObservationRow.rollout_id.in_(rollouts))
    for row in connection.execute(pictures):
        seen[row.rollout_id][row.number] = row
    return turns, seen


def _episode(row: Row[Any], turns: list[Row[Any]], seen: dict[int, Row[Any]]) -> Episode:
    if row.before is not None:
        purpose = Purpose("baseline", 0, row.before)
    elif row.of_step is not None:
        purpose = Purpose("step", row.of_step)
    else:
        purpose = Purpose("final" if row.kind == "final" else "evaluation", row.step, row.mode)
    last = seen.get(row.turns)
    return Episode(
        **{name: row._mapping[name] for name in SAME},
        id=row.episode,
        task=row.task,
        turns=[_turn(turn, seen.get(turn.number)) for turn in turns],
        group=row.group_name,
        params=row.params,
        notes=row.notes or "",
        final_screenshot_id=last.screenshot_id if last else "",
        purpose=purpose,
        started_at=row.started_at.isoformat(),
    )


def _turn(row: Row[Any], seen: Row[Any] | None) -> Turn:
    return Turn(
        screenshot_id=seen.screenshot_id if seen else "",
        action_text=row.action_text,
        feedback=row.feedback,
        elements=seen.elements if seen else "",
        tokens=record_of(row.tokens),
        caption=row.caption,
        reward=row.reward,
        action_error=row.error,
        times=row.times,
    )


def of_training(training: str) -> Any:
    """Whether a rollout belongs to a training."""
    parents = (
        (RolloutRow.step_id, StepRow),
        (RolloutRow.evaluation_id, EvaluationRow),
        (RolloutRow.baseline_id, BaselineRow),
    )
    return or_(
        *(column.in_(select(t.id).where(t.training_id == training)) for column, t in parents)
    )
