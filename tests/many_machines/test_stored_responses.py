"""Responses in a database of all replicas: each goes on with those of the others."""

import asyncio

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from support.replicas import at_work, deployed
from support.serving import PATIENCE, wait_until


@pytest.fixture(scope="module")
def client(database):
    options = ("--engine", "scripted", "--served-model-name", "m", "--replicas", "2")
    with deployed(*options, "--response-store", database) as server, httpx.Client(base_url=server.url) as client:
        client.timeout = PATIENCE
        yield client


def respond(client, input, **fields):
    answer = client.post("/responses", json={"model": "m", "input": input, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_any_replica_goes_on(client) -> None:
    """Each request names a session of its own, so that some go to either replica."""
    first = respond(client, "one")
    for number in range(8):
        headers = {"x-session-id": str(number)}
        body = {"model": "m", "input": "two", "previous_response_id": first["id"]}
        answer = client.post("/responses", json=body, headers=headers)
        assert answer.status_code == 200
        assert client.get(f"/responses/{answer.json()['id']}", headers=headers).json()["status"] == "completed"


def test_any_replica_cancels_what_runs_in_the_background(client) -> None:
    running = respond(client, "script: delay=0.5\n" + "word " * 4000, background=True)
    for number in range(8):
        cancelled = client.post(f"/responses/{running['id']}/cancel", headers={"x-session-id": str(number)}).json()
        assert cancelled["status"] == "cancelled"
    assert client.get(f"/responses/{running['id']}").json()["status"] == "cancelled"
    # The replica that made it has stopped, too: it would take half an hour.
    wait_until(lambda: at_work(str(client.base_url).rstrip("/")) == 0)


def test_any_replica_streams_what_runs_in_the_background(client) -> None:
    running = respond(client, "script: delay=0.2\n" + "word " * 4000, background=True)
    path = f"/responses/{running['id']}"
    for number in range(8):
        headers = {"x-session-id": str(number)}
        with client.stream("GET", path, params={"stream": "true"}, headers=headers) as events:
            lines = events.iter_lines()
            assert any(line == "event: response.output_text.delta" for line in lines)
        assert client.get(path, headers=headers).json()["status"] == "in_progress"
    client.post(f"{path}/cancel").raise_for_status()


def test_a_replica_has_two_connections_to_the_database_at_most(client, database) -> None:
    """A PostgreSQL server allows 100 by default."""

    async def most() -> int:
        counts: list[int] = []
        engine = create_async_engine(database)
        count = text("SELECT count(*) FROM pg_stat_activity WHERE usename = 'specvino' AND pid <> pg_backend_pid()")
        async with (
            httpx.AsyncClient(base_url=client.base_url, timeout=PATIENCE) as many,
            engine.connect() as connection,
        ):
            asked = [many.post("/responses", json={"model": "m", "input": "one"}) for _ in range(64)]
            for answer in asyncio.as_completed(asked):
                (await answer).raise_for_status()
                counts.append((await connection.execute(count)).scalar_one())
        await engine.dispose()
        return max(counts)

    assert asyncio.run(most()) == 4


def test_one_that_is_deleted_is_gone_everywhere(client) -> None:
    made = respond(client, "one")
    client.delete(f"/responses/{made['id']}").raise_for_status()
    statuses = [client.get(f"/responses/{made['id']}", headers={"x-session-id": str(n)}).status_code for n in range(8)]
    assert set(statuses) == {404}
    wait_until(lambda: client.get("/health").status_code == 200)
