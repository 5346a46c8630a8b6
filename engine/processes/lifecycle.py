"""The messages of every child about itself, whatever its work."""

import msgspec


class Ready(msgspec.Struct, tag=True):
    """Says that the child has loaded: work may come."""


class Failed(msgspec.Struct, tag=True):
    """Says that the child couldn't load, or can't go on; `reason` is one line. The process ends after this."""

    reason: str
