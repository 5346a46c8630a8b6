"""How many responses a database keeps, for how long, and how the others leave it."""

import asyncio
import shutil
import sqlite3
from contextlib import closing

import pytest
from support.stored import record, response, rows, run

from specvino.handlers.store import Record, StoreUnavailable, database, sql
from specvino.handlers.store.quota import Quota, Retention
from specvino.handlers.store.sql import SqlStore

DAY = 86400


def kept(count: int | None, size: int = 10**9) -> Retention:
    """Of each owner so many responses, of so many bytes."""
    return Retention(quota=Quota(count, size))


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


def test_an_old_response_that_is_continued_does_not_expire(url) -> None:
    async def add(store):
        for id, previous, age in (("a", None, 50), ("b", "a", 40), ("c", "b", 10), ("d", None, 45), ("e", "d", 35)):
            await store.add(record(id, previous, age=age * DAY))

    async def look(_):
        pass

    run(url, add, look)
    assert rows(url) == {"a", "b", "c"}
    run(url, look, retention=Retention(5))
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
        run(url, look, retention=kept(most))
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
    run(url, look, retention=kept(2))


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
        run(url, look, retention=kept(None, size))
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


def test_deleted_responses_leave_the_file(url, tmp_path) -> None:
    file = tmp_path / "folder" / "responses.db"

    async def look(store):
        for number in range(20):
            await store.add(Record(response(f"r{number}"), [{"id": "x", "text": "secret" * 50_000}], []))
        before = sum(kept.stat().st_size for kept in tmp_path.rglob("responses.db*"))
        for number in range(20):
            await store.delete(f"r{number}", "")
        await store._clean_up()
        await store._clean_up()
        assert before > 5_000_000
        for kept in tmp_path.rglob("responses.db*"):
            if kept.suffix != ".db-shm":
                assert kept.stat().st_size < 2_000_000

    run(url, look)
    assert b"secretsecret" not in file.read_bytes()


@pytest.mark.parametrize("retention", [Retention(0.5), kept(1), kept(None, 300_000)])
def test_much_is_deleted_in_small_transactions(url, tmp_path, monkeypatch, retention) -> None:
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
        await store._clean_up()

    run(url, add)
    asyncio.run(_unopened(url, look, retention))
    assert len(logged) >= 19
    assert max(logged) < 1_500_000
    assert len(rows(url)) <= 1


async def _unopened(url, look, retention):
    store = SqlStore(url, retention=retention)
    try:
        await look(store)
    finally:
        await store.close()


def test_a_long_clean_up_does_not_make_other_servers_take_this_one_for_lost(url, monkeypatch) -> None:
    monkeypatch.setattr(sql, "BEAT", 0.01)

    async def look() -> None:
        store = SqlStore(url)
        cleaning, beaten, never = asyncio.Event(), asyncio.Event(), asyncio.Event()
        keep_up = store._keep_up

        async def long(*_):
            cleaning.set()
            await never.wait()

        async def watched():
            await keep_up()
            if cleaning.is_set():
                beaten.set()

        monkeypatch.setattr(sql, "prune_old", long)
        monkeypatch.setattr(store, "_keep_up", watched)
        await store.open()
        await beaten.wait()
        await store.close()

    asyncio.run(look())


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


def test_one_key_leaves_room_for_others_on_a_small_disk(url, monkeypatch) -> None:
    added: list[str] = []
    usage = shutil.disk_usage("/")

    def left(_):
        return usage._replace(free=(160 - 4 * len(added)) * 2**20)

    async def fill(store, owners):
        for owner in owners:
            made = response(f"{owner}_{len(added)}")
            await store.add(Record(made, [{"id": "x", "text": "x" * 20_000}], [], owner))
            added.append(owner)

    async def look(store):
        monkeypatch.setattr(shutil, "disk_usage", left)
        with pytest.raises(StoreUnavailable, match="less than 128 MiB left, which are for keys that have stored less"):
            await fill(store, ["a"] * 40)
        with pytest.raises(StoreUnavailable, match="which are for keys that have stored less"):
            await store.conversations.create([], {}, "a")
        assert len(added) == 9
        with pytest.raises(StoreUnavailable, match="which are for keys that have stored less"):
            await fill(store, ["b"] * 40)
        assert added.count("b") == 5  # more than a third of all
        await store.conversations.create([{"id": "x"}], {}, "c")
        with pytest.raises(StoreUnavailable, match="has less than 64 MiB left"):
            await fill(store, map(str, range(40)))

    run(url, look)


def test_a_server_without_keys_has_no_shares(url, monkeypatch) -> None:
    async def look(store):
        usage = shutil.disk_usage("/")._replace(free=100 * 2**20)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        for number in range(3):
            await store.add(record(f"r{number}"))

    run(url, look)


def test_keys_may_have_retentions_of_their_own(url) -> None:
    async def add(store):
        for owner in ("short", "few", "default"):
            for number, age in enumerate((10, 3, 0)):
                made = record(f"{owner}_{number}", age=age * DAY)
                await store.add(Record(made.response, made.input, made.events, owner))

    async def look(store):
        assert rows(url) == {"short_1", "short_2", "few_2", "default_0", "default_1", "default_2"}
        for owner in ("few", "default"):
            for _ in range(2):
                await store.conversations.create([], {}, owner)

    async def conversations(_):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file:
            owners = [owner for (owner,) in file.execute("SELECT key_owner FROM specvino_conversations")]
        assert sorted(owners) == ["default", "default", "few"]

    own = {"short": Retention(5), "few": kept(1)}
    run(url, add)
    run(url, look, conversations, own=own)


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
    run(url, newest, retention=kept(2))
