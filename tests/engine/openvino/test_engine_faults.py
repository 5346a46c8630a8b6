"""Processes that die or hang: their requests are told, everybody else goes on."""

import asyncio
import os
import signal
import subprocess
import sys
from typing import Any

import psutil
import pytest
from support import worker_requests
from support.conversation import answer, ask, ask_all, completion_tokens, text, until_text
from support.engines import LONG, endless, running
from support.processes import gone

from specvino.engine.errors import ContextLengthExceeded, EngineRestarted, EngineUnavailable
from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.protocol import CLIENT, REQUEST, Engine
from specvino.engine.request import TokenPrompt

HELLO = "Hello! How can I help you today?"

# With a penalty a token id that the model has not breaks a step; the engine itself never sends one.
GARBAGE = worker_requests.generate(2**40, (10**6).to_bytes(8, sys.byteorder), 2, repetition_penalty=1.5)


def pid(engine: OpenVINOEngine, name: str) -> int:
    pid = engine.pids[name]
    assert pid is not None
    return pid


async def to_the_end(answering: Any) -> None:
    async for _ in answering:
        pass


async def recovered(engine: Engine) -> str:
    """Asks until the engine is ready again, minding the refusals meanwhile."""
    while True:
        try:
            return text(await answer(engine, ask("hello")))
        except EngineUnavailable:
            assert engine.stats().state == "restarting"
            await asyncio.sleep(0.01)


def test_a_request_that_is_lost_each_time_is_not_tried_each_time(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        poison = ask("hello", n=1, **LONG)
        for restarts in (1, 2):
            stream = engine.generate(poison)
            await until_text(stream)
            os.kill(pid(engine, "worker"), signal.SIGKILL)
            with pytest.raises(EngineRestarted):
                await to_the_end(stream)
            assert await recovered(engine) == HELLO
            assert engine.stats().restarts == restarts
        for _ in range(4):
            with pytest.raises(EngineUnavailable, match="The engine crashed 2 times while it processed this request"):
                await to_the_end(engine.generate(poison))
            assert text(await answer(engine, ask("hello"))) == HELLO
        tried = engine.generate(poison)
        await until_text(tried)
        await tried.aclose()
        assert engine.stats().restarts == 2

    running(endless(tiny_text), test)


def test_a_killed_worker_takes_its_requests_along(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        streams = [engine.generate(ask("hello", n=n, **LONG)) for n in (1, 2)]
        for stream in streams:
            await until_text(stream)
        os.kill(pid(engine, "worker"), signal.SIGKILL)
        for stream in streams:
            with pytest.raises(EngineRestarted, match="killed by SIGKILL"):
                await to_the_end(stream)
        assert await recovered(engine) == HELLO
        assert engine.stats().restarts == 1

    running(endless(tiny_text), test)


def test_a_frozen_worker_is_replaced(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        stream = engine.generate(ask("hello", **LONG))
        await until_text(stream)
        os.kill(pid(engine, "worker"), signal.SIGSTOP)
        with pytest.raises(EngineRestarted, match="silent"):
            await to_the_end(stream)
        assert await recovered(engine) == HELLO

    running(endless(tiny_text), test, stall_timeout=5.0)


def test_a_silent_worker_is_not_ready(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        stream = engine.generate(ask("hello", **LONG))
        await until_text(stream)
        assert engine.stats().state == "ready"
        os.kill(pid(engine, "worker"), signal.SIGSTOP)
        while engine.stats().state != "stalled":
            engine._workers._heard_at -= 1000  # until nothing of what it sent before is on its way
            await asyncio.sleep(0.01)
        os.kill(pid(engine, "worker"), signal.SIGCONT)
        while engine.stats().state != "ready":  # noqa: ASYNC110 - nobody but tests waits for it
            await asyncio.sleep(0.01)
        assert engine.stats().restarts == 0
        await stream.aclose()
        engine._workers._heard_at -= 10_000
        assert engine.stats().state == "ready", "it owes nothing"

    running(endless(tiny_text), test, stall_timeout=4000.0)


def test_a_worker_whose_step_raises_is_replaced(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        stream = engine.generate(ask("hello", **LONG))
        await until_text(stream)
        engine._workers.worker.send(GARBAGE)
        with pytest.raises(EngineRestarted, match="out of bounds"):
            await to_the_end(stream)
        assert await recovered(engine) == HELLO
        assert engine.stats().restarts == 1

    running(endless(tiny_text), test)


def test_a_full_logits_process_whose_allocation_fails_is_replaced(tiny_text: ModelSource) -> None:
    """The system refuses it more memory: what it computes is lost, and later requests are answered by another one."""

    async def test(engine: OpenVINOEngine) -> None:
        biased = ask("hello", logit_bias=((100, 0.5),), max_tokens=4)
        before = completion_tokens(await answer(engine, biased))
        first = pid(engine, "full_logits")
        # No byte more than it has: the states of a long prompt need some megabytes.
        used = psutil.Process(first).memory_info().vms
        psutil.Process(first).rlimit(psutil.RLIMIT_AS, (used, used))
        large = ask_all(TokenPrompt((100,) * 1500), logit_bias=((100, 0.5),), max_tokens=4)
        with pytest.raises(EngineRestarted):
            await answer(engine, large)
        while True:
            try:
                assert completion_tokens(await answer(engine, biased)) == before
                break
            except EngineUnavailable:
                await asyncio.sleep(0.05)
        assert pid(engine, "full_logits") != first
        assert text(await answer(engine, ask("hello"))) == HELLO

    running(endless(tiny_text), test)


def test_a_killed_prepare_process_costs_no_stream(tiny_text: ModelSource, caplog: pytest.LogCaptureFixture) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        stream = engine.generate(ask("hello", **LONG))
        await until_text(stream)
        os.kill(pid(engine, "preprocess"), signal.SIGSTOP)
        under_way = asyncio.create_task(answer(engine, ask("hello")))
        await asyncio.sleep(0)
        os.kill(pid(engine, "preprocess"), signal.SIGKILL)
        with pytest.raises(EngineRestarted, match="killed by SIGKILL"):
            await under_way
        [lost] = [line for line in caplog.messages if "was lost with" in line]
        assert "the preprocess process: " in lost
        await until_text(stream)
        assert await recovered(engine) == HELLO
        await stream.aclose()

    running(endless(tiny_text), test)


def test_a_prompt_that_takes_too_long_is_asked_to_come_back(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        os.kill(pid(engine, "preprocess"), signal.SIGSTOP)
        guilty = asyncio.create_task(answer(engine, ask("hello")))
        await asyncio.sleep(0)
        behind = asyncio.create_task(answer(engine, ask("hello")))
        with pytest.raises(EngineUnavailable, match=r"took more than 5 s"):
            await guilty
        with pytest.raises(EngineRestarted):
            await behind
        assert await recovered(engine) == HELLO

    running(tiny_text, test, preprocess_deadline=5.0)


def test_prompts_of_clients_that_left_are_not_prepared(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        os.kill(pid(engine, "preprocess"), signal.SIGSTOP)
        abandoned = [asyncio.create_task(answer(engine, ask("hello"))) for _ in range(50)]
        await asyncio.sleep(0)
        for task in abandoned:
            task.cancel()
        honest = asyncio.create_task(answer(engine, ask("hello")))
        await asyncio.gather(*abandoned, return_exceptions=True)
        assert len(engine._preprocess._owed) == 2  # what was on its way already
        os.kill(pid(engine, "preprocess"), signal.SIGCONT)
        assert text(await honest) == HELLO
        assert engine.stats().restarts == 0

    running(tiny_text, test)


@pytest.mark.parametrize("by", ["other", "many"])
def test_many_large_texts_of_others_delay_a_short_one_by_one(tiny_text: ModelSource, by: str) -> None:
    """Of another key, and of the same one."""

    async def test(engine: OpenVINOEngine) -> None:
        os.kill(pid(engine, "preprocess"), signal.SIGSTOP)
        order: list[str] = []

        async def tokenize(client: str, request: str, text: str) -> None:
            CLIENT.set(client)
            REQUEST.set(request)
            await engine.tokenize([text], add_special_tokens=False)
            order.append(request)

        large = [asyncio.create_task(tokenize("many", f"large {i}", "hello " * 4_000)) for i in range(5)]
        await asyncio.sleep(0)
        short = asyncio.create_task(tokenize(by, "short", "hello"))
        await asyncio.sleep(0)
        assert len(engine._preprocess._owed) == 1
        os.kill(pid(engine, "preprocess"), signal.SIGCONT)
        await asyncio.gather(short, *large)
        assert order[:2] == ["large 0", "short"]

    running(tiny_text, test)


def test_control_tokens_without_end_hurt_nobody(smollm2: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        before = engine.pids
        with pytest.raises(ContextLengthExceeded, match=r"context length is 8192 tokens, .* more than 8193 tokens"):
            await answer(engine, ask("<|im_end|>a" * 20_000))
        assert engine.pids == before
        assert engine.stats().restarts == 0

    running(smollm2, test)


def test_text_that_cannot_be_sent_leaves_no_debt(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        with pytest.raises(UnicodeEncodeError):
            await answer(engine, ask("\ud800"))
        assert not engine._preprocess.process._busy()
        assert text(await answer(engine, ask("hello"))) == HELLO

    running(tiny_text, test)


SERVER = """
import asyncio, sys
from pathlib import Path
from specvino.engine.models import resolve
from specvino.engine.openvino.engine import OpenVINOEngine

async def main():
    engine = OpenVINOEngine(resolve(sys.argv[1]))
    await engine.start()
    print(*filter(None, engine.pids.values()), flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


def test_a_killed_server_leaves_no_process(tiny_text: ModelSource) -> None:
    command = [sys.executable, "-c", SERVER, str(tiny_text.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        pids = server.stdout.readline().split()
        try:
            children = [psutil.Process(int(pid)) for pid in pids]
        finally:
            server.kill()
    assert len(children) == 3  # worker, preprocess and grammar process
    assert gone(*children)
