"""What Alembic runs: the steps that are due, on the connection that `schema.py` gives."""

from alembic import context

from specvino.handlers.store.schema import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
with context.begin_transaction():
    context.run_migrations()
