"""What a dialect's row states holds in the system's document, whatever the rows around it state."""

from collections.abc import Iterator
from typing import Any

from specvino.codegen.fields import Field, field_name, fields
from specvino.codegen.lint.problem import Problem
from specvino.codegen.merge import WITHOUT, Entry, own_entry, support
from specvino.codegen.own_schema import holds
from specvino.codegen.room import KIND
from specvino.codegen.spec import Spec
from specvino.document.operations import Schema, operations
from specvino.document.pointers import resolved
from specvino.document.unions import texts, values
from specvino.document.validator import Validators
from specvino.document.walk import descend

LONGEST = 1000
"""The number of characters beyond which a bound isn't tried."""


def contradicted(system: str, dialect: dict[str, Any], projected: dict[str, Any]) -> Iterator[Problem]:
    """A row's `nullable`, `required` and listed values are those of the system's document.

    They aren't if the schema of a row around it has another version of the field, or if the document has no objects of
    a type that the row lists.
    """
    validators, rules = Validators(projected), _rules(projected)
    for field in fields(projected):
        described = [
            (owner, outer) for owner, outer in zip(field.owners, field.objects, strict=True) if id(owner) not in rules
        ]
        if (entry := own_entry(field, dialect)) and described:
            for fault in _faults(field, entry, described, validators):
                yield Problem("support", f"openapi/dialects/{system}.yaml {field.name}", fault)


def _rules(document: dict[str, Any]) -> set[int]:
    """Returns the identities of the schemas in rules between fields, which don't describe a field alone."""
    bodies = [resolved(document, operation.body) for operation in operations(document) if operation.body]
    return {id(schema) for body in bodies for rule in body.get("allOf", ()) for _, schema in descend(rule, "")}


def _faults(
    field: Field, entry: Entry, described: list[tuple[Schema, Schema]], validators: Validators
) -> Iterator[str]:
    def taken(value: Any) -> bool:
        return any(validators.of(owner).fits(value) for owner, _ in described)

    name = field.path.rpartition(".")[2]
    for owner, outer in described:
        in_document = {"nullable": validators.of(owner).fits(None), "required": name in outer.get("required", ())}
        is_of_a_kind = any(values(child) for child in outer["properties"].values())
        for key, stated in in_document.items():
            if isinstance(entry.get(key), list) and not is_of_a_kind:
                continue  # of kinds that it isn't, as a message of another role
            if key in entry and holds(entry[key], outer["properties"]) != stated:
                yield f"{key} is {entry[key]}, in the document {stated}"
    schema = entry.get("schema", {})
    for value in values(schema) or ():
        if not taken(value):
            yield f"its schema lists {value!r}, which the document refuses"
    if "type" in schema and not any(values(owner) for owner, _ in described):
        for value in _tried(schema):
            if validators.of(schema).fits(value) != taken(value) and not (value is None and "nullable" in entry):
                yield f"its schema {'refuses' if taken(value) else 'takes'} {value!r:.40}, the document doesn't"


def _tried(schema: Schema) -> Iterator[Any]:
    """Yields values of each type without members, and those at the bounds of a schema and just beyond them."""
    yield from (None, True, "", "text", 0, 0.5)
    for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        if key in schema:
            yield from (schema[key], schema[key] - 1, schema[key] + 1)
    for key in ("minLength", "maxLength"):
        if schema.get(key, LONGEST) < LONGEST:
            yield from ("a" * length for length in (schema[key], schema[key] + 1))


def beside(spec: Spec) -> Iterator[Problem]:
    """No row has more than the rows of the fields beside it, or than those that its value comes from or goes to."""
    all_fields = fields(spec.document)
    for system, dialect in spec.dialects.items():
        levels = support(all_fields, dialect)
        for field in all_fields:
            entry = levels.get(field.name, {})
            for rule in (_kinds, _narrower, _sent):
                for fault in rule(field, entry, levels):
                    yield Problem("support", f"openapi/dialects/{system}.yaml {field.name}", fault)


def _kinds(field: Field, entry: Entry, levels: dict[str, Entry]) -> Iterator[str]:
    """A `type` that a system has in full has no value whose objects it lacks: those that require fields beside the
    type, none of which it has."""
    if field.path.rpartition(".")[2] != KIND or entry.get("level") != "full":
        return
    around, listed = field.name.removesuffix(KIND), values(entry.get("schema", {}))
    has: dict[str, bool] = {}
    for owner, outer in zip(field.owners, field.objects, strict=True):
        needed = [name for name in outer.get("required", ()) if name != KIND]
        lacks = [levels.get(f"{around}{name}", {}).get("level") in WITHOUT for name in needed]
        for kind in texts(values(owner)):
            has[kind] = has.get(kind, False) or not (lacks and all(lacks))
    if lost := [kind for kind, is_had in has.items() if not is_had and kind in (listed or [kind])]:
        yield f"is full, but what {', '.join(lost)} requires is without effect, an error or never sent"


# Described systems convert the first endpoint's request to the second's, so a field can't do more there. Sources of
# messages: anthropic/serving.py of vLLM, _convert_to_chat_completion_request of SGLang, FromMessagesRequest of Ollama,
# server_chat_convert_anthropic_to_oai of llama.cpp; of the others, the comments in openapi/dialects/.
CONVERTED = {"messages": "chat", "count_tokens": "messages", "tokenize": "chat", "input_tokens": "responses"}

# The first endpoint's name of a field, and the second's.
OTHERWISE = (
    ("stop_sequences", "stop"),
    ("tools[].input_schema", "tools[].function.parameters"),
    ("tools[].", "tools[].function."),
)

# Where an event has a field, and where the answer has it.
STREAMED = ((".delta.", ".message."), ("message.", ""), ("response.", ""), ("delta.", ""), ("", ""))


def _narrower(field: Field, entry: Entry, levels: dict[str, Entry]) -> Iterator[str]:
    """A field is in full only if it is so where its value goes, in the endpoint that the request is converted for, or
    where it comes from, in the answer that an event is of; a note may have the difference."""
    if entry.get("level") == "full" and "note" not in entry:
        for name in _elsewhere(field):
            if levels.get(name, {}).get("level") == "partial":
                yield f"is full without a note, but {name} is partial: {levels[name]['note']}"


def _elsewhere(field: Field) -> Iterator[str]:
    """Yields the names of the fields to which a value goes, or from which it comes."""
    if field.part == "request" and field.endpoint in CONVERTED:
        names = {field.path, *(field.path.replace(one, other) for one, other in OTHERWISE)}
        yield from (field_name(CONVERTED[field.endpoint], field.part, path) for path in sorted(names))
    if field.part == "stream":
        paths = {field.path.replace(one, other, 1) for one, other in STREAMED if one in field.path}
        yield from (field_name(field.endpoint, "response", path) for path in sorted(paths))


def _sent(field: Field, entry: Entry, levels: dict[str, Entry]) -> Iterator[str]:
    """A row says whether an answer always has a field that a system has in part: nothing about it is as in our
    document, which requires it."""
    name = field.path.rpartition(".")[2]
    stated = field.part == "request" or entry.get("level") != "partial" or entry.keys() & {"required", "schema"}
    if not stated and any(name in outer.get("required", ()) for outer in field.objects):
        yield "is partial, and needs required: whether an answer always has it"
