"""Each field of the document is attacked, with values that the server has to work on."""

from random import Random

import pytest

from soak.hostile.fields import ATTACKS, Requests, fields, headers
from specvino.document.loading import validators, whole
from specvino.document.operations import by_endpoint, operations
from specvino.document.pointers import resolved
from specvino.document.transforms import copied


def test_a_new_field_is_attacked_wherever_it_is() -> None:
    document = copied(whole())
    planted = {"planted": {"type": "string", "maxLength": 9}}
    schemas = document["components"]["schemas"]
    for name in ("CreateChatCompletionRequest", "FunctionDefinition"):
        schemas[name] = {**schemas[name], "properties": {**schemas[name]["properties"], **planted}}
    named = [field.name for field in fields(document, schemas["CreateChatCompletionRequest"])]
    assert "planted" in named
    assert "tools[].function.planted" in named


def test_every_field_of_every_body_has_its_turn() -> None:
    bodies = [operation.body for operation in operations(whole()) if operation.body]
    for body in bodies:
        sent = {field.top for field in fields(whole(), body)}
        assert sent == resolved(whole(), body)["properties"].keys()
    assert len(bodies) > 10


@pytest.mark.parametrize("endpoint", ["chat", "completions", "responses", "messages", "tokenize"])
def test_most_are_valid(endpoint: str) -> None:
    """What validation refuses costs nothing more."""
    requests, random = Requests(by_endpoint(whole())[endpoint]), Random(1)
    validator = validators().of(requests.operation.body or {})
    valid = [validator.fits({"model": "m", **(requests.body(random) or {})}) for _ in range(40)]
    assert sum(valid) > 20


def test_messages_of_a_websocket_and_headers_are_drawn_from_the_document() -> None:
    (operation,) = (one for one in operations(whole()) if "x-websocket" in one.definition)
    schema = operation.definition["x-websocket"]["request"]
    drawn = Requests(operation, schema)
    sent = {field.top for field in fields(whole(), schema)}
    assert sent == resolved(whole(), schema)["properties"].keys() >= {"type", "generate", "stream_id"}
    assert {key for seed in range(200) for key in drawn.body(Random(seed)) or {}} == sent
    known = {parameter["name"].lower() for one in operations(whole()) for parameter in one.parameters_in("header")}
    assert known
    assert known <= {name for one in operations(whole()) for name in headers(one)}
    assert {"authorization", "x-api-key"} <= set(headers(operation))
    assert len(ATTACKS) == 1 + sum(bool(one.body or one.parameters) for one in operations(whole()))


def test_headers_can_be_sent() -> None:
    requests = Requests(by_endpoint(whole())["messages"])
    values = [requests.headers(Random(seed)) for seed in range(200)]
    assert {name for value in values for name in value} == set(headers(requests.operation))
    assert all(text.isascii() and text.isprintable() and text for value in values for text in value.values())
    assert any(len(text) > 10_000 for value in values for text in value.values())
