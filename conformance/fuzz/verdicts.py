"""Derives the verdicts of each endpoint's rules from a run with generated requests."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from specvino.conformance.cases.plan import matches
from specvino.conformance.cases.run import MOST_FINDINGS
from specvino.conformance.dialect import WHOLE, Dialect
from specvino.conformance.fuzz.options import SAYS
from specvino.conformance.fuzz.report import FuzzFinding, FuzzReport
from specvino.conformance.verdict import Advice, Finding, Result, Verdict
from specvino.document.operations import Operation

# Requests below which nothing is said for an operation that takes parameters or a body: of a fault that a third of all
# requests shows, 10 miss it once in 58 runs.
FEWEST = 10

# Of an operation that takes a body: the valid ones among them, for what is said of those, and the invalid ones.
FEWEST_OF_A_KIND = 3

TIME_WAS_UP = "the time was up before"

ACCEPTANCE = "positive-data-acceptance"
REJECTION = "negative-data-rejection"

# Refusals of valid requests, ordinary ones first, that can't all be for something special in the request.
MANY = 5

# The share of the valid requests that a server may refuse for what its model can't do, without advice: a tenth goes out
# with fields that may exclude each other (see request_limits.py).
MOST_REFUSED = 0.2

PREDICTABLE = Advice(
    "a client that is written by the document can't foresee what is refused",
    "https://schemathesis.readthedocs.io/en/stable/reference/checks/",
)

# Checks that say of a 5xx what is no news.
OF_CRASHES = ("content_type_conformance", "error_code_conformance", "positive_data_acceptance")

FIRST = ("response_schema_conformance", "response_headers_conformance", "content_type_conformance")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Gives the verdicts of a report that is whole. `asked` are the endpoints that requests were made for, `filters`
    patterns of rules' ids, `without` the checks that were left out; `ended` says why the run ended early."""

    report: FuzzReport
    dialect: Dialect
    asked: Collection[str]
    filters: Sequence[str] = ()
    without: Collection[str] = ()
    ended: str = ""

    def results(self) -> Iterator[Result]:
        findings = once(self.report.findings)
        for endpoint, operation in self.dialect.operations.items():
            if self.report.count(operation=operation.label):
                yield self._requests(endpoint, operation)
                yield from self._checks(endpoint, operation, findings)
            elif endpoint in self.asked and self.report.ended == "max_time":
                rule = f"{endpoint}/fuzz/requests"
                yield Result(rule, "fuzz", SAYS["requests"], Verdict.SKIP, because=TIME_WAS_UP)
        endpoints = {operation.label: endpoint for endpoint, operation in self.dialect.operations.items()}
        yield from self._silences(endpoints)
        for label, problem in self.report.errors:
            rule = f"{endpoints.get(label, 'transport')}/fuzz/run"
            yield Result(rule, "fuzz", SAYS["run"], Verdict.ERROR, because=f"{label}: {problem}")

    def _requests(self, endpoint: str, operation: Operation) -> Result:
        report, label = self.report, operation.label
        sent, refused = report.count(operation=label), report.excused_of(label)
        counts = f"{sent} requests, {report.valid[label]} valid and {report.invalid[label]} invalid ones among them"
        if refused:
            counts += f"; {refused} valid ones were refused for a reason"
        few = self._too_few(operation)
        because = "; ".join(reason for reason in (few, few and self._cut_short, counts, self.ended) if reason)
        verdict = Verdict.NOT_EXERCISED if few else Verdict.PASS
        return Result(f"{endpoint}/fuzz/requests", "fuzz", SAYS["requests"], verdict, because=because, checked=sent)

    def _checks(self, endpoint: str, operation: Operation, told: Sequence[FuzzFinding]) -> Iterator[Result]:
        label = operation.label
        for check, says in SAYS.items():
            rule, name = f"{endpoint}/fuzz/{check}", check.replace("-", "_")
            if name in self.without or not matches(rule, self.filters):
                continue
            matching = [finding for finding in told if (finding.operation, finding.check) == (label, name)]
            few = self._too_few(operation)
            if check == ACCEPTANCE:
                result = self._acceptance(rule, operation, matching)
                few = few or _few_of_a_kind("valid", result.checked, operation)
            elif check == REJECTION:
                result = result_of(rule, says, matching, self.report.invalid[label])
                if not result.checked and not _takes_something(operation):
                    continue
                few = few or _few_of_a_kind("invalid", result.checked, operation)
            elif self.report.checked[label, name]:
                result = result_of(rule, says, matching, self.report.checked[label, name])
            else:
                continue
            if few and result.verdict is Verdict.PASS:
                because = "; ".join(reason for reason in (few, self._cut_short) if reason)
                result = replace(result, verdict=Verdict.NOT_EXERCISED, because=because)
            yield result

    @property
    def _cut_short(self) -> str:
        return TIME_WAS_UP if self.report.ended == "max_time" else ""

    def _too_few(self, operation: Operation) -> str:
        sent = self.report.valid[operation.label] + self.report.invalid[operation.label]
        needed = FEWEST if _takes_something(operation) else 1
        return "" if sent >= needed else f"too few requests: {sent}, where {needed} are needed"

    def _acceptance(self, rule: str, operation: Operation, found: Sequence[FuzzFinding]) -> Result:
        """Returns the result of a rule: a server may refuse one valid request or another, for what it can't do; not
        many of them, and not all."""
        report, label = self.report, operation.label
        valid = report.valid[label]
        accepted, refused = report.accepted[label], report.refused[label]
        result = Result(rule, "fuzz", SAYS[ACCEPTANCE], Verdict.PASS, checked=valid)
        if found:
            finding = Finding(_share(len(found), valid), tuple(sample.exchange for sample in various(found)))
            return replace(result, verdict=Verdict.FAIL, findings=(finding,))
        if not refused:
            return result
        share = _share(refused, accepted + refused)
        # What a path names may be nowhere, and a document that lists its refusals has them judged one by one.
        is_free = "{" in operation.path or self.dialect.name == WHOLE
        if is_free or refused < MANY or refused <= MOST_REFUSED * (accepted + refused):
            return replace(result, because=share)
        finding = Finding(share, tuple(report.refusals[label]))
        advice = PREDICTABLE if accepted else None
        return replace(result, verdict=Verdict.FAIL, findings=(finding,), advice=advice)

    def _silences(self, endpoints: dict[str, str]) -> Iterator[Result]:
        by_endpoint: dict[str, list[str]] = {}
        for label, problem in self.report.silences:
            if label in endpoints and self.report.ended == "server_unavailable":
                continue  # that the server went away is reported once
            by_endpoint.setdefault(endpoints.get(label, "transport"), []).append(problem)
        for endpoint, problems in by_endpoint.items():
            findings = tuple(map(Finding, problems[:MOST_FINDINGS]))
            yield Result(f"{endpoint}/fuzz/answers", "fuzz", SAYS["answers"], Verdict.FAIL, findings=findings)


def _takes_something(operation: Operation) -> bool:
    return bool(operation.parameters) or operation.body is not None


def _few_of_a_kind(kind: str, sent: int, operation: Operation) -> str:
    needed = 1 if operation.body is None else FEWEST_OF_A_KIND
    return "" if sent >= needed else f"too few {kind} requests: {sent}, where {needed} are needed"


def _share(refused: int, valid: int) -> str:
    return f"{refused} of {valid} valid requests were refused"


def result_of(rule: str, says: str, found: Sequence[FuzzFinding], checked: int) -> Result:
    """Returns the result of a rule of which all is known: what breaks it, and how many requests it was checked with."""
    shown = various(found)
    because = f"{len(found)} of {checked} break it; {len(shown)} are shown" if len(found) > len(shown) else ""
    verdict = Verdict.FAIL if found else Verdict.PASS
    findings = tuple(Finding(finding.message, (finding.exchange,)) for finding in shown)
    return Result(rule, "fuzz", says, verdict, because=because, findings=findings, checked=checked)


def once(found: Sequence[FuzzFinding]) -> list[FuzzFinding]:
    """Returns one finding for each fault: without what follows from another finding in the same answer."""
    crashes = {_shown(finding) for finding in found if finding.check == "not_a_server_error"}
    first = {_shown(finding) for finding in found if finding.check in FIRST}

    def follows(each: FuzzFinding) -> bool:
        if each.check == "second_judge" and _shown(each) in first:
            return True
        return each.check in OF_CRASHES and _shown(each) in crashes

    return [finding for finding in found if not follows(finding)]


def _shown(found: FuzzFinding) -> tuple[str, bytes | None, bytes]:
    exchange = found.exchange
    return exchange.request.path, exchange.request.content, exchange.content


def various(found: Sequence[FuzzFinding]) -> list[FuzzFinding]:
    """Returns a few findings, those with messages of their own first."""
    first: dict[str, FuzzFinding] = {}
    for finding in found:
        first.setdefault(finding.message, finding)
    others = [finding for finding in found if first[finding.message] is not finding]
    return [*first.values(), *others][:MOST_FINDINGS]
