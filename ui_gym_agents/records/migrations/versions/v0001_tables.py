"""The tables of records"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "task",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("suite", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("difficulty", sa.Text(), nullable=False),
        sa.Column("max_steps", sa.BigInteger(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task")),
        sa.UniqueConstraint("name", name=op.f("uq_task_name")),
    )
    op.create_table(
        "training",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.Column("plugin", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("steps", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("success", sa.Double(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("process", sa.BigInteger(), nullable=True),
        sa.Column("config", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("progress", sa.Double(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_training")),
    )
    with op.batch_alter_table("training", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_training_status"), ["status"], unique=False)

    op.create_table(
        "baseline",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("training_id", sa.String(length=32), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("planned", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=True),
        sa.Column("success", sa.Double(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("report", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("progress", sa.Double(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["training_id"],
            ["training.id"],
            name=op.f("fk_baseline_training_id_training"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_baseline")),
    )
    with op.batch_alter_table("baseline", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_baseline_status"), ["status"], unique=False)
        batch_op.create_index(batch_op.f("ix_baseline_training_id"), ["training_id"], unique=False)

    op.create_table(
        "environment",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("training_id", sa.String(length=32), nullable=False),
        sa.Column("device", sa.Text(), nullable=False),
        sa.Column("dialect", sa.Text(), nullable=False),
        sa.Column("observation", sa.Text(), nullable=False),
        sa.Column("num_envs", sa.BigInteger(), nullable=False),
        sa.Column("settings", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("progress", sa.Double(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["training_id"],
            ["training.id"],
            name=op.f("fk_environment_training_id_training"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_environment")),
    )
    with op.batch_alter_table("environment", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_environment_status"), ["status"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_environment_training_id"), ["training_id"], unique=False
        )

    op.create_table(
        "evaluation",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("training_id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("planned", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=True),
        sa.Column("success", sa.Double(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.Column("report", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("progress", sa.Double(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["training_id"],
            ["training.id"],
            name=op.f("fk_evaluation_training_id_training"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluation")),
    )
    with op.batch_alter_table("evaluation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_evaluation_status"), ["status"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_evaluation_training_id"), ["training_id"], unique=False
        )

    op.create_table(
        "status_history",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("training_id", sa.String(length=32), nullable=False),
        sa.Column("entity", sa.String(length=32), nullable=False),
        sa.Column("entity_id", sa.String(length=32), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["training_id"],
            ["training.id"],
            name=op.f("fk_status_history_training_id_training"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_status_history")),
    )
    with op.batch_alter_table("status_history", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_status_history_entity_id"), ["entity_id"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_status_history_training_id"), ["training_id"], unique=False
        )

    op.create_table(
        "step",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("training_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("metrics", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("checkpoint", sa.Text(), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("progress", sa.Double(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["training_id"],
            ["training.id"],
            name=op.f("fk_step_training_id_training"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_step")),
        sa.UniqueConstraint("training_id", "number", name=op.f("uq_step_training_id_number")),
    )
    with op.batch_alter_table("step", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_step_status"), ["status"], unique=False)
        batch_op.create_index(batch_op.f("ix_step_training_id"), ["training_id"], unique=False)

    op.create_table(
        "validator",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("task_id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["task_id"], ["task.id"], name=op.f("fk_validator_task_id_task"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_validator")),
    )
    with op.batch_alter_table("validator", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_validator_task_id"), ["task_id"], unique=False)

    op.create_table(
        "rollout_group",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("step_id", sa.String(length=32), nullable=False),
        sa.Column("task_id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("progress", sa.Double(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["step_id"], ["step.id"], name=op.f("fk_rollout_group_step_id_step"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["task_id"], ["task.id"], name=op.f("fk_rollout_group_task_id_task")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rollout_group")),
    )
    with op.batch_alter_table("rollout_group", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rollout_group_status"), ["status"], unique=False)
        batch_op.create_index(batch_op.f("ix_rollout_group_step_id"), ["step_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_rollout_group_task_id"), ["task_id"], unique=False)

    op.create_table(
        "rollout",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("step_id", sa.String(length=32), nullable=True),
        sa.Column("evaluation_id", sa.String(length=32), nullable=True),
        sa.Column("baseline_id", sa.String(length=32), nullable=True),
        sa.Column("group_id", sa.String(length=32), nullable=True),
        sa.Column("environment_id", sa.String(length=32), nullable=True),
        sa.Column("task_id", sa.String(length=32), nullable=False),
        sa.Column("episode", sa.Text(), nullable=False),
        sa.Column("group_name", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("split", sa.Text(), nullable=False),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("params", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("terminated", sa.Boolean(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("turns", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("blind_rate", sa.Double(), nullable=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("progress", sa.Double(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(CASE WHEN step_id IS NULL THEN 0 ELSE 1 END)"
            " + (CASE WHEN evaluation_id IS NULL THEN 0 ELSE 1 END)"
            " + (CASE WHEN baseline_id IS NULL THEN 0 ELSE 1 END) = 1",
            name=op.f("ck_rollout_one_parent"),
        ),
        sa.ForeignKeyConstraint(
            ["baseline_id"],
            ["baseline.id"],
            name=op.f("fk_rollout_baseline_id_baseline"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["environment_id"],
            ["environment.id"],
            name=op.f("fk_rollout_environment_id_environment"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluation.id"],
            name=op.f("fk_rollout_evaluation_id_evaluation"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["group_id"],
            ["rollout_group.id"],
            name=op.f("fk_rollout_group_id_rollout_group"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["step_id"], ["step.id"], name=op.f("fk_rollout_step_id_step"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_rollout_task_id_task")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rollout")),
    )
    with op.batch_alter_table("rollout", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rollout_baseline_id"), ["baseline_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_rollout_environment_id"), ["environment_id"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_rollout_evaluation_id"), ["evaluation_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_rollout_group_id"), ["group_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_rollout_status"), ["status"], unique=False)
        batch_op.create_index(batch_op.f("ix_rollout_step_id"), ["step_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_rollout_success"), ["success"], unique=False)
        batch_op.create_index(batch_op.f("ix_rollout_task_id"), ["task_id"], unique=False)

    op.create_table(
        "observation",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("rollout_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("screenshot_id", sa.String(length=64), nullable=False),
        sa.Column("elements", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["rollout_id"],
            ["rollout.id"],
            name=op.f("fk_observation_rollout_id_rollout"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_observation")),
    )
    with op.batch_alter_table("observation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_observation_rollout_id"), ["rollout_id"], unique=False)

    op.create_table(
        "turn",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("rollout_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.LargeBinary(), nullable=True),
        sa.Column("caption", sa.Text(), nullable=False),
        sa.Column("times", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["rollout_id"],
            ["rollout.id"],
            name=op.f("fk_turn_rollout_id_rollout"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turn")),
    )
    with op.batch_alter_table("turn", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_turn_rollout_id"), ["rollout_id"], unique=False)

    op.create_table(
        "validation",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("rollout_id", sa.String(length=32), nullable=False),
        sa.Column("validator_id", sa.String(length=32), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["rollout_id"],
            ["rollout.id"],
            name=op.f("fk_validation_rollout_id_rollout"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["validator_id"], ["validator.id"], name=op.f("fk_validation_validator_id_validator")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_validation")),
    )
    with op.batch_alter_table("validation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_validation_rollout_id"), ["rollout_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_validation_validator_id"), ["validator_id"], unique=False
        )

    op.create_table(
        "action",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("turn_id", sa.String(length=32), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("feedback", sa.Text(), nullable=False),
        sa.Column("reward", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turn.id"], name=op.f("fk_action_turn_id_turn"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_action")),
    )
    with op.batch_alter_table("action", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_action_turn_id"), ["turn_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("action", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_action_turn_id"))

    op.drop_table("action")
    with op.batch_alter_table("validation", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_validation_validator_id"))
        batch_op.drop_index(batch_op.f("ix_validation_rollout_id"))

    op.drop_table("validation")
    with op.batch_alter_table("turn", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_turn_rollout_id"))

    op.drop_table("turn")
    with op.batch_alter_table("observation", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_observation_rollout_id"))

    op.drop_table("observation")
    with op.batch_alter_table("rollout", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rollout_task_id"))
        batch_op.drop_index(batch_op.f("ix_rollout_success"))
        batch_op.drop_index(batch_op.f("ix_rollout_step_id"))
        batch_op.drop_index(batch_op.f("ix_rollout_status"))
        batch_op.drop_index(batch_op.f("ix_rollout_group_id"))
        batch_op.drop_index(batch_op.f("ix_rollout_evaluation_id"))
        batch_op.drop_index(batch_op.f("ix_rollout_environment_id"))
        batch_op.drop_index(batch_op.f("ix_rollout_baseline_id"))

    op.drop_table("rollout")
    with op.batch_alter_table("rollout_group", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rollout_group_task_id"))
        batch_op.drop_index(batch_op.f("ix_rollout_group_step_id"))
        batch_op.drop_index(batch_op.f("ix_rollout_group_status"))

    op.drop_table("rollout_group")
    with op.batch_alter_table("validator", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_validator_task_id"))

    op.drop_table("validator")
    with op.batch_alter_table("step", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_step_training_id"))
        batch_op.drop_index(batch_op.f("ix_step_status"))

    op.drop_table("step")
    with op.batch_alter_table("status_history", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_status_history_training_id"))
        batch_op.drop_index(batch_op.f("ix_status_history_entity_id"))

    op.drop_table("status_history")
    with op.batch_alter_table("evaluation", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_evaluation_training_id"))
        batch_op.drop_index(batch_op.f("ix_evaluation_status"))

    op.drop_table("evaluation")
    with op.batch_alter_table("environment", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_environment_training_id"))
        batch_op.drop_index(batch_op.f("ix_environment_status"))

    op.drop_table("environment")
    with op.batch_alter_table("baseline", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_baseline_training_id"))
        batch_op.drop_index(batch_op.f("ix_baseline_status"))

    op.drop_table("baseline")
    with op.batch_alter_table("training", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_training_status"))

    op.drop_table("training")
    op.drop_table("task")
