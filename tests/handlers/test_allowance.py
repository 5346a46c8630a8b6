"""What a key gets in a minute, by a clock that the tests move."""

import asyncio
import gc
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import suppress

import pytest

from specvino.engine.segments import Finish, Segment, Started, TextDelta, Usage
from specvino.generated.errors import ErrorCode
from specvino.handlers.allowance import Allowance, Allowances, KeyLimits, duration
from specvino.handlers.errors import ApiError
from specvino.handlers.store import Account, OwnAccounts, StoreUnavailable


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def allowances(clock: Clock, **limits: int) -> Allowances:
    return Allowances({"a": KeyLimits(**limits), "b": KeyLimits(**limits)}, OwnAccounts(clock))


def request(of: Allowances, owner: str = "a") -> Allowance:
    allowance = of.of(owner)
    assert allowance
    return allowance


def headers(allowance: Allowance) -> dict[str, str]:
    return {name.decode().removeprefix("x-ratelimit-"): value.decode() for name, value in allowance.headers()}


async def refused(asked: Awaitable[object]) -> int:
    """The seconds after which to retry."""
    with pytest.raises(ApiError) as caught:
        await asked
    assert caught.value.code is ErrorCode.RATE_LIMIT_EXCEEDED
    assert caught.value.retry_after
    return caught.value.retry_after


async def answer(prompt: int, tokens: int, *, ends: bool = True) -> AsyncGenerator[Segment]:
    yield Started(prompt)
    for _ in range(tokens):
        yield TextDelta(0, "x")
    if ends:
        yield Finish(0, "stop")
        yield Usage(prompt, tokens + 1)


async def read(segments: AsyncGenerator[Segment], most: int = 1000) -> None:
    seen = 0
    async for _ in segments:
        seen += 1
        if seen == most:
            break
    await segments.aclose()


def runs(test: Callable[[Clock], Coroutine[None, None, None]]) -> Callable[[Clock], None]:
    def run(clock: Clock) -> None:
        asyncio.run(test(clock))

    return run


@runs
async def test_a_minute_s_worth_at_once_and_then_as_they_come(clock: Clock) -> None:
    of = allowances(clock, requests=4)
    for left in (3, 2, 1, 0):
        await (one := request(of)).admit()
        assert headers(one) == {
            "limit-requests": "4",
            "remaining-requests": str(left),
            "reset-requests": duration(15 * (4 - left)),
        }
    assert await refused((one := request(of)).admit()) == 15
    assert headers(one)["remaining-requests"] == "0"
    await request(of, "b").admit()
    clock.now += 14.5
    assert await refused(request(of).admit()) == 1
    clock.now += 0.5
    await request(of).admit()
    assert await refused(request(of).admit()) == 15
    clock.now += 3600
    for _ in range(4):
        await request(of).admit()
    assert await refused(request(of).admit()) == 15


@runs
async def test_tokens_used_beyond_the_limit_are_missing_later(clock: Clock) -> None:
    of = allowances(clock, tokens=60)
    await (one := request(of)).admit()
    await read(one.metered(answer(100, 49), 1))
    assert headers(one) == {"limit-tokens": "60", "remaining-tokens": "0", "reset-tokens": "2m30s"}
    assert await refused(request(of).admit()) == 91
    clock.now += 90
    assert await refused(request(of).admit()) == 1
    clock.now += 1
    await request(of).admit()


@runs
async def test_an_interrupted_answer_counts_what_was_sent(clock: Clock) -> None:
    of = allowances(clock, tokens=60)
    one = request(of)
    await read(one.metered(answer(10, 40), 1), most=21)
    assert headers(one)["remaining-tokens"] == "30"
    one = request(of)
    with pytest.raises(ZeroDivisionError):
        await read(one.metered(failing(5), 1))
    assert headers(one)["remaining-tokens"] == "25"


async def failing(prompt: int) -> AsyncGenerator[Segment]:
    yield Started(prompt)
    raise ZeroDivisionError


@runs
async def test_choices_at_a_time(clock: Clock) -> None:
    of = allowances(clock, sequences=4)
    first, second = request(of).metered(answer(1, 1), 3), request(of).metered(answer(1, 1), 1)
    await anext(first)
    await anext(second)
    assert await refused(anext(request(of).metered(answer(1, 1), 1))) == 5
    await read(request(of, "b").metered(answer(1, 1), 4))
    await read(first)
    await read(request(of).metered(answer(1, 1), 3))
    with pytest.raises(ApiError, match="needs 5 sequences; this key's limit is 4") as caught:
        await anext(request(of).metered(answer(1, 1), 5))
    assert (caught.value.code, caught.value.param) == (ErrorCode.INVALID_VALUE, "n")
    await second.aclose()


@runs
async def test_a_cancelled_request_ends(clock: Clock) -> None:
    of = allowances(clock, sequences=1)
    began = asyncio.Event()
    segments = request(of).metered(endless(began), 1)
    task = asyncio.create_task(read(segments))
    await began.wait()
    await refused(anext(request(of).metered(answer(1, 1), 1)))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await segments.aclose()
    await read(request(of).metered(answer(1, 1), 1))


class Slow(OwnAccounts):
    """Accounts whose changes are made before a database says so, which it does when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.changed, self.goes_on = asyncio.Event(), asyncio.Event()

    async def change(self, owner: str, act: Callable[[Account], None]) -> None:
        try:
            await super().change(owner, act)
        finally:
            self.changed.set()
            await self.goes_on.wait()


@pytest.mark.parametrize("cancellations", [1, 2])
@pytest.mark.parametrize("admitted", [True, False])
def test_a_request_that_is_cancelled_while_it_is_counted_leaves_nothing(
    caplog: pytest.LogCaptureFixture, admitted: bool, cancellations: int
) -> None:
    async def ask() -> None:
        accounts = Slow()
        of = Allowances({"a": KeyLimits(sequences=2)}, accounts)
        if not admitted:
            accounts.goes_on.set()
            other = request(of).metered(answer(1, 1), 2)
            await anext(other)
            accounts.goes_on.clear()
            accounts.changed.clear()
        task = asyncio.create_task(read(request(of).metered(answer(1, 1), 2)))
        await accounts.changed.wait()
        for _ in range(cancellations):
            task.cancel()
            await asyncio.sleep(0)
        accounts.goes_on.set()
        assert [type(end) for end in await asyncio.gather(task, return_exceptions=True)] == [asyncio.CancelledError]
        assert accounts.accounts["a"].running == (0 if admitted else 2)

    asyncio.run(ask())
    gc.collect()
    assert caplog.messages == []  # such as asyncio's about an exception that was never retrieved


async def endless(began: asyncio.Event) -> AsyncGenerator[Segment]:
    yield Started(1)
    began.set()
    await asyncio.Event().wait()


def test_no_limits_no_allowance() -> None:
    of = Allowances({"a": KeyLimits(), "b": KeyLimits(tokens=1)})
    assert of.of("a") is of.of("") is of.of("c") is None
    assert of.of("b")


class Lost:
    """Accounts in a database that is lost with each transaction, whatever comes of it."""

    async def change(self, owner: str, act: Callable[[Account], None]) -> None:
        with suppress(ApiError):
            act(Account())
        raise StoreUnavailable("no database")


def test_without_the_store_a_server_counts_for_itself(caplog: pytest.LogCaptureFixture) -> None:
    async def ask() -> None:
        of = Allowances({"a": KeyLimits(requests=1, sequences=1)}, Lost())
        await request(of).admit()
        await refused(request(of).admit())
        running = request(of).metered(answer(1, 1), 1)
        await anext(running)
        await refused(anext(request(of).metered(answer(1, 1), 1)))
        await running.aclose()
        await read(request(of).metered(answer(1, 1), 1))

    asyncio.run(ask())
    [line] = caplog.messages
    assert "no database" in line


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-1, "0s"),
        (0, "0s"),
        (0.12, "120ms"),
        (0.9991, "1s"),
        (1.5, "1.5s"),
        (59.9999, "1m0s"),
        (360, "6m0s"),
        (3661.5, "1h1m1.5s"),
    ],
)
def test_durations_are_openai_s(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown
