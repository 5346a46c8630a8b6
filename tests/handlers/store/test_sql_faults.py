"""Databases that are locked, full, broken or gone."""

import asyncio
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import pytest
import sqlalchemy
from support.stored import record, response, run

from specvino.handlers.store import Record, StoreUnavailable, StoreUnusable, connect
from specvino.handlers.store.sql import SqlStore


def test_a_locked_database(url, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(connect, "PATIENCE", 0.05)

    async def look(store):
        other = sqlite3.connect(tmp_path / "folder" / "responses.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked") as caught:
            await store.add(record("resp_1"))
        assert not isinstance(caught.value, StoreUnusable)  # another try may succeed
        other.close()
        await store.add(record("resp_1"))
        assert await store.response("resp_1", "")

    run(url, look)


def test_another_server_that_ends_leaves_the_log(url, tmp_path) -> None:
    """The last process that closes a database deletes its write-ahead log; here, one is still there, with a connection
    that it has opened later than another one."""
    file = tmp_path / "folder" / "responses.db"
    other = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM sqlite_master'); c.close()"

    async def look(store):
        engine = store._database._engine
        async with engine.connect() as first, engine.connect() as second:
            for connection in (first, second):
                await connection.execute(sqlalchemy.text("SELECT 1"))
            await asyncio.to_thread(subprocess.run, [sys.executable, "-c", other, str(file)], check=True)
            assert file.with_name("responses.db-wal").exists()
        await store.add(record("resp_1"))
        assert await store.response("resp_1", "")

    run(url, look)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


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
        with pytest.raises(StoreUnusable, match="not a database"):
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
