"""The steps from each version of the tables to the next one, read by Alembic.

To change a table: change `schema.py`, and write the same change as `versions/version_N.py`, with the version before it
as `down_revision`. It must bear being run again over its own beginnings: SQLite keeps what of it was done when the
server is killed in its middle.
"""
