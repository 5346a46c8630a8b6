"""Responses as a store has them, and stores that open one database after another."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from typing import Any

from specvino.handlers.store import Record
from specvino.handlers.store.sql import SqlStore


def response(
    id: str, previous: str | None = None, status: str = "completed", age: float = 0.0, output: Sequence[Any] = ()
) -> Any:
    return {
        "id": id,
        "previous_response_id": previous,
        "created_at": int(time.time() - age),
        "status": status,
        "output": list(output),
        "error": None,
    }


def record(id: str, previous: str | None = None, **fields: Any) -> Record:
    """A response with one item in and one out, and two events."""
    made = response(id, previous, output=[{"id": f"out_{id}", "type": "message"}], **fields)
    return Record(made, [{"id": f"in_{id}", "type": "message"}], [b'{"n":0}', b'{"n":1}'])


def run(url: str, *tests: Callable[[SqlStore], Awaitable[Any]], **settings: Any) -> None:
    """Each test gets a store of its own, as a server has it after its first clean-up, on the same database."""

    async def steps() -> None:
        for test in tests:
            store = SqlStore(url, **settings)
            await store.open()
            try:
                await store._clean_up()
                await test(store)
            finally:
                await store.close()

    asyncio.run(steps())


def rows(url: str) -> set[str]:
    """The ids of the stored responses."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
        return {id for (id,) in database.execute("SELECT id FROM specvino_responses")}
