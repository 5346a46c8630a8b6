"""A document says the same in OpenAPI 3.1 and in 3.2."""

import copy

from openapi_spec_validator import OpenAPIV31SpecValidator

from specvino.document.loading import dialect_file, load, lowered, systems, whole
from specvino.document.operations import by_endpoint
from specvino.document.versions import to_31, to_32


def test_31_is_valid_and_keeps_the_schema_of_events() -> None:
    document = lowered()
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    stream = document["paths"]["/chat/completions"]["post"]["responses"]["200"]["content"]["text/event-stream"]
    assert stream["x-itemSchema"] == {"$ref": "#/components/schemas/ChatCompletionServerSentEvent"}
    assert stream["schema"]["type"] == "string"
    assert document["components"] == whole()["components"]
    assert "itemSchema" not in str(document["paths"]).replace("x-itemSchema", "")


def test_nothing_is_changed_in_place() -> None:
    before = copy.deepcopy(whole())
    to_31(whole())
    assert whole() == before


def test_ours_comes_back_but_for_what_3_1_has_no_place_for() -> None:
    raised = to_32(lowered())
    named = [
        {**server, "name": each["name"]} for server, each in zip(raised["servers"], whole()["servers"], strict=True)
    ]
    tags = [{**tag, "kind": "nav"} for tag in raised["tags"]]
    assert raised | {"servers": named, "tags": tags} == whole()


def test_that_of_another_system_keeps_its_events() -> None:
    for system in systems():
        document = load(dialect_file(system))
        raised = to_32(document)
        assert raised["openapi"] == "3.2.0"
        assert by_endpoint(raised)["chat"].event == by_endpoint(document)["chat"].event
        assert "x-itemSchema" not in str(raised)
