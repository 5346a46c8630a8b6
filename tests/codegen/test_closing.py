"""Objects in the requests of a system that refuses unknown fields."""

import copy
from typing import Any

import pytest
from support.tiny_document import dialect, object_of, ref, talk

from specvino.codegen.closing import close_requests
from specvino.codegen.project import project
from specvino.document.loading import dialect_file, load
from specvino.document.operations import by_endpoint
from specvino.document.validator import Validators

TEXT = {"type": "string"}


def closed(ask, **schemas):
    document = talk(ask, answer=object_of(part=ref("Part")), **schemas)
    close_requests(document)
    return document["components"]["schemas"]


def test_objects_at_every_depth_are_closed() -> None:
    inner = {"type": "object", "properties": {"a": TEXT}}
    ask = object_of(
        one=copy.deepcopy(inner),
        some={"type": "array", "items": copy.deepcopy(inner)},
        either={"anyOf": [copy.deepcopy(inner), TEXT]},
        map={"type": "object", "additionalProperties": copy.deepcopy(inner)},
        free={"type": "object"},
        open={**copy.deepcopy(inner), "additionalProperties": True},
    )
    ask["allOf"] = [{"properties": {"one": {"required": ["a"]}}}, {"if": {"required": ["one"]}, "then": False}]
    schema = closed(ask, Part=object_of(x=TEXT))["Ask"]
    fields = schema["properties"]
    schemas = [schema, fields["one"], fields["some"]["items"], fields["either"]["anyOf"][0]]
    assert [closed_schema["additionalProperties"] for closed_schema in schemas] == [False] * 4
    assert fields["map"]["additionalProperties"]["additionalProperties"] is False
    assert "additionalProperties" not in fields["free"]
    assert fields["open"]["additionalProperties"] is True
    assert schema["allOf"][0] == {"properties": {"one": {"required": ["a"]}}}


def test_what_answers_share_with_requests_stays_open_in_answers() -> None:
    schemas = closed(object_of(part=ref("Part")), Part=object_of(inner=ref("Inner")), Inner=object_of(x=TEXT))
    assert schemas["Ask"]["properties"]["part"]["$ref"] == ref("RequestPart")["$ref"]
    assert schemas["RequestPart"]["properties"]["inner"]["$ref"] == ref("RequestInner")["$ref"]
    assert [schemas[name]["additionalProperties"] for name in ("RequestPart", "RequestInner")] == [False, False]
    assert schemas["Part"] == object_of(inner=ref("Inner"))
    assert "additionalProperties" not in schemas["Inner"]


def test_a_shared_map_is_not_copied() -> None:
    schemas = closed(object_of(part=ref("Part")), Part={"type": "object"})
    assert "RequestPart" not in schemas


@pytest.mark.parametrize(("unknown", "fits"), [("refused", False), ("ignored", True)])
def test_only_systems_that_refuse_unknown_fields_have_closed_objects(unknown, fits) -> None:
    document = project(
        talk(object_of(n={"type": "integer"})),
        dialect(request={"n": "full"}, response={}) | {"unknown_fields": unknown},
    )
    check = Validators(document).of(ref("Ask"))
    assert check.fits({"n": 1})
    assert check.fits({"n": 1, "other": 1}) is fits


def refusing(system, endpoint):
    document = load(dialect_file(system))
    return Validators(document).of(by_endpoint(document)[endpoint].body or {})


CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
RESPONSE = {"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}]}


def test_openai_refuses_fields_that_it_does_not_have(real) -> None:
    """Every top-level field that its dialect calls refused, and some inside."""
    for endpoint, body in (
        ("chat", CHAT),
        ("completions", {"model": "m", "prompt": "Hello"}),
        ("responses", RESPONSE),
    ):
        check = refusing("openai", endpoint)
        assert check.fits(body)
        named = by_endpoint(real.document)[endpoint].body_component
        fields = real.document["components"]["schemas"][named]["properties"]
        refused = [
            name
            for name, field in fields.items()
            if field.get("x-support", {}).get(f"{endpoint}.{name}", {}).get("openai") == "refused"
        ]
        assert len(refused) > 10
        assert [name for name in refused if check.fits({**body, name: None}) or check.fits({**body, name: 1})] == []
    assert not refusing("openai", "chat").fits({**CHAT, "stream_options": {"include_usage": True, "unknown": 1}})
    part = {"type": "input_text", "text": "Hello", "unknown": 1}
    assert not refusing("openai", "responses").fits({**RESPONSE, "input": [{"role": "user", "content": [part]}]})


def _with(message):
    return {**CHAT, "messages": [*CHAT["messages"], message]}


ASKED, PNG = {"role": "user", "content": "Hello"}, {"url": "data:image/png;base64,iVBORw0K"}
TEXT_PART = {"type": "text", "text": "Hello"}
ANSWERED: dict[str, Any] = {"role": "assistant", "content": "Hello", "refusal": None, "annotations": []}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def test_a_message_of_an_answer_can_be_sent_back_to_openai_as_it_is() -> None:
    check = refusing("openai", "chat")
    audio = {"id": "a", "data": "", "expires_at": 1, "transcript": "Hello"}
    assert check.fits(_with(ANSWERED | {"tool_calls": [CALL]}))
    assert check.fits(_with(ANSWERED | {"content": None, "audio": audio}))


@pytest.mark.parametrize(
    ("message", "more"),
    [
        (ASKED, {"reasoning_content": "Hm"}),
        (ASKED, {"unknown": 1}),
        (ASKED, {"content": [TEXT_PART | {"unknown": 1}]}),
        (ASKED, {"content": [{"type": "image_url", "image_url": PNG | {"max_dynamic_patch": 1}}]}),
        (ANSWERED, {"reasoning_content": "Hm"}),
        (ANSWERED, {"tool_calls": [CALL | {"unknown": 1}]}),
    ],
)
def test_openai_refuses_fields_in_messages_that_it_does_not_have(message, more) -> None:
    check = refusing("openai", "chat")
    assert check.fits(_with(message))
    assert not check.fits(_with(message | more))


@pytest.mark.parametrize(
    ("system", "endpoint", "body", "refused", "accepted"),
    [
        ("vllm", "responses", RESPONSE, {"prompt": {"id": "p"}}, {"prompt": None}),
        ("ovms", "responses", RESPONSE, {"stream_options": None, "stream": True}, {"stream": True}),
        (
            "ovms",
            "chat",
            CHAT | {"stream": True},
            {"stream_options": {"include_obfuscation": True}},
            {"stream_options": {"include_usage": True}},
        ),
        # Refused with the types that vLLM doesn't have; beside others it is an unknown field.
        (
            "vllm",
            "chat",
            CHAT,
            {"response_format": {"type": "const_string", "value": "a"}},
            {"response_format": {"type": "text", "value": "a"}},
        ),
    ],
)
def test_others_refuse_single_fields(system, endpoint, body, refused, accepted) -> None:
    check = refusing(system, endpoint)
    assert not check.fits(body | refused)
    assert check.fits(body | accepted)


def test_mlc_llm_refuses_tool_calls() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    check = refusing("mlc-llm", "chat")
    for calls, fits in ((None, True), ([], False), ([call], False)):
        messages = [*CHAT["messages"], {"role": "assistant", "content": "Hi", "tool_calls": calls}]
        assert check.fits({**CHAT, "messages": messages}) is fits, calls
