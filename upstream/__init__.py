"""Compares our documents with what the systems themselves say: their classes, read without importing them.

`specvino spec drift` is the command. A system's words become JSON Schemas (`read`), and the two sides are compared by
values that one takes and the other refuses (`compare`).
"""
