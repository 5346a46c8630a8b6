"""Run by Alembic: the migrations that are due, on the connection that `schema.py` passes."""

from alembic import context

from specvino.handlers.store.schema import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
with context.begin_transaction():
    context.run_migrations()
