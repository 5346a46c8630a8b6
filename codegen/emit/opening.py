"""Opens the answers of a client's document: values and kinds that newer servers add have a type there, too."""

from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import resolved
from specvino.document.walk import all_schemas

TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def open_answers(document: dict[str, Any], unknown: Schema, text: Schema) -> None:
    """Adds to each enum and constant every other value of its type, and to each union of objects the schema `unknown`,
    in place. `text` is the schema of another text than the known ones.

    The constants that distinguish the objects of a union stay as they are: by them, users and type checkers select.
    """
    distinguishing: set[int] = set()
    for _, schema in list(all_schemas(document)):
        for keyword in ("anyOf", "oneOf"):
            kinds = [branch for branch in schema.get(keyword, ()) if "properties" in resolved(document, branch)]
            if len(kinds) > 1:
                for kind in kinds:
                    distinguishing |= {id(child) for child in resolved(document, kind)["properties"].values()}
                schema.pop("discriminator", None)
                schema[keyword].append(dict(unknown))
    for _, schema in list(all_schemas(document)):
        if id(schema) not in distinguishing:
            _open(schema, text)


def _open(schema: Schema, text: Schema) -> None:
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    types = sorted({TYPES[type(value)] for value in values if value is not None})
    if types:
        known: Schema = {keyword: schema.pop(keyword) for keyword in ("type", "enum", "const") if keyword in schema}
        schema["anyOf"] = [known, *(dict(text) if type == "string" else {"type": type} for type in types)]
