"""What a training ran on"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("training", sa.Column("facts", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    op.drop_column("training", "facts")
