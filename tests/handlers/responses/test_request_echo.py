"""What a response repeats of its request."""

from specvino.document.loading import whole
from specvino.generated.models import CreateResponseRequest
from specvino.handlers.responses.request_echo import request_echo
from specvino.handlers.sampling import sampling
from specvino.server.validation.schema import SchemaCheck

UNARY = SchemaCheck.of_component("ResponseObject")


def repeat(model=None, **fields):
    body = CreateResponseRequest.model_validate({"model": "m", "input": "hi", **fields})
    response = request_echo(body, sampling(body, model or {}), "resp_1", 5)
    UNARY.require(response)
    return response


def test_it_has_every_field_that_is_always_sent() -> None:
    schema = whole()["components"]["schemas"]["ResponseObject"]
    sent = {name for name, field in schema["properties"].items() if field["x-emit"] in ("always", "null")}
    assert repeat().keys() == sent == set(schema["required"])


def test_null_is_absent() -> None:
    optional = CreateResponseRequest.model_fields.keys() - {"model", "input", "model_config"}
    assert repeat(**dict.fromkeys(optional)) == repeat()


def test_settings_are_those_in_force() -> None:
    response = repeat({"temperature": 0.5}, top_p=0.25, frequency_penalty=1)
    echoed = [response[name] for name in ("temperature", "top_p", "frequency_penalty", "presence_penalty")]
    assert echoed == [0.5, 0.25, 1, 0]
    assert repeat(service_tier="flex")["service_tier"] == "default"


def test_whether_it_is_stored_is_not_what_was_asked_but_what_is() -> None:
    body = CreateResponseRequest.model_validate({"model": "m", "input": "hi", "store": True})
    assert [request_echo(body, sampling(body, {}), "resp_1", 5, stored)["store"] for stored in (True, False)] == [
        True,
        False,
    ]


def test_tools_as_they_were_sent() -> None:
    flat = {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True}
    nested = {"type": "function", "function": {"name": "g", "description": "d", "type": "odd"}}
    hosted = {"type": "web_search", "search_context_size": "low"}
    custom = {"type": "custom", "name": "c"}
    tools = repeat(tools=[flat, nested, hosted, custom])["tools"]
    given = {"type": "function", "name": "g", "description": "d", "parameters": None, "strict": None}
    assert tools == [flat, given, hosted, custom]  # OpenAI's document has strict and parameters in every function


def test_other_settings_as_they_were_sent() -> None:
    schema = {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": True}
    sent = {
        "instructions": "i",
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
        "parallel_tool_calls": False,
        "max_tool_calls": 3,
        "truncation": "auto",
        "background": True,
        "previous_response_id": "resp_0",
        "text": {"format": schema, "verbosity": "low"},
        "reasoning": {"effort": "low", "summary": "auto"},
        "max_output_tokens": 9,
        "metadata": {"a": "b"},
        "safety_identifier": "s",
        "user": "u",
        "prompt_cache_key": "k",
        "prompt_cache_retention": "24h",
        "prompt_cache_options": {"mode": "explicit"},
    }
    response = repeat(**sent)
    assert {name: response[name] for name in sent} == sent
    assert "prompt_cache_options" not in repeat()  # OpenAI's document has no null here
