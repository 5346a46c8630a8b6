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

# Mutants whose single answers are as right ones, and why. The judge's own rules, whose verdicts are compared as well,
# find nearly all of them.
_TIMES = "only times differ, which aren't compared"
_CLOSES = "only what follows on the connection differs"
_DRAWN = "texts that are drawn aren't compared"
_IDS = "ids may differ"
_NUMBERS = "numbers of calls in repeated events aren't compared, and a folded call has none"
NOT_SHOWN = {
    "completions.IgnoresSeed": _DRAWN,
    "connections.BuffersStreams": _TIMES,
    "connections.ClosesAfterAnswers": _CLOSES,
    "connections.ClosesAfterStreams": _CLOSES,
    "connections.HoldsBackStreams": _TIMES,
    "connections.ModelsWaitForTheModel": _TIMES,
    "connections.NoticesTooLate": _TIMES,
    "connections.WorksForNobody": _TIMES,
    "messages.OneId": _IDS,
    "models.CreatedWhenAsked": _TIMES,
    "ollama.IgnoresSeedOption": _DRAWN,
    "ollama.LineBegunAtTheEnd": "what isn't a whole event isn't compared",
    "responses.OneCallId": _IDS,
    "sampling.ForgetsSeeds": _DRAWN,
    "sockets.GeneratesAlways": _DRAWN,
    "streaming.AllAtOnce": "how a text is divided isn't compared",
    "structured_output.FirstChoiceOnly": _DRAWN,
    "structured_output.FormOrTools": _DRAWN,
    "tokenize.ReadsOtherTokens": _DRAWN,
    "tools.CallsAtOneIndex": "the model may make one call or two, and arguments differ",
    "tools.CountsFromOne": _NUMBERS,
    "tools.CountsOverChoices": _NUMBERS,
    "tools.OneCallId": _IDS,
}

MUTANTS = {name(mutant): mutant for mutant in parts_of(mutants)}


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


# By their names, so that a new mutant changes no choice; and two that answers don't show.
SOME = [one for one in MUTANTS if crc32(one.encode()) % 120 == 0] + ["messages.OneId", "tools.OneCallId"]


@pytest.mark.parametrize("mutant", sampled(MUTANTS, *SOME))
def test_answers_show_what_is_wrong(mutant: str) -> None:
    assert is_shown(MUTANTS[mutant]) == (mutant not in NOT_SHOWN)


def test_exceptions_are_mutants() -> None:
    assert NOT_SHOWN.keys() <= MUTANTS.keys()
