"""Replicas come and go, and so do clients: what was under way ends well, or stops."""

import asyncio
import json
import os
import signal
import socket

import httpx
import psutil
import pytest
from support.replicas import SCRIPTED, Lines, at_work, deployed, ended, replicas, slow, streaming
from support.serving import PATIENCE, Server, wait_until

CHAT = "/chat/completions"


def test_a_lost_replica_ends_its_own_streams_alone() -> None:
    async def ask(server: Server) -> list[Lines]:
        before = replicas(server)
        paths = [CHAT, "/responses"] * 8
        async with streaming(server.url, [(path, slow(path, number, 100)) for number, path in enumerate(paths)]) as all:
            os.kill(before[0], signal.SIGKILL)
            streams = await asyncio.gather(*all)
        await asyncio.to_thread(wait_until, lambda: len(set(replicas(server)) - {before[0]}) == 2)
        return streams

    with deployed(*SCRIPTED, "--replicas", "2") as server:
        streams = asyncio.run(ask(server))
        chats, responses = streams[::2], streams[1::2]
        assert {lines[-1] for lines in chats} == {"data: [DONE]"}
        lost = [lines for lines in chats if '"code":"engine_restarted"' in lines[-2]]
        whole = [lines for lines in chats if ended(lines)]
        assert lost
        assert whole
        assert len(lost) + len(whole) == len(chats)
        ends = {lines[-2] for lines in responses}
        assert ends == {"event: error", "event: response.completed"}
        number = next(len(lines) // 2 - 1 for lines in responses if lines[-2] == "event: error")
        assert any(f'"sequence_number":{number}' in lines[-1] for lines in responses)
        answers = [httpx.post(f"{server.url}/responses", json={"model": "m", "input": "a"}) for _ in range(8)]
        assert {answer.status_code for answer in answers} == {200}


@pytest.mark.parametrize("stream", [True, False])
def test_work_for_a_client_that_left_stops(two: Server, stream: bool) -> None:
    body = json.dumps(slow(CHAT, 1, 4000, delay=0.5) | {"stream": stream}).encode()  # half an hour
    with socket.create_connection(two.address) as client:
        head = f"POST /v1{CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        wait_until(lambda: at_work(two.url) == 1)
    wait_until(lambda: at_work(two.url) == 0)


def test_streams_under_way_end_when_all_is_stopped() -> None:
    async def ask(server: Server) -> list[Lines]:
        async with streaming(server.url, [(CHAT, slow(CHAT, number, 50, delay=0.3)) for number in range(8)]) as streams:
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(wait_until, lambda: refuses(server))
            assert not any(stream.done() for stream in streams)
            return await asyncio.gather(*streams)

    with deployed(*SCRIPTED, "--replicas", "2", "--shutdown-timeout", str(PATIENCE)) as server:
        assert all(ended(lines) for lines in asyncio.run(ask(server)))
        assert server.process.wait(PATIENCE) == 0


def refuses(server: Server) -> bool:
    answer = httpx.get(f"{server.url}/models", timeout=PATIENCE)
    if answer.status_code == 200:
        return False
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "engine_unavailable")
    assert answer.headers["retry-after"]
    return True


def test_nothing_stays_behind() -> None:
    with deployed(*SCRIPTED) as server:
        children = server.children()
        assert server.stop() == 0
    psutil.wait_procs(children, timeout=PATIENCE)
    assert not [child for child in children if child.is_running()]
