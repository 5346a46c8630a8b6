"""What becomes of an answer when its store fails, and of one that is made in the background."""

import asyncio
import logging

import msgspec
import pytest

from specvino.engine.scripted import ScriptedEngine
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import Reply, RequestContext
from specvino.generated.models import CreateResponseRequest
from specvino.handlers import bind
from specvino.handlers.errors import ApiError
from specvino.handlers.models import ServedModel
from specvino.handlers.responses import background
from specvino.handlers.store import NoStore, Record, StoreUnavailable, TooLarge
from specvino.handlers.store.protocol import NoConversations

QUERY = {"stream": False, "starting_after": None, "include_obfuscation": False, "include": None}


class FailingStore(NoStore):
    """A store that fails a given number of times, and keeps the records that it got then."""

    keeps = True

    def __init__(self, adds=0, finishes=0) -> None:
        self.failures = {"add": adds, "finish": finishes}
        self.records: list[Record] = []

    async def add(self, record):
        self._keep("add", record)

    async def finish(self, record):
        self._keep("finish", record)
        return True

    async def input_page(self, id, owner, after, limit, *, newest_first):
        raise StoreUnavailable("database is locked")

    async def thread(self, id, owner):
        raise StoreUnavailable("database is locked")

    items = response = events = delete = thread

    def _keep(self, method, record):
        if self.failures[method]:
            self.failures[method] -= 1
            raise StoreUnavailable("database is locked")
        self.records.append(record)


class EmptyStore(NoStore):
    """Takes everything and has nothing of it."""

    keeps = True

    async def finish(self, record):
        return True


class TakenStore(EmptyStore):
    """Another server has ended what this one still makes."""

    async def update(self, record):
        return False


def run(test, store):
    async def exchange():
        engine = ScriptedEngine()
        await engine.start()
        responses = bind([ServedModel(("m",), 1, engine)], store=store).responses
        try:
            async with asyncio.timeout(300):
                await test(responses)
        finally:
            await responses.close()

    asyncio.run(exchange())


async def ask(responses, input="one two", **fields):
    body = CreateResponseRequest.model_validate({"model": "m", "input": input, "temperature": 0, **fields})
    return (await responses.create_response(RequestContext("req_1"), body)).body


def text(response):
    return response["output"][0]["content"][0]["text"]


def test_an_answer_that_can_not_be_stored_is_given_and_says_so(caplog) -> None:
    async def test(responses):
        answer = await ask(responses)
        assert (text(answer), answer["store"]) == ("one two", False)
        events = [event async for event in await ask(responses, stream=True)]
        assert (events[0]["response"]["store"], events[-1]["response"]["store"]) == (True, False)
        assert (await ask(responses))["store"] is True

    with caplog.at_level(logging.WARNING):
        run(test, store := FailingStore(adds=2))
    assert caplog.text.count("could not be stored: database is locked") == 2
    (record,) = store.records
    assert msgspec.json.decode(record.events[-1])["response"] == record.response


@pytest.mark.parametrize(("received", "texts"), [(1, []), (5, [("incomplete", "one")])])
def test_the_response_of_a_client_that_leaves_is_stored_as_cancelled(received, texts) -> None:
    async def test(responses):
        stream = await ask(responses, "script: stall_at=1\none two", stream=True)
        events = [await anext(stream) for _ in range(received)]
        await stream.aclose()
        await responses.close()
        (record,) = store.records
        assert record.response["id"] == events[0]["response"]["id"]
        assert record.response["status"] == "cancelled"
        kept = [msgspec.json.decode(line) for line in record.events]
        output = kept[-1]["response"]["output"]
        assert [(item["status"], item["content"][0]["text"]) for item in output] == texts
        assert kept[: len(events)] == events
        assert [event["sequence_number"] for event in kept] == list(range(len(kept)))

    run(test, store := FailingStore())


def test_a_response_is_stored_even_if_its_client_leaves_meanwhile() -> None:
    class SlowStore(EmptyStore):
        def __init__(self) -> None:
            self.begun, self.go_on = asyncio.Event(), asyncio.Event()
            self.records: list[Record] = []

        async def add(self, record):
            self.begun.set()
            await self.go_on.wait()
            self.records.append(record)

    async def test(responses):
        async def read():
            return [event async for event in await ask(responses, stream=True)]

        reading = asyncio.create_task(read())
        await store.begun.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        store.go_on.set()
        await responses.close()
        assert [record.response["status"] for record in store.records] == ["completed"]

    run(test, store := SlowStore())


@pytest.mark.parametrize(
    "call",
    [
        lambda r: ask(r, previous_response_id="resp_1"),
        lambda r: ask(r, [{"type": "item_reference", "id": "msg_1"}]),
        lambda r: ask(r, background=True),
        lambda r: r.retrieve_response(RequestContext("req_1"), "resp_1", **QUERY),
        lambda r: r.retrieve_response(RequestContext("req_1"), "resp_1", **QUERY | {"stream": True}),
        lambda r: r.delete_response(RequestContext("req_1"), "resp_1"),
        lambda r: r.cancel_response(RequestContext("req_1"), "resp_1"),
        lambda r: r.list_input_items(RequestContext("req_1"), "resp_1", None, 20, "desc", None),
    ],
)
def test_what_needs_the_store_is_an_error_that_names_it(call) -> None:
    async def test(responses):
        with pytest.raises(ApiError, match="database is locked") as caught:
            await call(responses)
        assert (caught.value.code, caught.value.retry_after) == (ErrorCode.STORE_UNAVAILABLE, 1)
        assert all(engine.stats().running == 0 for engine in responses._pipeline._served.engines)

    run(test, FailingStore(adds=1))


def test_one_in_the_background_is_in_memory_until_it_can_be_stored(monkeypatch) -> None:
    monkeypatch.setattr(background, "RETRY", 0.01)
    store = FailingStore(finishes=3)

    async def test(responses):
        queued = await ask(responses, background=True)
        reply = await responses.retrieve_response(RequestContext("r"), queued["id"], **QUERY | {"stream": True})
        *_, last = [event async for event in reply.body]
        assert text(last["response"]) == "one two"
        assert len(store.records) == 1
        reply = await responses.retrieve_response(RequestContext("r"), queued["id"], **QUERY)
        assert reply == Reply(last["response"])
        await responses._background.get(queued["id"], "").task
        first, final = store.records
        assert (first.response["status"], final.response) == ("queued", last["response"])
        assert [msgspec.json.decode(line)["sequence_number"] for line in final.events] == list(range(len(final.events)))

    run(test, store)


def test_one_in_the_background_is_its_owners_alone() -> None:
    async def test(responses):
        body = {"model": "m", "input": "script: stall_at=1\na b", "background": True}
        request = CreateResponseRequest.model_validate(body)
        id = (await responses.create_response(RequestContext("r", owner="me"), request)).body["id"]
        await asyncio.sleep(0)  # it begins
        for owner in ("you", ""):
            other = RequestContext("r", owner=owner)
            for call in (
                responses.retrieve_response(other, id, **QUERY),
                responses.retrieve_response(other, id, **QUERY | {"stream": True}),
                responses.cancel_response(other, id),
                responses.delete_response(other, id),
            ):
                with pytest.raises(ApiError) as caught:
                    await call
                assert caught.value.code is ErrorCode.RESPONSE_NOT_FOUND
        mine = await responses.cancel_response(RequestContext("r", owner="me"), id)
        assert mine.body["status"] == "cancelled"

    run(test, EmptyStore())


def test_one_in_the_background_shows_what_it_has(monkeypatch) -> None:
    store = FailingStore()

    async def test(responses):
        stream = await ask(responses, "script: stall_at=2\none two three", background=True, stream=True)
        events = [await anext(stream) for _ in range(7)]
        assert events[-1]["delta"] == " two"
        await stream.aclose()
        seen = (await responses.retrieve_response(RequestContext("r"), events[0]["response"]["id"], **QUERY)).body
        assert (seen["status"], seen["output"]) == ("in_progress", [])

    run(test, store)
    assert store.records[-1].response["status"] == "failed", "the server ended"


def test_what_has_no_effect_is_reported_or_refused() -> None:
    body = CreateResponseRequest.model_validate({"model": "m", "input": "hi", "store": True})

    async def test(responses):
        reply = await responses.create_response(RequestContext("req_1"), body)
        assert (text(reply.body), reply.unsupported) == ("hi", ("store",))
        with pytest.raises(ApiError) as caught:
            await responses.create_response(RequestContext("req_1", refuses_unsupported=True), body)
        assert (caught.value.code, caught.value.param) == (ErrorCode.UNSUPPORTED_PARAMETER, "store")

    run(test, NoStore())


@pytest.mark.parametrize("fields", [{}, {"previous_response_id": "resp_1"}])
def test_a_reference_that_leads_nowhere_is_refused_before_what_else_is_wrong(fields) -> None:
    input = [{"type": "item_reference", "id": "msg_1"}]
    body = CreateResponseRequest.model_validate({"model": "m", "input": input, **fields})

    async def test(responses):
        with pytest.raises(ApiError) as caught:
            await responses.create_response(RequestContext("req_1"), body)
        assert (caught.value.code, caught.value.param) == (ErrorCode.ITEM_NOT_FOUND, "input.0.id")

    run(test, NoStore())


def test_one_that_another_server_ended_is_ended_here(monkeypatch) -> None:
    monkeypatch.setattr(background, "SHOWN", 0.01)

    async def look(responses):
        answer = ask(responses, "script: stall_at=1\none two", background=True, stream=True)
        *_, last = [event async for event in await answer]
        assert last["response"]["status"] == "cancelled"

    run(look, TakenStore())


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input"),
    ],
)
def test_what_is_too_large_to_be_continued_names_the_field(fields, param) -> None:
    class LargeConversations(NoConversations):
        async def items(self, id, owner):
            raise TooLarge("it is too large")

    class LargeStore(NoStore):
        keeps = True
        conversations = LargeConversations()

        async def thread(self, id, owner):
            raise TooLarge("it is too large")

        async def items(self, ids, owner):
            if ids:
                raise TooLarge("it is too large")
            return {}

    async def test(responses):
        with pytest.raises(ApiError, match=f"^{param}: it is too large.$") as caught:
            await ask(responses, **fields)
        assert (caught.value.code, caught.value.param) == (ErrorCode.STORED_ITEMS_TOO_LARGE, param)

    run(test, LargeStore())
