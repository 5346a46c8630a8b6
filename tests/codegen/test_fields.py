"""Which fields there are, and their names."""

import pytest
from support.tiny_document import object_of, ref, talk

from specvino.codegen.fields import around, fields, parts

TEXT = {"type": "string"}


def test_names(real) -> None:
    names = [field.name for field in fields(real.document)]
    assert len(names) == len(set(names))
    assert {
        "chat.temperature",
        "chat.messages[].content[].text",
        "chat.messages[].tool_calls[].function.name",
        "chat.response.choices[].message.content",
        "chat.stream.choices[].delta.role",
        "chat.stream.usage",
        "models.response.data[].id",
        "error.response.error.code",
    } <= set(names)


def test_what_several_operations_answer_with_is_described_once(real) -> None:
    names = [field.name for field in fields(real.document)]
    assert "responses.response.output" in names
    assert not [name for name in names if name.startswith(("response.", "response_cancel."))]
    assert "response_deletion.response.deleted" in names


def test_errors_are_an_endpoint_of_their_own(real) -> None:
    assert not [field.name for field in fields(real.document) if field.endpoint == "chat" and "error" in field.path]


def test_branches_share_a_field(real) -> None:
    content = next(field for field in fields(real.document) if field.name == "chat.messages[].content")
    assert len(content.owners) == len(real.document["components"]["schemas"]["Message"]["oneOf"])


def test_a_schema_inside_itself_ends(spec, schemas) -> None:
    before = [field.name for field in fields(spec.document)]
    schemas["TextPart"]["properties"]["parts"] = {"type": "array", "items": {"$ref": "#/components/schemas/TextPart"}}
    added = {field.name for field in fields(spec.document)} - set(before)
    assert "chat.messages[].content[].parts" in added
    assert not [name for name in added if name.endswith("parts[].parts")]


def names_of(document, part):
    return [field.name for field in fields(document) if field.endpoint == "talk" and field.part == part]


def test_what_the_unary_answer_has_is_described_there() -> None:
    document = talk(
        answer=object_of(usage=ref("Usage"), items={"type": "array", "items": ref("Item")}),
        event=object_of(usage={"anyOf": [ref("Usage"), {"type": "null"}]}, item=ref("Item"), delta=ref("Delta")),
        Usage=object_of(tokens=TEXT),
        Item=object_of(id=TEXT),
        Delta=object_of(text=TEXT),
    )
    assert names_of(document, "stream") == [
        "talk.stream.usage",
        "talk.stream.item",
        "talk.stream.delta",
        "talk.stream.delta.text",
    ]
    assert "talk.response.usage.tokens" in names_of(document, "response")


def test_what_only_the_request_has_is_described_in_the_stream() -> None:
    document = talk(ask=object_of(item=ref("Item")), event=object_of(item=ref("Item")), Item=object_of(id=TEXT))
    assert names_of(document, "stream") == ["talk.stream.item", "talk.stream.item.id"]


def test_an_event_that_is_the_unary_answer_has_no_fields_but_its_part_is_there() -> None:
    document = talk(answer=object_of(id=TEXT), event={"anyOf": [ref("Answer"), ref("ErrorResponse")]})
    assert names_of(document, "stream") == []
    assert ("talk", "stream") in parts(document)


@pytest.mark.parametrize(
    ("path", "outer"), [("a", []), ("a[].b", ["a"]), ("a[].b.c", ["a[].b", "a"]), ("a.b[][].c", ["a.b", "a"])]
)
def test_the_fields_around_one(path, outer) -> None:
    assert list(around(path)) == outer
