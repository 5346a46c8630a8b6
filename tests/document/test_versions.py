"""A document of OpenAPI 3.1 says the same in 3.2."""

from specvino.document.loading import OPENAPI_31, dialect_file, load, systems, whole
from specvino.document.operations import by_endpoint
from specvino.document.versions import to_32


def test_ours_comes_back_but_for_what_3_1_has_no_place_for() -> None:
    raised = to_32(load(OPENAPI_31))
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
