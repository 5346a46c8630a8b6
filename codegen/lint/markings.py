"""The markings of properties: descriptions, notes, origins, handling or emission, supported values, defaults."""

import re
from collections.abc import Iterator
from typing import Any

from specvino.codegen.exchanged import described, received, sent
from specvino.codegen.fields import fields
from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec
from specvino.document.operations import Schema, operations
from specvino.document.validator import Validators
from specvino.document.walk import all_schemas

# Words of a description that refer to this server instead of all systems with the field.
OURS = ("here", "this server", "X-Unsupported-Params", "OpenVINO")

BOUND = r"\b(at (most|least)|up to|no more than|not above|between) \d"


def descriptions(spec: Spec) -> Iterator[Problem]:
    """Every component and every property has a description."""
    for name, schema in spec.document["components"]["schemas"].items():
        if not schema.get("description"):
            yield Problem("description", name, "needs a description")
        for location, child in _properties(name, schema):
            if not child.get("description"):
                yield Problem("description", location, "needs a description")


def remarks(spec: Spec) -> Iterator[Problem]:
    """A description is true of every system that has the field; x-implementation-note is about this server alone."""
    advice = "it belongs in x-implementation-note"
    origins = _origins(spec.document)
    one_system = "|".join(rf"\b{re.escape(word)}\b" for word in (*OURS, *_names(spec)))
    for location, schema in all_schemas(spec.document):
        text = str(schema.get("description", ""))
        if re.search(one_system, text, re.IGNORECASE):
            yield Problem("implementation-note", location, f"the description is about one system: {advice}")
        if re.search(BOUND, text, re.IGNORECASE):
            fault = f"the description states a bound, which is ours alone: the schema has it, {advice}"
            yield Problem("implementation-note", location, fault)
        for name in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text):
            if not origins.get(name, {"openai"}) & {"openai", schema.get("x-origin")}:
                fault = f"the description mentions {name}, which not every system has: {advice}"
                yield Problem("implementation-note", location, fault)


def _names(spec: Spec) -> Iterator[str]:
    """Yields the names of systems other than OpenAI; for a name with a hyphen, also its beginning, such as MLC."""
    for system, dialect in spec.dialects.items():
        if system != "openai":
            yield from (name.split("-")[0] for name in {dialect["name"], dialect.get("label", dialect["name"])})


def _origins(document: dict[str, Any]) -> dict[str, set[Any]]:
    """Returns who defined the properties of each name."""
    result: dict[str, set[Any]] = {}
    for _, schema in all_schemas(document):
        for name, child in schema.get("properties", {}).items():
            if isinstance(child, dict) and "x-origin" in child:
                result.setdefault(name, set()).add(child["x-origin"])
    return result


def origins(spec: Spec) -> Iterator[Problem]:
    """Every property of requests and answers has an x-origin."""
    document = spec.document
    for name in sorted(received(document) | sent(document)):
        for location, child in _properties(name, document["components"]["schemas"][name]):
            if "x-origin" not in child:
                yield Problem("origin", location, "needs an x-origin")


def systems_fields(spec: Spec) -> Iterator[Problem]:
    """The system that an x-origin names has the field of a body in some endpoint, where its sources tell."""
    has: dict[tuple[str, str], set[bool | None]] = {}
    for field in fields(spec.document):
        if field.part == "request" and "." not in field.path:  # what is inside may come from a library of the system
            for origin in field.origins & spec.sources.keys():
                has.setdefault((origin, field.path), set()).add(spec.sources[origin].has(*field.key))
    for (origin, name), told in has.items():
        if told == {False}:
            fault = f"x-origin is {origin}, but by upstream/descriptions/{origin}.json its sources have no such field"
            yield Problem("origin", name, fault)


def handling(spec: Spec) -> Iterator[Problem]:
    """Properties of requests have an x-handling and those of answers an x-emit; neither has the other's."""
    document = spec.document
    in_requests, in_answers = received(document), sent(document)
    for name in sorted(in_requests | in_answers):
        for location, child in _properties(name, document["components"]["schemas"][name]):
            if name in in_requests and "x-handling" not in child:
                yield Problem("handling", location, "needs an x-handling")
            if name not in in_requests and "x-handling" in child:
                yield Problem("handling", location, "x-handling is for requests, and no request has this")
            if name in in_answers and "x-emit" not in child:
                yield Problem("emit", location, "needs an x-emit")
            if name not in in_answers and "x-emit" in child:
                yield Problem("emit", location, "x-emit is for answers, and no answer has this")


def queries(spec: Spec) -> Iterator[Problem]:
    """Query parameters have a description, an x-origin and an x-handling, as the fields of a body do."""
    for operation in operations(spec.document):
        for parameter in operation.parameters_in("query"):
            location = f"{operation.label} parameter {parameter['name']}"
            if not parameter.get("description"):
                yield Problem("description", location, "needs a description")
            for key in ("x-origin", "x-handling"):
                if key not in parameter:
                    yield Problem(key.removeprefix("x-"), location, f"needs an {key}")


def supported_values(spec: Spec) -> Iterator[Problem]:
    """x-supported-values narrows a field to values that its schema accepts, including its default."""
    validators = Validators(spec.document)
    for location, supported, schema in _with_supported_values(spec.document):
        for value in [*supported.get("enum", ()), *([supported["const"]] if "const" in supported else [])]:
            if not validators.of(_bare(schema)).fits(value):
                fault = f"x-supported-values names {value!r}, which the schema refuses"
                yield Problem("supported-values", location, fault)
        if "default" in schema and not validators.of(supported).fits(schema["default"]):
            fault = f"the default {schema['default']!r} is outside x-supported-values"
            yield Problem("supported-values", location, fault)


def defaults(spec: Spec) -> Iterator[Problem]:
    """A default is a value that the schema accepts."""
    validators = Validators(spec.document)
    for name, schema in spec.document["components"]["schemas"].items():
        for location, child in described(schema, name):
            if "default" in child:
                for fault in validators.of(_bare(child)).violations(child["default"]):
                    yield Problem("default", location, f"the default does not fit: {fault}")


def _with_supported_values(document: dict[str, Any]) -> Iterator[tuple[str, Schema, Schema]]:
    """Yields the location, x-supported-values and schema of each property and query parameter that has them."""
    for name, schema in document["components"]["schemas"].items():
        for location, child in _properties(name, schema):
            if "x-supported-values" in child:
                yield location, child["x-supported-values"], child
    for operation in operations(document):
        for parameter in operation.parameters_in("query"):
            if "x-supported-values" in parameter:
                yield (
                    f"{operation.label} parameter {parameter['name']}",
                    parameter["x-supported-values"],
                    parameter["schema"],
                )


def _properties(name: str, schema: Schema) -> Iterator[tuple[str, Schema]]:
    for location, child in described(schema, name):
        for key, value in child.get("properties", {}).items():
            yield f"{location}/properties/{key}", value


def _bare(schema: Schema) -> Schema:
    """Returns a schema without the markings, which a validator doesn't need."""
    return {key: value for key, value in schema.items() if not key.startswith("x-")}
