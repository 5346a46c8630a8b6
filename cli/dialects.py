"""Options that name a system."""

import typer

from specvino.document.loading import systems

SYSTEMS = ", ".join(systems())


def known_dialect(dialect: str | None) -> str | None:
    """Returns an option's value, if it is a system that has a document. Raises BadParameter."""
    if dialect is not None and dialect not in systems():
        raise typer.BadParameter(f"there is no dialect {dialect!r}; there are {SYSTEMS}")
    return dialect
