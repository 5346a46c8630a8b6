"""Options that name a system."""

import typer

from specvino.document.loading import systems

SYSTEMS = ", ".join(systems())


def known_dialect(dialect: str | None) -> str | None:
    """Returns an option's value if it names a system with a document. Raises BadParameter otherwise."""
    if dialect is not None and dialect not in systems():
        raise typer.BadParameter(f"unknown dialect {dialect!r}; known ones are {SYSTEMS}")
    return dialect
