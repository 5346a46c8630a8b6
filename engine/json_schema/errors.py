"""The reasons why there is no grammar for a schema."""

Path = tuple[str | int, ...]


class SchemaError(ValueError):
    """The schema is wrong, nothing can satisfy it, or it is too large; `path` leads to the place in it."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path


class Unsatisfiable(Exception):
    """No value satisfies this part of a schema; `path` leads to what excludes them."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
