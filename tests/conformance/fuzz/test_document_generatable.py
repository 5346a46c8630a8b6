"""A document is drawn by as many of its rules as Schemathesis works out together."""

import copy
from typing import Any

import pytest
import schemathesis
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.coverage._operation import iter_coverage_cases

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.document import generatable
from specvino.document.transforms import folded, to_32

ORDER = {
    "if": {"required": ["a"]},
    "then": {"properties": {"a": {"prefixItems": [{}], "items": {"not": {"const": "x"}}}}},
}
COUNT = {"if": {"required": ["b"]}, "then": {"required": ["c"]}}
FIELDS = {"a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "integer"}, "c": {"type": "integer"}}


def document(*rules: Any, **more: Any) -> dict[str, Any]:
    body = {"type": "object", "required": ["a"], "properties": FIELDS, "allOf": list(rules), **more}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}
    operation = {"operationId": "make", "requestBody": {"content": content}, "responses": {}}
    return {"paths": {"/things": {"post": operation}}, "components": {"schemas": {"Body": body}}}


def body(described: Any) -> Any:
    return described["components"]["schemas"]["Body"]


def test_all_rules_stay_where_they_are_worked_out() -> None:
    assert generatable(document(COUNT, COUNT)) == folded(document(COUNT, COUNT))


def test_the_rule_that_is_not_worked_out_beside_others_is_left_out() -> None:
    given = document(COUNT, ORDER, COUNT)
    assert body(generatable(given)) == body(folded(document(COUNT, COUNT)))
    assert body(given)["allOf"] == [COUNT, ORDER, COUNT], "the document is as it was"


def test_others_than_the_wanted_operations_stay() -> None:
    assert generatable(document(COUNT, ORDER), ["other"]) == folded(document(COUNT, ORDER))


def test_what_a_rule_says_of_fields_alone_stands_with_these() -> None:
    generated = body(generatable(document({"properties": {"b": {"minimum": 1}, "d": {"type": "string"}}}, COUNT)))
    assert generated["properties"] == FIELDS | {"b": {"allOf": [FIELDS["b"], {"minimum": 1}]}, "d": {"type": "string"}}
    assert generated["allOf"] == [COUNT]


def test_no_rules_are_no_empty_list() -> None:
    assert "allOf" not in body(generatable(document({"properties": {"d": {"type": "string"}}})))


@pytest.mark.parametrize("system", ["vllm", "mlc-llm"])
def test_fields_of_chats_are_varied(system) -> None:
    """Before, Schemathesis made no request of these documents' chat at all."""
    dialect = Dialect(system)
    schema = schemathesis.openapi.from_dict(
        copy.deepcopy(generatable(to_32(dialect.document), ["create_chat_completion"]))
    )
    fuzzed: Any = next(iter(schema.include(operation_id="create_chat_completion").get_all_operations()))
    cases = iter_coverage_cases(
        operation=fuzzed.ok(),
        generation_modes=[GenerationMode.POSITIVE],
        generate_duplicate_query_parameters=False,
        unexpected_methods=set(),
        generation_config=schema.config.generation,
    )
    valid = [case for case in cases if dialect.accepts("chat", case.body)]
    assert len(valid) >= 80
