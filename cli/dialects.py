"""Options that name a system."""

import typer

from specvino.cli.mistakes import suggestion
from specvino.document.loading import dialects, systems

SYSTEMS = ", ".join(systems())
DIALECTS = ", ".join(dialects())


def known_dialect(dialect: str | None) -> str | None:
    """Returns an option's value if it names a system or a version with a document. Raises BadParameter otherwise."""
    if dialect is not None and dialect not in dialects():
        hint = suggestion(dialect, dialects()) or ";"
        raise typer.BadParameter(f"unknown dialect {dialect!r}{hint} available: {DIALECTS}")
    return dialect
