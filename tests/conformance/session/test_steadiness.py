"""What is compared of answers that may be drawn."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

import pytest
from reference_server import oddities
from reference_server.bench import judged, message_of
from reference_server.chat import Chat
from reference_server.generation import Asked, Output
from reference_server.http import Event
from reference_server.oddities import draws
from reference_server.oddities.draws import DrawsAlways, DrawsEnds
from reference_server.part import Part, parts_of
from support.reports import exchange

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.steadiness import (
    REPEATED,
    ROUNDS,
    TRIES,
    Drawn,
    Patience,
    differing,
    is_steady,
    require_alike,
)
from specvino.conformance.verdict import Failed, NotExercised, Unsuitable, Verdict


class Server:
    """Gives answers in turn, the last one for ever."""

    def __init__(self, *answers: Mapping[str, Any]) -> None:
        self._answers: Iterator[Mapping[str, Any]] = chain(answers, repeat(answers[-1]))
        self.sent = 0

    async def __call__(self) -> Exchange:
        self.sent += 1
        return exchange(content=json.dumps(next(self._answers)).encode())


def differences(one: Exchange, other: Exchange) -> dict[str, str]:
    return {
        name: f"{name} is {json.dumps(value)}, but {json.dumps(other.answer[name])}"
        for name, value in one.answer.items()
        if value != other.answer[name]
    }


def compare(one: Server, other: Server) -> None:
    asyncio.run(require_alike(one, other, differences))


def test_what_is_alike_is_asked_once() -> None:
    one, other = Server({"text": "a"}), Server({"text": "a"})
    compare(one, other)
    assert (one.sent, other.sent) == (1, 1)


def test_a_steady_difference_is_told_after_all_rounds() -> None:
    one, other = Server({"text": "a"}), Server({"text": "b"})
    with pytest.raises(Failed, match=r'^text is "a", but "b"$'):
        compare(one, other)
    assert (one.sent, other.sent) == (ROUNDS, ROUNDS)


@pytest.mark.parametrize("drawn", [[{"text": "a"}, {"text": "c"}], [{"text": "a"}] * (ROUNDS - 1) + [{"text": "c"}]])
def test_what_one_side_draws_is_not_compared(drawn) -> None:
    steady = Server({"text": "b"})
    with pytest.raises(Drawn):
        compare(Server(*drawn), steady)
    with pytest.raises(Drawn):
        compare(steady, Server(*drawn))


def test_a_steady_difference_beside_drawn_ones_is_told() -> None:
    one = Server(*({"text": str(draw), "usage": 3} for draw in range(ROUNDS)))
    with pytest.raises(Failed, match=r"^usage is 3, but 4$"):
        compare(one, Server({"text": "b", "usage": 4}))


def test_a_first_answer_may_be_another_one() -> None:
    """It may have been made without a cached prompt."""
    compare(Server({"text": "a"}, {"text": "b"}), Server({"text": "b"}))


def test_a_server_that_tosses_a_coin_draws_both_sides_at_some_time() -> None:
    compare(Server({"text": "a"}), Server(*[{"text": "b"}] * (ROUNDS - 1), {"text": "a"}))


@pytest.mark.parametrize("period", range(2, ROUNDS))
def test_answers_may_come_in_turn(period) -> None:
    server = Server(*({"text": str(number % period)} for number in range(2 * ROUNDS)))
    with suppress(Drawn):
        asyncio.run(require_alike(lambda: server(), lambda: server(), differences))


class Check:
    """A check whose first answers exercise nothing."""

    def __init__(self, in_vain: int, reason: str = "the answer has {} tokens") -> None:
        self._in_vain = in_vain
        self._reason = reason
        self.tried = 0

    async def __call__(self) -> None:
        self.tried += 1
        if self.tried <= self._in_vain:
            raise Unsuitable(self._reason.format(self.tried))


def test_a_check_is_repeated_until_an_answer_exercises_it() -> None:
    check = Check(TRIES - 1)
    asyncio.run(Patience().exercise("chat", check))
    assert check.tried == TRIES


def test_what_was_in_vain_is_tried_once_from_then_on() -> None:
    patience = Patience()
    tried: list[int] = []
    for endpoint, reason in (
        ("chat", "the answer has {} tokens"),
        ("chat", "the answer has only {} tokens"),
        ("chat", "the answer has {} tokens"),
        ("responses", "the answer has {} tokens"),
    ):
        check = Check(TRIES, reason)
        with pytest.raises(Unsuitable, match=reason.format(TRIES if len(tried) != 2 else 1)):
            asyncio.run(patience.exercise(endpoint, check))
        tried.append(check.tried)
    assert tried == [TRIES, TRIES, 1, TRIES]


def test_what_fails_after_a_draw_has_to_fail_twice() -> None:
    def check(*raised: Exception | None) -> Callable[[], Awaitable[None]]:
        coming = iter(raised)

        async def run() -> None:
            if error := next(coming):
                raise error

        return run

    asyncio.run(Patience().exercise("chat", check(Drawn(), Failed("by chance"), Drawn(), None)))
    for raised in (
        [Failed("always")],
        [Unsuitable("short"), Failed("always")],
        [Drawn(), Failed("a"), Failed("always")],
    ):
        with pytest.raises(Failed, match="always"):
            asyncio.run(Patience().exercise("chat", check(*raised)))


def test_what_no_answer_can_exercise_is_not_repeated() -> None:
    check = Check(0)

    async def never() -> None:
        await check()
        raise NotExercised("no key was given")

    with pytest.raises(NotExercised, match="no key was given"):
        asyncio.run(Patience().exercise("chat", never))
    assert check.tried == 1


DRAWING = tuple(part for part in parts_of(oddities) if issubclass(part, draws._Draws))


def verdicts(server: type[Part], lot: int, only: set[str] | None = None) -> dict[str, Verdict]:
    """The verdicts of a run in which a server draws what it draws with this lot."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "lot", lot)
        return {rule: result.verdict for rule, result in judged(server, only=only).items()}


def test_the_end_of_an_answer_decides_no_verdict() -> None:
    """By the toss of a coin, answers are too short for any of these rules."""
    rules = {
        "chat/limits/max-tokens",
        "chat/sampling/seed",
        "chat/sampling/top-k",
        "chat/stop/across-tokens",
        "messages/endings/stop-sequence-streamed",
        "responses/basics/cut-off",
    }
    runs = [verdicts(DrawsEnds, lot, rules) for lot in range(4)]
    assert {rule: [run[rule] for run in runs] for rule in rules} == {
        rule: [Verdict.NOT_EXERCISED if "sampling" in rule else Verdict.PASS] * len(runs) for rule in rules
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize("server", DRAWING)
def test_ten_runs_have_the_same_verdicts(server: type[Part]) -> None:
    first, *others = (verdicts(server, lot) for lot in range(10))
    changed = {rule for run in others for rule in run.keys() | first.keys() if run.get(rule) != first.get(rule)}
    assert not changed


def text(answer: Exchange) -> Any:
    return answer.answer["text"]


@pytest.mark.parametrize("texts", ["aaaa", "baaa"])
def test_answers_may_be_alike_from_the_second_one(texts) -> None:
    server = Server(*({"text": drawn} for drawn in texts))
    assert not asyncio.run(differing(server, text))
    assert server.sent == 1 + REPEATED


@pytest.mark.parametrize(("texts", "shown"), [("aab", "ab"), ("baab", "aab"), ("aaba", "ab"), ("baaaaab", "aaaaab")])
def test_one_of_two_answers_is_no_repetition(texts, shown) -> None:
    answers = asyncio.run(differing(Server(*({"text": drawn} for drawn in texts)), text))
    assert "".join(text(answer) for answer in answers) == shown


def test_is_steady_only_if_every_answer_is_the_same() -> None:
    assert asyncio.run(is_steady(Server({"text": "a"}), text))
    assert not asyncio.run(is_steady(Server(*[{"text": "a"}] * ROUNDS, {"text": "b"}), text))


class DrawsLongStreams(draws._DrawsByRequest):
    """Streams are drawn, and none ends before its limit; other answers, also those on WebSockets, are short."""

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        return self.drawn(body).getrandbits(32) if self.is_drawn(body) else 0

    def length(self, asked: Asked, draw: random.Random, budget: int) -> int:
        return budget + 1 if self.is_drawn(asked.body) else 3

    def is_drawn(self, body: Mapping[str, Any]) -> bool:
        return body.get("stream") is True and ("input" not in body or "store" in body)


def test_how_an_answer_ends_is_drawn_with_what_it_says() -> None:
    rules = {"chat/streams/plain", "completions/streams/plain", "responses/websocket/same-events"}
    results = judged(DrawsLongStreams, only=rules)
    assert {rule: results[rule].verdict for rule in rules} == dict.fromkeys(rules, Verdict.NOT_EXERCISED)


def test_a_list_is_drawn_with_what_is_in_it() -> None:
    def differing(one: Exchange, other: Exchange) -> dict[str, str]:
        lists = one.answer["output"], other.answer["output"]
        if len(lists[0]) != len(lists[1]):
            return {"output": f"output is {lists[0]}, but {lists[1]}"}
        return {} if lists[0] == lists[1] else {"output.0": "the items differ"}

    drawn = Server(*({"output": [number]} for number in range(ROUNDS)))
    with pytest.raises(Drawn):
        asyncio.run(require_alike(drawn, Server({"output": []}), differing))


class CountsMoreInStreams(Chat):
    """The prompts of streams have a token more."""

    def usage_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        yield from super().usage_events(head, replace(asked, prompt=[*asked.prompt, 0]), outputs)


def test_a_steady_fault_of_a_server_that_draws_is_found() -> None:
    result = judged(CountsMoreInStreams, DrawsAlways, only={"chat/streams/plain"})["chat/streams/plain"]
    assert result.verdict is Verdict.FAIL
    assert message_of(result).startswith("usage.prompt_tokens is ")
