"""What is read of long chains: pages, and what a response continues."""

import pytest
import sqlalchemy
from support.stored import record, response, run

from specvino.handlers.store import Page, Record, TooLarge, raw_items
from specvino.handlers.store.protocol import MOST_BYTES, PAGE_BYTES


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
