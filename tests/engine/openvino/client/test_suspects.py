"""Requests that are lost again and again, without a process."""

import asyncio
import logging
from typing import Any

import pytest
from support.conversation import conversation
from support.tools import with_tools

from specvino.engine.errors import EngineRestarted, EngineUnavailable
from specvino.engine.openvino.client import suspects
from specvino.engine.openvino.client.suspects import Suspects, kind
from specvino.engine.protocol import REQUEST
from specvino.engine.request import GenerationRequest, JsonSchema, Sampling, TextPrompt, TokenPrompt, Tool


def asking(text: str, **fields: Any) -> GenerationRequest:
    return GenerationRequest(prompts=(TextPrompt(text),), sampling=Sampling(max_tokens=4, **fields))


POISON, OTHER = asking("poison"), asking("other")


def lose(all_of: Suspects, request: GenerationRequest) -> None:
    with pytest.raises(EngineRestarted), all_of.watched(request):
        raise EngineRestarted("lost")


def refused(all_of: Suspects, request: GenerationRequest) -> int:
    """How many attempts are refused until one isn't, which its client leaves."""
    count = 0
    while is_refused(all_of, request):
        count += 1
    return count


def is_refused(all_of: Suspects, request: GenerationRequest) -> bool:
    try:
        with all_of.watched(request):
            raise asyncio.CancelledError
    except asyncio.CancelledError:
        return False
    except EngineUnavailable:
        return True


def test_it_is_tried_ever_more_rarely() -> None:
    all_of = Suspects()
    found = []
    for _ in range(8):
        lose(all_of, POISON)
        found.append(refused(all_of, POISON))
        assert refused(all_of, OTHER) == 0
    assert found == [0, 4, 16, 64, 256, 1024, 1024, 1024]


def test_a_loss_counts_although_an_equal_request_succeeded_meanwhile() -> None:
    all_of = Suspects()

    def one_is_lost_after_another_succeeds() -> None:
        with all_of.watched(POISON):
            with all_of.watched(POISON):
                pass
            raise EngineRestarted("lost")

    lose(all_of, POISON)
    with pytest.raises(EngineRestarted):
        one_is_lost_after_another_succeeds()
    lose(all_of, POISON)
    assert refused(all_of, POISON) == 4


def test_equal_requests_that_one_crash_ends_are_one_loss() -> None:
    all_of = Suspects()

    async def crash() -> None:
        crashed = asyncio.Event()

        async def attempt() -> None:
            with all_of.watched(POISON):
                await crashed.wait()
                raise EngineRestarted("lost")

        attempts = [asyncio.create_task(attempt()) for _ in range(8)]
        await asyncio.sleep(0)
        crashed.set()
        ends = await asyncio.gather(*attempts, return_exceptions=True)
        assert all(isinstance(end, EngineRestarted) for end in ends)

    found = []
    for _ in range(3):
        asyncio.run(crash())
        found.append(refused(all_of, POISON))
    assert found == [0, 4, 16]


def test_numbers_of_any_size_have_a_fingerprint() -> None:
    tool = Tool("f", "", {"type": "integer", "maximum": 10**30})
    request = with_tools("hello", tool)
    all_of = Suspects()
    lose(all_of, request)
    assert refused(all_of, request) == 0


def test_of_many_attempts_few_reach_the_process() -> None:
    all_of, reached = Suspects(), 0
    for _ in range(1000):
        try:
            with all_of.watched(POISON):
                reached += 1
                raise EngineRestarted("lost")
        except (EngineRestarted, EngineUnavailable):
            pass
    assert reached == 6


def test_an_answer_clears_it() -> None:
    all_of = Suspects()
    lose(all_of, POISON)
    with all_of.watched(POISON):
        pass
    lose(all_of, POISON)
    assert refused(all_of, POISON) == 0


def test_what_counts_is_the_content(monkeypatch: pytest.MonkeyPatch) -> None:
    all_of = Suspects()
    for _ in range(2):
        lose(all_of, GenerationRequest(prompts=POISON.prompts, sampling=POISON.sampling, owner="a", priority=1))
    assert refused(all_of, asking("poison", temperature=0.5)) == 0
    assert refused(all_of, POISON) == 4
    monkeypatch.setattr(suspects, "_MOST", 2)
    for number in range(3):
        lose(all_of, asking(str(number)))
    assert len(all_of._suspects) == 2


def test_the_log_says_which_and_of_what_kind_but_not_what(caplog: pytest.LogCaptureFixture) -> None:
    token = REQUEST.set("req_7")
    try:
        with caplog.at_level(logging.WARNING):
            lose(Suspects(), asking("secret text", temperature=0.25))
    finally:
        REQUEST.reset(token)
    (line,) = caplog.messages
    assert "req_7" in line
    assert "a text of 11 characters, n 1, max_tokens, temperature" in line
    assert "specvino " in line
    assert "openvino-genai " in line
    assert "secret" not in line


def test_kinds() -> None:
    prompts = (conversation("hello"), TokenPrompt((1, 2)))
    request = GenerationRequest(
        prompts=prompts,
        sampling=Sampling(max_tokens=None),
        n=3,
        constraint=JsonSchema({"const": "secret"}),
        logprobs=True,
    )
    assert kind(request) == "1 messages with 0 images and 0 tools, 2 token ids, n 3, JsonSchema, logprobs"
