"""Whether a server still answers: what it leaves unanswered when it dies, or refuses everything, breaks no rule."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from typing import Any

from specvino.conformance.endpoints import paths
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.session.session import HELLO, Session
from specvino.conformance.verdict import Failed, NotExercised

# How exchanges end if the server dies.
BROKEN = ("cut off", "unreachable")

# With what a proxy answers for a server that died (RFC 9110, 15.6.3 to 15.6.5).
GATEWAY = (502, 503, 504)

# Requests in a row without an answer, after which the server is checked.
LOST_AFTER = 3

# How often it is checked, and the seconds between two checks.
CONTROLS = 3
PAUSE = 0.5

TOO_MANY = 429


class Availability:
    """The availability of a run's server. `new_session` returns a session for its own requests; `apply_rules` is called
    with the exchanges that the rules for all answers apply to."""

    def __init__(self, new_session: Callable[[], Session], apply_rules: Callable[[Exchange], None]) -> None:
        self._new_session = new_session
        self._apply_rules = apply_rules
        self.lost: str | None = None
        """The rule during which the server became unreachable."""
        self.limited: str | None = None
        """The rule during which the server began to refuse every request with 429."""
        self._unreachable = 0
        # The numbers of exchanges without a whole answer of the server's own: the rules for all answers weren't applied
        # to them yet.
        self._open: set[int] = set()

    @property
    def why_lost(self) -> str:
        return f"the server became unreachable during {self.lost}"

    def receive(self, exchange: Exchange) -> None:
        """Applies the rules for all answers to an exchange, but to one that was cut off, or answered by a proxy, only
        when it is known whether the server still answers."""
        self._unreachable = self._unreachable + 1 if exchange.status is None and exchange.ended != "left" else 0
        if exchange.ended == "cut off" or exchange.status in GATEWAY:
            self._open.add(exchange.number)
        else:
            self._apply_rules(exchange)

    @asynccontextmanager
    async def watched(self, rule: str, session: Session) -> AsyncIterator[None]:
        """Runs a block with the requests of a rule. Raises NotExercised instead of an error of the block if the server
        became unreachable and answered one of its requests incompletely, unless complete answers show a failure."""
        try:
            yield
        except Exception as error:
            if await self._is_gone(rule, session) and not _is_shown_by_complete_answers(error):
                raise NotExercised(self.why_lost) from None
            raise
        await self._is_gone(rule, session)

    async def is_limited(self, rule: str, session: Session) -> bool:
        """Returns whether the requests of a rule are no evidence, since one got a 429 and so do minimal requests.
        Otherwise the 429 is the answer to what it asks."""
        if not any(exchange.status == TOO_MANY for exchange in session.exchanges):
            return False
        if self.limited is None and await self._always("POST", "chat", HELLO, {TOO_MANY}):
            self.limited = rule
        return self.limited is not None

    async def _is_gone(self, rule: str, session: Session) -> bool:
        """Returns whether the server became unreachable during the requests of a session. That is checked after a
        broken connection, after what may be a proxy's answer, and after several requests in a row without an answer."""
        broken = [exchange for exchange in session.exchanges if exchange.ended in BROKEN or exchange.status in GATEWAY]
        if self.lost is None and (broken or self._unreachable >= LOST_AFTER):
            if await self._never_answers():
                self.lost = rule
            else:
                self._unreachable = 0
        for exchange in broken:
            if exchange.number in self._open and self.lost is None:
                self._apply_rules(exchange)
            self._open.discard(exchange.number)
        return self.lost is not None and bool(broken or any(one.status is None for one in session.exchanges))

    async def _never_answers(self) -> bool:
        """Returns whether nothing answers, or only a proxy. A proxy may have no list of models at all, so a minimal
        request has to fail as well."""
        silent = {None, *GATEWAY}
        return await self._always("GET", "models", None, {None}) or (
            await self._always("GET", "models", None, silent) and await self._always("POST", "chat", HELLO, silent)
        )

    async def _always(
        self, method: str, endpoint: str, body: Mapping[str, Any] | None, statuses: AbstractSet[int | None]
    ) -> bool:
        """Returns whether several requests in a row, with pauses, get one of these statuses, of which None is no
        answer: a server may be restarting, or busy with other requests of the run."""
        control = self._new_session()
        filled = None if body is None else control.filled(endpoint, body)
        for attempt in range(CONTROLS):
            if attempt:
                await asyncio.sleep(PAUSE)
            answer = await control.raw(method, paths()[endpoint], body=filled, for_rules=False)
            if answer.status not in statuses:
                return False
        return True


def _is_shown_by_complete_answers(error: Exception) -> bool:
    if isinstance(error, Unreadable):
        return _is_whole(error.exchange)
    exchanges = error.finding.exchanges if isinstance(error, Failed) else ()
    return bool(exchanges) and all(map(_is_whole, exchanges))


def _is_whole(exchange: Exchange) -> bool:
    return exchange.ended == "complete" and exchange.status not in GATEWAY
