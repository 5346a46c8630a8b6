"""The limits of API keys: requests and tokens per minute, and sequences at a time.

Of requests and of tokens, a key has a minute's worth, which fills up again continuously. So what it has left is one
number, the time at which it has all of it again: what is used moves that time on, and nothing has to be counted down.
Tokens are known only after they are used. A request is admitted if there are any left, and what it uses beyond that is
missing afterwards: in the long run a key gets no more than its limit. Two things are not counted. The only server of a
SQLite file saves accounts at heartbeats, so a kill loses what was used since the last one. And until it notices another
server, both count apart; then the higher count remains, not the sum.
"""

import asyncio
import logging
import math
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from specvino.engine.segments import ReasoningDelta, Segment, Started, TextDelta, ToolCallArguments, Usage
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.store import Account, Accounts, Outage, OwnAccounts, StoreUnavailable

_MINUTE = 60.0

# `Retry-After` in seconds if too many choices are generated, whose ends nobody knows.
_RETRY_AFTER = 5

logger = logging.getLogger("specvino.server")


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """The maximum requests and tokens of a key per minute, and its maximum sequences at a time; None is no limit."""

    requests: int | None = None
    tokens: int | None = None
    sequences: int | None = None


class Allowances:
    """The limits of all keys, by owner. Servers with the same `shared` accounts share them; while these are
    unavailable, each server counts for itself."""

    def __init__(self, limits: Mapping[str, KeyLimits], shared: Accounts | None = None) -> None:
        self._limits = {owner: own for owner, own in limits.items() if own != KeyLimits()}
        self._own = OwnAccounts()
        self._shared = shared or self._own
        self._outage = Outage(
            logger,
            "store unavailable: enforcing per-key limits locally",
            "store available: per-key limits are shared again",
        )
        self._running: Counter[str] = Counter()
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def of(self, owner: str) -> "Allowance | None":
        """Returns the allowance of a request; None if its key has no limits."""
        limits = self._limits.get(owner)
        return Allowance(self, owner, limits) if limits else None

    async def change(self, owner: str, act: Callable[[Account], None], sequences: int = 0) -> None:
        """Calls `act` with the account, after so many more choices, or fewer; if it raises, nothing has changed."""
        async with self._locks[owner]:
            running = self._running[owner] + sequences

            def with_running(account: Account) -> None:
                account.running = running
                act(account)

            try:
                with self._outage.noticed():
                    await self._shared.change(owner, with_running)
            except StoreUnavailable:
                await self._own.change(owner, with_running)
            self._running[owner] = running


class Allowance:
    """The remaining allowance of a key, for one of its requests. Its methods raise ApiError if that isn't enough."""

    def __init__(self, all_of: Allowances, owner: str, limits: KeyLimits) -> None:
        self._all = all_of
        self._owner = owner
        self._limits = limits
        self._seen = Account()
        self._sequences = 0

    async def admit(self) -> None:
        """Counts the request, unless it is refused."""
        requests, tokens = self._limits.requests, self._limits.tokens

        def act(account: Account) -> None:
            self._seen = account
            if requests:
                _require_left(requests, account.requests - account.now, "requests")
            if tokens:
                _require_left(tokens, account.tokens - account.now, "tokens")
            if requests:
                account.requests = max(account.requests, account.now) + _MINUTE / requests

        await self._all.change(self._owner, act)

    async def metered(self, segments: AsyncGenerator[Segment], sequences: int) -> AsyncGenerator[Segment]:
        """Yields the segments of an answer of so many choices, and counts these and the tokens. Of an answer that is
        interrupted, each piece of text that was sent counts as a token."""
        tokens = 0
        try:
            if self._limits.sequences is not None:
                await _completed(self._begin(sequences, self._limits.sequences))
            async with aclosing(segments):
                async for segment in segments:
                    match segment:
                        case TextDelta() | ReasoningDelta() | ToolCallArguments():
                            tokens += 1
                        case Started():
                            await self._use(segment.prompt_tokens)
                        case Usage():
                            tokens = segment.completion_tokens
                    yield segment
        finally:
            await _completed(self._use(tokens, ends=True))

    async def _begin(self, sequences: int, most: int) -> None:
        if sequences > most:
            message = f"The request needs {sequences} sequences; this key's limit is {most}."
            raise ApiError(ErrorCode.INVALID_VALUE, message, param="n")

        def act(account: Account) -> None:
            self._seen = account
            others = account.running + account.elsewhere - sequences
            if others + sequences > most:
                message = f"Concurrency limit reached for this key: {others} of {most} sequences are in use."
                raise ApiError(ErrorCode.RATE_LIMIT_EXCEEDED, message, retry_after=_RETRY_AFTER)

        await self._all.change(self._owner, act, sequences)
        self._sequences = sequences

    async def _use(self, tokens: int, *, ends: bool = False) -> None:
        """Counts tokens, and the end of the request's choices."""
        most = self._limits.tokens

        def act(account: Account) -> None:
            self._seen = account
            if most:
                account.tokens = max(account.tokens, account.now) + tokens * _MINUTE / most

        ended = self._sequences if ends else 0
        if most or ended:
            await self._all.change(self._owner, act, -ended)
            self._sequences -= ended

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Returns the headers that OpenAI's clients read, as of the last time that anything was counted."""
        now = self._seen.now
        kinds = (
            ("requests", self._limits.requests, self._seen.requests - now),
            ("tokens", self._limits.tokens, self._seen.tokens - now),
        )
        return [
            (f"x-ratelimit-{name}-{kind}".encode(), str(value).encode())
            for kind, limit, missing in kinds
            if limit is not None
            for name, value in (
                ("limit", limit),
                ("remaining", _left(limit, missing)),
                ("reset", duration(missing)),
            )
        ]


async def _completed(change: Coroutine[None, None, None]) -> None:
    """Awaits a change of an account, which a request that is cancelled completes before it ends, however often it is
    cancelled."""
    task = asyncio.ensure_future(change)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled from task.exception()
    task.result()


def _left(limit: int, missing: float) -> int:
    """Returns how much there is, if all of it is there after so many seconds."""
    return max(0, min(limit, math.floor(round(limit * (1 - missing / _MINUTE), 3))))


def _require_left(limit: int, missing: float, unit: str) -> None:
    if not _left(limit, missing):
        seconds = max(1, math.ceil(round(missing - _MINUTE + _MINUTE / limit, 3)))
        message = f"Rate limit reached for this key ({limit} {unit} per minute). Retry in {seconds} s."
        raise ApiError(ErrorCode.RATE_LIMIT_EXCEEDED, message, retry_after=seconds)


def duration(seconds: float) -> str:
    """Returns a duration in the form of OpenAI's headers, rounded up to milliseconds: `6m0s`, `1.5s`, `120ms`, `0s`."""
    milliseconds = max(0, math.ceil(round(seconds * 1000, 3)))
    if 0 < milliseconds < 1000:
        return f"{milliseconds}ms"
    minutes, milliseconds = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    above = (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "")
    return f"{above}{milliseconds / 1000:g}s"
