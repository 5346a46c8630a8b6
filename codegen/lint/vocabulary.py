"""The document's own keywords are at allowed locations and match openapi/vocabulary.yaml."""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import jsonschema_rs

from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec
from specvino.document.operations import operations
from specvino.document.validator import Validator, Validators
from specvino.document.walk import all_schemas, media_types, objects

Vocabulary = dict[str, Any]

# The definitions of the keywords that objects of OpenAPI may have.
DEFINITIONS = ("Document", "Operation", "Parameter", "Schema", "Tag", "Response", "MediaType")

# The other keys of such an object that those definitions mention.
BESIDE = {"if", "then", "in"}


def keywords(vocabulary: Vocabulary) -> set[str]:
    """Returns all keywords of the vocabulary."""
    return {key for name in DEFINITIONS for key in vocabulary["$defs"][name]["properties"]}


def validator(vocabulary: Vocabulary, name: str) -> Validator:
    """Returns the validator of the definition `name`, compiled once."""
    return _validators(json.dumps(vocabulary)).at(f"/$defs/{name}")


@lru_cache(maxsize=1)
def _validators(vocabulary: str) -> Validators:
    return Validators(json.loads(vocabulary))


def misfits(vocabulary: Vocabulary, name: str, value: Any) -> list[str]:
    """Returns what is misspelled, missing or extra according to the definition `name`; empty if the value fits."""
    return [
        f"{'.'.join(map(str, error.instance_path))}: {error.message}".removeprefix(": ")
        for error in validator(vocabulary, name).errors(value)
    ]


def placed(spec: Spec) -> Iterator[Problem]:
    """Every keyword is known, is allowed at its location, and matches its JSON Schema."""
    yield from placed_in(spec.document, spec.vocabulary)


def placed_in(document: dict[str, Any], vocabulary: Vocabulary) -> Iterator[Problem]:
    """Checks any OpenAPI document that uses the vocabulary."""
    known = keywords(vocabulary)
    # The tables of streams are checked by the rule for streams, which can name a machine and a law.
    checked_keys = (known | BESIDE) - {"x-stream"}
    validators = {name: validator(vocabulary, name) for name in DEFINITIONS}
    checked = set()
    for name, location, node in _objects(document):
        checked.add(id(node))
        for error in validators[name].errors({key: node[key] for key in node.keys() & checked_keys}):
            path = ".".join(map(str, error.instance_path))
            rule = path.partition(".")[0].removeprefix("x-") or "extension"
            fault = error.message
            if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Enum):  # its own message lists only two values
                fault = f"{error.instance!r} is not one of {', '.join(map(repr, error.kind.options))}"
            elif isinstance(error.kind, jsonschema_rs.ValidationErrorKind.FalseSchema):
                fault = f"it isn't allowed next to x-handling {node['x-handling']}, with which no value has an effect"
            yield Problem(rule, location, f"{path}: {fault}".removeprefix(": "))
    for location, node in objects(document):
        for key in node:
            if key.startswith("x-") and key not in known:
                fault = f"{key} is not a known key; available: {', '.join(sorted(known))}"
                yield Problem("extension", location, fault)
            elif key.startswith("x-") and id(node) not in checked:
                yield Problem("extension", location, f"{key} isn't allowed here")


def _objects(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    yield "Document", "the document", document
    for tag in document["tags"]:
        yield "Tag", f"tag {tag['name']}", tag
    for location, media in media_types(document):
        yield "MediaType", location, media
    for operation in operations(document):
        yield "Operation", operation.label, operation.definition
        for status, response in operation.definition["responses"].items():
            yield "Response", f"{operation.label} {status}", response
        for parameter in operation.parameters:
            yield "Parameter", f"{operation.label} parameter {parameter['name']}", parameter
    for location, schema in all_schemas(document):
        yield "Schema", location, schema


def words(vocabulary: Vocabulary, table: Any) -> Iterator[str]:
    """Yields misspelled, missing and extra words of a table, each with its machine or law."""
    listed = table.get("laws") if isinstance(table, dict) else None
    laws = listed if isinstance(listed, list) else []
    known = vocabulary["$defs"]["law"]["properties"]["law"]["enum"]
    for law in laws:
        if isinstance(law, str | dict) and (name := entry(law).get("law")) not in known:
            yield f"there is no law {name!r}; available: {', '.join(known)}"
            return
    for error in validator(vocabulary, "x-stream").errors(table):
        match error.instance_path:
            case ["machines", name, *path]:
                location = [f"machine {name}", *path]
            case ["laws", int(index), *path] if isinstance(laws[index], str | dict):
                location = [f"law {entry(laws[index])['law']}", *path]
            case ["classify", int(), *path]:
                location = ["classify", *path]
            case path:
                location = path
        yield ": ".join(filter(None, [*map(str, location[:1]), ".".join(map(str, location[1:])), error.message]))


def entry(law: str | dict[str, Any]) -> dict[str, Any]:
    """Returns a law as an object, even if it is only a name."""
    return {"law": law} if isinstance(law, str) else dict(law)
