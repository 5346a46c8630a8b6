"""Attacks for a while, in a process of their own: what they cost their maker is no delay of honest clients."""

import asyncio
import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from random import Random
from typing import NamedTuple

from soak.caller import Caller
from soak.ends import Ends
from soak.hostile import ATTACKS, ON_IMAGES, Attack, Attacker
from soak.journal import Journal
from specvino.conformance.dialect import Dialect
from specvino.conformance.http.client import Client, Target

AT_ONCE = 2
"""Attacks at a time."""


class Assault(NamedTuple):
    """Says whom to attack, and for how many seconds. `keys` are the attackers' own, one for each, `others` are ids of
    responses of other keys. The attacks come in an order of `seed`, from number `start` on. The first assault of a run
    continues until each attack was made once: what it leaves in the allocators is there before memory is compared."""

    url: str
    address: tuple[str, int]
    model: str
    keys: tuple[str, ...]
    others: list[str]
    seeing: bool
    phase: str
    seconds: float
    seed: int
    start: int
    timeout: float


def attack(assault: Assault) -> tuple[int, Journal]:
    """Returns how many attacks there were, and what became of them."""
    return asyncio.run(_attack(assault))


def order(assault: Assault) -> Iterator[Attack]:
    """Yields all attacks again and again, from the given number on."""
    turns = list(_attacks(assault))
    Random(assault.seed).shuffle(turns)
    return itertools.islice(itertools.cycle(turns), assault.start % len(turns), None)


def _attacks(assault: Assault) -> Sequence[Attack]:
    return ON_IMAGES if assault.seeing else ATTACKS


async def _attack(assault: Assault) -> tuple[int, Journal]:
    journal, ends = Journal(assault.phase), Ends(Dialect("specvino"))
    turns = order(assault)
    until = time.monotonic() + assault.seconds
    new = len(_attacks(assault)) - assault.start
    done = 0

    async def one(attacker: Attacker) -> None:
        nonlocal done
        while done < new or time.monotonic() < until:
            done += 1
            with suppress(OSError):
                await next(turns)(attacker)

    async with AsyncExitStack() as stack:

        async def caller(key: str | None) -> Caller:
            client = await stack.enter_async_context(Client(Target(assault.url, key, timeout=assault.timeout)))
            return Caller(client, ends, journal, "hostile", assault.model, key)

        async with asyncio.TaskGroup() as group:
            for number in range(AT_ONCE):
                random = Random(assault.seed * 1_000_000 + assault.start * 10 + number)
                own = await caller(assault.keys[number % len(assault.keys)])
                mine = Attacker(own, await caller(None), assault.address, random, assault.others)
                group.create_task(one(mine))
    return done, journal
