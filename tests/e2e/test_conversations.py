"""Conversations that are kept, with the official SDK."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI
from openai.types.responses import ResponseFunctionToolCallParam
from support.serving import serving, wait_until
from support.serving_here import ServerHere, serving_here
from websockets.sync.client import connect

SCRIPTED = ("--engine", "scripted", "--served-model-name", "m")

Item = dict[str, Any]


@pytest.fixture(scope="module")
def client(scripted_server) -> Iterator[OpenAI]:
    with OpenAI(base_url=scripted_server.url, api_key="none", max_retries=0) as client:
        yield client


def user(text: str, **fields: Any) -> Any:
    return {"type": "message", "role": "user", "content": text, **fields}


def created(client: OpenAI, *texts: str, **fields: Any) -> str:
    return client.conversations.create(items=[user(text) for text in texts], **fields).id


def ask(client: OpenAI, input: str = "one two", **fields: Any) -> Any:
    return client.responses.create(model="m", input=input, temperature=0, **fields)


def texts(client: OpenAI, id: str, **query: Any) -> list[str]:
    items: list[Any] = list(client.conversations.items.list(id, **{"order": "asc", **query}))
    return [item.content[0].text for item in items]


def refused(call: Callable[..., Any], *arguments: Any, **fields: Any) -> tuple[int, str | None, str | None]:
    with pytest.raises(openai.APIStatusError) as caught:
        call(*arguments, **fields)
    return caught.value.status_code, caught.value.code, caught.value.param


def test_one_is_created_changed_and_deleted(client: OpenAI) -> None:
    made = client.conversations.create(metadata={"topic": "weather"})
    assert client.conversations.retrieve(made.id) == made
    changed = client.conversations.update(made.id, metadata={"mood": "calm"})
    assert changed.metadata == {"mood": "calm"}
    assert client.conversations.retrieve(made.id) == changed
    deleted = client.conversations.delete(made.id)
    assert deleted.to_dict() == {"id": made.id, "object": "conversation.deleted", "deleted": True}
    items = client.conversations.items
    for call in (
        lambda: client.conversations.retrieve(made.id),
        lambda: client.conversations.update(made.id, metadata={}),
        lambda: client.conversations.delete(made.id),
        lambda: items.list(made.id),
        lambda: items.create(made.id, items=[user("hi")]),
        lambda: items.retrieve("msg_1", conversation_id=made.id),
        lambda: items.delete("msg_1", conversation_id=made.id),
    ):
        assert refused(call) == (404, "conversation_not_found", "conversation_id")


def test_its_items(client: OpenAI) -> None:
    id = created(client, "a")
    items = client.conversations.items
    added = items.create(id, items=[user("b", id="msg_b"), user("c")])
    assert (added.first_id, added.has_more) == ("msg_b", False)
    assert texts(client, id) == texts(client, id, limit=2) == ["a", "b", "c"]
    assert texts(client, id, order="desc", after="msg_b") == ["a"]
    assert items.retrieve("msg_b", conversation_id=id) == added.data[0]
    assert items.delete("msg_b", conversation_id=id).id == id
    assert texts(client, id) == ["a", "c"]
    for call in (items.retrieve, items.delete):
        assert refused(call, "msg_b", conversation_id=id) == (404, "item_not_found", "item_id")
    assert refused(items.list, id, after="msg_b") == (404, "item_not_found", "after")
    assert refused(items.list, id, limit=0)[1:] == ("integer_below_min_value", "limit")
    assert refused(items.create, id, items=[user("a")] * 21) == (400, "array_above_max_length", "items")
    assert texts(client, id) == ["a", "c"]


def test_responses_continue_it_and_are_added_to_it(client: OpenAI) -> None:
    id = created(client, "one")
    first = ask(client, "two", conversation=id)
    *_, last = ask(client, "three", conversation={"id": id}, stream=True)
    queued = ask(client, "four", conversation=id, background=True)
    assert queued.conversation.id == id
    wait_until(lambda: client.responses.retrieve(queued.id).status == "completed")
    assert [first.conversation.id, last.response.conversation.id] == [id, id]
    assert client.responses.retrieve(first.id).conversation == first.conversation
    texts_before = ["one", "two", first.output_text, "three", last.response.output_text, "four"]
    assert texts(client, id) == [*texts_before, client.responses.retrieve(queued.id).output_text]
    written_out: Any = [
        *(user(text) for text in texts_before[:2]),
        {"role": "assistant", "content": texts_before[2]},
        user("three"),
    ]
    assert last.response.usage.input_tokens == ask(client, written_out, store=False).usage.input_tokens


def test_one_that_is_not_stored_is_added_all_the_same(client: OpenAI) -> None:
    id = created(client)
    answer = ask(client, "one", conversation=id, store=False)
    assert refused(client.responses.retrieve, answer.id)[1] == "response_not_found"
    assert texts(client, id) == ["one", answer.output_text]


def test_a_call_and_its_result_in_two_requests(client: OpenAI) -> None:
    id = created(client, "go")
    call = ResponseFunctionToolCallParam(type="function_call", call_id="call_1", name="f", arguments="{}")
    client.conversations.items.create(id, items=[call])
    result: Any = [{"type": "function_call_output", "call_id": "call_1", "output": "x y z"}]
    ask(client, result, conversation=id)
    kinds = [item.type for item in client.conversations.items.list(id, order="asc")]
    assert kinds == ["message", "function_call", "function_call_output", "message"]


def test_references_find_its_items(client: OpenAI) -> None:
    id = created(client)
    client.conversations.items.create(id, items=[user("one two", id="msg_far")])
    reference: Any = [{"type": "item_reference", "id": "msg_far"}]
    assert ask(client, reference, store=False).output_text == ask(client, store=False).output_text
    other = created(client)
    client.conversations.items.create(other, items=reference)
    assert texts(client, other) == ["one two"]
    nowhere: Any = [{"type": "item_reference", "id": "msg_0"}]
    assert refused(client.conversations.items.create, other, items=nowhere) == (404, "item_not_found", "items.0.id")


@pytest.mark.parametrize("script", ["crash_at=1", "stall_at=1"])
def test_a_response_that_fails_or_whose_client_leaves_adds_nothing(client: OpenAI, script: str) -> None:
    id = created(client, "before")
    with ask(client, f"script: {script}\none two", conversation=id, stream=True) as stream:
        for event in stream:
            if event.type in ("response.output_text.delta", "response.failed"):
                break
    answer = ask(client, "after", conversation=id)
    assert texts(client, id) == ["before", "after", answer.output_text]


def test_what_can_not_be_continued(client: OpenAI) -> None:
    id = created(client)
    answer = ask(client, conversation=id)
    assert refused(ask, client, conversation="conv_0") == (404, "conversation_not_found", "conversation")
    both = {"conversation": id, "previous_response_id": answer.id}
    assert refused(ask, client, **both) == (400, "invalid_value", "conversation")
    assert refused(ask, client, previous_response_id=answer.id) == (
        400,
        "response_in_conversation",
        "previous_response_id",
    )
    count = client.responses.input_tokens.count
    assert refused(count, model="m", input="a", conversation="conv_0")[1] == "conversation_not_found"
    assert refused(count, model="m", input="a", **both)[:2] == (400, "invalid_value")


def test_one_that_is_deleted_meanwhile(client: OpenAI) -> None:
    id = created(client, "before")
    answer = ask(client, "script: delay=0.3\none two", conversation=id, background=True)
    client.conversations.delete(id)
    wait_until(lambda: client.responses.retrieve(answer.id).status == "completed")
    assert client.responses.retrieve(answer.id).conversation is None


def test_requests_at_the_same_time_add_whole_turns(client: OpenAI) -> None:
    id = created(client)
    answers = [ask(client, f"script: delay=0.02\n{n}", conversation=id, background=True) for n in range(6)]
    for answer in answers:
        wait_until(lambda id=answer.id: client.responses.retrieve(id).status == "completed")
    items: list[Any] = list(client.conversations.items.list(id, order="asc", limit=100))
    assert [item.role for item in items] == ["user", "assistant"] * 6
    questions = {item.content[0].text for item in items[::2]}
    assert questions == {f"script: delay=0.02\n{n}" for n in range(6)}


def test_a_summary_takes_the_place_of_its_items(tiny_server) -> None:
    with httpx.Client(base_url=tiny_server.url, timeout=300) as http:
        body = {"items": [user("hello"), {"role": "assistant", "content": "Hello! How can I help you today?"}]}
        id = http.post("/conversations", json=body).json()["id"]
        compacting = {"context_management": [{"type": "compaction", "compact_threshold": 20}]}
        asked = {"model": "tiny", "temperature": 0, "max_output_tokens": 32, "conversation": id}
        first = http.post("/responses", json={**asked, "input": "capital", **compacting}).json()
        assert [item["type"] for item in first["output"]] == ["compaction", "message"]
        page = http.get(f"/conversations/{id}/items", params={"order": "asc"}).json()
        assert [item["type"] for item in page["data"]] == ["message", "message", "message", "compaction", "message"]
        summary = first["output"][0]
        second = http.post("/responses", json={**asked, "input": "hello"}).json()
        counted = {"model": "tiny", "input": [summary, first["output"][1], user("hello")]}
        tokens = http.post("/responses/input_tokens", json=counted).json()["input_tokens"]
        assert second["usage"]["input_tokens"] == tokens


def test_encrypted_reasoning_is_read_by_the_response(tiny_server) -> None:
    with OpenAI(base_url=tiny_server.url, api_key="none", max_retries=0) as client:
        asked: dict[str, Any] = {"model": "tiny", "temperature": 0}
        answer: Any = client.responses.create(input="think", include=["reasoning.encrypted_content"], **asked)
        (sealed,) = (item.encrypted_content for item in answer.output if item.type == "reasoning")
        thoughts = [{"type": "reasoning", "encrypted_content": sealed, "summary": []}]
        items: Any = [user("think"), *thoughts, {"role": "assistant", "content": answer.output_text}]
        id = client.conversations.create(items=items).id
        inside = client.responses.create(input="hello", conversation=id, **asked)
        outside = client.responses.create(input=[*items, user("hello")], **asked)
        assert inside.usage == outside.usage
        foreign: Any = [{"type": "reasoning", "encrypted_content": "AAAA", "summary": []}]
        client.conversations.items.create(id, items=foreign)
        again = {**asked, "input": "hello", "conversation": id}
        assert refused(client.responses.create, **again) == (400, "invalid_encrypted_content", "conversation")


def test_ids_that_no_item_can_have_are_replaced(client: OpenAI) -> None:
    search: Any = {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "x"}}
    ids: list[Any] = [["x"], 5, "x" * 513, "a\0b", ""]
    searches: Any = [{**search, "id": id} for id in ids]
    made = client.conversations.create(items=searches)
    items: list[Any] = list(client.conversations.items.list(made.id, order="asc"))
    assert [item.id.partition("_")[0] for item in items] == ["item"] * len(ids)


def test_a_reference_to_encrypted_reasoning(tiny_server) -> None:
    with OpenAI(base_url=tiny_server.url, api_key="none", max_retries=0) as client:
        asked: dict[str, Any] = {"model": "tiny", "temperature": 0}
        answer: Any = client.responses.create(input="think", include=["reasoning.encrypted_content"], **asked)
        (sealed,) = (item.encrypted_content for item in answer.output if item.type == "reasoning")
        thoughts: Any = {"type": "reasoning", "encrypted_content": sealed, "summary": [], "id": "rs_kept"}
        client.conversations.create(items=[thoughts])
        items = [user("think"), thoughts, {"role": "assistant", "content": answer.output_text}, user("hello")]
        referred: Any = [{"type": "item_reference", "id": "rs_kept"} if item is thoughts else item for item in items]
        written, by_reference = (client.responses.create(input=turns, **asked) for turns in (items, referred))
        assert written.usage == by_reference.usage
        assert client.responses.create(previous_response_id=written.id, input="hello", **asked).output_text


def test_a_warm_up_adds_nothing(scripted_server) -> None:
    with OpenAI(base_url=scripted_server.url, api_key="none") as client:
        id = created(client, "before")
        with connect(scripted_server.url.replace("http", "ws", 1) + "/responses") as ws:
            body = {"type": "response.create", "model": "m", "input": "one", "conversation": id, "generate": False}
            ws.send(json.dumps(body))
            while json.loads(ws.recv(timeout=300))["type"] != "response.completed":
                pass
        assert texts(client, id) == ["before"]


def test_over_a_websocket(scripted_server) -> None:
    with OpenAI(base_url=scripted_server.url, api_key="none") as client:
        id = created(client, "before")
        with connect(scripted_server.url.replace("http", "ws", 1) + "/responses") as ws:
            ws.send(json.dumps({"type": "response.create", "model": "m", "input": "one", "conversation": id}))
            while (event := json.loads(ws.recv(timeout=300)))["type"] != "response.completed":
                assert event["type"] != "error", event
        assert event["response"]["conversation"] == {"id": id}
        assert texts(client, id)[:2] == ["before", "one"]


def test_a_crash_loses_nothing(tmp_path: Path) -> None:
    database = ("--response-store", f"sqlite:///{tmp_path / 'kept.db'}")
    with serving(*SCRIPTED, *database) as server:
        with OpenAI(base_url=server.url, api_key="none") as client:
            id = created(client, "one", metadata={"topic": "weather"})
            answer = ask(client, "two", conversation=id)
        server.stop(signal.SIGKILL)
    with serving_here(*SCRIPTED, *database) as again, OpenAI(base_url=again.url, api_key="none") as client:
        assert client.conversations.retrieve(id).metadata == {"topic": "weather"}
        assert texts(client, id) == ["one", "two", answer.output_text]


def test_what_one_key_stored_is_not_there_for_another(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("mine\nyours\n")
    keys.chmod(0o600)
    with serving_here(*SCRIPTED, "--api-key-file", str(keys)) as server:
        mine, yours = (OpenAI(base_url=server.url, api_key=key, max_retries=0) for key in ("mine", "yours"))
        with mine, yours:
            id = created(mine, "secret")
            assert refused(yours.conversations.retrieve, id)[1] == "conversation_not_found"
            assert refused(ask, yours, conversation=id)[1] == "conversation_not_found"
            assert refused(yours.conversations.items.create, id, items=[user("a")])[1] == "conversation_not_found"
            assert texts(mine, id) == ["secret"]


@pytest.fixture
def without_store() -> Iterator[ServerHere]:
    with serving_here(*SCRIPTED, "--response-store", "none") as server:
        yield server


def test_a_server_without_a_store(without_store: ServerHere) -> None:
    with OpenAI(base_url=without_store.url, api_key="none", max_retries=0) as client:
        items = client.conversations.items
        for call in (
            lambda: client.conversations.create(),
            lambda: client.conversations.retrieve("conv_1"),
            lambda: client.conversations.update("conv_1", metadata={}),
            lambda: client.conversations.delete("conv_1"),
            lambda: items.list("conv_1"),
            lambda: items.create("conv_1", items=[user("hi")]),
            lambda: items.retrieve("msg_1", conversation_id="conv_1"),
            lambda: items.delete("msg_1", conversation_id="conv_1"),
        ):
            assert refused(call) == (404, "not_found", None)
        assert refused(ask, client, conversation="conv_1") == (400, "unsupported_parameter", "conversation")
    document = httpx.get(f"{without_store.url}/openapi.json").json()
    assert not [path for path in document["paths"] if path.startswith("/conversations")]
