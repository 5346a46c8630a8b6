"""The sizes of responses and conversations, by which an owner's share of the store is bounded. Responses of older
versions count as 0, since to write a size is to write the response, and they expire.
"""

from alembic import op
from sqlalchemy import BigInteger, Column, inspect

revision = "5"
down_revision = "4"
oldest_writer = "1"

_OF_CONVERSATIONS = """UPDATE specvino_conversations SET size = COALESCE((SELECT SUM(length(item))
    FROM specvino_conversation_items WHERE conversation_id = specvino_conversations.id), 0)"""


def upgrade() -> None:
    """Adds the columns and indexes, unless a server that was killed has added them, and computes the sizes of
    conversations."""
    for name in ("responses", "conversations"):
        table = f"specvino_{name}"
        if all(column["name"] != "size" for column in inspect(op.get_bind()).get_columns(table)):
            op.add_column(table, Column("size", BigInteger, nullable=False, server_default="0"))
        op.create_index(f"{table}_by_size", table, ["key_owner", "size"], if_not_exists=True)
    op.execute(_OF_CONVERSATIONS)
