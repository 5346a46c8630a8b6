"""Commands that need more than the base install say so."""

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def needs(extra: str) -> Iterator[None]:
    """Ends the command with one line where a package of an extra is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "specvino").startswith("specvino"):
            raise  # a fault of ours
        sys.exit(f"specvino: this needs the package {error.name}: pip install 'specvino[{extra}]'")
