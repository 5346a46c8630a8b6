"""Options that name a system."""

from difflib import get_close_matches

import typer

from specvino.document.loading import dialects, systems

SYSTEMS = ", ".join(systems())
DIALECTS = ", ".join(dialects())


def known_dialect(dialect: str | None) -> str | None:
    """Returns an option's value if it names a system or a version with a document. Raises BadParameter otherwise."""
    if dialect is not None and dialect not in dialects():
        near = get_close_matches(dialect, dialects(), n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise typer.BadParameter(f"unknown dialect {dialect!r}; {hint}available: {DIALECTS}")
    return dialect
