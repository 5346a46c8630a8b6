"""Runs the cases of a plan and applies the rules for all answers: the layers `cases` and `streams`."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from specvino.conformance.case_checks import all_checks
from specvino.conformance.cases.availability import Availability
from specvino.conformance.cases.capability import Capability, all_capabilities, probe
from specvino.conformance.cases.case import Case
from specvino.conformance.cases.plan import Plan
from specvino.conformance.dialect import Dialect
from specvino.conformance.http.client import Client
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.message_shape import fault_of
from specvino.conformance.rules import RULES, RULES_OF_TRANSPORT
from specvino.conformance.rules.rule import Rule
from specvino.conformance.session.session import Session
from specvino.conformance.session.steadiness import Patience
from specvino.conformance.session.steps import run_steps
from specvino.conformance.verdict import Failed, Finding, NotExercised, Refused, Result, Verdict

# The largest number of findings of one rule in a report; further ones are only counted.
MOST_FINDINGS = 5

# Rules for the shape of answers.
SHAPES = ("answer-shape", "event-shape", "error-envelope")

# The rule for errors of unknown paths.
UNROUTED = "unrouted-envelope"

# Rules for statuses, most specific first.
STATUSES = ("no-server-error", "documented-status", "documented-refusal")

# Rules that an improper refusal of a capability may break.
REFUSAL_RULES = ("no-server-error", "documented-status", "error-envelope")

# Statuses of a missing endpoint.
MISSING = {404, 405, 501}

TIME_UP = "the time limit was reached"

LIMITED = "the server refuses every request with 429"


@dataclass(slots=True)
class RuleTally:
    """A rule for all answers of one endpoint, with its counts and findings in a run."""

    rule: Rule
    checked: int = 0
    failures: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)
    """By the identities of their faults."""

    def add(self, message: str, exchange: Exchange) -> None:
        """Adds a finding, unless its fault is known or there are MOST_FINDINGS. Shows an answer to a request that was
        sent alone if there is one: it says more about the fault, and can be had again."""
        request, finding = exchange.request, Finding(message, (exchange,))
        fault = fault_of(finding.message, request.method, request.path, exchange.status)
        known = self.findings.get(fault)
        is_better = known is not None and known.exchanges[0].together and not exchange.together
        if is_better or (known is None and len(self.findings) < MOST_FINDINGS):
            self.findings[fault] = finding


@dataclass(slots=True)
class Run:
    """One run of a plan against a server. `max_time` is in seconds."""

    client: Client
    dialect: Dialect
    model: str
    plan: Plan
    concurrency: int = 1
    max_time: float | None = None
    replaced: Mapping[str, str | None] = field(default_factory=dict)
    """The fields that the model refuses, with the field that is sent instead; None if they are left out."""
    on_session: Callable[[str, Session], None] = lambda rule, session: None
    """Called with the rule of each case and probe before its session sends requests."""
    availability: Availability = field(init=False)
    time_up: bool = False
    """Whether `max_time` ended the run before all cases had run."""
    _deadline: float | None = None
    _rules: dict[str, list[RuleTally]] = field(default_factory=dict)
    _statuses: dict[str, set[int]] = field(default_factory=dict)
    """The statuses of all answers, by endpoint."""
    _probes: dict[str, asyncio.Task[Result]] = field(default_factory=dict)
    _patience: Patience = field(default_factory=Patience)
    _violated: dict[int, list[str]] = field(default_factory=dict)
    """The rules for all answers that an exchange breaks, by its number."""

    def __post_init__(self) -> None:
        self.availability = Availability(self._session, self._apply_rules)
        self._deadline = time.monotonic() + self.max_time if self.max_time else None

    async def results(self) -> AsyncGenerator[Result, None]:
        """Yields the results of cases as they complete, then those of capabilities and of rules for all answers."""
        reported = {case.rule for case in self.plan.cases}
        cases = (*self.plan.cases, *self.plan.unreported)
        together = [case for case in cases if not case.alone]
        slots = asyncio.Semaphore(self.concurrency)

        async def limited(case: Case) -> Result:
            async with slots:
                return await self.case(case)

        tasks = [asyncio.create_task(limited(case)) for case in together]
        try:
            for done in asyncio.as_completed(tasks):
                result = await done
                if result.rule in reported:
                    yield result
        finally:
            # An interrupted run must not leave requests behind.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for case in cases:
            if case.alone:
                result = await self.case(case)
                if result.rule in reported:
                    yield result
        async for result in self.remaining():
            yield result

    async def remaining(self) -> AsyncGenerator[Result, None]:
        """Yields the results of capabilities and of rules for all answers."""
        for name in self.plan.capabilities:
            await self._capability(name)
        for task in self._probes.values():
            result = await task
            if self.plan.reports(result.rule):
                yield result
        for endpoint, rules in self._rules.items():
            for tally in rules:
                result = _rule_result(endpoint, tally)
                if tally.failures and self._is_reported_elsewhere(endpoint, tally):
                    because = f"the endpoint doesn't exist: transport/rules/{UNROUTED} reports errors of unknown paths"
                    result = replace(result, verdict=Verdict.NOT_EXERCISED, because=because, findings=())
                if (tally.checked or tally.rule.concerns(endpoint)) and self.plan.reports(result.rule):
                    yield result

    async def case(self, case: Case) -> Result:
        """Runs a case, after the probes that it needs."""
        begun = time.monotonic()
        if self.availability.lost:
            return _case_result(case, Verdict.NOT_EXERCISED, self.availability.why_lost)
        if self.availability.limited:
            return _case_result(case, Verdict.SKIP, LIMITED)
        if self._deadline and begun > self._deadline:
            return self._time_up_result(case)
        for name in case.needs:
            needed = await self._capability(name)
            if needed.verdict is Verdict.UNSUPPORTED:
                return _case_result(case, Verdict.UNSUPPORTED, needed.because)
            if needed.verdict is Verdict.NOT_EXERCISED:
                return _case_result(case, Verdict.NOT_EXERCISED, needed.because)
            if needed.verdict is not Verdict.PASS:
                return _case_result(case, Verdict.SKIP, needed.because or f"{needed.rule} failed")
        session = self._session(case)
        self.on_session(case.rule, session)
        verdict, because, advice = Verdict.PASS, "", case.advice
        findings: tuple[Finding, ...] = ()
        follows = ""
        try:
            async with asyncio.timeout_at(self._deadline) as allowed, self.availability.watched(case.rule, session):
                await self._patience.exercise(case.endpoint, partial(_check, session, case))
        except Failed as failed:
            verdict, findings = Verdict.FAIL, (failed.finding,)
            # An incomplete answer is a fault even if the case is advice.
            incomplete = any(exchange.ended not in ("complete", "left") for exchange in failed.finding.exchanges)
            advice = failed.advice or (None if incomplete else case.advice)
            follows = self._violated_by(failed.finding.exchanges, STATUSES)
        except Unreadable as error:
            verdict, findings = Verdict.FAIL, (Finding(str(error), (error.exchange,)),)
            follows = self._violated_by([error.exchange], (*STATUSES, *SHAPES))
            # The document requires shapes, even if the case is advice.
            advice = None if self._violated_by([error.exchange], SHAPES) else case.advice
        except Refused as refused:
            verdict, because = Verdict.UNSUPPORTED, str(refused)
        except NotExercised as error:
            verdict, because = Verdict.NOT_EXERCISED, str(error)
        except Exception as error:
            if allowed.expired():
                return self._time_up_result(case)
            verdict, because = self._broken(session, error)
        if await self.availability.is_limited(case.rule, session):
            return _case_result(case, Verdict.SKIP, LIMITED, checked=len(session.exchanges))
        result = _case_result(case, verdict, because, findings, len(session.exchanges), time.monotonic() - begun)
        return replace(result, advice=advice, follows=follows)

    def _time_up_result(self, case: Case) -> Result:
        self.time_up = True
        return _case_result(case, Verdict.SKIP, TIME_UP)

    def _session(self, case: Case | None = None) -> Session:
        replaced = {} if case and case.unchanged else self.replaced
        subjects = [pointer.rpartition("/properties/")[2] for pointer in case.spec] if case else ()
        on_exchange = self.availability.receive
        return Session(
            self.client, self.dialect, self.model, on_exchange, self._has, self._deadline, replaced, subjects
        )

    async def _has(self, name: str) -> bool:
        return (await self._capability(name)).verdict is Verdict.PASS

    async def _capability(self, name: str) -> Result:
        if name not in self._probes:
            self._probes[name] = asyncio.create_task(self.probe(all_capabilities()[name]))
        return await asyncio.shield(self._probes[name])

    async def probe(self, capability: Capability) -> Result:
        """Probes a capability."""
        if self.availability.limited:
            return Result(capability.rule, "cases", capability.says, Verdict.SKIP, capability.spec, because=LIMITED)
        verdict, because, advice = Verdict.PASS, "", None
        findings: tuple[Finding, ...] = ()
        follows = ""
        session = self._session()
        self.on_session(capability.rule, session)
        try:
            async with (
                asyncio.timeout_at(self._deadline) as allowed,
                self.availability.watched(capability.rule, session),
            ):
                if self.availability.lost:
                    raise NotExercised(self.availability.why_lost)
                await self._patience.exercise(capability.endpoint, partial(probe, session, capability))
        except Refused as refused:
            verdict, because = Verdict.UNSUPPORTED, str(refused)
        except Failed as failed:
            verdict, findings, advice = Verdict.FAIL, (failed.finding,), failed.advice
            follows = "" if capability.check else self._violated_by(failed.finding.exchanges, REFUSAL_RULES)
        except Unreadable as error:
            verdict, findings = Verdict.FAIL, (Finding(str(error), (error.exchange,)),)
            follows = self._violated_by([error.exchange], (*STATUSES, *SHAPES))
        except NotExercised as error:
            verdict, because = Verdict.NOT_EXERCISED, str(error)
        except Exception as error:
            if allowed.expired():
                self.time_up = True
                verdict, because = Verdict.SKIP, TIME_UP
            else:
                verdict, because = self._broken(session, error)
        if await self.availability.is_limited(capability.rule, session):
            verdict, because, findings, follows, advice = Verdict.SKIP, LIMITED, (), "", None
        return Result(
            rule=capability.rule,
            layer="cases",
            says=capability.says,
            verdict=verdict,
            spec=capability.spec,
            because=because,
            findings=findings,
            checked=len(session.exchanges),
            seconds=sum(exchange.seconds for exchange in session.exchanges),
            advice=advice,
            follows=follows,
        )

    def _apply_rules(self, exchange: Exchange) -> None:
        """Applies the rules for all answers to an exchange."""
        if exchange.ended in ("too long", "too slow"):
            return  # we didn't read the whole answer
        endpoint = exchange.request.endpoint or "transport"
        if exchange.status is None or endpoint not in (*self.dialect.operations, "transport"):
            return
        self._statuses.setdefault(endpoint, set()).add(exchange.status)
        if endpoint not in self._rules:
            rules = RULES_OF_TRANSPORT if endpoint == "transport" else RULES
            self._rules[endpoint] = [RuleTally(rule(self.dialect)) for rule in rules]
        for tally in self._rules[endpoint]:
            try:
                if not tally.rule.applies(exchange):
                    continue
                violations = iter(tally.rule.violations(exchange))
                first = next(violations, None)
                for _ in violations:  # a rule may keep state; a large answer may have many violations
                    pass
            except (Unreadable, LookupError, TypeError, ValueError, AttributeError):
                continue  # the rules for shapes report answers that the rule can't read
            tally.checked += 1
            tally.failures += first is not None
            if first is not None:
                self._violated.setdefault(exchange.number, []).append(f"{endpoint}/rules/{tally.rule.name}")
                tally.add(first, exchange)
            if first is not None and tally.rule.name == STATUSES[0]:
                return  # other violations follow from the server error

    def _broken(self, session: Session, error: Exception) -> tuple[Verdict, str]:
        """Returns the verdict of a check that raised an exception: `skip` if an answer has an undocumented shape, which
        other rules report; otherwise `error`."""
        if violated := self._violated_by(session.exchanges, (*STATUSES, *SHAPES)):
            return Verdict.SKIP, f"an answer doesn't have its documented shape, see {violated}"
        return Verdict.ERROR, f"the check failed: {type(error).__name__}: {error}"

    def _violated_by(self, exchanges: Iterable[Exchange], names: Sequence[str]) -> str:
        """Returns the first of these rules that one of the exchanges breaks; empty if none does."""
        violated = [rule for exchange in exchanges for rule in self._violated.get(exchange.number, ())]
        return next((rule for name in names for rule in violated if rule.endswith(f"/{name}")), "")

    def _is_reported_elsewhere(self, endpoint: str, tally: RuleTally) -> bool:
        """Returns whether the endpoint is missing and its errors are those of an unknown path, which the transport rule
        reports."""
        statuses, transport = self._statuses.get(endpoint, set()), self._rules.get("transport", ())
        reported = any(tally.failures for tally in transport if tally.rule.name == UNROUTED)
        return endpoint != "transport" and tally.rule.name == "error-envelope" and statuses <= MISSING and reported


async def _check(session: Session, case: Case) -> None:
    if case.check is None:
        await run_steps(session, case.endpoint, case.steps)
    else:
        await all_checks()[case.check](session, case.endpoint, **case.arguments)


def _case_result(
    case: Case,
    verdict: Verdict,
    because: str = "",
    findings: tuple[Finding, ...] = (),
    checked: int = 0,
    seconds: float = 0.0,
) -> Result:
    return Result(
        rule=case.rule,
        layer=case.layer,
        says=case.says,
        verdict=verdict,
        spec=case.spec[0],
        issues=case.issues,
        because=because,
        findings=findings,
        checked=checked,
        seconds=seconds,
        advice=case.advice,
    )


def _rule_result(endpoint: str, tally: RuleTally) -> Result:
    rule = tally.rule
    verdict, because = (Verdict.FAIL, "") if tally.failures else (Verdict.PASS, "")
    if not tally.checked:
        verdict, because = Verdict.NOT_EXERCISED, "no answer of this run exercised the rule"
    if tally.failures > len(tally.findings):
        because = f"{tally.failures} of {tally.checked} answers break the rule; {len(tally.findings)} are shown"
    return Result(
        rule=f"{endpoint}/rules/{rule.name}",
        layer="cases",
        says=rule.says,
        verdict=verdict,
        spec=rule.spec(endpoint),
        because=because,
        findings=tuple(tally.findings.values()),
        checked=tally.checked,
        advice=rule.advice(endpoint),
    )
