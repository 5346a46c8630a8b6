"""What one side says of the parts of its exchanges."""

from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]

Part = tuple[str, str]
"""An endpoint and `request`, `response` or `stream`, as dialect files name them."""


class Unreadable(Exception):
    """A system's package or source can't be read; `str()` is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Described:
    """The schemas of a side's parts. Local references lead into `document`."""

    document: Schema
    parts: dict[Part, Schema]
    unread: tuple[str, ...] = ()
    """What couldn't be read, one name each: it is taken to say nothing."""
