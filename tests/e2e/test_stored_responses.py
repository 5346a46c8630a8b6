"""Responses that are kept, with the official SDK, on the scripted engine."""

import signal
from contextlib import contextmanager
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI
from support.serving import PATIENCE, serving, starting, wait_until
from support.serving_here import serving_here, unserved
from support.streams import judged


@pytest.fixture(scope="module")
def client(scripted_server):
    with OpenAI(base_url=scripted_server.url, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def http(scripted_server):
    with httpx.Client(base_url=scripted_server.url, timeout=300) as client:
        yield client


def ask(client, input="one two", **fields):
    return client.responses.create(model="m", input=input, temperature=0, **fields)


def ask_slowly(client, directives, **fields):
    return ask(client, f"script: {directives}\none two three", background=True, **fields)


def refused(call, *arguments, **fields):
    with pytest.raises(openai.APIStatusError) as caught:
        call(*arguments, **fields)
    return caught.value.status_code, caught.value.code, caught.value.param


def finished(client, id):
    wait_until(lambda: client.responses.retrieve(id).status not in ("queued", "in_progress"))
    return client.responses.retrieve(id)


def test_a_response_is_kept_as_it_was_answered(client) -> None:
    answer = ask(client, metadata={"a": "b"})
    assert answer.store is True
    assert client.responses.retrieve(answer.id).to_dict() == answer.to_dict()
    *_, last = ask(client, stream=True)
    assert client.responses.retrieve(last.response.id).to_dict() == last.response.to_dict()


def test_one_that_must_not_be_kept_is_not(client) -> None:
    answer = ask(client, store=False)
    assert answer.store is False
    assert refused(client.responses.retrieve, answer.id) == (404, "response_not_found", "response_id")
    fields = {"previous_response_id": answer.id}
    assert refused(ask, client, **fields) == (404, "previous_response_not_found", "previous_response_id")


def test_a_deleted_one_is_gone(client, http) -> None:
    id = ask(client).id
    assert http.delete(f"/responses/{id}").json() == {"id": id, "object": "response", "deleted": True}
    for call in (client.responses.retrieve, client.responses.delete, client.responses.cancel):
        assert refused(call, id) == (404, "response_not_found", "response_id")
    assert refused(client.responses.input_items.list, id) == (404, "response_not_found", "response_id")
    assert refused(client.responses.retrieve, id, stream=True) == (404, "response_not_found", "response_id")


def test_a_chain_is_the_conversation_written_out(client) -> None:
    first = ask(client, "one two", instructions="be brief")
    second = ask(client, "three", previous_response_id=first.id)
    third = ask(client, "four", previous_response_id=second.id, instructions="be long")
    assert (second.previous_response_id, second.instructions) == (first.id, None)
    turns = ["one two", "one two", "three", "three", "four"]
    items = [{"role": ("user", "assistant")[index % 2], "content": text} for index, text in enumerate(turns)]
    written_out = ask(client, items, instructions="be long")
    assert third.usage.input_tokens == written_out.usage.input_tokens
    assert third.output_text == written_out.output_text == "four"


def test_a_chain_of_which_the_first_part_was_deleted_is_continued(client) -> None:
    first = ask(client)
    second = ask(client, previous_response_id=first.id)
    whole = ask(client, previous_response_id=second.id)
    client.responses.delete(first.id)
    assert ask(client, previous_response_id=second.id).usage == whole.usage
    assert refused(ask, client, previous_response_id=first.id)[0] == 404
    texts = [item.content[0].text for item in client.responses.input_items.list(second.id, order="asc")]
    assert texts == ["one two"] * 3


def test_results_of_calls_and_references_find_what_they_are_about(client) -> None:
    call = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
    first = ask(client, [{"role": "user", "content": "go"}, call])
    result = {"type": "function_call_output", "call_id": "call_1", "output": "x y z"}
    second = ask(client, [result], previous_response_id=first.id)
    assert [item.type for item in client.responses.input_items.list(second.id, order="asc")] == [
        "message",
        "function_call",
        "message",
        "function_call_output",
    ]
    reference = {"type": "item_reference", "id": first.output[0].id}
    third = ask(client, [reference, {"role": "user", "content": "on"}])
    stored = client.responses.input_items.list(third.id, order="asc").data
    assert [(item.role, item.content[0].text) for item in stored] == [("assistant", first.output_text), ("user", "on")]
    nowhere = [{"type": "item_reference", "id": "msg_0"}, {"role": "user", "content": "on"}]
    assert refused(ask, client, nowhere) == (404, "item_not_found", "input.0.id")


def test_input_items_come_in_pages(client, http) -> None:
    first = ask(client, [{"role": "user", "content": word} for word in ("a", "b", "c")])
    second = ask(client, "d", previous_response_id=first.id)

    def texts(**options):
        return [item.content[0].text for item in client.responses.input_items.list(second.id, **options)]

    assert texts() == ["d", "c", "c", "b", "a"]
    assert texts(order="asc") == texts(order="asc", limit=2) == ["a", "b", "c", "c", "d"]
    page = http.get(f"/responses/{second.id}/input_items", params={"limit": 2, "order": "asc"}).json()
    assert (len(page["data"]), page["has_more"], page["object"]) == (2, True, "list")
    assert [page["first_id"], page["last_id"]] == [item["id"] for item in page["data"]]
    assert texts(order="asc", after=page["last_id"]) == ["c", "c", "d"]
    assert refused(client.responses.input_items.list, second.id, after="msg_0") == (404, "item_not_found", "after")
    assert refused(client.responses.input_items.list, second.id, limit=101)[1:] == ("integer_above_max_value", "limit")
    assert refused(client.responses.input_items.list, second.id, order="up")[1:] == ("invalid_value", "order")


def test_events_are_replayed(client, http) -> None:
    events = [event.to_dict() for event in ask(client, stream=True)]
    id = events[-1]["response"]["id"]
    assert judged("responses", http.get(f"/responses/{id}", params={"stream": "true"})) == events
    for number in (0, 4, len(events) - 2):
        rest = client.responses.retrieve(id, stream=True, starting_after=number)
        assert [event.to_dict() for event in rest] == events[number + 1 :]
    assert list(client.responses.retrieve(id, stream=True, starting_after=len(events))) == []
    unary = ask(client)
    *_, last = client.responses.retrieve(unary.id, stream=True)
    assert last.response.to_dict() == unary.to_dict()


def test_a_query_without_effect_is_reported(client, http) -> None:
    id = ask(client).id
    query = {
        "include_obfuscation": "true",
        "starting_after": "1",
        "mystery": "x",
        "include[]": "file_search_call.results",
    }
    raw = http.get(f"/responses/{id}", params=query)
    assert raw.headers["x-unsupported-params"] == "include_obfuscation, mystery, starting_after"
    assert "x-unsupported-params" not in http.get(f"/responses/{id}", params={"stream": "false"}).headers
    assert refused(client.responses.retrieve, id, starting_after=-1)[1:] == (
        "integer_below_min_value",
        "starting_after",
    )


def test_a_response_in_the_background(client, http) -> None:
    queued = ask_slowly(client, "delay=0.02")
    assert (queued.status, queued.background, queued.output) == ("queued", True, [])
    events = judged("responses", http.get(f"/responses/{queued.id}", params={"stream": "true"}))
    assert [event["type"] for event in events[:3]] == ["response.created", "response.queued", "response.in_progress"]
    whole = finished(client, queued.id)
    assert whole.to_dict() == events[-1]["response"]
    assert (whole.status, whole.output_text) == ("completed", "one two three")
    assert judged("responses", http.get(f"/responses/{queued.id}", params={"stream": "true"})) == events
    assert client.responses.cancel(queued.id).to_dict() == whole.to_dict(), "it is too late"


def test_one_in_the_background_outlives_its_stream(client) -> None:
    with ask_slowly(client, "delay=0.05", stream=True) as stream:
        first = next(stream)
        second = next(stream)
    assert (first.type, second.type) == ("response.created", "response.queued")
    rest = list(client.responses.retrieve(first.response.id, stream=True, starting_after=second.sequence_number))
    assert [event.sequence_number for event in rest] == list(range(2, 2 + len(rest)))
    assert rest[-1].response.output_text == "one two three"


def test_a_response_outlives_a_client_that_leaves_its_stream(client, http) -> None:
    with ask(client, "script: stall_at=1\none two", stream=True) as stream:
        id = next(stream).response.id
        while next(stream).type != "response.output_text.delta":
            pass
    wait_until(lambda: http.get(f"/responses/{id}").is_success)
    kept = client.responses.retrieve(id)
    assert (kept.status, kept.output_text, kept.output[0].status) == ("cancelled", "one", "incomplete")
    *_, last = judged("responses", http.get(f"/responses/{id}", params={"stream": "true"}))
    assert last["response"] == kept.to_dict()
    assert ask(client, "three", previous_response_id=id).usage.input_tokens > ask(client, "three").usage.input_tokens


def test_one_in_the_background_can_be_cancelled(client, http) -> None:
    id = ask_slowly(client, "stall_at=1").id
    assert client.responses.retrieve(id).status == "in_progress"
    assert refused(ask, client, previous_response_id=id) == (400, "response_not_finished", "previous_response_id")
    assert (client.responses.cancel(id).status, client.responses.cancel(id).status) == ("cancelled", "cancelled")
    cancelled = client.responses.retrieve(id)
    assert (cancelled.status, cancelled.error) == ("cancelled", None)
    *_, last = judged("responses", http.get(f"/responses/{id}", params={"stream": "true"}))
    assert (last["type"], last["response"]) == ("response.failed", cancelled.to_dict())
    synchronous = ask(client).id
    assert refused(client.responses.cancel, synchronous) == (400, "response_not_cancellable", "response_id")


def test_one_in_the_background_can_be_deleted(client) -> None:
    id = ask_slowly(client, "stall_at=1").id
    client.responses.delete(id)
    assert refused(client.responses.retrieve, id) == (404, "response_not_found", "response_id")


def test_one_in_the_background_fails_or_is_refused_at_once(client) -> None:
    failed = finished(client, ask_slowly(client, "crash_at=1").id)
    assert (failed.status, failed.error.code) == ("failed", "server_error")
    assert refused(ask_slowly, client, "refused=1") == (400, "invalid_prompt", "input")


def test_a_stream_that_fails_is_kept_as_failed(client) -> None:
    *_, last = ask(client, "script: crash_at=1\none two", stream=True)
    assert last.type == "response.failed"
    assert client.responses.retrieve(last.response.id).to_dict() == last.response.to_dict()


def test_truncation_leaves_out_the_oldest_turns(client) -> None:
    items = [{"role": "user", "content": f"{number} " + "word " * 1500} for number in range(4)]
    for truncation in ("disabled", None):
        assert refused(ask, client, items, truncation=truncation)[:2] == (400, "context_length_exceeded")
    answer = ask(client, items, truncation="auto", max_output_tokens=5)
    assert answer.truncation == "auto"
    assert answer.output_text.startswith("3 word")
    assert 1500 < answer.usage.input_tokens < 4096
    fields = {"truncation": "auto", "max_output_tokens": 5}
    assert refused(ask, client, "word " * 5000, **fields)[:2] == (400, "context_length_exceeded"), "nothing can go"


def test_a_chain_on_a_real_model(tiny_server) -> None:
    with OpenAI(base_url=tiny_server.url, api_key="none", max_retries=0) as client:
        fields: dict[str, Any] = {"model": "tiny", "temperature": 0}
        first = client.responses.create(**fields, input="hello")
        second = client.responses.create(**fields, input="count", previous_response_id=first.id, background=True)
        whole = finished(client, second.id)
        items: Any = [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": first.output_text},
            {"role": "user", "content": "count"},
        ]
        written_out = client.responses.create(**fields, input=items, store=False)
    assert whole.output_text == written_out.output_text != first.output_text
    assert whole.usage
    assert written_out.usage
    assert whole.usage.input_tokens == written_out.usage.input_tokens


@contextmanager
def restarted(database):
    """A client of another server on the same database."""
    with (
        serving_here("--engine", "scripted", "--served-model-name", "m", *database) as server,
        OpenAI(base_url=server.url, api_key="none") as client,
    ):
        yield client


def test_a_crash_loses_no_completed_response(tmp_path) -> None:
    database = ["--response-store", f"sqlite:///{tmp_path / 'kept.db'}"]
    with serving("--engine", "scripted", "--served-model-name", "m", *database) as server:
        with OpenAI(base_url=server.url, api_key="none") as client:
            answers = [ask(client), list(ask(client, stream=True))[-1].response]
        assert f"responses are stored in {tmp_path / 'kept.db'}" in server.output
        server.stop(signal.SIGKILL)
    with restarted(database) as client:
        for answer in answers:
            assert client.responses.retrieve(answer.id).to_dict() == answer.to_dict()


def test_a_server_that_ends_says_so_in_what_it_had_under_way(tmp_path) -> None:
    database = ["--response-store", f"sqlite:///{tmp_path / 'kept.db'}"]
    options = ["--shutdown-timeout", "0", *database]
    with serving("--engine", "scripted", "--served-model-name", "m", *options) as server:
        with OpenAI(base_url=server.url, api_key="none") as client:
            id = ask_slowly(client, "stall_at=1").id
        assert server.stop() == 0
    with restarted(database) as client:
        failed = client.responses.retrieve(id)
    assert failed.error is not None
    message = "The server stopped while it was generating this response."
    assert (failed.status, failed.error.message) == ("failed", message)


def test_a_server_that_ends_waits_for_what_it_has_under_way(tmp_path) -> None:
    database = ["--response-store", f"sqlite:///{tmp_path / 'kept.db'}"]
    options = ["--shutdown-timeout", "3000", *database]
    with serving("--engine", "scripted", "--served-model-name", "m", *options) as server:
        with OpenAI(base_url=server.url, api_key="none") as client:
            id = ask_slowly(client, "delay=0.2").id
        assert server.stop() == 0
    with restarted(database) as client:
        assert client.responses.retrieve(id).status == "completed"


def test_a_server_without_a_store() -> None:
    with (
        serving_here("--engine", "scripted", "--served-model-name", "m", "--response-store", "none") as server,
        OpenAI(base_url=server.url, api_key="none", max_retries=0) as client,
    ):
        answer = ask(client)
        assert answer.store is False
        assert refused(client.responses.retrieve, answer.id)[1] == "response_not_found"
        assert refused(ask, client, background=True)[1:] == ("unsupported_parameter", "background")
        raw = client.responses.with_raw_response.create(model="m", input="hi", store=True)
        assert raw.headers["x-unsupported-params"] == "store"


def test_a_store_that_can_not_be_used_ends_the_start(tmp_path) -> None:
    (tmp_path / "x.db").write_bytes(b"x" * 5000)
    database = f"sqlite:///{tmp_path / 'x.db'}"
    with starting("--engine", "scripted", "--response-store", database) as server:
        assert server.process.wait(PATIENCE) == 2
    assert "not a database (--response-store names another one, or none)\n" in server.output
    assert "parse" in unserved("--engine", "scripted", "--response-store", "nonsense").output


def test_what_one_key_stored_is_not_there_for_another(tmp_path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("mine\n# a comment\nyours\n")
    keys.chmod(0o600)
    with serving_here("--engine", "scripted", "--served-model-name", "m", "--api-key-file", str(keys)) as server:
        mine, yours, comment = (
            OpenAI(base_url=server.url, api_key=key, max_retries=0) for key in ("mine", "yours", "# a comment")
        )
        kept = ask(mine)
        running = ask_slowly(mine, "stall_at=1")
        for id in (kept.id, running.id):
            for call in (yours.responses.retrieve, yours.responses.delete, yours.responses.cancel):
                assert refused(call, id) == (404, "response_not_found", "response_id")
            assert refused(yours.responses.input_items.list, id) == (404, "response_not_found", "response_id")
            assert refused(yours.responses.retrieve, id, stream=True)[0] == 404
            fields = {"previous_response_id": id}
            assert refused(ask, yours, **fields) == (404, "previous_response_not_found", "previous_response_id")
        reference = [{"type": "item_reference", "id": kept.output[0].id}, {"role": "user", "content": "two"}]
        assert refused(ask, yours, reference) == (404, "item_not_found", "input.0.id")
        assert mine.responses.retrieve(kept.id).id == kept.id
        assert mine.responses.cancel(running.id).status == "cancelled"
        assert ask(mine, previous_response_id=kept.id).previous_response_id == kept.id
        assert refused(comment.responses.retrieve, kept.id)[0] == 401
        for client in (mine, yours, comment):
            client.close()
