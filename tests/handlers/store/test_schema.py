"""Versions of the tables, and the way from one to the next."""

import asyncio
import json
import shutil
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, insert, text

from specvino.handlers.store import Record, StoreUnusable, schema
from specvino.handlers.store.schema import (
    ITEMS,
    METADATA,
    RESPONSES,
    VERSION_TABLE,
    _config,
    _versions,
    bring_up_to_date,
    version,
)
from specvino.handlers.store.sql import SqlStore


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "responses.db"


def differences(connection: Connection) -> Any:
    return compare_metadata(MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}), METADATA)


def newest(connection: Connection) -> str:
    """What a new database has."""
    bring_up_to_date(connection)
    present = version(connection)
    assert present
    return present


def test_a_new_database_has_the_tables_that_the_code_knows(file: Path) -> None:
    """A change of the tables needs a migration."""
    with create_engine(f"sqlite:///{file}").connect() as connection:
        assert version(connection) is None
        assert int(newest(connection)) >= 1
        assert differences(connection) == []
        bring_up_to_date(connection)


def test_a_database_from_before_there_were_versions_keeps_what_it_has(file: Path) -> None:
    """The tables as they were then."""
    with sqlite3.connect(file) as old:
        old.executescript(
            """
            CREATE TABLE specvino_responses (id VARCHAR(512) NOT NULL PRIMARY KEY, previous_id VARCHAR(512),
                created_at INTEGER NOT NULL, status VARCHAR(16) NOT NULL, owner VARCHAR(32), response BLOB NOT NULL,
                input BLOB NOT NULL, events BLOB NOT NULL);
            CREATE INDEX ix_specvino_responses_created_at ON specvino_responses (created_at);
            CREATE INDEX ix_specvino_responses_owner ON specvino_responses (owner);
            CREATE TABLE specvino_items (item_id VARCHAR(512) NOT NULL, response_id VARCHAR(512) NOT NULL,
                FOREIGN KEY(response_id) REFERENCES specvino_responses (id) ON DELETE CASCADE);
            CREATE INDEX specvino_items_by_item ON specvino_items (item_id);
            CREATE INDEX specvino_items_by_response ON specvino_items (response_id);
            CREATE TABLE specvino_servers (id VARCHAR(32) NOT NULL PRIMARY KEY, seen FLOAT NOT NULL);
            INSERT INTO specvino_responses VALUES ('resp_1', NULL, 4000000000, 'completed', NULL, '{"id":"resp_1"}',
                '[]', 'x');
            """
        )
    old.close()

    async def look() -> None:
        store = SqlStore(f"sqlite:///{file}")
        await store.open()
        response: object = await store.response("resp_1", "")
        assert response == {"id": "resp_1"}
        await store.close()

    asyncio.run(look())
    with create_engine(f"sqlite:///{file}").connect() as connection:
        assert version(connection) == newest(connection)
        assert differences(connection) == []


@pytest.mark.parametrize("old", _versions()[::-1])
def test_a_database_of_every_version_opens_and_a_chain_goes_on(file: Path, old: str) -> None:
    """The rows have what their version had; columns that came later have their defaults."""
    response = {"id": "resp_1", "previous_response_id": None, "status": "completed", "output": [{"id": "out_1"}]}
    row: dict[str, Any] = {
        "id": "resp_1",
        "created_at": 4_000_000_000,
        "status": "completed",
        "response": json.dumps(response).encode(),
        "input": b'[{"id":"in_1"}]',
        "events": zlib.compress(b'{"n":0}'),
    }
    with create_engine(f"sqlite:///{file}").connect() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, old)
        connection.execute(insert(RESPONSES).values(row))
        connection.execute(insert(ITEMS).values(item_id="in_1", response_id="resp_1"))
        connection.commit()
        assert version(connection) == old

    async def go_on() -> None:
        store = SqlStore(f"sqlite:///{file}")
        await store.open()
        newer: Any = response | {"id": "resp_2", "previous_response_id": "resp_1", "created_at": 4_000_000_001}
        await store.add(Record(newer, [{"id": "in_2"}], []))
        thread = await store.thread("resp_2", "")
        assert thread
        assert [link.response["id"] for link in thread.links] == ["resp_1", "resp_2"]
        assert await store.events("resp_1", "") == [b'{"n":0}']
        assert await store.items(["in_1"], "") == {"in_1": {"id": "in_1"}}
        await store.close()

    asyncio.run(go_on())
    with create_engine(f"sqlite:///{file}").connect() as connection:
        assert version(connection) == _versions()[0]
        assert differences(connection) == []


def test_the_sizes_of_conversations_are_computed(file: Path) -> None:
    with create_engine(f"sqlite:///{file}").connect() as connection:
        bring_up_to_date(connection)
        for statement in (
            "DROP INDEX specvino_conversations_by_size",
            "ALTER TABLE specvino_conversations DROP COLUMN size",
            f"UPDATE {VERSION_TABLE} SET version_num = '4'",
            "INSERT INTO specvino_conversations VALUES ('a', '', 1, 1, 2, '{}'), ('b', '', 1, 1, 0, '{}')",
            "INSERT INTO specvino_conversation_items VALUES ('a', 0, 'x', '12345'), ('a', 1, 'y', '123')",
        ):
            connection.execute(text(statement))
        connection.commit()
        bring_up_to_date(connection)
        sizes = connection.execute(text("SELECT id, size FROM specvino_conversations ORDER BY id")).all()
        assert [tuple(row) for row in sizes] == [("a", 8), ("b", 0)]
        assert differences(connection) == []


def test_a_migration_that_was_cut_short_is_run_again(file: Path) -> None:
    with create_engine(f"sqlite:///{file}").connect() as connection:
        bring_up_to_date(connection)
        connection.execute(text(f"DELETE FROM {VERSION_TABLE}"))
        connection.execute(text("DROP TABLE specvino_servers"))
        connection.commit()
        assert differences(connection)
        bring_up_to_date(connection)
        assert differences(connection) == []


def test_a_database_of_a_newer_version_is_left_alone(file: Path) -> None:
    with create_engine(f"sqlite:///{file}").connect() as connection:
        bring_up_to_date(connection)
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '999'"))
        connection.execute(text("UPDATE specvino_oldest_writer SET version = 999"))
        connection.commit()

    async def open_it() -> None:
        store = SqlStore(f"sqlite:///{file}")
        with pytest.raises(StoreUnusable, match="version 999, made by a newer specvino"):
            await store.open()
        await store.close()

    asyncio.run(open_it())


def newer(folder: Path, oldest_writer: str) -> Path:
    """The migrations with one more, which adds a column."""
    migrations = shutil.copytree(schema._MIGRATIONS, folder / "migrations")
    own = _versions()[0]
    (migrations / "versions" / "version_next.py").write_text(
        f"""
from alembic import op
from sqlalchemy import Column, Integer

revision = "{int(own) + 1}"
down_revision = "{own}"
oldest_writer = "{oldest_writer}"


def upgrade() -> None:
    op.add_column("specvino_responses", Column("extra", Integer, nullable=False, server_default="1"))
"""
    )
    return migrations


def test_servers_of_two_versions_share_a_store_during_a_rolling_update(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def response(id: str) -> Any:
        return {
            "id": id,
            "previous_response_id": None,
            "created_at": 4_000_000_000,
            "status": "completed",
            "output": [],
        }

    async def update() -> None:
        old, new = SqlStore(f"sqlite:///{file}"), SqlStore(f"sqlite:///{file}")
        await old.open()
        with monkeypatch.context() as patch:
            patch.setattr(schema, "_MIGRATIONS", newer(tmp_path, "1"))
            _versions.cache_clear()
            await new.open()
        _versions.cache_clear()
        adding = [store.add(Record(response(f"resp_{id}"), [], [])) for id, store in enumerate([old, new] * 20)]
        await asyncio.gather(*adding)
        for id in range(40):
            assert (
                await old.response(f"resp_{id}", "") == await new.response(f"resp_{id}", "") == response(f"resp_{id}")
            )
        await old.close()
        await new.close()
        restarted = SqlStore(f"sqlite:///{file}")  # an old server, and a downgrade
        await restarted.open()
        await restarted.add(Record(response("resp_40"), [], []))
        await restarted.close()

    asyncio.run(update())
    with create_engine(f"sqlite:///{file}").connect() as connection:
        assert version(connection) == str(int(_versions()[0]) + 1)


def test_tables_that_older_servers_would_harm_are_left_alone(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaking = str(int(_versions()[0]) + 1)
    with create_engine(f"sqlite:///{file}").connect() as connection:
        with monkeypatch.context() as patch:
            patch.setattr(schema, "_MIGRATIONS", newer(tmp_path, breaking))
            _versions.cache_clear()
            bring_up_to_date(connection)
        _versions.cache_clear()
        assert version(connection) == breaking
        with pytest.raises(StoreUnusable, match=f"version {breaking}, made by a newer specvino"):
            bring_up_to_date(connection)


def test_another_server_that_begins_at_the_same_time_may_be_faster(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade = command.upgrade
    made: list[str | None] = []

    def overtaken(config: Config, revision: str) -> None:
        with create_engine(f"sqlite:///{file}").connect() as other:
            own, config.attributes["connection"] = config.attributes["connection"], other
            upgrade(config, revision)
            other.commit()
            made.append(version(other))
        own.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES ('{made[0]}')"))

    monkeypatch.setattr(command, "upgrade", overtaken)
    with create_engine(f"sqlite:///{file}").connect() as connection:
        bring_up_to_date(connection)
        assert version(connection) == made[0]
