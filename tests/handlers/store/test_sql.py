"""Responses in a database."""

import asyncio
import shutil
import sqlite3
import stat
import time
from contextlib import closing

import pytest
import sqlalchemy

from specvino.handlers.store import Page, Record, StoreUnavailable, TooLarge, connect, database, raw_items
from specvino.handlers.store.protocol import MOST_BYTES, PAGE_BYTES
from specvino.handlers.store.quota import Quota
from specvino.handlers.store.sql import SqlStore

DAY = 86400


def response(id, previous=None, status="completed", age=0.0, output=()):
    return {
        "id": id,
        "previous_response_id": previous,
        "created_at": int(time.time() - age),
        "status": status,
        "output": list(output),
        "error": None,
    }


def record(id, previous=None, **fields):
    """A response with one item in and one out, and two events."""
    made = response(id, previous, output=[{"id": f"out_{id}", "type": "message"}], **fields)
    return Record(made, [{"id": f"in_{id}", "type": "message"}], [b'{"n":0}', b'{"n":1}'])


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'folder' / 'responses.db'}"


def run(url, *tests, **settings):
    """Each test gets a store of its own, as a server has it, on the same database."""

    async def steps():
        for test in tests:
            store = SqlStore(url, **settings)
            await store.open()
            try:
                await test(store)
            finally:
                await store.close()

    asyncio.run(steps())


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


def test_a_conversation_lives_as_long_as_its_newest_response(url) -> None:
    async def ids(store, id):
        thread = await store.thread(id, "")
        return [link.response["id"] for link in thread.links] if thread else None

    async def delete_the_oldest(store):
        for id, previous in (("a", None), ("b", "a"), ("other", "a"), ("c", "b")):
            await store.add(record(id, previous))
        assert [await store.delete("a", ""), await store.delete("a", ""), await store.delete("b", "")] == [
            True,
            False,
            True,
        ]
        assert await store.response("a", "") is await store.events("a", "") is await ids(store, "a") is None
        assert await store.items(["in_a", "out_b"], "") == {}
        assert (await ids(store, "c"), await ids(store, "other")) == (["a", "b", "c"], ["a", "other"])
        oldest = (await store.thread("c", "")).links[0]
        assert oldest.input[0]["id"] == "in_a"
        assert oldest.response == {"id": "a", "output": [{"id": "out_a", "type": "message"}]}

    async def delete_the_newest(store):
        assert await store.delete("c", "")
        assert await ids(store, "other") == ["a", "other"]
        assert rows(url) == {"a", "other"}
        assert await store.delete("other", "")
        assert rows(url) == set()

    run(url, delete_the_oldest, delete_the_newest)


def rows(url):
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
        return {id for (id,) in database.execute("SELECT id FROM specvino_responses")}


def test_an_old_response_that_is_continued_does_not_expire(url) -> None:
    async def add(store):
        for id, previous, age in (("a", None, 50), ("b", "a", 40), ("c", "b", 10), ("d", None, 45), ("e", "d", 35)):
            await store.add(record(id, previous, age=age * DAY))

    async def keep_up(store):
        await store._keep_up()

    run(url, add, keep_up)
    assert rows(url) == {"a", "b", "c"}
    run(url, keep_up, days=5)
    assert rows(url) == set()


def test_conversations_go_as_a_whole_when_there_are_too_many_responses(url) -> None:
    async def add(store):
        for id, previous, age in (
            ("a", None, 9),
            ("x", None, 8),
            ("b", "a", 7),
            ("y", "x", 6),
            ("s", "b", 5),
            ("c", "b", 4),
        ):
            await store.add(record(id, previous, age=age))

    async def look(_):
        left.append("".join(sorted(rows(url))))

    left: list[str] = []
    run(url, add)
    for most in (6, 5, 4, 3, 2):
        run(url, look, quota=Quota(most, 10**9))
    assert left == ["abcsxy", "abcs", "abcs", "abc", "bc"]


def test_nobody_s_responses_make_room_for_those_of_another_key(url) -> None:
    async def add(store):
        for owner, number, age in (("me", 1, 9), ("you", 3, 5)):
            for index in range(number):
                made = record(f"{owner}_{index}", age=age - index)
                await store.add(Record(made.response, made.input, made.events, owner))

    async def look(_):
        assert rows(url) == {"me_0", "you_1", "you_2"}

    run(url, add)
    run(url, look, quota=Quota(2, 10**9))


def test_the_oldest_go_when_an_owner_s_are_too_large(url) -> None:
    async def add(store):
        for index, previous in enumerate((None, "resp_0", None)):
            made = response(f"resp_{index}", previous, age=9 - index)
            await store.add(Record(made, [{"id": "x", "text": "x" * 10_000}], [b"{}"]))

    async def look(_):
        left.append(rows(url))

    left: list[set[str]] = []
    run(url, add)
    for size in (10**9, 31_000, 29_000, 100):
        run(url, look, quota=Quota(None, size))
    every = {"resp_0", "resp_1", "resp_2"}
    assert left == [every, every, {"resp_2"}, {"resp_2"}]


def test_the_sizes_are_those_of_what_is_stored(url) -> None:
    def wrong():
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
            stored = "length(response) + length(input) + length(events)"
            return list(database.execute(f"SELECT id FROM specvino_responses WHERE size <> {stored}"))

    async def look(store):
        await store.add(record("a"))
        await store.add(record("b", "a", status="in_progress"))
        assert wrong() == []
        assert await store.finish(record("b", "a"))
        assert await store.delete("a", "")
        assert wrong() == []

    run(url, look)


@pytest.mark.parametrize("newest_first", [True, False])
def test_pages_of_what_a_response_received(url, newest_first) -> None:
    async def look(store):
        for id, previous in (("a", None), ("b", "a"), ("c", "b")):
            await store.add(record(id, previous))
        await store.delete("b", "")
        order = ["in_a", "out_a", "in_b", "out_b", "in_c"]
        order = order[::-1] if newest_first else order

        async def ids(after, limit):
            page = await store.input_page("c", "", after, limit, newest_first=newest_first)
            return [item["id"] for item in page.items], page.has_more

        assert await ids(None, 100) == (order, False)
        for start in range(5):
            after = order[start - 1] if start else None
            for limit in (1, 2, 3):
                assert await ids(after, limit) == (order[start : start + limit], start + limit < 5)
        assert await ids(order[-1], 1) == ([], False)
        for unknown in ("out_c", "nowhere"):
            with pytest.raises(LookupError):
                await ids(unknown, 1)
        assert await store.input_page("d", "", None, 1, newest_first=newest_first) is None

    run(url, look)


def test_a_page_ends_before_it_is_too_large(url) -> None:
    async def look(store):
        large = [{"id": f"in_{number}", "text": "x" * (PAGE_BYTES // 2)} for number in range(3)]
        await store.add(Record(response("a"), [{"id": "first", "text": "x" * PAGE_BYTES}, *large], []))
        pages: list[Page] = []
        while not pages or pages[-1].has_more:
            after = pages[-1].items[-1]["id"] if pages else None
            pages.append(await store.input_page("a", "", after, 10, newest_first=False))
        assert [[item["id"] for item in page.items] for page in pages] == [["first"], ["in_0"], ["in_1"], ["in_2"]]

    run(url, look)


def test_a_page_of_a_long_chain_reads_its_own_responses_only(url) -> None:
    read: list[str] = []

    def executed(_, __, statement, parameters, *___):
        if statement.startswith("SELECT specvino_responses.id, specvino_responses.response, specvino_responses.input"):
            read.extend(parameters)

    async def look(store):
        for number in range(40):
            await store.add(record(f"r{number}", f"r{number - 1}" if number else None))
        sqlalchemy.event.listen(store._database._engine.sync_engine, "before_cursor_execute", executed)
        await store.input_page("r39", "", None, 1, newest_first=True)
        assert read == ["r39", "r38"]
        read.clear()
        await store.input_page("r39", "", "out_r20", 2, newest_first=False)
        assert read == ["r20", "r21", "r22"]

    run(url, look)


def test_what_is_continued_or_referred_to_is_bounded(url, monkeypatch) -> None:
    half = "x" * (MOST_BYTES // 2)

    async def look(store):
        for id, previous in (("a", None), ("b", "a"), ("c", "b")):
            await store.add(Record(response(id, previous), [{"id": f"in_{id}", "text": half[:-200]}], []))
        assert (await store.thread("b", "")).missing is None
        with pytest.raises(TooLarge, match="a request can use at most 33,554,432"):
            await store.thread("c", "")
        assert len(await store.items(["in_a", "in_b"], "")) == 2
        with pytest.raises(TooLarge):
            await store.items(["in_a", "in_b", "in_a"], "")
        with pytest.raises(TooLarge):
            await store.items(["in_a", "in_b", "in_c"], "")

    async def look_at_many_items(store):
        monkeypatch.setattr(raw_items, "MOST_ITEMS", 10)
        await store.add(Record(response("few"), [{"id": f"in_{number}"} for number in range(10)], []))
        assert await store.thread("few", "")
        await store.add(record("many", "few"))
        with pytest.raises(TooLarge, match="12 stored items are too many; a request can use at most 10"):
            await store.thread("many", "")
        id = (await store.conversations.create([{"id": str(number)} for number in range(11)], {}, "")).id
        with pytest.raises(TooLarge, match="11 stored items"):
            await store.conversations.items(id, "")
        monkeypatch.undo()

    async def look_at_a_long_chain(store):
        monkeypatch.setattr(raw_items, "MOST_LINKS", 10)
        for number in range(11):
            await store.add(record(f"r{number}", f"r{number - 1}" if number else None))
        assert await store.thread("r9", "")
        with pytest.raises(TooLarge, match="a chain of 11 responses is too long"):
            await store.thread("r10", "")

    run(url, look, look_at_many_items, look_at_a_long_chain)


def test_more_items_than_a_statement_has_parameters(url) -> None:
    async def look(store):
        items = [{"id": f"in_{number}"} for number in range(1200)]
        await store.add(Record(response("a"), items, []))
        assert len(await store.items([*(item["id"] for item in items), "nowhere"], "")) == 1200

    run(url, look)


def test_deleted_responses_leave_the_file(url, tmp_path) -> None:
    file = tmp_path / "folder" / "responses.db"

    async def look(store):
        for number in range(20):
            await store.add(Record(response(f"r{number}"), [{"id": "x", "text": "secret" * 50_000}], []))
        before = sum(kept.stat().st_size for kept in tmp_path.rglob("responses.db*"))
        for number in range(20):
            await store.delete(f"r{number}", "")
        await store._keep_up()
        await store._keep_up()
        assert before > 5_000_000
        for kept in tmp_path.rglob("responses.db*"):
            if kept.suffix != ".db-shm":
                assert kept.stat().st_size < 2_000_000

    run(url, look)
    assert b"secretsecret" not in file.read_bytes()


@pytest.mark.parametrize("settings", [{"days": 0.5}, {"quota": Quota(1, 10**9)}, {"quota": Quota(None, 300_000)}])
def test_much_is_deleted_in_small_transactions(url, tmp_path, monkeypatch, settings) -> None:
    """Of a response each, so that the log stays small."""
    logged: list[int] = []
    monkeypatch.setattr(database, "_RESERVE", 400_000)

    async def add(store):
        for number in range(20):
            made = response(f"r{number}", f"r{number - 1}" if number % 2 else None, age=DAY - number)
            await store.add(Record(made, [{"id": "x", "text": "x" * 300_000}], [b"{}"]))
            await store.conversations.create([{"id": "x", "text": "x" * 300_000}], {}, "")

    async def look(store):
        shrink = store._database.shrink

        async def watched():
            logged.append((tmp_path / "folder" / "responses.db-wal").stat().st_size)
            await shrink()

        monkeypatch.setattr(store._database, "shrink", watched)
        await store._keep_up()

    run(url, add)
    asyncio.run(_kept_up(url, look, settings))
    assert len(logged) >= 19
    assert max(logged) < 1_500_000
    assert len(rows(url)) <= 1


async def _kept_up(url, look, settings):
    store = SqlStore(url, **settings)
    try:
        await look(store)
    finally:
        await store.close()


def test_a_disk_that_is_nearly_full_has_room_to_delete(url, monkeypatch) -> None:
    async def look(store):
        await store.add(record("a"))
        usage = shutil.disk_usage("/")._replace(free=2**20)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        with pytest.raises(StoreUnavailable, match="has less than 64 MiB left"):
            await store.add(record("b"))
        with pytest.raises(StoreUnavailable, match="has less than 64 MiB left"):
            await store.conversations.create([], {}, "")
        assert await store.delete("a", "")

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


def test_the_oldest_go_when_there_are_too_many_or_they_are_too_old(url) -> None:
    async def add(store):
        for id, age in (("a", 40), ("b", 20), ("c", 10), ("d", 0)):
            await store.add(record(id, age=age * DAY))

    async def left(store):
        return {id for id in "abcd" if await store.response(id, "")}

    async def all_young(store):
        assert await left(store) == {"b", "c", "d"}

    async def newest(store):
        assert await left(store) == {"c", "d"}
        assert await store.items(["in_b"], "") == {}

    run(url, add, all_young)
    run(url, all_young)
    run(url, newest, quota=Quota(2, 10**9))


def test_a_locked_database(url, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(connect, "PATIENCE", 0.05)

    async def look(store):
        other = sqlite3.connect(tmp_path / "folder" / "responses.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            await store.add(record("resp_1"))
        other.close()
        await store.add(record("resp_1"))
        assert await store.response("resp_1", "")

    run(url, look)


def test_a_full_disk(url, tmp_path) -> None:
    async def look(store):
        with pytest.raises(StoreUnavailable, match="full"):
            await fill(store)
        assert await store.response("resp_0", "")

    async def fill(store):
        for number in range(1000):
            await store.add(Record(response(f"resp_{number}"), [{"id": "x", "text": "x" * 100_000}], [b"{}"]))

    def limit(connection, _):
        connection.execute("PRAGMA max_page_count = 200")

    async def limited():
        store = SqlStore(url)
        sqlalchemy.event.listen(store._database._engine.sync_engine, "connect", limit)
        await store.open()
        await look(store)
        await store.close()

    asyncio.run(limited())


def test_a_file_that_is_no_database(tmp_path) -> None:
    file = tmp_path / "responses.db"
    file.write_bytes(b"x" * 5000)

    async def open_it():
        store = SqlStore(f"sqlite:///{file}")
        with pytest.raises(StoreUnavailable, match="not a database"):
            await store.open()
        await store.close()

    asyncio.run(open_it())


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nonsense", "parse"),
        ("nosuch://host/db", "nosuch"),
        ("sqlite+pysqlite:///x.db", "async"),
        ("sqlite:////proc/nowhere/x.db", "/proc/nowhere"),
    ],
)
def test_urls_that_can_not_be_used(url, words) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        SqlStore(url)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("fate", ["deleted", "replaced", "deleted with its folder"])
def test_a_database_that_goes_away_is_noticed(url, tmp_path, caplog, fate) -> None:
    """What is stored after that is in the file that has the name then."""
    folder = tmp_path / "folder"
    other = f"sqlite:///{tmp_path / 'other' / 'responses.db'}"

    async def add_elsewhere(store):
        await store.add(record("elsewhere"))

    async def look(store):
        await store.add(record("before"))
        if fate == "deleted with its folder":
            shutil.rmtree(folder)
        else:
            for file in folder.iterdir():
                file.unlink()
        if fate == "replaced":
            (tmp_path / "other" / "responses.db").rename(folder / "responses.db")
        caplog.clear()
        await asyncio.gather(*(store.add(record(f"after_{number}")) for number in range(8)))
        assert [line.levelname for line in caplog.records] == ["WARNING"]
        assert "responses.db was deleted or replaced" in caplog.text
        assert await store.response("before", "") is None
        assert bool(await store.response("elsewhere", "")) is (fate == "replaced")
        assert stat.S_IMODE((folder / "responses.db").stat().st_mode) == 0o600

    async def look_again(store):
        assert all([await store.response(f"after_{number}", "") for number in range(8)])

    run(other, add_elsewhere)
    run(url, look, look_again)


def test_a_database_that_can_not_be_made_again(url, tmp_path) -> None:
    async def look(store):
        shutil.rmtree(tmp_path / "folder")
        (tmp_path / "folder").touch()
        with pytest.raises(StoreUnavailable):
            await store.add(record("resp_1"))
        (tmp_path / "folder").unlink()
        await store.add(record("resp_1"))
        assert await store.response("resp_1", "")

    run(url, look)
