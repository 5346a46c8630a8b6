"""The sizes of responses and conversations, by which an owner's share of the store is bounded."""

from alembic import op
from sqlalchemy import BigInteger, Column, inspect

revision = "5"
down_revision = "4"

_SIZES = {
    "specvino_responses": "length(response) + length(input) + length(events)",
    "specvino_conversations": """COALESCE((SELECT SUM(length(item)) FROM specvino_conversation_items
        WHERE conversation_id = specvino_conversations.id), 0)""",
}


def upgrade() -> None:
    """Adds the columns and the index, unless a server that was killed has added them, and computes the sizes."""
    for table, size in _SIZES.items():
        if all(column["name"] != "size" for column in inspect(op.get_bind()).get_columns(table)):
            op.add_column(table, Column("size", BigInteger, nullable=False, server_default="0"))
        op.execute(f"UPDATE {table} SET size = {size}")
    op.create_index("specvino_responses_by_size", "specvino_responses", ["key_owner", "size"], if_not_exists=True)
