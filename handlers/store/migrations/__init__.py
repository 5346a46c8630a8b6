"""The migrations from each version of the tables to the next one, run by Alembic.

To change a table: change `schema.py`, and write the same change as `versions/version_N.py`, with the version before it
as `down_revision`. A migration must be able to run again after a part of it was done: SQLite keeps that part if the
server is killed.
"""
