"""Names, titles, references."""

from specvino.codegen.lint import lint


def test_a_dangling_reference(request_fields, only) -> None:
    request_fields["messages"]["items"] = {"$ref": "#/components/schemas/Mesage"}
    only("reference", "messages/items", "#/components/schemas/Mesage points at nothing")


def test_a_dangling_mapping(schemas, only) -> None:
    schemas["Message"]["discriminator"]["mapping"]["user"] = "#/components/schemas/Nobody"
    only("reference", "schemas/Message", "Nobody points at nothing")


def test_a_title(schemas, only) -> None:
    schemas["Usage"]["title"] = "TokenUsage"
    only("title", "Usage", "'TokenUsage'", "must be the name, Usage")


def test_an_inline_object(schemas, only) -> None:
    delta = {key: value for key, value in schemas["ChatDelta"].items() if key != "title"}
    schemas["ChatChunkChoice"]["properties"]["delta"]["anyOf"] = [delta]
    only("named", "ChatChunkChoice/properties/delta/anyOf/0", "an object with properties is a named component")


def test_an_inline_union(request_fields, only) -> None:
    messages = ("SystemMessage", "UserMessage")
    request_fields["user"]["anyOf"] = [{"$ref": f"#/components/schemas/{name}"} for name in messages]
    only("named", "user", "a union of objects is a named component")


def test_an_inline_one_of(request_fields, only) -> None:
    request_fields["user"]["oneOf"] = [{"type": "string", "maxLength": 3}]
    only("named", "user", "a union of objects is a named component")


def test_an_inline_body(spec, only) -> None:
    content = spec.document["paths"]["/version"]["get"]["responses"]["200"]["content"]
    content["application/json"]["schema"] = {"allOf": [{"$ref": "#/components/schemas/Version"}]}
    only("named", "GET /version 200 application/json schema", "a body is a named component")


def test_an_unused_component(schemas, only) -> None:
    schemas["Lonely"] = {"type": "string", "title": "Lonely", "description": "Nobody asks for it."}
    only("unused", "components/schemas/Lonely")


def test_an_unused_response(spec, only) -> None:
    responses = spec.document["components"]["responses"]
    responses["Lonely"] = responses["BadRequest"]
    problems = [problem for problem in lint(spec) if problem.rule == "unused"]
    assert [problem.location for problem in problems] == ["components/responses/Lonely"]
