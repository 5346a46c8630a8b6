"""Responses in a database."""

import asyncio
import itertools
import stat
import time

from support.stored import record, response, run

from specvino.handlers.store import Record, sql
from specvino.handlers.store.sql import SqlStore


def test_what_was_added_is_there_after_the_store_was_closed(url) -> None:
    added = record("resp_1")

    async def add(store):
        await store.add(added)

    async def look(store):
        assert await store.response("resp_1", "") == added.response
        assert await store.events("resp_1", "") == added.events
        assert await store.items(["in_resp_1", "out_resp_1", "msg_9"], "") == {
            "in_resp_1": added.input[0],
            "out_resp_1": added.response["output"][0],
        }
        assert (
            await store.response("resp_2", "")
            is await store.events("resp_2", "")
            is await store.thread("resp_2", "")
            is None
        )

    run(url, add, look)


def test_only_the_owner_can_read_the_files(url, tmp_path) -> None:
    async def look(store):
        await store.add(record("resp_1"))
        files = sorted((tmp_path / "folder").iterdir())
        assert [file.name for file in files] == ["responses.db", "responses.db-shm", "responses.db-wal"]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert store.location == str(tmp_path / "folder" / "responses.db")

    run(url, look)


def test_a_chain_from_its_oldest_response_on(url) -> None:
    async def look(store):
        for id, previous in (("a", None), ("b", "a"), ("other", "a"), ("c", "b")):
            await store.add(record(id, previous))
        thread = await store.thread("c", "")
        assert [link.response["id"] for link in thread.links] == ["a", "b", "c"]
        assert [link.input[0]["id"] for link in thread.links] == ["in_a", "in_b", "in_c"]
        assert thread.missing is None

    run(url, look)


def test_how_far_one_is_shows_where_others_look(url) -> None:
    async def look(first):
        second = SqlStore(url)
        begun = record("a", status="in_progress")
        grown = Record(begun.response, begun.input, [*begun.events, b'{"n":2}'])
        await first.add(begun)
        assert await first.update(grown)
        assert await first.events("a", "") == begun.events  # nobody else would look
        await second.open()
        try:
            await first._keep_up()
            assert await first.update(grown)
            assert await second.events("a", "") == grown.events
            assert await second.finish(record("a", status="cancelled"))
            assert not await first.update(grown)
            assert not await first.finish(grown)
            assert (await first.response("a", ""))["status"] == "cancelled"
            await second.delete("a", "")
            assert not await first.update(grown)
        finally:
            await second.close()

    run(url, look)


def test_what_belongs_to_another_is_not_there(url) -> None:
    async def look(store):
        for id, previous, owner in (("mine", None, "me"), ("taken", "mine", "you")):
            made = record(id, previous)
            await store.add(Record(made.response, made.input, made.events, owner))
        for owner in ("you", "", "ME"):
            assert await store.response("mine", owner) is None
            assert await store.events("mine", owner) is None
            assert await store.thread("mine", owner) is None
            assert await store.items(["in_mine", "out_mine"], owner) == {}
            assert not await store.delete("mine", owner)
        thread = await store.thread("taken", "you")
        assert ([link.response["id"] for link in thread.links], thread.missing) == (["taken"], "mine")
        assert (await store.items(["in_mine", "in_taken"], "me")).keys() == {"in_mine"}
        assert await store.delete("mine", "me")

    run(url, look)


def test_deleting(url) -> None:
    async def look(store):
        await store.add(record("resp_1"))
        assert [await store.delete("resp_1", ""), await store.delete("resp_1", "")] == [True, False]
        assert await store.response("resp_1", "") is None
        assert await store.items(["in_resp_1", "out_resp_1"], "") == {}

    run(url, look)


def test_an_unfinished_response_is_finished_once(url) -> None:
    async def look(store):
        queued = Record(response("resp_1", status="queued"), [{"id": "in_resp_1"}], [b"{}"])
        await store.add(queued)
        assert await store.finish(record("resp_1"))
        assert (await store.response("resp_1", ""))["status"] == "completed"
        assert await store.events("resp_1", "") == record("resp_1").events
        assert (await store.items(["out_resp_1"], "")).keys() == {"out_resp_1"}
        assert not await store.finish(record("resp_1", status="cancelled"))
        assert (await store.response("resp_1", ""))["status"] == "completed"
        assert not await store.finish(record("resp_2"))
        assert await store.response("resp_2", "") is None, "a deleted one doesn't come back"

    run(url, look)


def test_what_a_lost_server_had_under_way_has_failed(url) -> None:
    async def both():
        lost, other = SqlStore(url), SqlStore(url, lost_after=0)
        await lost.open()
        await lost.add(Record(response("resp_1", status="queued"), [], [b"{}"]))
        await other.open()
        failed = await other.response("resp_1", "")
        assert failed
        assert failed["error"]
        assert (failed["status"], failed["error"]["code"]) == ("failed", "server_error")
        events = await other.events("resp_1", "")
        assert events
        first, last = events
        assert first == b"{}"
        assert b'"response.failed","sequence_number":1' in last
        assert not await lost.finish(record("resp_1")), "it was not lost after all, but nobody waits any more"
        await other.close()
        await lost.close()

    asyncio.run(both())


def test_what_a_living_server_has_under_way_is_left_alone(url) -> None:
    async def both():
        one, other = SqlStore(url), SqlStore(url)
        await one.open()
        await one.add(Record(response("resp_1", status="queued"), [], [b"{}"]))
        await other.open()
        unfinished = await other.response("resp_1", "")
        assert unfinished
        assert unfinished["status"] == "queued"
        assert await one.finish(record("resp_1"))
        await other.close()
        await one.close()

    asyncio.run(both())


def test_upkeep_goes_on_after_an_unexpected_error(url, monkeypatch, caplog) -> None:
    monkeypatch.setattr(sql, "BEAT", 0.01)

    async def look() -> None:
        store = SqlStore(url)
        later: list[asyncio.Event] = []

        def failing(at: int):
            calls, went_on = itertools.count(), asyncio.Event()
            later.append(went_on)

            async def step() -> None:
                call = next(calls)
                if call == at:
                    raise ZeroDivisionError
                if call > at:
                    went_on.set()

            return step

        monkeypatch.setattr(store, "_keep_up", failing(1))  # after that of `open`
        monkeypatch.setattr(store, "_clean_up", failing(0))
        await store.open()
        for event in later:
            await event.wait()
        await store.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(look())
    assert [line.exc_info and line.exc_info[0] for line in caplog.records] == [ZeroDivisionError] * 2


def test_a_server_with_another_clock_is_not_lost(url, monkeypatch) -> None:
    async def both():
        one, fast = SqlStore(url), SqlStore(url)
        await one.open()
        await one.add(Record(response("resp_1", status="in_progress"), [], [b"{}"]))
        right = time.time
        monkeypatch.setattr(time, "time", lambda: right() + 3600)
        await fast.open()
        seen = await fast.response("resp_1", "")
        assert seen
        assert seen["status"] == "in_progress"
        await fast.close()
        await one.close()

    asyncio.run(both())
