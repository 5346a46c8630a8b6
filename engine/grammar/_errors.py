"""The errors of schemas and structural tags that have no grammar."""

Path = tuple[str | int, ...]
"""The keys and indices from the root of a schema or structural tag to a part of it."""


class GrammarError(ValueError):
    """A schema or structural tag has no grammar: it is invalid, nothing satisfies it, or its grammar is too large.

    `str()` is the reason, and `path` is the location in the schema or tag. `unsupported` is true for a valid strict
    schema with a keyword that a grammar can't enforce.
    """

    def __init__(self, path: Path, message: str, *, unsupported: bool = False) -> None:
        super().__init__(message)
        self.path = path
        self.unsupported = unsupported


class Unsatisfiable(Exception):
    """No value satisfies this part of a schema; `path` is the location of the keyword that excludes all values."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
