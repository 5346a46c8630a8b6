"""Options that name a system."""

from collections.abc import Sequence

import typer

from specvino.cli.mistakes import suggestion
from specvino.document.loading import WHOLE, dialects, systems

SYSTEMS = ", ".join(systems())
DIALECTS = ", ".join(dialects())


def known_dialect(dialect: str | None) -> str | None:
    """Returns an option's value if it names a system or a version with a document. Raises BadParameter otherwise."""
    return _known(dialect, dialects())


def judged() -> tuple[str, ...]:
    """Returns the names that servers may be judged by."""
    return (*dialects(), WHOLE)


def known_judged(dialect: str | None) -> str | None:
    """Returns an option's value if it names what servers are judged by. Raises BadParameter otherwise."""
    return _known(dialect, judged())


def _known(dialect: str | None, known: Sequence[str]) -> str | None:
    if dialect is not None and dialect not in known:
        hint = suggestion(dialect, known, ";")
        raise typer.BadParameter(f"unknown dialect {dialect!r}{hint} available: {', '.join(known)}")
    return dialect
