"""The examples of a document."""

from collections.abc import Callable, Iterator
from typing import Any

from specvino.document.operations import Schema, operations
from specvino.document.walk import all_schemas, media_types


def examples(document: dict[str, Any]) -> Iterator[tuple[str, Schema, Any]]:
    """Yields every example with its place and its schema."""
    for place, schema, shown in _named(document):
        for name, example in shown.items():
            yield f"{place} example {name}", schema, example.get("value")
    for place, schema in all_schemas(document):
        for index, value in enumerate(schema.get("examples", ())):
            yield f"{place} example {index}", _bare(schema), value


def drop_examples(document: dict[str, Any], fits: Callable[[Schema, Any], bool]) -> None:
    """Leaves the examples of which `fits(schema, value)` is true."""
    for _, schema, shown in list(_named(document)):
        for name in [name for name, example in shown.items() if not fits(schema, example.get("value"))]:
            del shown[name]
    for _, schema in list(all_schemas(document)):
        if "examples" in schema:
            schema["examples"] = [value for value in schema["examples"] if fits(_bare(schema), value)]
            if not schema["examples"]:
                del schema["examples"]


def _named(document: dict[str, Any]) -> Iterator[tuple[str, Schema, dict[str, Any]]]:
    """Yields the examples that stand by name beside a schema."""
    for place, media in media_types(document):
        if "examples" in media:
            yield place, media["schema"], media["examples"]
    for operation in operations(document):
        for parameter in operation.parameters:
            if "examples" in parameter:
                place = f"{operation.place} parameter {parameter['name']}"
                yield place, parameter["schema"], parameter["examples"]


def _bare(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "examples"}
