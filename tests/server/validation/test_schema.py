"""A wrong body's error names the field that was meant, the value, and what is accepted."""

import copy
import json
import tracemalloc
from typing import Any

import jsonschema_rs
import pytest
from support.app import MINIMAL
from support.tiny_document import kind, object_of, ref, talk

from specvino.document.loading import validators
from specvino.document.validator import Validators
from specvino.handlers.errors import ApiError
from specvino.server.validation.schema import Explainer, SchemaCheck

USER = {"role": "user", "content": "hi"}

# what differs from a right body, the param, the code, a part of the message
WRONG = [
    ({"model": ...}, "model", "missing_required_parameter", "model is required"),
    ({"messages": ...}, "messages", "missing_required_parameter", "messages is required"),
    ({"model": None}, "model", "invalid_type", "null"),
    ({"model": ""}, "model", "string_below_min_length", "at least 1"),
    ({"model": "x" * 513}, "model", "string_above_max_length", "at most 512"),
    ({"messages": []}, "messages", "array_below_min_length", "at least 1"),
    ({"messages": "hi"}, "messages", "invalid_type", "a list"),
    ({"messages": [USER, "hi"]}, "messages.1", "invalid_type", "an object"),
    ({"messages": [{"content": "hi"}]}, "messages.0.role", "missing_required_parameter", "developer, system, user"),
    ({"messages": [{"role": "usr"}]}, "messages.0.role", "invalid_value", '"usr"'),
    ({"messages": [{"role": 5}]}, "messages.0.role", "invalid_type", "5"),
    ({"messages": [USER, {"role": "user", "content": 5}]}, "messages.1.content", "invalid_type", "a string or a list"),
    (
        {"messages": [USER, {"role": "user", "content": [{"type": "smell"}]}]},
        "messages.1.content.0.type",
        "invalid_value",
        '"smell", but must be one of text, image_url, input_audio, file',
    ),
    (
        {"messages": [USER, {"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
        "messages.1.content.0.image_url.url",
        "missing_required_parameter",
        "required",
    ),
    (
        {"messages": [{"role": "system", "content": [{"type": "image_url"}]}]},
        "messages.0.content.0.type",
        "invalid_value",
        '"image_url", but must be "text"',
    ),
    (
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text"}]}]},
        "messages.0.content.1.text",
        "missing_required_parameter",
        "required",
    ),
    (
        {"messages": [{"role": "assistant", "tool_calls": [{"id": "a"}]}]},
        "messages.0.tool_calls.0.function",
        "missing_required_parameter",
        "required",
    ),
    (
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}]},
        "messages.0.tool_calls.0.function.arguments",
        "invalid_type",
        "a string or null",
    ),
    ({"temperature": 3}, "temperature", "decimal_above_max_value", "at most 2"),
    ({"temperature": -0.5}, "temperature", "decimal_below_min_value", "at least 0"),
    ({"temperature": "1"}, "temperature", "invalid_type", '"1"'),
    ({"top_k": 0}, "top_k", "invalid_value", "a value other than 0"),
    ({"top_k": 1.5}, "top_k", "invalid_type", "an integer"),
    ({"n": 129}, "n", "integer_above_max_value", "at most 128"),
    ({"n": True}, "n", "invalid_type", "an integer"),
    ({"seed": 10**4000}, "seed", "integer_above_max_value", "more than 40 digits"),
    ({"repetition_penalty": 0}, "repetition_penalty", "decimal_below_min_value", "at least 0.01"),
    ({"stop": ["a"] * 17}, "stop", "array_above_max_length", "at most 16"),
    ({"stop": ["a", 1]}, "stop.1", "invalid_type", "a string"),
    ({"stop": {}}, "stop", "invalid_type", "a string or a list or null"),
    ({"stop": ""}, "stop", "string_below_min_length", "at least 1"),
    ({"stream": "yes"}, "stream", "invalid_type", "a boolean"),
    ({"stream_options": {}}, "stream_options", "invalid_value", "stream to be true"),
    ({"stream": False, "stream_options": {"include_usage": True}}, "stream_options", "invalid_value", "to be true"),
    ({"stream": True, "stream_options": []}, "stream_options", "invalid_type", "an object"),
    (
        {"stream": True, "stream_options": {"include_usage": 1}},
        "stream_options.include_usage",
        "invalid_type",
        "a boolean",
    ),
    ({"metadata": {"a": 1}}, "metadata.a", "invalid_type", "a string"),
    ({"metadata": {str(i): "" for i in range(17)}}, "metadata", "object_above_max_properties", "at most 16"),
    ({"logit_bias": {"x": 1}}, "logit_bias", "invalid_value", '"x"'),
    ({"logit_bias": {"1": 101}}, "logit_bias.1", "decimal_above_max_value", "at most 100"),
]


@pytest.fixture(scope="module")
def judge():
    return SchemaCheck.of_component("CreateChatCompletionRequest")


@pytest.mark.parametrize(("change", "param", "code", "message"), WRONG, ids=[f"{w[1]} {w[2]}" for w in WRONG])
def test_wrong_bodies(judge, change, param, code, message) -> None:
    body = {key: value for key, value in (copy.deepcopy(MINIMAL) | change).items() if value is not ...}
    with pytest.raises(ApiError) as caught:
        judge.require(body)
    assert (caught.value.param, caught.value.code) == (param, code)
    assert message in caught.value.message
    assert len(caught.value.message) < 500


CALL = {"type": "function_call", "name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    ("change", "param", "code", "message"),
    [
        ({"input": ...}, "input", "missing_required_parameter", "required"),
        ({"input": 5}, "input", "invalid_type", "a string or a list"),
        (
            {"input": [{"type": "funktion_call"}]},
            "input.0.type",
            "invalid_value",
            "function_call, function_call_output",
        ),
        ({"input": [{"type": "message"}]}, "input.0.role", "missing_required_parameter", "required"),
        ({"input": [{"role": "user", "content": []}]}, "input.0.content", "array_below_min_length", "at least 1"),
        (
            {"input": [{"role": "user", "content": [{"type": "text"}]}]},
            "input.0.content.0.type",
            "invalid_value",
            "input_text",
        ),
        ({"input": ["a"]}, "input.0", "invalid_type", "an object"),
        ({"input": [CALL | {"call_id": "c"}, CALL]}, "input.1.call_id", "invalid_value", "needs a call_id"),
        ({"tools": [{"type": "function"}]}, "tools.0.name", "missing_required_parameter", "required"),
        (
            {"tools": [{"type": "function", "function": {}}]},
            "tools.0.function.name",
            "missing_required_parameter",
            "required",
        ),
        ({"tools": [{"name": "f"}]}, "tools.0.type", "missing_required_parameter", "function, custom"),
        ({"tools": [{}]}, "tools.0.type", "missing_required_parameter", "function, custom"),
        ({"tool_choice": {}}, "tool_choice.type", "missing_required_parameter", "function, allowed_tools"),
        (
            {"metadata": {"k" * 65: "v"}},
            "metadata",
            "invalid_value",
            "its keys must be strings of at most 64 characters",
        ),
        ({"tools": [{"type": "hammer"}]}, "tools.0.type", "invalid_value", "function, custom"),
        ({"tool_choice": {"type": "hammer"}}, "tool_choice.type", "invalid_value", "function, allowed_tools"),
        ({"tool_choice": "must"}, "tool_choice", "invalid_value", '"none", "auto", "required"'),
        ({"text": {"format": {"type": "xml"}}}, "text.format.type", "invalid_value", "text, json_object, json_schema"),
        ({"conversation": "c", "previous_response_id": "r"}, "conversation", "invalid_value", "can't be combined"),
        ({"stream_options": {}}, "stream_options", "invalid_value", "stream to be true"),
    ],
)
def test_wrong_responses(change, param, code, message) -> None:
    body = {key: value for key, value in ({"model": "m", "input": "hi"} | change).items() if value is not ...}
    with pytest.raises(ApiError) as caught:
        SchemaCheck.of_component("CreateResponseRequest").require(body)
    assert (caught.value.param, caught.value.code) == (param, code)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("prompt", "param", "code", "message"),
    [
        ([-1], "prompt.0", "integer_below_min_value", "at least 0"),
        ([1, -1], "prompt.1", "integer_below_min_value", "at least 0"),
        ([1.5], "prompt.0", "invalid_type", "an integer"),
        ([2**31], "prompt.0", "integer_above_max_value", "at most 2147483647"),
        ([[]], "prompt.0", "array_below_min_length", "at least 1"),
        ([[1, "x"]], "prompt.0.1", "invalid_type", "an integer"),
        (["a", 1], "prompt.1", "invalid_type", "a string"),
        ([True], "prompt.0", "invalid_type", "a string"),
        ({}, "prompt", "invalid_type", "a string or a list"),
    ],
)
def test_wrong_prompts(prompt, param, code, message) -> None:
    with pytest.raises(ApiError) as caught:
        SchemaCheck.of_component("CreateCompletionRequest").require({"model": "m", "prompt": prompt})
    assert (caught.value.param, caught.value.code) == (param, code)
    assert message in caught.value.message


def test_many_prompts_have_few_choices() -> None:
    judge = SchemaCheck.of_component("CreateCompletionRequest")
    body = {"model": "m", "n": 9}
    judge.require(body | {"prompt": ["a"] * 16})
    judge.require(body | {"prompt": [1] * 100})
    judge.require(body | {"prompt": ["a"] * 128, "n": None})
    for prompt in (["a"] * 17, [[1]] * 17):
        with pytest.raises(ApiError, match="at most 8") as caught:
            judge.require(body | {"prompt": prompt})
        assert caught.value.param == "n"


@pytest.mark.parametrize("body", [[], "x", 1, None])
def test_a_body_that_is_no_object(judge, body) -> None:
    with pytest.raises(ApiError) as caught:
        judge.require(body)
    assert (caught.value.param, caught.value.code) == (None, "invalid_type")
    assert "must be an object" in caught.value.message


def test_of_many_errors_the_first_is_named(judge) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": ["a"] * 1000}] * 4}
    with pytest.raises(ApiError) as caught:
        judge.require(body)
    assert caught.value.param == "messages.0.content.0"


def test_a_right_body_passes(judge) -> None:
    judge.require(MINIMAL)
    judge.require(MINIMAL | {"temperature": None, "stream_options": None, "unknown": {"deep": [1]}})


TEXT = {"type": "string"}


def union(*branches):
    return {"anyOf": list(branches)}


UNIONS = talk(
    ask=object_of(
        tools={"type": "array", "items": ref("Tool")},
        input=union(TEXT, {"type": "array", "items": ref("Item")}),
        choice=union({"enum": ["auto", "none"]}, ref("Named")),
        prompt=union(
            TEXT,
            {"type": "array", "items": TEXT, "maxItems": 3},
            {"type": "array", "items": {"type": "integer"}},
            {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        ),
        plain=union(ref("Left"), ref("Right")),
        open=union(ref("Named"), ref("Free")),
    ),
    Tool=union(ref("Nested"), ref("Flat"), ref("Custom")),
    Nested=kind("function", function=ref("Function")),
    Flat=kind("function", name=TEXT, strict={"type": "boolean"}),
    Custom=kind("custom", custom=object_of()),
    Function=object_of(name=TEXT) | {"required": ["name"]},
    Item=union(ref("Message"), ref("Others")),
    Message=kind("message", role={"enum": ["user", "system"]}, content=TEXT) | {"required": ["role", "content"]},
    Others={"oneOf": [ref("Call"), ref("Output")]},
    Call=kind("call", name=TEXT),
    Output=kind("output", output=TEXT),
    Named=kind("named", name=TEXT),
    Left=object_of(left=TEXT) | {"required": ["left"]},
    Right=object_of(right=TEXT, far=TEXT) | {"required": ["right", "far"]},
    Free=object_of(type=TEXT, value=TEXT) | {"required": ["value"]},
)

KINDS = [
    ({"tools": [{"type": "x"}]}, "tools.0.type", "invalid_value", '"x", but must be one of function, custom'),
    ({"tools": [{"type": 5}]}, "tools.0.type", "invalid_type", "5, but must be one of function, custom"),
    ({"tools": [{"name": "f"}]}, "tools.0.type", "missing_required_parameter", "accepted values: function, custom"),
    ({"tools": [5]}, "tools.0", "invalid_type", "an object"),
    ({"tools": [{"type": "custom"}]}, "tools.0.custom", "missing_required_parameter", "required"),
    (
        {"tools": [{"type": "function", "function": {"name": 5}}]},
        "tools.0.function.name",
        "invalid_type",
        "5, but must be a string",
    ),
    (
        {"tools": [{"type": "function", "name": "f", "strict": "no"}]},
        "tools.0.strict",
        "invalid_type",
        "a boolean",
    ),
    ({"input": [{"type": "x"}]}, "input.0.type", "invalid_value", '"x", but must be one of message, call, output'),
    ({"input": [{"type": "call"}]}, "input.0.name", "missing_required_parameter", "required"),
    ({"input": [{"type": "output", "output": 5}]}, "input.0.output", "invalid_type", "a string"),
    ({"input": [{"role": "user", "content": 5}]}, "input.0.content", "invalid_type", "a string"),
    ({"input": [{"role": "boss", "content": "a"}]}, "input.0.role", "invalid_value", 'one of "user", "system"'),
    ({"input": [{"content": "a"}]}, "input.0.role", "missing_required_parameter", "required"),
    ({"input": 5}, "input", "invalid_type", "a string or a list"),
    ({"choice": "x"}, "choice", "invalid_value", 'one of "auto", "none"'),
    ({"choice": {"type": "named"}}, "choice.name", "missing_required_parameter", "required"),
    ({"choice": {"type": "x"}}, "choice.type", "invalid_value", '"named"'),
    ({"prompt": [1, "a"]}, "prompt.1", "invalid_type", "an integer"),
    ({"prompt": ["a", 1]}, "prompt.1", "invalid_type", "a string"),
    ({"prompt": ["a"] * 4}, "prompt", "array_above_max_length", "4 elements, but must have at most 3"),
    ({"prompt": [[1, "a"]]}, "prompt.0.1", "invalid_type", "an integer"),
    ({"plain": {"left": 1}}, "plain.left", "invalid_type", "a string"),
    ({"plain": {"right": "r", "far": 1}}, "plain.far", "invalid_type", "a string"),
    ({"plain": {}}, "plain.left", "missing_required_parameter", "required"),
    ({"open": {"type": "x", "value": 1}}, "open.value", "invalid_type", "a string"),
    ({"open": {"type": "x"}}, "open.type", "invalid_value", "named"),
]


@pytest.mark.parametrize(("body", "param", "code", "message"), KINDS, ids=str)
def test_unions_without_a_discriminator(body, param, code, message) -> None:
    schema = {"$ref": "#/components/schemas/Ask", "components": UNIONS["components"]}
    assert not jsonschema_rs.is_valid(schema, body)
    error = Explainer(Validators(schema)).explain(body)
    assert (error.param, error.code) == (param, code)
    assert message in error.message


def test_all_that_is_wrong_in_a_union_is_not_looked_at(monkeypatch) -> None:
    """The validator would try each branch on each of the parts: a megabyte of them would take it a minute."""
    tried = []
    original = Explainer._fits

    def fits(*given: Any) -> bool:
        tried.append(given)
        return original(*given)

    monkeypatch.setattr(Explainer, "_fits", fits)
    schema = {"$ref": "#/components/schemas/Ask", "components": UNIONS["components"]}
    error = Explainer(Validators(schema)).explain({"input": [{"type": "call", "name": 5}] * 10_000})
    assert error.param == "input.0.name"
    assert len(tried) < 20


@pytest.mark.parametrize("field", ["logit_bias", "metadata"])
def test_many_invalid_keys_take_no_copies_of_their_object(judge, field: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}], field: {f"{i:0>80}a": 1 for i in range(1000)}}
    tracemalloc.start()
    try:
        judge.error(body)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 10 * 2**20


@pytest.mark.parametrize("name", ["a/b", "a~b", "~1"])
def test_names_that_pointers_escape(name) -> None:
    schema = {"type": "object", "properties": {name: {"anyOf": [{"type": "integer"}]}}}
    error = Explainer(Validators(schema)).explain({name: "x"})
    assert (error.param, error.code) == (name, "invalid_type")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}),
        ({"dependentSchemas": {"a": {"properties": {"a": {"minimum": 2}}}}}, {"a": 1}),
        ({"contains": {"const": 1}}, [2]),
        ({"oneOf": [{"type": "integer"}, {"minimum": 0}]}, 1),
    ],
)
def test_every_violation_is_explained(schema, value) -> None:
    assert not jsonschema_rs.is_valid(schema, value)
    assert Explainer(Validators(schema)).explain(value).message


TURN = {
    "if": {"properties": {"role": {"const": "system"}}},
    "then": {"properties": {"content": {"not": {"type": "null"}}}},
    "else": {"required": ["content"]},
}


@pytest.mark.parametrize(
    ("schema", "value", "param"),
    [
        (TURN, {"role": "system", "content": None}, "content"),
        (TURN, {"role": "user"}, "content"),
        ({"items": TURN}, [{"role": "system"}, {"role": "user"}], "1.content"),
        ({"items": {"allOf": [TURN]}}, [{"role": "system", "content": None}], "0.content"),
        ({"prefixItems": [{}], "items": {"not": {"const": 1}}}, [1, 2, 1], "2"),
        ({"prefixItems": [{"type": "string"}]}, [1, 2], "0"),
    ],
)
def test_conditions_and_places_lead_to_what_is_wrong(schema, value, param) -> None:
    assert not jsonschema_rs.is_valid(schema, value)
    assert Explainer(Validators(schema)).explain(value).param == param


def test_reasons_are_found_without_another_copy_of_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry of the whole document takes 20 MB, which each endpoint would keep once it had an invalid request."""
    validators()
    sizes: list[int] = []
    registry = jsonschema_rs.Registry

    def counted(resources: list[tuple[str, Any]]) -> jsonschema_rs.Registry:
        sizes.extend(len(json.dumps(schema)) for _, schema in resources)
        return registry(resources)

    monkeypatch.setattr(jsonschema_rs, "Registry", counted)
    for component in ("CreateChatCompletionRequest", "CreateResponseRequest"):
        with pytest.raises(ApiError):
            SchemaCheck.of_component(component).require({"model": 1})
    with pytest.raises(ApiError):
        SchemaCheck.of_parameters("list_input_items").require({"order": "none"})
    assert sum(sizes) < 20_000
