"""The reference server beside its mutants: what is wrong with one of them, its answers show without any rule."""

import asyncio
from collections.abc import Iterator
from zlib import crc32

import pytest
from reference_server import mutants
from reference_server.bench import BY_TIME, KEY, MODEL, dialect, full_plan, whole_plan
from reference_server.mutation import BATCH, Mutant, by_nearness, concerned, meant, name
from reference_server.part import parts_of
from reference_server.server import ReferenceServer
from support.asgi import answering
from support.comparing import differences
from support.exhaustive import sampled

from specvino.conformance.cases.capability import all_capabilities
from specvino.conformance.cases.plan import Plan
from specvino.conformance.http.client import Client, Target
from specvino.conformance.job import Job, RunningJob, begin
from specvino.conformance.reports.records import Report
from specvino.conformance.two_servers.run import Parity

# Mutants whose single answers are as right ones, and why. Rules of the judge find all but the first two.
NOT_SHOWN = {
    "connections.ModelsWaitForTheModel": "only times differ, which aren't compared",
    "connections.WorksForNobody": "only times differ, which aren't compared",
    "messages.OneId": "ids may differ",
    "streaming.AllAtOnce": "how a text is divided isn't compared",
    "structured_output.FirstChoiceOnly": "texts that are drawn aren't compared",
    "tools.OneCallId": "ids may differ",
}

ALL = {name(mutant): mutant for mutant in parts_of(mutants)}

# A fifth of them, by their names so that a new mutant changes no choice, and the exceptions.
MUTANTS = {one: ALL[one] for one in ALL if crc32(one.encode()) % 5 == 0 or one in NOT_SHOWN}


def plans(mutant: Mutant) -> Iterator[Plan]:
    """The cases that a mutant is there for, then others that can see it, nearest first."""
    expected = meant(mutant)
    cases = [case for case in full_plan("specvino").cases if case.rule in expected - BY_TIME]
    capabilities = [name for name, capability in all_capabilities().items() if capability.rule in expected]
    if cases or capabilities:
        yield Plan(tuple(cases), {}, capabilities=tuple(capabilities))
    seen_by = concerned(mutant)
    waiting = [case for case in by_nearness(whole_plan("specvino").cases, min(expected)) if case.rule in seen_by]
    for start in range(0, len(waiting), BATCH):
        yield Plan(tuple(waiting[start : start + BATCH]), {})


async def compared(mutant: Mutant, plan: Plan) -> Report:
    async def begun(url: str, client: Client) -> RunningJob:
        job = await begin(Job(Target(url, KEY, MODEL), dialect("specvino")), client)
        job.plan = plan
        return job

    right, wrong = (ReferenceServer(*parts, key=KEY, model=MODEL) for parts in ((), (mutant,)))
    async with (
        answering(right) as one,
        answering(wrong) as other,
        Client(Target(one, KEY, MODEL)) as client_of_one,
        Client(Target(other, KEY, MODEL)) as client_of_other,
    ):
        comparison = Parity(await begun(one, client_of_one), await begun(other, client_of_other))
        await comparison.compare(lambda line: line)
        return comparison.report


def is_shown(mutant: Mutant) -> bool:
    return any(differences(asyncio.run(compared(mutant, plan))) for plan in plans(mutant))


@pytest.mark.parametrize("mutant", sampled(MUTANTS, *(one for one in MUTANTS if crc32(one.encode()) % 30 == 0)))
def test_answers_show_what_is_wrong(mutant: str) -> None:
    assert is_shown(MUTANTS[mutant]) == (mutant not in NOT_SHOWN)


def test_exceptions_are_mutants() -> None:
    assert NOT_SHOWN.keys() <= ALL.keys()
