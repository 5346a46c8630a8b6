"""The schemas of one side of a comparison."""

from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]

Part = tuple[str, str]
"""An endpoint and `request`, `response` or `stream`, as dialect files name them."""


class Unreadable(Exception):
    """A system's package or source can't be read; `str()` is the reason, as a sentence."""


@dataclass(frozen=True, slots=True)
class Described:
    """The schemas of a side's parts. Local references lead into `document`."""

    document: Schema
    parts: dict[Part, Schema]
    unread: tuple[str, ...] = ()
    """The names of unreadable types, which don't restrict anything."""
    is_partial: bool = False
    """Whether the parts have only some of a system's fields: it isn't a difference if only the other side has one."""
