"""A file for each version of the tables.

`oldest_writer` is the oldest version whose servers may read and write tables of this version: its own if they would
fail or do harm, else that of the version before. New tables, and columns with defaults, harm nobody.
"""
