"""Reading records: which trainings there are, how they went, and their episodes as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select

from ui_gym.errors import UserError, nearest
from ui_gym_agents.episode import Episode, Purpose, TokenRecord, Turn
from ui_gym_agents.records.models import (
    ActionRow,
    BaselineRow,
    EvaluationRow,
    ObservationRow,
    RolloutRow,
    StepRow,
    TaskRow,
    TrainingRow,
    TurnRow,
    ValidationRow,
)

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
        values.pop("config")
        values["status"] = status(row)
        values["rollouts"] = connection.execute(
            select(func.count()).where(_of_training(str(row.id)))
        ).scalar()
        found.append(values)
    return found


def status(row: Row[Any]) -> str:
    """A training's status, ``lost`` where it says ``running`` and gives no sign of life."""
    if row.status != "running" or row.heartbeat_at is None:
        return str(row.status)
    silent = (datetime.now(UTC) - row.heartbeat_at).total_seconds()
    return "lost" if silent > LOST_SECONDS else "running"


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
        .where(_of_training(training), RolloutRow.failure.is_not(None))
        .group_by(RolloutRow.failure)
        .order_by(func.count().desc())
    )
    errors = (
        select(ActionRow.error, func.count())
        .join(TurnRow, TurnRow.id == ActionRow.turn_id)
        .join(RolloutRow, RolloutRow.id == TurnRow.rollout_id)
        .where(_of_training(training), ActionRow.error.is_not(None))
        .group_by(ActionRow.error)
    )
    return {
        "steps": rows(StepRow, StepRow.number),
        "baselines": rows(BaselineRow, BaselineRow.mode),
        "evaluations": rows(EvaluationRow, EvaluationRow.step, EvaluationRow.created_at),
        "failures": {str(what): count for what, count in connection.execute(failures)},
        "action_errors": {str(what): count for what, count in connection.execute(errors)},
    }


def episodes(connection: Connection, training: str) -> Iterator[Episode]:
    """The episodes of a training as they were recorded, those of each parent in a row."""
    parents = _parents(connection, training)
    query = (
        select(RolloutRow.__table__, TaskRow.name.label("task"), ValidationRow.notes)
        .join(TaskRow, TaskRow.id == RolloutRow.task_id)
        .outerjoin(ValidationRow, ValidationRow.rollout_id == RolloutRow.id)
    )
    for column, ids in parents.items():
        for parent, purpose in ids.items():
            ordered = query.where(getattr(RolloutRow, column) == parent).order_by(
                RolloutRow.finished_at
            )
            found = connection.execute(ordered).all()
            for start in range(0, len(found), CHUNK):
                part = found[start : start + CHUNK]
                inner = _inner(connection, [str(row.id) for row in part])
                for row in part:
                    yield _episode(row, purpose, *inner.get(str(row.id), ([], {})))


def _parents(connection: Connection, training: str) -> Mapping[str, dict[str, Purpose]]:
    baselines = select(BaselineRow.id, BaselineRow.mode).where(BaselineRow.training_id == training)
    steps = (
        select(StepRow.id, StepRow.number)
        .where(StepRow.training_id == training)
        .order_by(StepRow.number)
    )
    evaluations = (
        select(EvaluationRow.id, EvaluationRow.kind, EvaluationRow.step, EvaluationRow.mode)
        .where(EvaluationRow.training_id == training)
        .order_by(EvaluationRow.step, EvaluationRow.created_at)
    )
    return {
        "baseline_id": {
            id: Purpose("baseline", 0, mode) for id, mode in connection.execute(baselines)
        },
        "step_id": {id: Purpose("step", number) for id, number in connection.execute(steps)},
        "evaluation_id": {
            id: Purpose("final" if kind == "final" else "evaluation", step, mode)
            for id, kind, step, mode in connection.execute(evaluations)
        },
    }


def _inner(
    connection: Connection, rollouts: list[str]
) -> dict[str, tuple[list[Row[Any]], dict[int, Row[Any]]]]:
    """The turns with their actions, and the observations by number, of rollouts by id."""
    found: dict[str, tuple[list[Row[Any]], dict[int, Row[Any]]]] = {r: ([], {}) for r in rollouts}
    turns = (
        select(
            TurnRow.__table__,
            ActionRow.action_text,
            ActionRow.error,
            ActionRow.feedback,
            ActionRow.reward,
        )
        .join(ActionRow, ActionRow.turn_id == TurnRow.id)
        .where(TurnRow.rollout_id.in_(rollouts))
        .order_by(TurnRow.number)
    )
    for row in connection.execute(turns):
        found[row.rollout_id][0].append(row)
    seen = select(ObservationRow.__table__).where(ObservationRow.rollout_id.in_(rollouts))
    for row in connection.execute(seen):
        found[row.rollout_id][1][row.number] = row
    return found


def _episode(
    row: Row[Any], purpose: Purpose, turns: list[Row[Any]], seen: dict[int, Row[Any]]
) -> Episode:
    last = seen.get(row.turns)
    return Episode(
        id=row.episode,
        task=row.task,
        seed=row.seed,
        goal=row.goal,
        turns=[_turn(turn, seen.get(turn.number)) for turn in turns],
        group=row.group_name,
        split=row.split,
        params=row.params,
        score=row.score,
        success=row.success,
        terminated=row.terminated,
        truncated=row.truncated,
        failure=row.failure,
        notes=row.notes or "",
        final_screenshot_id=last.screenshot_id if last else "",
        seconds=row.seconds,
        blind_rate=row.blind_rate,
        version=row.version,
        max_turns=row.max_turns,
        purpose=purpose,
        started_at=row.started_at.isoformat(),
    )


def _turn(row: Row[Any], seen: Row[Any] | None) -> Turn:
    tokens = None
    if row.tokens is not None:
        fields: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in row.tokens.items()
        }
        tokens = TokenRecord(**fields)
    return Turn(
        screenshot_id=seen.screenshot_id if seen else "",
        action_text=row.action_text,
        feedback=row.feedback,
        elements=seen.elements if seen else "",
        tokens=tokens,
        caption=row.caption,
        reward=row.reward,
        action_error=row.error,
        times=row.times,
    )


def _of_training(training: str) -> Any:
    """Whether a rollout belongs to a training."""
    return (
        RolloutRow.step_id.in_(select(StepRow.id).where(StepRow.training_id == training))
        | RolloutRow.evaluation_id.in_(
            select(EvaluationRow.id).where(EvaluationRow.training_id == training)
        )
        | RolloutRow.baseline_id.in_(
            select(BaselineRow.id).where(BaselineRow.training_id == training)
        )
    )
