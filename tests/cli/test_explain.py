"""What is shown of a field."""

import io
import re

import pytest
from rich.console import Console
from support.exhaustive import sampled
from support.tiny_document import dialect, kind, object_of, ref, talk

from specvino.cli.explain import System, UnknownField, explain_field
from specvino.codegen.fields import fields
from specvino.codegen.merge import merge_support
from specvino.document.loading import dialect_file, load, systems, whole
from specvino.portal.variants import owners


def explain(name, document=None, of=None):
    shown = io.StringIO()
    system = of and System(of, load(dialect_file(of)))
    explain_field(name, document or whole(), Console(file=shown, width=240), system)
    return shown.getvalue()


def lines(shown):
    """The lines, runs of spaces as one."""
    return [" ".join(line.split()) for line in shown.splitlines()]


def asked(ask, **schemas):
    """A document whose request is `ask`; one system has all of its fields."""
    document = talk(ask=ask, **schemas)
    merge_support(document, {"odd": dialect(request=dict.fromkeys(ask["properties"], "full"))})
    return document


def test_explain_shows_what_the_document_says() -> None:
    shown = lines(explain("chat.temperature"))
    for line in (
        "type number or null",
        "at least 0",
        "at most 2",
        "default 1",
        "defined by openai",
        "specvino supported",
    ):
        assert line in shown
    assert any(line.startswith("vllm full Defaults to the model's generation config") for line in shown)
    for system in systems():
        assert any(line.startswith(f"{system} ") for line in shown)


def test_explain_what_is_supported() -> None:
    assert "supported values an empty object" in lines(explain("chat.vllm_xargs"))


def test_explain_shows_remarks_beside_the_handling() -> None:
    document = asked(
        object_of(
            one={"type": "string", "x-implementation-note": "Not read."},
            two=ref("Two") | {"x-implementation-note": "Nor this."},
            three={"type": "array", "items": {"anyOf": [ref("Two"), {"type": "integer"}]}},
        ),
        Two={"type": "string", "maxLength": 3, "x-implementation-note": "One of two."},
    )
    assert "specvino supported. Not read." in lines(explain("talk.one", document))
    assert "specvino supported. Nor this. One of two." in lines(explain("talk.two", document))
    three = lines(explain("talk.three", document))
    assert "specvino supported" in three
    assert "schema list of Two (at most 3 characters): One of two." in three
    assert "schema list of integer" in three


def test_explain_shows_remarks_of_what_is_sent() -> None:
    document = talk(answer=object_of(one={"x-emit": "always", "x-implementation-note": "Empty."}))
    del document["components"]["schemas"]["Answer"]["properties"]["one"]["x-handling"]
    merge_support(document, {"odd": dialect(response={"one": "full"})})
    shown = lines(explain("talk.one", document))
    assert shown[shown.index("specvino Empty.") + 1] == "sent always"


def test_explain_shows_every_part_of_that_name() -> None:
    shown = explain("chat.usage")
    assert "chat.response.usage" in shown
    assert "chat.stream.usage" in shown
    assert "when stream_options.include_usage is true" in shown
    assert "chat.response.usage" not in explain("chat.stream.usage")


def test_explain_shows_the_branches_and_their_bounds() -> None:
    shown = explain("chat.stop")
    assert "string (at least 1 character; at most 1024 characters)" in shown
    assert "list of string (at least 1 character; at most 1024 characters) (at most 16 elements)" in shown
    assert "schema values none, auto, required" in lines(explain("chat.tool_choice"))


def test_explain_joins_the_branches_of_a_union() -> None:
    shown = lines(explain("chat.messages[].role"))
    assert shown[0] == "chat.messages[].role The role of the message's author."
    assert "values assistant, developer, function, system, tool, user" in shown


def test_explain_tells_the_branches_apart() -> None:
    shown = lines(explain("chat.messages[].content"))
    assert shown[0] == "chat.messages[].content"
    user = shown[shown.index("UserMessage: The message's content.") :]
    assistant = shown[shown.index("AssistantMessage: The message's content; null or absent beside tool calls.") :]
    assert "schema list of AudioPart (at most 1024 elements)" in user
    assert "schema list of AudioPart (at most 1024 elements)" not in assistant[: assistant.index(user[0])]
    assert "DeveloperMessage, SystemMessage: The message's content." in shown
    assert shown.count("system support note") == 1


@pytest.mark.parametrize(
    ("name", "heads", "facts"),
    [
        (
            "chat.messages[].content[].type",
            ["AudioPart, FilePart:", "ImagePart, RefusalPart, TextPart:"],
            [
                ["values input_audio, file", "specvino unsupported"],
                ["values image_url, refusal, text", "specvino supported"],
            ],
        ),
        (
            "responses.response.output[].type",
            ["OutputCompaction, OutputCustomToolCall, OutputFunctionCall, OutputMessage,", "OutputHostedToolItem:"],
            [
                [
                    "values compaction, custom_tool_call, function_call, message, reasoning, tool_search_call",
                    "sent always",
                ],
                ["sent never"],
            ],
        ),
    ],
)
def test_explain_tells_handling_and_emissions_apart(name, heads, facts) -> None:
    shown = lines(explain(name))
    places = [next(row for row, line in enumerate(shown) if line.startswith(head)) for head in heads]
    assert places == sorted(places)
    for wanted, start, end in zip(facts, places, [*places[1:], len(shown)], strict=True):
        assert set(wanted) <= set(shown[start:end])


def test_explain_names_few_of_many_branches() -> None:
    shown = explain("responses.stream.type")
    assert re.search(r"^ResponseAudioDeltaEvent, .* and \d+ more:  The event's type\.$", shown, re.MULTILINE)


def test_explain_needs_no_names_where_all_branches_say_the_same() -> None:
    assert explain("responses.stream.sequence_number").startswith(
        "responses.stream.sequence_number  The number of the event in "
    )


def test_explain_keeps_brackets() -> None:
    assert "chat.stream.choices[].delta.content" in explain("chat.stream.choices[].delta.content")


@pytest.mark.parametrize("part", sampled(range(10), 0))
def test_a_field_is_explained_as_each_of_its_owners_has_it(monkeypatch, part) -> None:
    document = whole()
    known = owners(document["components"]["schemas"])  # once, not for each of them
    monkeypatch.setattr("specvino.cli.explain.owners", lambda schemas: known)
    all_fields = fields(document)
    assert len(all_fields) > 700
    for field in all_fields[part::10]:
        shown = explain(field.name, document)
        assert field.name in shown
        for system in systems():
            levels = rf"^ *{system} +(full|partial|ignored|refused|absent|unknown)\b"
            assert len(re.findall(levels, shown, re.MULTILINE)) == shown.count("support    note"), field.name
        shown = " ".join(shown.split())
        for owner in field.owners:
            for key in ("description", "x-handling", "x-implementation-note", "x-emit"):
                assert " ".join(owner.get(key, "").split()) in shown, (field.name, key)


def test_explain_follows_what_events_have_in_common_with_the_unary_answer() -> None:
    assert explain("chat.stream.usage.total_tokens").startswith("chat.response.usage.total_tokens ")


def test_explain_follows_lists_and_unions_too() -> None:
    document = talk(
        answer=object_of(items={"type": "array", "items": ref("Item")}),
        event=object_of(answer={"anyOf": [ref("Answer"), {"type": "null"}]}),
        Item={"anyOf": [ref("Call"), ref("Text")]},
        Call=kind("call", name={"type": "string"}),
        Text=kind("text", text={"type": "string"}),
    )
    sends = {"level": "partial", "note": "A number.", "schema": {"type": "integer"}, "nullable": True, "required": True}
    system = dialect(response={"items": "full", "items[].name": sends}, stream={"answer": "full"})
    merge_support(document, {"odd": system})
    shown = explain("talk.stream.answer.items[].name", document)
    assert shown.startswith("talk.response.items[].name")
    assert "odd partial A number. (integer; may be null; required)" in lines(shown)
    with pytest.raises(UnknownField, match=r"unknown field talk\.stream\.answer\.items\[\]\.nam;"):
        explain("talk.stream.answer.items[].nam", document)


def test_a_field_of_a_system() -> None:
    shown = lines(explain("chat.top_k", of="ovms"))
    assert "type integer or null" in shown
    assert not any(line.startswith(("default", "specvino", "vllm")) for line in shown)
    assert any(line.startswith("ovms full Defaults to the model's own") for line in shown)


def test_a_field_of_an_older_version() -> None:
    assert "default 0" in lines(explain("chat.frequency_penalty", of="vllm@0.29"))
    assert "default 0" not in lines(explain("chat.frequency_penalty", of="vllm"))
    assert "vllm@0.29 absent" in lines(explain("responses.response.output[].input", of="vllm@0.29"))


def test_a_field_that_a_system_lacks_is_only_named() -> None:
    shown = lines(explain("chat.top_k", of="openai"))
    assert shown[1:4] == ["defined by ovms", "system support note", "openai refused"]


def test_a_field_of_kinds_of_objects_in_a_system() -> None:
    shown = lines(explain("chat.messages[].content", of="sglang"))
    assert shown[1] == "DeveloperMessage, SystemMessage: The message's content."
    assert not any(line.startswith(":") for line in shown)
