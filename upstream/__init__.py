"""Compares our documents with the systems' own definitions: their classes, read without importing them.

`specvino spec drift` is the command. Classes become JSON Schemas (`classes`), and `compare` compares the two sides by
values that only one of them accepts.
"""
