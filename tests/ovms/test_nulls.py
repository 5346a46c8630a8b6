"""null means absent for every optional field."""

from collections.abc import Iterator
from typing import Any

import pytest

from specvino.document.loading import whole
from specvino.document.validator import Validators
from specvino.generated.handlers import OPERATIONS

LEAST: dict[str, dict[str, Any]] = {
    "create_chat_completion": {"messages": [{"role": "user", "content": "hello"}]},
    "create_completion": {"prompt": "hello"},
    "create_response": {"input": "hello"},
    "count_input_tokens": {"input": "hello"},
    "compact_response": {"input": "hello"},
    "create_conversation": {},
    "update_conversation": {"metadata": {}},
    "create_conversation_items": {"items": []},
    "create_message": {"max_tokens": 5, "messages": [{"role": "user", "content": "hello"}]},
    "count_message_tokens": {"messages": [{"role": "user", "content": "hello"}]},
    "ollama_chat": {"messages": [{"role": "user", "content": "hello"}]},
    "ollama_generate": {"prompt": "hello"},
    "tokenize": {"text": "hello"},
    "detokenize": {"tokens": [1]},
}

# A form in XGrammar's words has the properties of its type, and a kind is no field that could be left empty.
WORDS_OF_XGRAMMAR = "ResponseFormatStructuralTag"
KIND = "const"

Schema = dict[str, Any]


def optional(schema: Schema, path: str, seen: set[str]) -> Iterator[tuple[str, Schema]]:
    """The optional fields of a request's schema and of all objects in it."""
    if reference := schema.get("$ref"):
        name = reference.rsplit("/", 1)[1]
        if name not in seen and name != WORDS_OF_XGRAMMAR:
            seen.add(name)
            yield from optional(whole()["components"]["schemas"][name], path, seen)
    for name, field in schema.get("properties", {}).items():
        if name not in schema.get("required", ()) and KIND not in field:
            yield f"{path}.{name}", field
        yield from optional(field, f"{path}.{name}", seen)
    if isinstance(items := schema.get("items"), dict):
        yield from optional(items, f"{path}[]", seen)
    for branch in schema.get("anyOf", ()):
        yield from optional(branch, path, seen)


OPTIONAL = {id: list(optional({"$ref": f"#/components/schemas/{OPERATIONS[id].body}"}, "", set())) for id in LEAST}


def test_all_requests_are_here() -> None:
    assert LEAST.keys() == {id for id, operation in OPERATIONS.items() if operation.body}
    assert {id for id, fields in OPTIONAL.items() if not fields} == {"update_conversation"}
    assert {id for id, fields in OPTIONAL.items() if 0 < len(fields) < 4} == {"detokenize"}


@pytest.mark.parametrize("id", LEAST)
def test_the_document_allows_it(id) -> None:
    validators = Validators(whole())
    assert [path for path, schema in OPTIONAL[id] if not validators.of(schema).is_valid(None)] == []


@pytest.mark.parametrize("id", LEAST)
def test_the_server_answers_as_if_nothing_was_said(clients, id) -> None:
    client, operation = clients("text"), OPERATIONS[id]
    conversation = client.post("/v1/conversations", json={}).json()["id"]
    nulls = {path[1:]: None for path, _ in OPTIONAL[id] if not set(".[") & set(path[1:])}
    named = {"model": "m"} if "model" in whole()["components"]["schemas"][operation.body]["properties"] else {}
    path = operation.path.format(conversation_id=conversation)
    response = client.post(f"/v1{path}", json={**nulls, **named, **LEAST[id]})
    assert response.status_code == 200, response.text
    assert "x-unsupported-params" not in response.headers
