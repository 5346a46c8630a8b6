"""Conversations in SQLite."""

import asyncio
import threading
from contextlib import closing
from typing import Any

import pytest
import sqlalchemy
from support.stored import run

from specvino.handlers.store import NoStore, StoreUnavailable, TooLarge
from specvino.handlers.store.protocol import MOST_BYTES
from specvino.handlers.store.quota import Quota, Retention
from specvino.handlers.store.sql import SqlStore


def item(id: str) -> dict[str, Any]:
    return {"id": id, "type": "message", "role": "user", "content": [{"type": "input_text", "text": id}]}


def ids(items: list[dict[str, Any]] | None) -> list[str]:
    assert items is not None
    return [item["id"] for item in items]


def test_one_is_there_after_the_store_was_closed(url: str) -> None:
    kept: list[str] = []

    async def create(store: SqlStore) -> None:
        conversation = await store.conversations.create([item("msg_1")], {"topic": "weather"}, "")
        assert await store.conversations.add(conversation.id, [item("msg_2"), item("msg_3")], "") == [
            item("msg_2"),
            item("msg_3"),
        ]
        kept.append(conversation.id)

    async def look(store: SqlStore) -> None:
        (id,) = kept
        conversation = await store.conversations.get(id, "")
        assert conversation is not None
        assert (conversation.id, conversation.metadata) == (id, {"topic": "weather"})
        assert await store.conversations.items(id, "") == [item("msg_1"), item("msg_2"), item("msg_3")]

    run(url, create, look)


def test_metadata_is_replaced(url: str) -> None:
    async def change(store: SqlStore) -> None:
        created = await store.conversations.create([], {"a": "1"}, "")
        changed = await store.conversations.describe(created.id, {"b": "2"}, "")
        assert changed is not None
        assert changed.metadata == {"b": "2"}
        assert await store.conversations.get(created.id, "") == changed

    run(url, change)


def test_an_item_is_removed_and_its_place_is_not_taken_again(url: str) -> None:
    async def remove(store: SqlStore) -> None:
        kept = store.conversations
        id = (await kept.create([item("a"), item("b")], {}, "")).id
        assert [await kept.remove(id, name, "") for name in ("b", "b", "c")] == [True, False, False]
        await kept.add(id, [item("c")], "")
        assert ids(await kept.items(id, "")) == ["a", "c"]

    run(url, remove)


def test_an_id_that_it_has_is_replaced(url: str) -> None:
    async def add(store: SqlStore) -> None:
        kept = store.conversations
        id = (await kept.create([item("msg_1")], {}, "")).id
        added = ids(await kept.add(id, [item("msg_1"), item("msg_2"), item("msg_2")], ""))
        assert added[1] == "msg_2"
        assert all(name.startswith("msg_") for name in added)
        assert ids(await kept.items(id, "")) == ["msg_1", *added]
        assert len({"msg_1", *added}) == 4

    run(url, add)


def test_pages_in_both_orders(url: str) -> None:
    async def look(store: SqlStore) -> None:
        kept = store.conversations
        id = (await kept.create([item(name) for name in "abcd"], {}, "one")).id
        await kept.remove(id, "b", "one")

        async def page(after: str | None, limit: int, *, newest_first: bool) -> tuple[list[str], bool]:
            listed = await kept.page(id, "one", after, limit, newest_first=newest_first)
            assert listed is not None
            return ids(listed.items), listed.has_more

        assert await page(None, 2, newest_first=False) == (["a", "c"], True)
        assert await page("c", 2, newest_first=False) == (["d"], False)
        assert await page(None, 3, newest_first=True) == (["d", "c", "a"], False)
        assert await page("d", 1, newest_first=True) == (["c"], True)
        with pytest.raises(LookupError):
            await page("b", 1, newest_first=True)
        assert await kept.page(id, "other", None, 1, newest_first=True) is None
        assert await kept.item(id, "c", "one") == item("c")
        assert await kept.item(id, "b", "one") is await kept.item(id, "c", "other") is None

    run(url, look)


def test_what_is_deleted_is_gone(url: str) -> None:
    async def delete(store: SqlStore) -> None:
        kept = store.conversations
        id = (await kept.create([item("a")], {}, "")).id
        assert [await kept.delete(id, ""), await kept.delete(id, "")] == [True, False]
        assert [await kept.get(id, ""), await kept.items(id, ""), await kept.add(id, [item("b")], "")] == [None] * 3
        assert await kept.describe(id, {}, "") is None
        assert not await kept.remove(id, "a", "")
        assert await store.items(["a", "b"], "") == {}

    run(url, delete)


def test_it_belongs_to_its_owner(url: str) -> None:
    async def look(store: SqlStore) -> None:
        kept = store.conversations
        id = (await kept.create([item("a")], {}, "one")).id
        assert [await kept.get(id, "other"), await kept.items(id, "other")] == [None] * 2
        assert await kept.add(id, [item("b")], "other") is None
        assert await kept.describe(id, {"a": "b"}, "other") is None
        assert not await kept.remove(id, "a", "other")
        assert not await kept.delete(id, "other")
        assert await store.items(["a"], "other") == {}
        assert await store.items(["a"], "one") == {"a": item("a")}
        assert ids(await kept.items(id, "one")) == ["a"]

    run(url, look)


def test_turns_that_are_added_at_the_same_time_stay_together(url: str) -> None:
    """By two servers, in threads of their own: SQLite lets one write at a time."""
    created: list[str] = []

    async def create(store: SqlStore) -> None:
        created.append((await store.conversations.create([], {}, "")).id)

    async def add_turns(store: SqlStore, server: str) -> None:
        for turn in range(20):
            pair = [item(f"{server}{turn}_in"), item(f"{server}{turn}_out")]
            assert await store.conversations.add(created[0], pair, "") == pair

    async def look(store: SqlStore) -> None:
        stored = ids(await store.conversations.items(created[0], ""))
        assert len(stored) == 80
        for question, answer in zip(stored[::2], stored[1::2], strict=True):
            assert question.removesuffix("_in") == answer.removesuffix("_out")

    run(url, create)
    servers = [
        threading.Thread(target=run, args=(url, lambda store, name=name: add_turns(store, name))) for name in ("a", "b")
    ]
    for server in servers:
        server.start()
    for server in servers:
        server.join()
    run(url, look)


def _age(url: str, id: str, seconds: float) -> None:
    engine = sqlalchemy.create_engine(url)
    with closing(engine.connect()) as connection:
        change = "update specvino_conversations set used_at = used_at - :seconds where id = :id"
        connection.execute(sqlalchemy.text(change), {"seconds": seconds, "id": id})
        connection.commit()
    engine.dispose()


def test_those_that_were_not_used_for_days_are_deleted_with_their_items(url: str) -> None:
    created: dict[str, str] = {}

    async def create(store: SqlStore) -> None:
        for name in ("old", "used", "new"):
            created[name] = (await store.conversations.create([item(name)], {}, "")).id
        for name in ("old", "used"):
            _age(url, created[name], 2 * 86400)
        await store.conversations.add(created["used"], [item("again")], "")

    async def look(store: SqlStore) -> None:
        exists = {name: await store.conversations.get(id, "") is not None for name, id in created.items()}
        assert exists == {"old": False, "used": True, "new": True}
        assert (await store.items(["old", "used"], "")).keys() == {"used"}

    run(url, create, look, retention=Retention(1))


def test_of_more_than_the_most_those_used_last_stay(url: str) -> None:
    created: list[str] = []

    async def create(store: SqlStore) -> None:
        for number in range(5):
            created.append((await store.conversations.create([item(str(number))], {}, "")).id)
            _age(url, created[-1], 100 - number)

    async def look(store: SqlStore) -> None:
        assert [await store.conversations.get(id, "") is not None for id in created] == [False] * 3 + [True] * 2

    run(url, create, look, retention=Retention(quota=Quota(2, 10**9)))


def test_nobody_s_conversations_make_room_for_those_of_another_key(url: str) -> None:
    created: dict[str, str] = {}

    async def create(store: SqlStore) -> None:
        for name, owner, age in (("mine", "me", 9), ("first", "you", 5), ("second", "you", 3)):
            created[name] = (await store.conversations.create([item(name)], {}, owner)).id
            _age(url, created[name], age)

    left: list[set[str]] = []

    async def list_left(store: SqlStore) -> None:
        owners = {"mine": "me", "first": "you", "second": "you"}
        left.append({name for name, owner in owners.items() if await store.conversations.get(created[name], owner)})

    run(url, create)
    run(url, list_left, retention=Retention(quota=Quota(1, 10**9)))
    assert left == [{"mine", "second"}]


def test_the_oldest_go_when_an_owner_s_are_too_large(url: str) -> None:
    created: list[str] = []

    async def create(store: SqlStore) -> None:
        for number in range(3):
            created.append((await store.conversations.create([], {}, "")).id)
            await store.conversations.add(created[-1], [item("x" * 10_000), item("gone")], "")
            await store.conversations.remove(created[-1], "gone", "")
            _age(url, created[-1], 100 - number)

    async def look(store: SqlStore) -> None:
        assert [await store.conversations.get(id, "") is not None for id in created] == [False, True, True]

    run(url, create)
    run(url, look, retention=Retention(quota=Quota(None, 41_000)))  # an item has its text twice
    run(url, look, retention=Retention(quota=Quota(None, 41_000)))


def test_a_conversation_that_is_too_large_is_not_continued(url: str) -> None:
    async def look(store: SqlStore) -> None:
        id = (await store.conversations.create([item("x" * (MOST_BYTES // 4 - 100))], {}, "")).id
        assert len(await store.conversations.items(id, "") or ()) == 1
        await store.conversations.add(id, [item("y" * (MOST_BYTES // 4 + 100))], "")
        with pytest.raises(TooLarge):
            await store.conversations.items(id, "")
        with pytest.raises(TooLarge):
            await store.items(["x" * (MOST_BYTES // 4 - 100), "y" * (MOST_BYTES // 4 + 100)], "")
        page = await store.conversations.page(id, "", None, 10, newest_first=False)
        assert page
        assert (len(page.items), page.has_more) == (1, True)

    run(url, look)


def test_nothing_is_kept_without_a_store() -> None:
    async def look() -> None:
        kept = NoStore().conversations
        with pytest.raises(StoreUnavailable):
            await kept.create([], {}, "")
        assert [await kept.get("a", ""), await kept.items("a", ""), await kept.add("a", [], "")] == [None] * 3
        assert await kept.describe("a", {}, "") is None
        assert await kept.page("a", "", None, 1, newest_first=True) is None
        assert await kept.item("a", "b", "") is None
        assert not await kept.remove("a", "b", "")
        assert not await kept.delete("a", "")

    asyncio.run(look())
