"""Runs the same cases at two servers, A and B, and compares the answers to the same requests.

Each case runs as a whole at A, then at B, so that a case that names a stored response names its own server's. Requests
that are the same but for ids are compared; with differences, the case is repeated at both servers. A difference is what
each repetition has, between values that one server mostly gives and the other never.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from specvino.conformance.cases.capability import Capability, all_capabilities
from specvino.conformance.cases.case import Case
from specvino.conformance.cases.plan import Plan
from specvino.conformance.cases.run import Run
from specvino.conformance.http.client import Client
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.job import Job, RunningJob
from specvino.conformance.job import begin as begin_job
from specvino.conformance.preflight import CannotRun
from specvino.conformance.reports.convert import Converter
from specvino.conformance.reports.faults import fault_records
from specvino.conformance.reports.records import BAD, JUDGED, FindingRecord, Footer, Line, Report
from specvino.conformance.two_servers import verdicts
from specvino.conformance.two_servers.comparison import VALUES, Difference, Differences, differences
from specvino.conformance.two_servers.observation import Kind, Location, Observation, observe
from specvino.conformance.two_servers.same_requests import Identity, by_identity
from specvino.conformance.two_servers.tally import MOST_ROWS, Tally, is_greedy
from specvino.conformance.verdict import Result, Severity, Verdict

if TYPE_CHECKING:
    from specvino.conformance.session.session import Session

# How often a case with differences runs at each server. Of two servers that toss a coin for one of two answers, the one
# gives six of the one and the other six of the other in 1 of 2,048 comparisons; with three it would be 1 of 32.
ROUNDS = 6

# In how many of them a request may be missing, since the case went on another way.
MOST_MISSING = 1


class Side:
    """One of the two servers, with its run, and the results of its rules."""

    def __init__(self, running: RunningJob, plan: Plan, replaced: dict[str, str | None], other: RunningJob) -> None:
        self.running = running
        self.lines: list[Line] = []
        self.verdicts: defaultdict[str, set[Verdict]] = defaultdict(set)
        self.sessions: dict[str, Session] = {}
        """The sessions of cases and probes whose answers weren't compared yet, by rule."""
        self.converter = Converter(running.client.target, other.client.target)
        job = running.job
        self.run = Run(running.client, job.dialect, running.model, plan, 1, job.max_time, replaced)
        self.run.on_session = self.sessions.__setitem__

    @property
    def is_over(self) -> bool:
        """Whether the server can't be tested any more."""
        return bool(self.run.availability.lost or self.run.availability.limited or self.run.time_up)

    async def case(self, case: Case) -> Result:
        return await self.run.case(case)

    async def probe(self, capability: Capability) -> Result:
        return await self.run.probe(capability)

    def add(self, result: Result) -> None:
        """Adds the result of a rule to the report."""
        self.lines.append(self.converter.line(result))
        self.confirm(result)

    def confirm(self, result: Result) -> None:
        """Notes the verdict of a rule, which may be another one when a case is repeated."""
        self.verdicts[result.rule].add(result.verdict)

    @property
    def report(self) -> Report:
        """Returns the verdicts that are the same each time."""
        return Report(self.running.report.header, [line for line in self.lines if len(self.verdicts[line.rule]) == 1])

    def answers(self, rule: str) -> dict[Identity, Exchange]:
        """Returns the answers of a case or probe, and forgets them."""
        session = self.sessions.pop(rule, None)
        return {} if session is None else by_identity(session)


@dataclass(slots=True)
class _Pair:
    """The first answers of both servers to a request, what they differ in each time, and where they differ from
    themselves."""

    a: Exchange
    b: Exchange
    differing: Differences
    values: dict[Location, tuple[Counter[str], Counter[str]]] = field(init=False)
    """How often each server gave which value, by the locations of `differing`."""
    drawn: defaultdict[Location, set[Difference]] = field(default_factory=lambda: defaultdict(set))
    draws: list[bool] = field(default_factory=lambda: [False, False])
    """Whether each server gave other values when the request was repeated."""
    missing: int = 0
    """The number of repetitions without this request."""

    def __post_init__(self) -> None:
        self.values = {
            location: (Counter([difference.a]), Counter([difference.b]))
            for location, difference in self.differing.items()
        }

    def add(self, own: Sequence[Differences], both: Differences) -> None:
        """Adds a repetition: what each server's answer has another way than its first one, and what both differ in.
        Forgets what they don't differ in: counts of the same text can't be compared if the texts are others now, nor
        the only piece of a text if there are two."""
        self.differing = {location: difference for location, difference in self.differing.items() if location in both}
        for side, changed in enumerate(own):
            self.draws[side] |= any(location.kind in VALUES for location in changed)
            for location, difference in changed.items():
                self.drawn[location].add(difference)
            for location, difference in self.differing.items():
                self.values[location][side][changed[location].b if location in changed else difference[side]] += 1

    @property
    def steady(self) -> Differences:
        """The differences between a value that a server mostly gives and values that the other one never gives."""
        if self.missing > MOST_MISSING:
            return {}
        return {
            location: difference
            for location, difference in self.differing.items()
            if _are_apart(*self.values[location])
        }


class Parity:
    """The comparison of two servers. `report` is of both: its lines are differences, and kinds without any."""

    def __init__(self, a: RunningJob, b: RunningJob) -> None:
        replaced = {**a.report.header.replaced, **b.report.header.replaced}
        # With a key for both, cases test that it is required.
        self.plan = b.plan if b.client.target.key is None else a.plan
        self.sides = Side(a, self.plan, replaced, b), Side(b, self.plan, replaced, a)
        self.tally = Tally((self.sides[0].converter, self.sides[1].converter))
        self.unpaired = 0
        """The number of requests that only one server got, since a case went on by an answer that the other lacks."""
        self.done = 0
        """The number of cases that ran at both servers."""
        titles = {"server": f"A: {a.report.header.title}; B: {b.report.header.title}"}
        self.report = Report(b.report.header.model_copy(update={**titles, "layers": ("parity",), "replaced": replaced}))
        self._begun = time.monotonic()

    @property
    def cases(self) -> int:
        """The number of cases."""
        return len(self.plan.cases) + len(self.plan.unreported)

    @property
    def _named(self) -> Iterator[tuple[str, Side]]:
        return zip("AB", self.sides, strict=True)

    @property
    def requests(self) -> int:
        """The number of requests sent so far, to both servers."""
        return sum(side.running.requests for side in self.sides)

    async def compare(self, mark: Callable[[Line], Line], on_case: Callable[[], None] = lambda: None) -> None:
        """Compares the servers, and fills the report. `mark` applies a baseline to a line; `on_case` is called after
        each case."""
        complete = False
        try:
            await self._run(on_case)
            complete = True
        finally:  # also for an interrupted run
            for line in self._lines():
                marked = mark(line) if line.verdict in BAD else line
                is_binding = line.severity is Severity.MUST or self.report.header.fail_on is Severity.SHOULD
                fails = line.verdict in BAD and is_binding and not marked.accepted
                self.report.lines.append(marked.model_copy(update={"fails": fails}))
            self.report.footer = self._footer(complete=complete)

    async def _run(self, on_case: Callable[[], None]) -> None:
        for case in sorted((*self.plan.cases, *self.plan.unreported), key=attrgetter("alone")):
            if any(side.is_over for side in self.sides):
                break
            run = partial(Side.case, case=case)
            for side in self.sides:
                side.add(await run(side))
            await self._compare(case.rule, run)
            await self._compare_probes()
            self.done += 1
            on_case()
        for side in self.sides:
            async for result in side.run.remaining():
                side.add(result)
        await self._compare_probes()
        self.unpaired += sum(len(side.answers(rule)) for side in self.sides for rule in [*side.sessions])

    def _footer(self, *, complete: bool) -> Footer:
        lost, limited = (
            next((f"{rule} at {name}" for name, side in self._named if (rule := end(side.run.availability))), None)
            for end in (attrgetter("lost"), attrgetter("limited"))
        )
        return Footer(
            counts=self.report.counts,
            requests=self.requests,
            seconds=round(time.monotonic() - self._begun, 3),
            complete=complete and not lost and not limited,
            lost=lost,
            limited=limited,
            time_up=any(side.run.time_up for side in self.sides),
            faults=fault_records(self.report.lines),
        )

    def _lines(self) -> Iterator[Line]:
        yield from self._of_fields()
        yield from self.tally.lines()
        if self.tally.compared:  # otherwise verdicts are on answers to other requests
            yield from verdicts.lines(*(side.report for side in self.sides))
        requests = f"of {self.tally.compared + self.unpaired} requests"
        one_sided = "Requests that only one server got, after another answer, aren't compared."
        for name, says, number, what in (
            ("drawn", "Values that a server draws aren't compared.", self.tally.drawn, requests),
            ("one-sided", one_sided, self.unpaired, requests),
            ("more", f"At most {MOST_ROWS} differences are listed.", self.tally.more, "more in single answers"),
        ):
            if number:
                because, rule = f"{number} {what}", f"transport/parity/{name}"
                yield Line(rule=rule, layer="parity", says=says, verdict=Verdict.NOT_EXERCISED, because=because)

    def _of_fields(self) -> Iterator[Line]:
        """Yields a line for each request field that the model of one server only refuses."""
        refused = [side.running.report.header.replaced for side in self.sides]
        for name in sorted(refused[0].keys() ^ refused[1].keys()):
            yield Line(
                rule=f"chat/parity/request/{name}",
                layer="parity",
                says="Both models take the same fields of requests.",
                verdict=Verdict.FAIL,
                findings=(FindingRecord(message=f"{name} is refused at {'A' if name in refused[0] else 'B'} only"),),
            )

    async def _compare_probes(self) -> None:
        """Compares the probes that both servers have had."""
        for capability in all_capabilities().values():
            if all(capability.rule in side.sessions for side in self.sides):
                await self._compare(capability.rule, partial(Side.probe, capability=capability))

    async def _compare(self, rule: str, again: Callable[[Side], Awaitable[Result]]) -> None:
        """Compares the answers of a case or probe. `again` repeats it."""
        one, other = (side.answers(rule) for side in self.sides)
        # The judge repeats a request whose answer breaks a rule.
        self.unpaired += len({text for text, _ in one} ^ {text for text, _ in other})
        pairs: dict[Identity, _Pair] = {}
        for identity in filter(other.__contains__, one):
            seen = self._observe(0, one[identity]), self._observe(1, other[identity])
            self.tally.count(_endpoint(one[identity]), *seen)
            if differing := differences(*seen):
                pairs[identity] = _Pair(one[identity], other[identity], differing)
        for _ in range(ROUNDS - 1):
            is_clear = all(map(self._is_known, pairs.values())) and not self._is_judged_otherwise(rule)
            if is_clear or any(side.is_over for side in self.sides):
                break
            for side in self.sides:
                side.confirm(await again(side))
            repeated = [side.answers(rule) for side in self.sides]
            for identity, pair in pairs.items():
                self._repeat(pair, *(answers.get(identity) for answers in repeated))
        for pair in pairs.values():
            steady = pair.steady
            self.tally.draw(_endpoint(pair.a), {at: pair.drawn[at] for at in pair.drawn.keys() - steady}, pair.a)
            if is_greedy(pair.a) and (drawn := _drawn_by_one(pair)):
                steady[Location(Kind.DRAWN)] = drawn
            self.tally.add(rule, _endpoint(pair.a), steady, pair.a, pair.b, is_drawn=any(pair.draws))

    def _is_judged_otherwise(self, rule: str) -> bool:
        a, b = (side.verdicts[rule] for side in self.sides)
        return a != b and (a | b) <= {*JUDGED}

    def _observe(self, side: int, exchange: Exchange) -> Observation:
        return observe(exchange, self.sides[side].running.model)

    def _is_known(self, pair: _Pair) -> bool:
        endpoint = _endpoint(pair.a)
        return all(self.tally.is_known(location, difference, endpoint) for location, difference in pair.steady.items())

    def _repeat(self, pair: _Pair, *repeated: Exchange | None) -> None:
        """Adds the answers to a repeated request, None if the case didn't send it again."""
        a, b = (None if again is None else self._observe(side, again) for side, again in enumerate(repeated))
        if a is None or b is None:
            pair.missing += 1
        else:
            own = differences(self._observe(0, pair.a), a), differences(self._observe(1, pair.b), b)
            pair.add(own, differences(a, b))


def _are_apart(a: Counter[str], b: Counter[str]) -> bool:
    """Returns whether two servers have no value in common, and each mostly gives the same one."""
    return a.keys().isdisjoint(b) and all(2 * max(side.values()) > side.total() for side in (a, b))


def _drawn_by_one(pair: _Pair) -> Difference | None:
    """Returns whether only one of the servers gives another answer each time."""
    if all(pair.draws) or not any(pair.draws):
        return None
    return Difference(*("another one each time" if draws else "the same each time" for draws in pair.draws))


def _endpoint(exchange: Exchange) -> str:
    return exchange.request.endpoint or "transport"


async def begin(a: Job, b: Job, client: Client, other: Client) -> Parity:
    """Checks both servers and returns their comparison, ready to run. Raises CannotRun, which names the server."""
    running = []
    for name, job, connection in (("A", a, client), ("B", b, other)):
        try:
            running.append(await begin_job(job, connection))
        except CannotRun as error:
            raise CannotRun(f"{name}: {error}") from None
    return Parity(*running)
