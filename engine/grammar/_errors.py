"""The reasons why a schema or a structural tag has no grammar."""

Path = tuple[str | int, ...]
"""The keys and indices that lead from a schema or structural tag to a place in it."""


class GrammarError(ValueError):
    """A schema or structural tag has no grammar: it is invalid, nothing satisfies it, or its grammar is too large.

    `str()` is the reason, and `path` leads to the place in the schema or tag. `unsupported` is true for a valid schema
    that was to be enforced strictly, but has a keyword that a grammar can't enforce.
    """

    def __init__(self, path: Path, message: str, *, unsupported: bool = False) -> None:
        super().__init__(message)
        self.path = path
        self.unsupported = unsupported


class Unsatisfiable(Exception):
    """No value satisfies this part of a schema; `path` leads to the keyword that excludes them."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
