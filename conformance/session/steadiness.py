"""Comparisons of answers that a server may draw, at temperature 0, too: only what it always answers counts."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Failed, NotExercised

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
# cached prompt. A server that answers by the toss of a coin gives as many in 1 of 4 comparisons.
REPEATED = 3

DRAWN = "the server's answers to the same request differ, so they can't be compared"


class Drawn(NotExercised):
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
    the one and any to the other, and never between answers to the same request, by `within` (default: `differences`).
    Raises Drawn if all differences are in what isn't steady. Two answers that are alike are enough.

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
                if not (found := differences(*pair)):
                    return
                steady = {name: sentence for name, sentence in steady.items() if name in found}
            drawn = within(answers[0], latest)
            steady = {name: sentence for name, sentence in steady.items() if name not in drawn}
            answers.append(latest)
        if not steady:
            raise Drawn
    raise Failed(next(iter(steady.values())), ones[0], others[0])


async def is_steady(ask: Ask, content: Callable[[Exchange], Any]) -> bool:
    """Returns whether all answers to a request have the same content, in as many as `require_alike` compares."""
    expected = content(await ask())
    for _ in range(2 * ROUNDS - 1):
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
