"""The migrations from each version of the tables to the next one, run by Alembic.

To change a table, change `schema.py`, and write the same change as `versions/version_N.py`, with the previous version
as `down_revision`. A migration must be able to run again after a partial run: SQLite keeps the completed part if the
server is killed.
"""
