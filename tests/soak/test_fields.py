"""Each field of the document is attacked, with values that the server has to work on."""

from random import Random

import pytest

from soak.hostile.fields import Requests, fields
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
