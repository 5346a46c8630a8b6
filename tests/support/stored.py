"""Responses as a store has them, and stores that open one database after another."""

import asyncio
import sqlite3
import time
from contextlib import closing

from specvino.handlers.store import Record
from specvino.handlers.store.sql import SqlStore


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


def rows(url):
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
        return {id for (id,) in database.execute("SELECT id FROM specvino_responses")}
