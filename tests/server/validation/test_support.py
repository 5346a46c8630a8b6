"""Fields without effect are found: unknown names and values that aren't supported, wherever they stand."""

import sys
import types

import pytest
from support.app import MINIMAL
from support.tiny_document import kind, object_of, ref, talk

from specvino.codegen.emit import tables
from specvino.handlers.errors import ApiError
from specvino.server.validation import support
from specvino.server.validation.support import apply, header

CHAT = "CreateChatCompletionRequest"


def names(**fields):
    return apply("report", MINIMAL | fields, CHAT)


def test_nothing_to_report() -> None:
    assert names(temperature=1, user="u", metadata={"any": "thing"}, seed=None) == []


def test_unknown_names_at_every_depth() -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "a", "cache": 1}]},
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "extra": 0}}]},
        {"role": "user", "tool_calls": []},
    ]
    assert names(messages=messages, foo=1, stream=True, stream_options={"bar": 1}) == [
        "messages.0.content.0.cache",
        "messages.1.tool_calls.0.function.extra",
        "messages.2.tool_calls",
        "foo",
        "stream_options.bar",
    ]


def test_an_unsupported_field_counts_only_where_it_asks_for_something() -> None:
    assert names(vllm_xargs={"1": 5}) == ["vllm_xargs"]
    assert names(vllm_xargs={}) == []
    assert names(vllm_xargs=None) == []


def test_free_maps_are_not_searched() -> None:
    assert names(metadata={"foo": "x"}, unknown={"inner": 1}) == ["unknown"]


def test_reject_names_the_first() -> None:
    with pytest.raises(ApiError) as caught:
        apply("reject", MINIMAL | {"vllm_xargs": {"1": 5}}, CHAT)
    assert (caught.value.code, caught.value.param) == ("unsupported_parameter", "vllm_xargs")
    with pytest.raises(ApiError) as caught:
        apply("reject", MINIMAL | {"foo": 1}, CHAT)
    assert (caught.value.code, caught.value.param) == ("unknown_parameter", "foo")
    assert apply("reject", MINIMAL, CHAT) == []


def test_ignore() -> None:
    assert apply("ignore", MINIMAL | {"foo": 1}, CHAT) == []


def test_long_names_and_many_of_them_are_cut() -> None:
    reported = names(**{"k" * 200_000: 0}, **{f"x{i}": 0 for i in range(100)})
    assert len(reported) == 16
    assert reported[0] == "k" * 100


def test_header_is_ascii_and_short() -> None:
    assert header(["a", "messages.0.x y", "é,", "b[]"]) == "a, messages.0.x%20y, %C3%A9%2C, b[]"
    assert header([""]) == "%22%22"
    assert len(header(["你" * 100] * 16)) <= 2048
    assert header(["你" * 100] * 16).count(", ") == 1
    assert header([str(i) for i in range(100)]).count(",") == 15


TEXT = {"type": "string"}

UNIONS = talk(
    ask=object_of(
        tools={"type": "array", "items": ref("Tool")},
        input={"anyOf": [TEXT, {"type": "array", "items": ref("Item")}]},
        choice={"anyOf": [{"enum": ["auto"]}, ref("Named"), {"type": "object", "additionalProperties": True}]},
        format=ref("Format")
        | {"x-handling": "unsupported", "x-supported-values": {"properties": {"type": {"const": "text"}}}},
        reasoning=ref("Reasoning") | {"x-handling": "unsupported"},
        limit=ref("Reasoning") | {"x-supported-values": {"required": ["effort"]}},
    ),
    Tool={"anyOf": [ref("Nested"), ref("Flat"), ref("Custom")]},
    Nested=kind("function", function=ref("Function")),
    Flat=kind("function", name=TEXT),
    Custom=kind("custom", custom=object_of()),
    Function=object_of(name=TEXT),
    Item={"anyOf": [ref("Message"), ref("Call"), ref("Output")]},
    Message=kind("message", role=TEXT, content={"type": "array", "items": ref("Part")})
    | {"required": ["role", "content"]},
    Part=kind("text", text=TEXT),
    Call=kind("call", name=TEXT),
    Output=kind("output", output=TEXT),
    Named=kind("named", name=TEXT),
    Format={"anyOf": [ref("TextFormat"), ref("SchemaFormat")]},
    TextFormat=kind("text"),
    SchemaFormat=kind("schema", schema={"type": "object"}),
    Reasoning=object_of(effort=TEXT),
)


@pytest.fixture
def ask(monkeypatch):
    """What is reported of a body of the document above."""
    module = types.ModuleType("support_of_a_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(tables.support(UNIONS), module.__dict__)
    monkeypatch.setattr(support, "SHAPES", module.SHAPES)
    monkeypatch.setattr(support, "UNIONS", module.UNIONS)
    for cached in (support._plain, support._validator):
        cached.cache_clear()
    yield lambda **body: apply("report", body, "Ask")
    for cached in (support._plain, support._validator):
        cached.cache_clear()


def test_the_meant_branch_has_what_is_required(ask) -> None:
    assert ask(tools=[{"type": "function", "function": {"name": "f", "odd": 1}}]) == ["tools.0.function.odd"]
    assert ask(tools=[{"type": "function", "name": "f", "odd": 1}]) == ["tools.0.odd"]
    assert ask(tools=[{"type": "function", "name": "f", "custom": {}}, {"type": "custom", "custom": {}}]) == [
        "tools.0.custom"
    ]


def test_of_two_that_fit_the_first_is_meant(ask) -> None:
    assert ask(tools=[{"type": "function", "function": {}, "name": "f"}]) == ["tools.0.name"]


def test_a_branch_whose_kind_may_be_left_out(ask) -> None:
    part = {"type": "text", "text": "hi", "odd": 1}
    messages = [{"role": "user", "content": [part]}, {"type": "message", "role": "user", "content": [part], "odd": 1}]
    assert ask(input=messages) == ["input.0.content.0.odd", "input.1.content.0.odd", "input.1.odd"]
    assert ask(input=[{"type": None, "role": "user", "content": [], "odd": 1}]) == []
    assert ask(input="hi") == []


def test_a_map_beside_objects_is_not_searched(ask) -> None:
    assert ask(choice={"any": {"thing": 1}}) == []
    assert ask(choice={"type": "named", "name": "f", "odd": 1}) == ["choice.odd"]
    assert ask(choice="auto") == []


def test_an_object_that_asks_for_what_is_supported(ask) -> None:
    assert ask(format={"type": "text"}) == []
    assert ask(format={"type": "text", "odd": 1}) == ["format.odd"]
    assert ask(format={"type": "schema", "schema": {"a": 1}}) == ["format"]
    assert ask(reasoning={"effort": "low", "odd": 1}) == ["reasoning"]
    assert ask(limit={"effort": "low", "odd": 1}) == ["limit.odd"]
    assert ask(limit={}) == ["limit"]
