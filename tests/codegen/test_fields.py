"""Which fields there are, and their names."""

from specvino.codegen.fields import fields


def test_names(real):
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


def test_what_several_operations_answer_with_is_described_once(real):
    names = [field.name for field in fields(real.document)]
    assert "responses.response.output" in names
    assert not [name for name in names if name.startswith(("response.", "response_cancel."))]
    assert "response_deletion.response.deleted" in names


def test_errors_are_an_endpoint_of_their_own(real):
    assert not [field.name for field in fields(real.document) if field.endpoint == "chat" and "error" in field.path]


def test_branches_share_a_field(real):
    content = next(field for field in fields(real.document) if field.name == "chat.messages[].content")
    assert len(content.owners) == len(real.document["components"]["schemas"]["Message"]["oneOf"])


def test_a_schema_inside_itself_ends(spec, schemas):
    before = [field.name for field in fields(spec.document)]
    schemas["TextPart"]["properties"]["parts"] = {"type": "array", "items": {"$ref": "#/components/schemas/TextPart"}}
    added = {field.name for field in fields(spec.document)} - set(before)
    assert added == {"chat.messages[].content[].parts"}
