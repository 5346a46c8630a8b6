"""What the engine is asked for a response_format or a text.format, and what its refusals say."""

import pytest

from specvino.engine.errors import ConstraintError
from specvino.engine.request import JsonSchema, StructuralTag
from specvino.generated.models import CreateChatCompletionRequest, CreateResponseRequest
from specvino.handlers.chat.request import request_fields as chat_fields
from specvino.handlers.errors import ApiError
from specvino.handlers.responses.request import request_fields as response_fields
from specvino.handlers.sampling import sampling
from specvino.handlers.structured_outputs import of_tag, refusals, structured_output

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def of(fields, strict):
    return structured_output(fields.format, sampling(fields.body, None, {}), strict=strict)


def of_chat(format, *, strict=False, **fields):
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "response_format": format, **fields}
    return of(chat_fields(CreateChatCompletionRequest.model_validate(body)), strict)


def of_response(*, strict=False, **fields):
    return of(response_fields(CreateResponseRequest.model_validate({"model": "m", "input": "x", **fields})), strict)


@pytest.mark.parametrize("format", [None, {"type": "text"}])
def test_any_text(format) -> None:
    assert of_chat(format) is None
    assert of_response(response_format=format) is None
    assert of_response(text={"format": format}) is None
    assert of_response(text=None) is None
    assert of_response() is None


def test_an_object() -> None:
    output = of_chat({"type": "json_object"})
    assert output.constraint == JsonSchema({"type": "object"})
    assert of_response(response_format={"type": "json_object"}) == output
    assert of_response(text={"format": {"type": "json_object"}}).constraint == output.constraint


@pytest.mark.parametrize("strict", [None, False, True])
def test_a_schema(strict) -> None:
    named = {"name": "n", "schema": SCHEMA, "strict": strict}
    expected = JsonSchema(SCHEMA, bool(strict))
    chat = of_chat({"type": "json_schema", "json_schema": named})
    assert (chat.constraint, chat.param) == (expected, "response_format.json_schema.schema")
    assert of_response(response_format={"type": "json_schema", "json_schema": named}) == chat
    flat = of_response(text={"format": {"type": "json_schema", **named}})
    assert (flat.constraint, flat.param) == (expected, "text.format.schema")


def test_a_schema_alone_as_ovms_takes_it() -> None:
    output = of_chat({"type": "json_schema", "json_schema": SCHEMA})
    assert (output.constraint, output.param) == (JsonSchema(SCHEMA), "response_format.json_schema")


def test_no_schema_is_any_json() -> None:
    assert of_chat({"type": "json_schema", "json_schema": {"schema": None}}).constraint == JsonSchema({})
    assert of_chat({"type": "json_schema", "json_schema": {}}).constraint == JsonSchema({})


def test_a_server_that_refuses_what_it_can_not_do_is_strict_with_all() -> None:
    assert of_chat(
        {"type": "json_schema", "json_schema": {"schema": SCHEMA, "strict": False}}, strict=True
    ).constraint.strict
    assert of_response(
        text={"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}, strict=True
    ).constraint.strict
    assert of_chat({"type": "regex", "pattern": "a"}, strict=True).constraint.strict


def test_structural_formats() -> None:
    regex = {"type": "regex", "pattern": "a+"}
    tag = {"type": "structural_tag", "format": regex}
    bare, wrapped = of_chat(regex), of_chat(tag)
    assert bare.constraint == wrapped.constraint == StructuralTag(tag)
    assert bare.param_of(("format", "pattern")) == "response_format.pattern"
    assert wrapped.param_of(("format", "pattern")) == "response_format.format.pattern"
    assert of_tag(tag, "tool_choice", strict=True).constraint == StructuralTag(tag, True)


def test_refusals_name_the_field() -> None:
    output = of_chat({"type": "json_schema", "json_schema": {"schema": SCHEMA}})
    for unsupported, code in ((True, "unsupported_schema"), (False, "invalid_schema")):
        with pytest.raises(ApiError, match="so it is") as caught, refusals(output):
            raise ConstraintError("so it is", ("properties", "a", "items", 0), unsupported=unsupported)
        assert caught.value.code == code
        assert caught.value.param == "response_format.json_schema.schema.properties.a.items.0"
        assert caught.value.param in caught.value.message


@pytest.mark.parametrize("fields", [{"ignore_eos": True}, {"min_tokens": 1}, {"best_of": 2}])
def test_what_has_no_schema_is_refused(fields) -> None:
    (param,) = fields
    for ask in (
        lambda: of_chat({"type": "json_object"}, **fields),
        lambda: of_response(response_format={"type": "json_object"}, **fields),
    ):
        with pytest.raises(ApiError) as caught:
            ask()
        assert (caught.value.code, caught.value.param) == ("invalid_value", param)
    assert of_chat({"type": "text"}, **fields) is None
    assert of_chat({"type": "json_object"}, ignore_eos=False, best_of=1)


def test_two_structured_outputs_are_refused() -> None:
    both = {"response_format": {"type": "json_object"}, "text": {"format": {"type": "json_object"}}}
    with pytest.raises(ApiError) as caught:
        of_response(**both)
    assert (caught.value.code, caught.value.param) == ("invalid_value", "response_format")
    assert of_response(response_format={"type": "text"}, text={"format": {"type": "json_object"}})
