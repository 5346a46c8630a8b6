"""Addresses in the repository of the project, for readers who correct it."""

from urllib.parse import urlencode

from specvino.document.loading import FILES, load
from specvino.portal.source import Field


def report(repository: str, field: Field) -> str:
    """Returns the address of a new issue on a field, with what the document states of it."""
    marking = "\n".join(f"{system}: {support.level}" for system, support in field.support.items())
    filled = {"template": "field-marking.yml", "title": field.name, "field": field.name, "marking": marking}
    return f"{repository}/issues/new?{urlencode(filled)}"


def edit(repository: str, field: Field) -> str:
    """Returns the address for editing the file that describes a field."""
    return f"{repository}/edit/main/openapi/{load(FILES)[field.owners[0].component]}"
