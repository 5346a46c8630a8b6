"""A conversation keeps what is put into it, and a response answers after its items."""

from typing import Any

import httpx
import pytest

from proofs import proves
from proofs.asking import Ask
from proofs.conftest import Run
from proofs.test_input_tokens import IMAGES, TOOLS, tool, with_images
from proofs.test_items import PLACES, user

Item = dict[str, Any]

METADATA = {"topic": "weather"}


def created(http: httpx.Client, **fields: Any) -> str:
    """The address of a new conversation."""
    response = http.post("/conversations", json=fields)
    assert response.status_code == 200, response.text
    return f"/conversations/{response.json()['id']}"


def listed(http: httpx.Client, address: str, **query: Any) -> list[Item]:
    response = http.get(f"{address}/items", params={"order": "asc", **query})
    assert response.status_code == 200, response.text
    data: list[Item] = response.json()["data"]
    return data


def values(item: Any, path: str) -> list[Any]:
    """What an item has at a path such as `content[].text`."""
    name, _, rest = path.partition(".")
    value = item.get(name.removesuffix("[]")) if isinstance(item, dict) else None
    elements = value if name.endswith("[]") and isinstance(value, list) else [value]
    elements = [value for value in elements if value is not None]
    return [inner for value in elements for inner in values(value, rest)] if rest else elements


ITEMS: dict[str, list[Item]] = {
    # A text is kept as a part.
    **{name: items for name, items in PLACES.items() if name != "content"},
    "content": [user([{"type": "input_text", "text": "capital"}]), PLACES["content"][1]],
    "role": [{"role": "system", "content": "who"}],
    "encrypted_content": [{"type": "reasoning", "encrypted_content": "gAAAAAB"}],
    **{
        name: [{"type": "additional_tools", "tools": [tool(name.removeprefix("tools").removeprefix("[]."))]}]
        for name in (tool.removeprefix("input[].") for tool in TOOLS if tool.startswith("input[]."))
    },
    **{name: [with_images(f"input[].{name}")] for name in (image.removeprefix("input[].") for image in IMAGES)},
}

CREATED, ADDED = "conversations.items[]", "conversation_items_creation.items[]"


@proves("conversations.items", *(f"{CREATED}.{name}" for name in ITEMS))
def test_first_items(run: Run, http: httpx.Client) -> None:
    name = run.field.removeprefix(CREATED).lstrip(".")
    for item in ITEMS.get(name, [user("hello")]):
        kept = listed(http, created(http, items=[item]))
        _same(kept, item, name)


@proves("conversation_items_creation.items", *(f"{ADDED}.{name}" for name in ITEMS))
def test_added_items(run: Run, http: httpx.Client) -> None:
    name = run.field.removeprefix(ADDED).lstrip(".")
    for item in ITEMS.get(name, [user("hello")]):
        address = created(http)
        added = http.post(f"{address}/items", json={"items": [item]})
        assert added.status_code == 200, added.text
        assert added.json()["data"] == listed(http, address)
        _same(added.json()["data"], item, name)


def _same(kept: list[Item], item: Item, name: str) -> None:
    assert len(kept) == 1
    if name in ITEMS:
        expected = values(item, name)
        assert expected
        assert values(kept[0], name) == expected


@proves("conversations.metadata")
def test_metadata(http: httpx.Client) -> None:
    assert http.get(created(http, metadata=METADATA)).json()["metadata"] == METADATA


@proves("conversation_update.metadata")
def test_changed_metadata(http: httpx.Client) -> None:
    address = created(http, metadata={"old": "value"})
    assert http.post(address, json={"metadata": METADATA}).is_success
    assert http.get(address).json()["metadata"] == METADATA


def _id(address: str) -> str:
    return address.removeprefix("/conversations/")


@proves("responses.conversation", "responses.conversation.id")
def test_a_response_answers_after_its_items_and_adds_to_it(ask: Ask) -> None:
    first = ask("count")
    address = created(ask.http, items=[user("count"), {"role": "assistant", "content": first.text}])
    answer = ask("hello", conversation={"id": _id(address)})
    assert answer.body["conversation"] == {"id": _id(address)}
    assert answer.prompt_tokens == ask("count", first.text, "hello").prompt_tokens
    texts = ["count", first.text, "hello", answer.text]
    assert values({"all": listed(ask.http, address)}, "all[].content[].text") == texts


@proves("responses.conversation")
def test_its_id_names_it(ask: Ask) -> None:
    address = created(ask.http, items=[user("count")])
    assert ask("hello", conversation=_id(address)).body["conversation"] == {"id": _id(address)}
    assert len(listed(ask.http, address)) == 3


@proves("input_tokens.conversation", "input_tokens.conversation.id")
def test_its_items_count(http: httpx.Client) -> None:
    address = created(http, items=[user("count")])
    body = {"model": "m", "input": "hello", "conversation": {"id": _id(address)}}
    count = http.post("/responses/input_tokens", json=body)
    answer = http.post("/responses", json={**body, "temperature": 0, "max_output_tokens": 1}).json()
    assert answer["conversation"] == {"id": _id(address)}
    assert count.is_success
    assert count.json()["input_tokens"] == answer["usage"]["input_tokens"]
    alone = http.post("/responses/input_tokens", json={"model": "m", "input": "hello"}).json()
    assert count.json()["input_tokens"] > alone["input_tokens"]


@pytest.fixture
def words(http: httpx.Client) -> str:
    """The address of a conversation of three messages."""
    return created(http, items=[user(word) for word in ("a", "b", "hello")])


def texts(items: list[Item]) -> list[str]:
    return [item["content"][0]["text"] for item in items]


@proves("conversation_items.query.order")
def test_its_items_in_order(http: httpx.Client, words: str) -> None:
    assert texts(listed(http, words, order="asc")) == ["a", "b", "hello"]


@proves("conversation_items.query.limit")
def test_a_part_of_its_items(http: httpx.Client, words: str) -> None:
    assert texts(listed(http, words, limit=2)) == ["a", "b"]


@proves("conversation_items.query.after")
def test_the_rest_of_its_items(http: httpx.Client, words: str) -> None:
    assert texts(listed(http, words, after=listed(http, words)[0]["id"])) == ["b", "hello"]
