"""Options that name a system."""

import typer

from specvino.document.loading import dialects, systems

SYSTEMS = ", ".join(systems())
DIALECTS = ", ".join(dialects())


def known_dialect(dialect: str | None) -> str | None:
    """Returns an option's value if it names a system or a version with a document. Raises BadParameter otherwise."""
    if dialect is not None and dialect not in dialects():
        raise typer.BadParameter(f"unknown dialect {dialect!r}; available: {DIALECTS}")
    return dialect
