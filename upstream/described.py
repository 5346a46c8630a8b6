"""The schemas of one side of a comparison."""

from dataclasses import dataclass, field
from typing import Any

Schema = dict[str, Any]

Part = tuple[str, str]
"""An endpoint and `request`, `response` or `stream`, as dialect files name them."""


Places = dict[str, dict[str, str]]
"""By file: the names that were read in it, fields or, with `()`, methods, each with its lines and their hash."""


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
    listed: dict[Part, Schema] = field(default_factory=dict)
    """Further parts, of which only the names of fields count, and of requests the values that aren't accepted."""
    places: dict[str, Places] = field(default_factory=dict)
    """The source lines of the fields of a class, by its reference, or of a part, by its name."""
    quoted: Places = field(default_factory=dict)
    files: dict[Part, tuple[str, ...]] = field(default_factory=dict)
    """The files that have all names of a part's fields in quotes."""
