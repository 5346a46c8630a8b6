"""Compares our documents with the systems' own classes, which are read without importing them.

`specvino spec drift` is the command. `classes` converts them to JSON Schemas, and `compare` finds values that only one
side accepts.
"""
