"""openapi/conditions.yaml -> rules of schemas, x-refusals and the table that servers check."""

import copy

import pytest

from specvino.codegen.conditions import check, has_field, tables
from specvino.codegen.source import SpecError
from specvino.document.operations import by_endpoint
from specvino.document.pointers import resolved


def test_conditions_of_a_schema_are_rules_and_the_others_refusals(real) -> None:
    operations = by_endpoint(real.document)
    messages = {
        endpoint: {
            rule["x-error"]["message"] for rule in resolved(real.document, operation.body)["allOf"] if "x-error" in rule
        }
        for endpoint, operation in operations.items()
        if operation.body and "allOf" in resolved(real.document, operation.body)
    }
    for name, condition in real.conditions["conditions"].items():
        for endpoint in condition["endpoints"]:
            refusals = {entry.get("condition") for entry in operations[endpoint].definition["x-refusals"]}
            in_schema = endpoint in condition.get("schema", ())
            assert (condition["message"] in messages.get(endpoint, ())) is in_schema
            assert (name in refusals) is not in_schema


def test_the_rule_of_a_condition(real) -> None:
    rules = real.document["components"]["schemas"]["CreateChatCompletionRequest"]["allOf"]
    [rule] = [rule for rule in rules if rule["x-error"]["param"] == "best_of"]
    assert rule["if"] == {"required": ["best_of"], "properties": {"best_of": {"type": "integer", "minimum": 2}}}
    penalties = {"frequency_penalty": {"enum": [0, None]}, "presence_penalty": {"enum": [0, None]}}
    assert rule["then"] == {"properties": penalties | {"repetition_penalty": {"enum": [1, None]}}}
    [required] = [rule for rule in rules if rule["x-error"]["param"] == "stream_options"]
    assert required["then"] == {"required": ["stream"], "properties": {"stream": {"const": True}}}


def test_an_endpoint_has_only_its_supported_fields(real) -> None:
    endpoints = tables(real.document, real.conditions)["endpoints"]
    assert endpoints["completions"]["token_limit"]["exceeds"]["fields"] == ["max_tokens"]
    assert "response_format.type" in endpoints["chat"]["two_structured_outputs"]["more_than_one"]
    assert "response_format.type" not in endpoints["completions"]["two_structured_outputs"]["more_than_one"]


def test_fields_in_unions_and_maps(real) -> None:
    body = by_endpoint(real.document)["chat"].body
    for path in ("tool_choice.type", "tool_choice.allowed_tools.mode", "chat_template_kwargs.anything", "n"):
        assert has_field(real.document, body, path), path
    for path in ("tool_choice.modes", "n.m", "no_field"):
        assert not has_field(real.document, body, path), path


def test_readers_get_the_fields_in_place_of_placeholders(real) -> None:
    refusals = by_endpoint(real.document)["completions"].definition["x-refusals"]
    when = {entry["condition"]: entry["when"] for entry in refusals if "condition" in entry}
    assert when["token_limit"] == "`max_tokens` is above the limit of the server (`--max-tokens-limit`)."
    assert (
        when["ngram_size_without_prompt_lookup"] == "`max_ngram_size` requires a server started with `--prompt-lookup`."
    )
    assert not any("{" in sentence for sentence in when.values())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"neither": []}, "neither"),
        ({"message": None}, "message"),
        ({"endpoints": ["chats"]}, "functions_beside_tools: 'chats' is not an endpoint with a body"),
        ({"endpoints": ["models"]}, "functions_beside_tools: 'models' is not an endpoint with a body"),
        ({"both": ["tool"]}, "functions_beside_tools: the group 'tool' is not defined"),
    ],
)
def test_conditions_that_can_t_be_read(real, change, words) -> None:
    source = copy.deepcopy(real.conditions)
    source["conditions"]["functions_beside_tools"] |= change
    with pytest.raises(SpecError, match=words):
        check(real.document, source, real.vocabulary)
