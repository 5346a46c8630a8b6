"""A server without keys."""

from typing import Any

from specvino.document.operations import operations


def ask_for_no_key(document: dict[str, Any]) -> None:
    """Takes out what says that a key is needed, and the answers to a wrong one."""
    document["security"] = []
    document["components"].pop("securitySchemes", None)
    for operation in operations(document):
        operation.definition.pop("security", None)
        operation.definition["responses"].pop("401", None)
