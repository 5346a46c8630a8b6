"""Descriptions, origins, handling, emissions, x-supported-values and defaults."""

from dataclasses import replace

import pytest

from specvino.codegen.lint.markings import systems_fields


def test_a_component_without_description(schemas, only) -> None:
    del schemas["Model"]["description"]
    only("description", "Model: needs a description")


def test_a_property_without_description(request_fields, only) -> None:
    request_fields["user"]["description"] = ""
    only("description", "CreateChatCompletionRequest/properties/user")


@pytest.mark.parametrize("value", [None, True, " "])
def test_a_remark_that_is_no_text(request_fields, only, value) -> None:
    request_fields["user"]["x-implementation-note"] = value
    only("implementation-note", "user", "x-implementation-note: ", "null" if value is None else str(value).lower())


@pytest.mark.parametrize(
    "text",
    [
        "A list. Here it is empty.",
        "OpenVINO GenAI has no place for it.",
        "Sealed with this server's own key.",
        "A schema, or, as OVMS takes it too, a text.",
        "Otherwise its path is reported in X-Unsupported-Params.",
        "At most 16 of them.",
        "It is not part of it, unless include_stop_str_in_output is true.",
    ],
)
@pytest.mark.parametrize("kind", ["property", "component"])
def test_a_description_of_this_server_only(schemas, only, kind, text) -> None:
    {"property": schemas["Model"]["properties"]["id"], "component": schemas["Model"]}[kind]["description"] = text
    only("implementation-note", "Model", "it belongs in x-implementation-note")


def test_a_field_of_a_system_may_speak_of_that_system_s_fields(spec, sound, request_fields) -> None:
    request_fields["stop_token_ids"]["description"] = "It holds behind min_tokens, and max_completion_tokens."
    sound()


def test_remarks(spec, sound, schemas, request_fields) -> None:
    request_fields["user"] |= {
        "description": "Where it is: somewhere, adhered to.",
        "x-implementation-note": "Only logged here.",
    }
    schemas["Model"]["x-implementation-note"] = "There is one."
    sound()


@pytest.mark.parametrize("value", [None, "opnai"])
def test_origin(request_fields, only, value) -> None:
    request_fields["user"]["x-origin"] = value
    only("origin", "user", repr(value), "mlc-llm")


def test_origin_of_an_answer(schemas, only) -> None:
    del schemas["Usage"]["properties"]["total_tokens"]["x-origin"]
    only("origin", "Usage/properties/total_tokens")


@pytest.mark.parametrize(("name", "origin"), [("made_up", "vllm"), ("min_p", "openai")])
def test_a_system_s_sources_have_no_such_field(spec, real, request_fields, name, origin) -> None:
    assert not list(systems_fields(replace(spec, sources=real.sources)))
    request_fields[name] = request_fields["user"] | {"x-origin": origin}
    [problem] = systems_fields(replace(spec, sources=real.sources))
    assert problem.location == name
    assert f"x-origin is {origin}, but by upstream/descriptions/{origin}.json" in problem.fault
    assert not list(systems_fields(spec)), "without a description nothing tells"


def test_handling(request_fields, only) -> None:
    request_fields["user"]["x-handling"] = "ignored"
    only("handling", "user", "'ignored'", "'supported', 'accepted', 'unsupported'")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [("x-handling", "gone", "supported"), ("x-origin", None, "ovms"), ("description", "", "needs")],
)
def test_a_query_parameter(spec, only, key, value, words) -> None:
    parameters = [{"name": "q", "in": "query", "schema": {"type": "boolean"}, "description": "Q.", "x-origin": "ovms"}]
    spec.document["paths"]["/version"]["get"]["parameters"] = parameters
    parameters[0] |= {"x-handling": "accepted", key: value}
    only(key.removeprefix("x-"), "GET /version parameter q", words)


def test_handling_of_an_answer(schemas, only) -> None:
    schemas["Model"]["properties"]["id"]["x-handling"] = "supported"
    only("handling", "Model/properties/id", "no request has this")


@pytest.mark.parametrize("value", [None, "sometimes", "when "])
def test_emission(schemas, only, value) -> None:
    schemas["Model"]["properties"]["id"]["x-emit"] = value
    only("emit", "Model/properties/id", "x-emit: ", "null" if value is None else value)


def test_what_only_others_send(spec, sound, schemas) -> None:
    schemas["Model"]["properties"]["id"]["x-emit"] = "never"
    sound()


def test_emission_of_a_stream(schemas, only) -> None:
    del schemas["ChatDelta"]["properties"]["role"]["x-emit"]
    only("emit", "ChatDelta/properties/role")


def test_emission_of_an_error(schemas, only) -> None:
    del schemas["Error"]["properties"]["code"]["x-emit"]
    only("emit", "Error/properties/code")


def test_emission_of_a_request(request_fields, only) -> None:
    request_fields["user"]["x-emit"] = "always"
    only("emit", "user", "no answer has this")


def test_supported_values_beside_accepted(request_fields, only) -> None:
    request_fields["user"]["x-supported-values"] = {"const": "x"}
    only("supported-values", "user", "isn't allowed next to x-handling accepted, with which no value has an effect")


def test_supported_values_without_handling(request_fields, only) -> None:
    del request_fields["user"]["x-handling"]
    request_fields["user"]["x-supported-values"] = {"const": "x"}
    only("extension", "user", '"x-handling" is a required property')


def test_supported_values_must_be_a_schema(request_fields, only) -> None:
    request_fields["logit_bias"]["x-supported-values"] = True
    only("supported-values", "logit_bias", 'true is not of type "object"')


@pytest.mark.parametrize(
    ("change", "rule", "words"),
    [
        (
            {"x-supported-values": {"const": "no"}},
            "supported-values",
            "names 'no', which the schema refuses",
        ),
        (
            {"x-supported-values": {"const": True}},
            "supported-values",
            "the default False is outside",
        ),
        ({"x-supported-values": {"cosnt": True}}, "schema", "'cosnt' is not a keyword of JSON Schema"),
        ({"x-handling": "accepted"}, "supported-values", "isn't allowed next to x-handling accepted"),
    ],
)
def test_supported_values_of_a_query_parameter(spec, sound, only, change, rule, words) -> None:
    parameter = {
        "name": "wide",
        "in": "query",
        "description": "Wide.",
        "x-origin": "openai",
        "x-handling": "unsupported",
        "x-supported-values": {"const": False},
        "schema": {"type": "boolean"} if "names" in words else {"type": "boolean", "default": False},
        "examples": {"plain": {"value": False}},
    }
    spec.document["paths"]["/models"]["get"]["parameters"] = [parameter]
    sound()
    parameter |= change
    only(rule, "GET /models parameter wide", words)


@pytest.mark.parametrize("supported_values", [{"enum": [0, 7]}, {"const": 7}])
def test_supported_values_outside_the_schema(request_fields, only, supported_values) -> None:
    request_fields["temperature"]["x-supported-values"] = supported_values
    del request_fields["temperature"]["default"]
    only("supported-values", "temperature", "7", "refuses")


def test_a_default_that_is_not_supported(request_fields, only) -> None:
    request_fields["temperature"]["x-supported-values"] = {"const": 0}
    only("supported-values", "temperature", "the default 1 is outside x-supported-values")


def test_a_default_that_does_not_fit(request_fields, only) -> None:
    request_fields["temperature"]["default"] = 3
    only("default", "temperature", "3 is greater than the maximum of 2")


def test_supported_values_that_fit(spec, sound, request_fields) -> None:
    request_fields["temperature"]["x-supported-values"] = {"enum": [0, 1]}
    sound()
