"""Comparisons of answers that a server may draw, at temperature 0, too: only what it always answers counts."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.message_shape import shape_of
from specvino.conformance.verdict import Failed, Unsuitable

Ask = Callable[[], Awaitable[Exchange]]
"""Sends a request, the same one each time."""

Differences = Callable[[Exchange, Exchange], Mapping[str, str]]
"""Returns the differences of two answers as sentences, by the names of what differs."""

# Whether the second of two requests is sent first, in each round after the first one. Servers may take turns, between
# replicas or prepared answers; the order of Thue and Morse has no period.
FLIPPED = (True, True, False, True, False)

# The number of answers to each of two requests that show a difference. A server that answers by the toss of a coin
# gives one answer that often to the first request, and the other one to the second, in 1 of 2048 comparisons.
ROUNDS = 1 + len(FLIPPED)

# The number of answers to a request that must be the same after the first one, which may have been made without a
# cached prompt. A server that answers by the toss of a coin gives as many in 1 of 2048 comparisons.
REPEATED = 2 * ROUNDS

# The number of times that a check is run until the answers exercise its rule. If they do by the toss of a coin, none of
# as many does in 1 of 65,536 cases.
TRIES = 16

DRAWN = "the server's answers to the same request differ, so they can't be compared"


class Drawn(Unsuitable):
    """Raised if answers to the same request differ in what should be compared."""

    def __init__(self) -> None:
        super().__init__(DRAWN)


async def require_alike(
    one: Ask,
    other: Ask,
    differences: Differences,
    *,
    within: Differences | None = None,
    first: Exchange | None = None,
) -> None:
    """Raises Failed if the answers to two requests differ in something that is steady: it differs between any answer to
    the one and any to the other, and never between answers to the same request, by `within` (default: `differences`);
    neither does what is within it, by its path. Raises Drawn if all differences are in what isn't steady. Two answers
    that are alike are enough.

    `first` is an answer to the first request. Requests are only repeated if it and the first answer to the other one
    differ.
    """
    within = within or differences
    sides = ((one, ones := [first or await one()]), (other, others := [await other()]))
    steady = dict(differences(ones[0], others[0]))
    if not steady:
        return
    for flipped in FLIPPED:
        for ask, answers in reversed(sides) if flipped else sides:
            latest = await ask()
            for pair in [(latest, known) for known in others] if ask is one else [(known, latest) for known in ones]:
                if not (current := differences(*pair)):
                    return
                steady = {name: sentence for name, sentence in steady.items() if name in current}
            drawn = within(answers[0], latest)
            steady = {name: sentence for name, sentence in steady.items() if not _is_drawn(name, drawn)}
            answers.append(latest)
        if not steady:
            raise Drawn
    raise Failed(next(iter(steady.values())), ones[0], others[0])


def _is_drawn(name: str, drawn: Iterable[str]) -> bool:
    """Returns whether something that was drawn is what has a name, a path, or is within it."""
    return any(f"{other}.".startswith(f"{name}.") for other in drawn)


class Patience:
    """Limits the repetitions of the checks of a run: until the answers exercise the rule. After TRIES in vain, no check
    of the same endpoint is repeated for the same reason: such a server draws nothing, or too much."""

    def __init__(self) -> None:
        self._in_vain: set[tuple[str, str]] = set()

    async def exercise(self, endpoint: str, check: Callable[[], Awaitable[None]]) -> None:
        """Runs a check of an endpoint until it doesn't raise Unsuitable. Raises what the last try raised. What fails
        after answers that were drawn has to fail twice, as chance has as many occasions as there are tries."""
        drawn = failed = False
        for tried in range(1, TRIES + 1):
            try:
                await check()
            except Failed:
                if not drawn or failed or tried == TRIES:
                    raise
                failed = True
            except Unsuitable as error:
                drawn |= isinstance(error, Drawn)
                reason = endpoint, shape_of(str(error))
                if tried == TRIES:
                    self._in_vain.add(reason)
                if reason in self._in_vain:
                    raise
            else:
                return


async def is_steady(ask: Ask, content: Callable[[Exchange], Any]) -> bool:
    """Returns whether REPEATED answers to a request have the same content."""
    expected = content(await ask())
    for _ in range(REPEATED - 1):
        if content(await ask()) != expected:
            return False
    return True


async def differing(ask: Ask, content: Callable[[Exchange], Any]) -> list[Exchange]:
    """Returns answers to a request, without the first one, of which the last has another content; none if REPEATED
    answers have the same."""
    await ask()
    answers = [await ask()]
    while len(answers) < REPEATED:
        answers.append(await ask())
        if content(answers[-1]) != content(answers[0]):
            return answers
    return []
