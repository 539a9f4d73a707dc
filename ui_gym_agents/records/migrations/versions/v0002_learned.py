"""What a trainer made of a rollout"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("step", sa.Column("learned", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("rollout", sa.Column("reward", sa.Double(), nullable=True))
    op.add_column("rollout", sa.Column("advantage", sa.Double(), nullable=True))


def downgrade() -> None:
    # One by one, and no table made anew: dropping the old one would delete all that belongs to it.
    op.drop_column("rollout", "advantage")
    op.drop_column("rollout", "reward")
    op.drop_column("step", "learned")
