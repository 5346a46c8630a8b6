"""The limits of keys, shared by servers with one database."""

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, event, select
from sqlalchemy.ext.asyncio import AsyncConnection

from specvino.engine.segments import Segment, Started
from specvino.handlers.allowance import Allowance, Allowances, KeyLimits
from specvino.handlers.errors import ApiError
from specvino.handlers.store import OwnAccounts, StoreUnavailable, connect, sql
from specvino.handlers.store.schema import ACCOUNTS, RUNNING, SERVERS
from specvino.handlers.store.sql import SqlStore

LIMITS = {"a": KeyLimits(requests=2, sequences=2), "b": KeyLimits(requests=1)}


class Machine:
    """Two servers with one database, whose clock moves when a test says so."""

    def __init__(self, url: str) -> None:
        self.now = 5000.0
        self.stores = [SqlStore(url, lost_after=3600), SqlStore(url, lost_after=3600)]
        for store in self.stores:
            store.accounts._clock = self._time
            store.accounts._own = OwnAccounts(lambda: self.now)
        self.servers = [Allowances(LIMITS, store.accounts) for store in self.stores]

    async def _time(self, _: AsyncConnection) -> float:
        return self.now

    def request(self, server: int, owner: str = "a") -> Allowance:
        allowance = self.servers[server].of(owner)
        assert allowance
        return allowance

    async def forget(self, server: int) -> None:
        async with self.stores[0]._database.transaction() as connection:
            await connection.execute(delete(SERVERS).where(SERVERS.c.id == self.stores[server]._id))

    async def rows(self, table: Any) -> int:
        async with self.stores[0]._database.transaction() as connection:
            return len((await connection.execute(select(table))).all())


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(connect, "PATIENCE", 600)  # a busy machine is no reason to count apart
    monkeypatch.setattr(
        sql, "BEAT", 3600
    )  # no heartbeats but those of the tests: others delete accounts by the real clock
    return Machine(f"sqlite:///{tmp_path / 'responses.db'}")


def run(machine: Machine, test: Coroutine[Any, Any, None]) -> None:
    async def steps() -> None:
        for store in machine.stores:
            await store.open()
        await machine.stores[0]._keep_up()  # it notices the other one
        try:
            await test
        finally:
            for store in machine.stores:
                await store.close()

    asyncio.run(steps())


async def answer() -> AsyncGenerator[Segment]:
    yield Started(1)


def test_requests_count_at_every_server(machine: Machine) -> None:
    async def test() -> None:
        await machine.request(0).admit()
        await machine.request(1).admit()
        for server in (0, 1):
            with pytest.raises(ApiError, match="Retry in 30 s"):
                await machine.request(server).admit()
        machine.now += 30
        await machine.request(1).admit()
        with pytest.raises(ApiError):
            await machine.request(0).admit()
        await machine.request(0, "b").admit()

    run(machine, test())


def test_no_request_at_the_same_time_is_one_too_many(machine: Machine) -> None:
    async def test() -> None:
        asked = [machine.request(number % 2).admit() for number in range(10)]
        results = await asyncio.gather(*asked, return_exceptions=True)
        assert results.count(None) == 2
        assert {type(result) for result in results if result} == {ApiError}

    run(machine, test())


def test_choices_count_at_every_server_until_their_end_or_that_of_the_server(machine: Machine) -> None:
    async def test() -> None:
        async with AsyncExitStack() as stack:

            async def begun(server: int, sequences: int) -> AsyncGenerator[Segment]:
                segments = machine.request(server).metered(answer(), sequences)
                await anext(segments)
                stack.push_async_callback(segments.aclose)
                return segments

            here, _ = await begun(0, 1), await begun(1, 1)
            with pytest.raises(ApiError, match="2 of 2 sequences are in use"):
                await begun(0, 1)
            await here.aclose()
            await begun(1, 1)
            with pytest.raises(ApiError):
                await begun(0, 1)
            assert await machine.rows(RUNNING) == 1
            await machine.forget(1)  # as others do with a server that was killed
            await begun(0, 2)
            await machine.stores[0]._keep_up()
            assert await machine.rows(RUNNING) == 1

    run(machine, test())


def test_the_only_server_of_a_file_writes_at_heartbeats(machine: Machine) -> None:
    first, second = machine.stores

    async def test() -> None:
        machine.now += time.time()  # so that no account is full by the database's clock
        await first.open()
        running = machine.request(0).metered(answer(), 2)
        await machine.request(0).admit()
        await anext(running)
        assert await machine.rows(ACCOUNTS) == await machine.rows(RUNNING) == 0
        await first._keep_up()
        assert await machine.rows(ACCOUNTS) == await machine.rows(RUNNING) == 1
        await second.open()
        with pytest.raises(ApiError, match="2 of 2 sequences are in use"):
            await anext(machine.request(1).metered(answer(), 1))
        await machine.request(1).admit()
        await first._keep_up()
        await running.aclose()
        assert await machine.rows(RUNNING) == 0
        for server in (0, 1):
            with pytest.raises(ApiError, match="2 requests per minute"):
                await machine.request(server).admit()
        await second.close()
        await first.close()

    asyncio.run(test())


def test_what_was_used_counts_for_the_next_server_of_a_file(machine: Machine) -> None:
    async def test() -> None:
        machine.now += time.time()
        for number, store in enumerate(machine.stores):
            await store.open()
            await machine.request(number).admit()
            await store.close()
        assert await machine.rows(ACCOUNTS) == 1
        await machine.stores[1].open()
        with pytest.raises(ApiError, match="2 requests per minute"):
            await machine.request(1).admit()
        await machine.stores[1].close()
        await machine.stores[0].close()

    asyncio.run(test())


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("error", [OSError("no disk"), asyncio.CancelledError()], ids=["fails", "is cancelled"])
def test_what_was_used_counts_after_a_heartbeat_whose_commit_fails(
    machine: Machine, error: BaseException, alone: bool
) -> None:
    first, second = machine.stores

    def fail(_: Any) -> None:
        raise error

    async def test() -> None:
        machine.now += time.time()
        await first.open()
        await machine.request(0).admit()
        if not alone:
            await second.open()
        engine = first._database._engine.sync_engine
        event.listen(engine, "commit", fail)
        with pytest.raises((StoreUnavailable, asyncio.CancelledError)):
            await first._keep_up()
        event.remove(engine, "commit", fail)
        await machine.request(0).admit()
        if alone:
            await first.close()
            await second.open()
        with pytest.raises(ApiError, match="2 requests per minute"):
            await machine.request(1).admit()
        await first.close()
        await second.close()

    asyncio.run(test())


def test_a_server_that_is_alone_again_after_a_failure_reads_what_was_used_meanwhile(machine: Machine) -> None:
    first, second = machine.stores

    async def test() -> None:
        machine.now += time.time()
        await first.open()
        await machine.request(0).admit()
        with suppress(ZeroDivisionError):
            async with first._database.transaction() as connection:
                await first.accounts.save(connection, alone=False)
                raise ZeroDivisionError
        await second.open()
        await machine.request(1).admit()
        await machine.request(1).admit()
        await second.close()
        await first._keep_up()
        with pytest.raises(ApiError, match="2 requests per minute"):
            await machine.request(0).admit()
        await first.close()

    asyncio.run(test())


def test_what_is_used_between_the_writing_and_the_commit_is_written_next_time(machine: Machine) -> None:
    first, second = machine.stores

    async def test() -> None:
        machine.now += time.time()
        await first.open()
        await machine.request(0).admit()
        async with first._database.transaction() as connection:
            written = await first.accounts.save(connection, alone=True)
            await machine.request(0).admit()
        first.accounts.saved(written, alone=True)
        await first.close()
        await second.open()
        with pytest.raises(ApiError, match="2 requests per minute"):
            await machine.request(1).admit()
        await second.close()

    asyncio.run(test())


def test_a_full_account_takes_no_room(machine: Machine) -> None:
    async def test() -> None:
        await machine.request(0).admit()
        assert await machine.rows(ACCOUNTS) == 1
        await machine.stores[0]._keep_up()  # by the database's clock, which is later than the test's
        assert await machine.rows(ACCOUNTS) == 0
        await machine.request(0).admit()

    run(machine, test())
