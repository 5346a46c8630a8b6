"""Tiny models over vocabularies of real size, which packages on PyPI ship: built when the tests run (../README.md)."""
