"""The codes, facts, fields and placeholders that openapi/conditions.yaml names exist."""

import string
from collections.abc import Iterator
from typing import Any

from specvino.codegen.conditions import groups_of, has_field
from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec
from specvino.document.operations import by_endpoint, operations
from specvino.document.pointers import resolved

PLACEHOLDERS = {
    "both": {"field", "other"},
    "more_than_one": {"field", "other"},
    "exceeds": {"field", "other", "value", "limit"},
    "members": {"field"},
}


def conditions(spec: Spec) -> Iterator[Problem]:
    """The codes, facts, fields and placeholders of conditions exist."""
    for name, condition in spec.conditions["conditions"].items():
        for fault in _problems(spec, condition):
            yield Problem("conditions", name, fault)


def refused_fields(spec: Spec) -> Iterator[Problem]:
    """A condition without facts refuses each field whose x-handling is `refused`."""
    by_endpoint_fields: dict[str, set[str]] = {}
    for condition in spec.conditions["conditions"].values():
        if not condition.get("facts"):
            for endpoint in condition["endpoints"]:
                fields = (path for fields in condition.get("both", ())[:1] for path in _fields(spec, fields))
                by_endpoint_fields.setdefault(endpoint, set()).update(fields)
    for operation in operations(spec.document):
        body = resolved(spec.document, operation.body) if operation.body else {}
        for name, schema in body.get("properties", {}).items():
            if schema.get("x-handling") == "refused" and name not in by_endpoint_fields.get(operation.endpoint, ()):
                yield Problem("conditions", f"{operation.endpoint}.{name}", "is refused, but no condition refuses it")


def _problems(spec: Spec, condition: dict[str, Any]) -> Iterator[str]:
    code = condition.get("code", "invalid_value")
    if code not in spec.errors["codes"]:
        yield f"the code {code!r} is not in errors.yaml"
    operator = next(key for key in PLACEHOLDERS if key in condition)
    names = {name for _, name, _, _ in string.Formatter().parse(condition["message"]) if name is not None}
    for name in names - PLACEHOLDERS[operator]:
        yield f"{{{name}}} has no meaning in the message of a condition with {operator}"
    for fact in {*condition.get("facts", ()), *filter(None, [condition.get("exceeds", {}).get("fact")])}:
        if fact not in spec.conditions["facts"]:
            yield f"the fact {fact!r} is not defined"
    by_name = by_endpoint(spec.document)
    for endpoint in (*condition["endpoints"], *condition.get("schema", ())):
        if endpoint not in condition["endpoints"]:
            yield f"{endpoint!r} stands in schema, but not in endpoints"
    if "param" in condition and not any(
        has_field(spec.document, by_name[endpoint].body, condition["param"]) for endpoint in condition["endpoints"]
    ):
        yield f"no endpoint of it has the field {condition['param']!r} that param names"
    if "schema" in condition:
        first = condition["both"][0]
        first = spec.conditions["groups"].get(first, {}) if isinstance(first, str) else first
        if condition.keys() & {"facts", "code"} or len(first) != 1:
            yield "a schema states conditions of one first field, without facts, with the code invalid_value"
        elif not {"type", "const"} & set(next(iter(first.values()))):
            yield "the first field of a schema's rule needs a type: without it null fits, too"
    for fields in groups_of(condition):
        paths = _fields(spec, fields)
        for endpoint in condition["endpoints"]:
            body = by_name[endpoint].body
            if not any(has_field(spec.document, body, path) for path in paths):
                yield f"{endpoint} has none of the fields {', '.join(paths)}"
        # An inline group must use all its fields; a named one is for several endpoints.
        for path in paths if not isinstance(fields, str) else ():
            if not any(has_field(spec.document, by_name[end].body, path) for end in condition["endpoints"]):
                yield f"no endpoint of it has a field {path}"


def _fields(spec: Spec, fields: Any) -> tuple[str, ...]:
    return tuple(spec.conditions["groups"].get(fields, ()) if isinstance(fields, str) else fields)
