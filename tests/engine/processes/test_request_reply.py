"""A process that is asked: what becomes of others when a question waits, computes, crashes it, or is wanted no more."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from support.answering_child import Answer, Question
from support.processes import leaving_no_process

from specvino.engine.errors import EngineUnavailable, ModelLoadError
from specvino.engine.processes import request_reply
from specvino.engine.processes.request_reply import ProcessCrashed, QuestionDropped, RequestReplyClient
from specvino.engine.protocol import CLIENT

PATIENCE = 300
TESTS = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _children_find_support(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def asking(
    test: Callable[[RequestReplyClient], Awaitable[Any]], word: str = "", deadline: float = 10 * PATIENCE
) -> None:
    async def run() -> None:
        client = RequestReplyClient("odd", "support.answering_child", Question(0, word), Answer, deadline)
        try:
            async with asyncio.timeout(PATIENCE):
                await test(client)
        finally:
            await client.close()

    with leaving_no_process():
        asyncio.run(run())


async def ask(client: RequestReplyClient, word: str, **settings: Any) -> Answer:
    answer = await client.ask(lambda id: Question(id, word), **settings)
    assert isinstance(answer, Answer)
    return answer


def asked(client: RequestReplyClient, word: str, by: str = "", **settings: Any) -> asyncio.Task[Answer]:
    """A question that is being asked by a client."""

    async def run() -> Answer:
        CLIENT.set(by)
        return await ask(client, word, **settings)

    return asyncio.create_task(run())


def test_questions_are_answered() -> None:
    async def test(client: RequestReplyClient) -> None:
        answers = await asyncio.gather(*(asked(client, f"{i}") for i in range(5)))
        assert [answer.word for answer in answers] == ["0", "1", "2", "3", "4"]

    asking(test)


def test_clients_take_turns() -> None:
    """One that asks a hundred times as much isn't waited for by others."""

    async def test(client: RequestReplyClient) -> None:
        order: list[str] = []
        many = [asked(client, f"much {i}", "a") for i in range(50)]
        await asyncio.sleep(0)  # all of them wait: the process isn't even ready
        few = [asked(client, f"few {i}", "b") for i in range(2)]
        for task in (*many, *few):
            task.add_done_callback(lambda done: order.append(done.result().word))
        await asyncio.gather(*many, *few)
        await asyncio.sleep(0)
        assert order[:5] == ["much 0", "few 0", "much 1", "few 1", "much 2"]

    asking(test)


def test_one_that_nobody_wants_any_more_is_not_asked() -> None:
    async def test(client: RequestReplyClient) -> None:
        wanted = True
        left = [asked(client, "compute", wanted=lambda: wanted) for _ in range(3)]
        await asyncio.sleep(0)
        wanted = False
        assert (await ask(client, "mine")).word == "mine"
        assert [type(error) for error in await asyncio.gather(*left, return_exceptions=True)] == [QuestionDropped] * 3
        assert client.process.restarts == 0

    asking(test)


def test_one_whose_asker_was_cancelled_is_not_asked() -> None:
    async def test(client: RequestReplyClient) -> None:
        left = [asked(client, "compute") for _ in range(3)]
        await asyncio.sleep(0)
        for task in left:
            task.cancel()
        assert (await ask(client, "mine")).word == "mine"
        assert client.process.restarts == 0

    asking(test)


def test_too_many_are_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_reply, "MOST_WAITING", 3)

    async def test(client: RequestReplyClient) -> None:
        many = [asked(client, f"{i}", "a") for i in range(5)]
        await asyncio.sleep(0)
        assert (await asked(client, "mine", "b")).word == "mine"
        results = await asyncio.gather(*many, return_exceptions=True)
        assert [type(result) for result in results] == [Answer, Answer, *[EngineUnavailable] * 3]
        late = results[-1]
        assert isinstance(late, EngineUnavailable)
        assert late.retry_after > 0

    asking(test)


def test_what_computes_too_much_is_answered_so_and_delays_nobody() -> None:
    """The process ends with it. It gets no question meanwhile, and the next one begins at once, however often."""

    async def test(client: RequestReplyClient) -> None:
        tasks = [asked(client, word) for word in ["compute", "mine"] * 4]
        words = [answer.word for answer in await asyncio.gather(*tasks)]
        assert words == ["too much", "mine"] * 4
        assert client.process.restarts == 4
        assert not client.process.failing

    asking(test)


def test_one_that_crashes_its_process_twice_is_at_fault() -> None:
    async def test(client: RequestReplyClient) -> None:
        crashing = [asked(client, "crash") for _ in range(3)]
        behind = asked(client, "mine")
        for task in crashing:
            with pytest.raises(ProcessCrashed):
                await task
        assert (await behind).word == "mine"
        assert client.process.restarts == 6

    asking(test)


def test_one_whose_process_is_killed_is_asked_again() -> None:
    """By the operator, or for want of memory: that needn't be its fault."""

    async def test(client: RequestReplyClient) -> None:
        await ask(client, "warm")
        pid = client.process.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        waiting = asked(client, "mine")
        await asyncio.sleep(0)
        os.kill(pid, signal.SIGKILL)
        answer = await waiting
        assert (answer.word, answer.pid == pid) == ("mine", False)

    asking(test)


def test_one_whose_process_is_killed_each_time_may_be_tried_later() -> None:
    async def test(client: RequestReplyClient) -> None:
        with pytest.raises(EngineUnavailable, match="failed") as late:
            await ask(client, "die")
        assert late.value.retry_after > 0
        assert client.process.restarts == 2

    asking(test)


def test_one_whose_process_stands_still_may_be_tried_later() -> None:
    async def test(client: RequestReplyClient) -> None:
        still = asked(client, "stop")
        behind = asked(client, "mine")
        with pytest.raises(EngineUnavailable, match="took more than 5 s"):
            await still
        assert (await behind).word == "mine"

    asking(test, deadline=5)


def test_a_process_that_can_not_start_is_tried_again_later() -> None:
    async def test(client: RequestReplyClient) -> None:
        for _ in range(2):
            with pytest.raises(EngineUnavailable, match="it can't load"):
                await ask(client, "mine")
        with pytest.raises(ModelLoadError):
            await client.start()

    asking(test, word="fail")


def test_a_process_that_is_lost_without_any_work_is_failing_until_it_is_there_again() -> None:
    async def test(client: RequestReplyClient) -> None:
        def failing() -> bool:
            return client.process.failing

        await client.start()
        for _ in range(2):
            assert not failing()
            pid = client.process.pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            while not failing():  # noqa: ASYNC110 - only tests wait for it
                await asyncio.sleep(0)
            while client.process.state != "ready":  # noqa: ASYNC110 - only tests wait for it
                await asyncio.sleep(0.01)

    asking(test)
