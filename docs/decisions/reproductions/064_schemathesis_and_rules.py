"""Does Schemathesis still need rules between fields in one `not`, and its own word for a link's whole body?"""

from collections.abc import Mapping
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import HypothesisException
from schemathesis.core.errors import SchemathesisError
from schemathesis.specs.openapi.stateful.links import OpenApiLink
from verdict import report

NULL_OR_NUMBER = {"type": ["integer", "null"], "minimum": 0, "maximum": 20}


def rule(when: str, then: str) -> dict[str, Any]:
    """Says that a field above 1 excludes another one."""
    condition = {"required": [when], "properties": {when: {"type": "integer", "minimum": 2}}}
    return {"if": condition, "then": {"properties": {then: {"enum": [0, None]}}}}


# With a few fields it copes.
FIELDS = [f"field_{number}" for number in range(80)]
RULES = [rule(FIELDS[2 * number], FIELDS[2 * number + 1]) for number in range(5)]


def document(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a document of one operation whose body has rules between its fields."""
    body = {"type": "object", "properties": dict.fromkeys(FIELDS, NULL_OR_NUMBER), **rules}
    media = {"application/json": {"schema": body}}
    links = {"again": {"operationId": "make", "requestBody": {FIELDS[0]: 1}}}
    answer = {"description": "Made.", "links": links}
    operation = {"operationId": "make", "requestBody": {"required": True, "content": media}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Rules", "version": "1"},
        "paths": {"/things": {"post": {**operation, "responses": {"200": answer}}}},
    }


def drawn(rules: Mapping[str, Any]) -> int:
    """Returns how many different valid bodies 100 draws give; 0 where Schemathesis gives up."""
    bodies: set[str] = set()
    schema = schemathesis.openapi.from_dict(document(rules))

    @given(schema["/things"]["post"].as_strategy())
    @settings(max_examples=100, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    def draw(case: Any) -> None:
        bodies.add(repr(case.body))

    try:
        draw()
    except (HypothesisException, SchemathesisError):
        return 0
    return len(bodies)


conditionals = drawn({"allOf": RULES})
one_not = drawn({"not": {"anyOf": [{"allOf": [rule["if"], {"not": rule["then"]}]} for rule in RULES]}})

source = schemathesis.openapi.from_dict(document({}))["/things"]["post"]
definition = source.definition.raw["responses"]["200"]["links"]["again"]
merges = OpenApiLink("again", "200", definition, source).merge_body

report(
    conditionals < one_not / 2 or merges,
    f"bodies by conditionals: {conditionals}, by one `not`: {one_not}; fields are added to a link's body: {merges}",
)
