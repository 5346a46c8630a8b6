"""A deleted response that others continue stays, hidden, until the last of these is deleted."""

from alembic import op
from sqlalchemy import Boolean, Column, false, inspect

revision = "3"
down_revision = "2"
oldest_writer = "1"

_TABLE = "specvino_responses"


def upgrade() -> None:
    """Adds the column and the indexes, unless a server that was killed has added them."""
    if all(column["name"] != "hidden" for column in inspect(op.get_bind()).get_columns(_TABLE)):
        op.add_column(_TABLE, Column("hidden", Boolean, nullable=False, server_default=false()))
    for column in ("previous_id", "hidden"):
        op.create_index(f"ix_{_TABLE}_{column}", _TABLE, [column], if_not_exists=True)
