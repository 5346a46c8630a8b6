"""The constraints that the engine gets for structured outputs, and the errors of refused ones."""

import pytest

from specvino.document.loading import group
from specvino.engine.errors import ConstraintError
from specvino.engine.request import JsonSchema, StructuralTag
from specvino.generated.models import CreateChatCompletionRequest, CreateCompletionRequest, CreateResponseRequest
from specvino.handlers.errors import ApiError
from specvino.handlers.limits import require_supported
from specvino.handlers.structured_outputs import of_tag, refusals, structured_output
from specvino.handlers.structured_outputs.constraint_fields import KINDS

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def of(body, strict):
    """As in the pipeline, conditions are checked first."""
    require_supported(body, {})
    return structured_output(body, strict=strict)


def of_chat(format, *, strict=False, **fields):
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "response_format": format, **fields}
    return of(CreateChatCompletionRequest.model_validate(body), strict)


def of_response(*, strict=False, **fields):
    return of(CreateResponseRequest.model_validate({"model": "m", "input": "x", **fields}), strict)


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


@pytest.mark.parametrize("schema", [SCHEMA, '{"type": "object", "properties": {"a": {"type": "string"}}}'])
def test_an_object_with_a_schema(schema) -> None:
    output = of_chat({"type": "json_object", "schema": schema})
    assert (output.constraint, output.param) == (JsonSchema(SCHEMA), "response_format.schema")


def test_the_text_of_a_schema_must_be_json() -> None:
    with pytest.raises(ApiError, match=r"response_format\.schema can't be used: it is not valid JSON") as caught:
        of_chat({"type": "json_object", "schema": "{"})
    assert caught.value.code == "invalid_schema"


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


STRUCTURES = [{"begin": "<a>", "schema": {"type": "object", "uniqueItems": True}, "end": "</a>"}]


def test_the_older_form_of_a_structural_tag_names_its_own_places() -> None:
    older = {"type": "structural_tag", "structures": STRUCTURES, "triggers": ["<a"]}
    output = of_chat(older)
    assert output.constraint.tag["format"]["tags"][0]["content"]["json_schema"] == STRUCTURES[0]["schema"]
    path = ("format", "tags", 0, "content", "json_schema", "uniqueItems")
    assert output.param_of(path) == "response_format.structures.0.schema.uniqueItems"
    assert output.param_of(("format", "tags", 0, "begin")) == "response_format.structures.0.begin"
    assert output.param_of(("format", "triggers")) == "response_format.triggers"
    assert output.param_of(()) == "response_format"


@pytest.mark.parametrize(
    ("field", "value", "param"),
    [
        ("guided_json", "{", "guided_json"),
        ("guided_json", '"a"', "guided_json"),
        ("structured_outputs", {"json": "[" * 100_000}, "structured_outputs.json"),
        ("structural_tag", "[1]", "structural_tag"),
    ],
)
def test_what_cannot_be_read(field, value, param) -> None:
    with pytest.raises(ApiError) as caught:
        of_chat(None, **{field: value})
    assert (caught.value.code, caught.value.param) == ("invalid_schema", param)


def test_a_grammar_without_the_sign_of_ebnf_is_a_lark_grammar() -> None:
    for definition, kind in (("start: /a+/", "lark"), ('root ::= "a"', "grammar")):
        output = of_chat(None, structured_outputs={"grammar": definition})
        assert output.constraint.tag["format"] == {"type": kind, "grammar": definition}
        assert output.param_of(("format", "grammar")) == "structured_outputs.grammar"


@pytest.mark.parametrize(
    ("fields", "one", "other"),
    [
        ({"guided_json": SCHEMA, "regex": "a"}, "guided_json", "regex"),
        ({"structured_outputs": {"json": SCHEMA, "regex": "a"}}, "structured_outputs.json", "structured_outputs.regex"),
        ({"response_format": {"type": "json_object"}, "ebnf": 'root ::= "a"'}, "response_format", "ebnf"),
    ],
)
def test_one_field_alone_constrains_the_text(fields, one, other) -> None:
    with pytest.raises(ApiError, match=f"{one} and {other} can't be combined") as caught:
        of_chat(fields.pop("response_format", None), **fields)
    assert (caught.value.code, caught.value.param) == ("invalid_value", one)


@pytest.mark.parametrize("nothing", [{"regex": ""}, {"grammar": ""}, {"structured_outputs": {"json_object": False}}])
def test_what_asks_for_no_form(nothing) -> None:
    assert of_chat({"type": "json_object"}, **nothing) == of_chat({"type": "json_object"})


def test_the_fields_are_those_of_the_conditions() -> None:
    objects = {"response_format.type", "text.format.type", "output_config.format.type", "output_format.type"}
    assert {*KINDS, *objects} == set(group("structured_output").paths)


def test_a_response_format_that_the_endpoint_doesn_t_support_is_not_read() -> None:
    body = {"model": "m", "prompt": "x", "response_format": {"type": "json_object"}}
    assert of(CreateCompletionRequest.model_validate(body), strict=False) is None
    constrained = CreateCompletionRequest.model_validate({**body, "regex": "a"})
    assert of(constrained, strict=False).param == "regex"
