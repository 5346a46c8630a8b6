"""Null means absent for every optional field."""

from typing import TypeVar

from pydantic import MISSING

T = TypeVar("T")


def or_none(value: T | None | MISSING) -> T | None:
    """Returns the value of an optional field, None where it is absent or null."""
    return None if value is MISSING else value
