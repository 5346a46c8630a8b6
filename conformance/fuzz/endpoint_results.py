"""Derives the results of each endpoint's rules from the report of a fuzz run."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from specvino.conformance.cases.plan import matches
from specvino.conformance.cases.run import MOST_FINDINGS
from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.options import SAYS
from specvino.conformance.fuzz.report import FuzzFinding, FuzzReport
from specvino.conformance.verdict import Advice, Finding, Result, Verdict
from specvino.document.operations import Operation

# The smallest number of requests for a verdict on an operation with parameters or a body: 10 requests miss a fault
# that a third of all requests shows once in 58 runs.
FEWEST = 10

# The smallest number of valid (or invalid) requests for a verdict on those, for an operation with a body.
FEWEST_OF_A_KIND = 3

TIME_WAS_UP = "the time limit was reached before"

ACCEPTANCE = "positive-data-acceptance"
REJECTION = "negative-data-rejection"

# The smallest number of refused valid requests that isn't explained by unusual requests.
MANY = 5

# The largest share of valid requests that a server may refuse without a finding: a tenth is sent with fields that may
# exclude each other (see request_limits.py).
MOST_REFUSED = 0.2

PREDICTABLE = Advice(
    "clients that follow the document can't predict refusals",
    "https://schemathesis.readthedocs.io/en/stable/reference/checks/",
)

# Checks that any 5xx fails.
FAILED_BY_5XX = ("content_type_conformance", "error_code_conformance", "positive_data_acceptance")

# Checks that precede second_judge for the same answer.
FIRST = ("response_schema_conformance", "response_headers_conformance", "content_type_conformance")


@dataclass(frozen=True, slots=True)
class EndpointResults:
    """The results of a complete fuzz report. `tested` are the endpoints with generated requests; `filters` are patterns
    of rule ids; `without` are checks that were left out; `ended` is why the run ended early, or empty."""

    report: FuzzReport
    dialect: Dialect
    tested: Collection[str]
    filters: Sequence[str] = ()
    without: Collection[str] = ()
    ended: str = ""

    def results(self) -> Iterator[Result]:
        findings = without_consequences(self.report.findings)
        for endpoint, operation in self.dialect.operations.items():
            if self.report.count(operation=operation.label):
                yield self._requests(endpoint, operation)
                yield from self._checks(endpoint, operation, findings)
            elif endpoint in self.tested and self.report.ended == "max_time":
                rule = f"{endpoint}/fuzz/requests"
                yield Result(rule, "fuzz", SAYS["requests"], Verdict.SKIP, because=TIME_WAS_UP)
        endpoints = {operation.label: endpoint for endpoint, operation in self.dialect.operations.items()}
        yield from self._unanswered(endpoints)
        for label, problem in self.report.errors:
            rule = f"{endpoints.get(label, 'transport')}/fuzz/run"
            yield Result(rule, "fuzz", SAYS["run"], Verdict.ERROR, because=f"{label}: {problem}")

    def _requests(self, endpoint: str, operation: Operation) -> Result:
        report, label = self.report, operation.label
        sent, refused = report.count(operation=label), report.excused_of(label)
        counts = f"{sent} requests, of which {report.valid[label]} were valid and {report.invalid[label]} invalid"
        if refused:
            counts += f"; {refused} valid ones were refused with a justified reason"
        few = self._too_few(operation)
        because = "; ".join(reason for reason in (few, few and self._cut_short, counts, self.ended) if reason)
        verdict = Verdict.NOT_EXERCISED if few else Verdict.PASS
        return Result(f"{endpoint}/fuzz/requests", "fuzz", SAYS["requests"], verdict, because=because, checked=sent)

    def _checks(self, endpoint: str, operation: Operation, findings: Sequence[FuzzFinding]) -> Iterator[Result]:
        label = operation.label
        for check, says in SAYS.items():
            rule, name = f"{endpoint}/fuzz/{check}", check.replace("-", "_")
            if name in self.without or not matches(rule, self.filters):
                continue
            matching = [finding for finding in findings if (finding.operation, finding.check) == (label, name)]
            few = self._too_few(operation)
            if check == ACCEPTANCE:
                result = self._acceptance(rule, operation, matching)
                few = few or _few_of_a_kind("valid", result.checked, operation)
            elif check == REJECTION:
                result = result_of(rule, says, matching, self.report.invalid[label])
                if not result.checked and not _has_input(operation):
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
        needed = FEWEST if _has_input(operation) else 1
        return "" if sent >= needed else f"too few requests: {sent}, at least {needed} are required"

    def _acceptance(self, rule: str, operation: Operation, findings: Sequence[FuzzFinding]) -> Result:
        """Returns the result of ACCEPTANCE: a server may refuse some valid requests for features that it lacks, but not
        many, and not all."""
        report, label = self.report, operation.label
        valid = report.valid[label]
        accepted, refused = report.accepted[label], report.refused[label]
        result = Result(rule, "fuzz", SAYS[ACCEPTANCE], Verdict.PASS, checked=valid)
        if findings:
            finding = Finding(_share(len(findings), valid), tuple(sample.exchange for sample in various(findings)))
            return replace(result, verdict=Verdict.FAIL, findings=(finding,))
        if not refused:
            return result
        share = _share(refused, accepted + refused)
        # Path parameters may name missing objects, and listed refusals are verified individually.
        is_exempt = "{" in operation.path or self.dialect.lists_refusals
        if is_exempt or refused < MANY or refused <= MOST_REFUSED * (accepted + refused):
            return replace(result, because=share)
        finding = Finding(share, tuple(report.refusals[label]))
        advice = PREDICTABLE if accepted else None
        return replace(result, verdict=Verdict.FAIL, findings=(finding,), advice=advice)

    def _unanswered(self, endpoints: dict[str, str]) -> Iterator[Result]:
        by_endpoint: dict[str, list[str]] = {}
        for label, problem in self.report.unanswered:
            if label in endpoints and self.report.ended == "server_unavailable":
                continue  # the unreachable server is reported once
            by_endpoint.setdefault(endpoints.get(label, "transport"), []).append(problem)
        for endpoint, problems in by_endpoint.items():
            findings = tuple(map(Finding, problems[:MOST_FINDINGS]))
            yield Result(f"{endpoint}/fuzz/answers", "fuzz", SAYS["answers"], Verdict.FAIL, findings=findings)


def _has_input(operation: Operation) -> bool:
    return bool(operation.parameters) or operation.body is not None


def _few_of_a_kind(kind: str, sent: int, operation: Operation) -> str:
    needed = 1 if operation.body is None else FEWEST_OF_A_KIND
    return "" if sent >= needed else f"too few {kind} requests: {sent}, at least {needed} are required"


def _share(refused: int, valid: int) -> str:
    return f"{refused} of {valid} valid requests were refused"


def result_of(rule: str, says: str, findings: Sequence[FuzzFinding], checked: int) -> Result:
    """Returns the result of a rule by its findings and the number of checked requests."""
    shown = various(findings)
    because = (
        f"{len(findings)} of {checked} requests break the rule; {len(shown)} are shown"
        if len(findings) > len(shown)
        else ""
    )
    verdict = Verdict.FAIL if findings else Verdict.PASS
    reported = tuple(Finding(finding.message, (finding.exchange,)) for finding in shown)
    return Result(rule, "fuzz", says, verdict, because=because, findings=reported, checked=checked)


def without_consequences(findings: Sequence[FuzzFinding]) -> list[FuzzFinding]:
    """Returns the findings without those that follow from another finding of the same answer."""
    crashes = {_exchange_key(finding) for finding in findings if finding.check == "not_a_server_error"}
    first = {_exchange_key(finding) for finding in findings if finding.check in FIRST}

    def follows(finding: FuzzFinding) -> bool:
        if finding.check == "second_judge" and _exchange_key(finding) in first:
            return True
        return finding.check in FAILED_BY_5XX and _exchange_key(finding) in crashes

    return [finding for finding in findings if not follows(finding)]


def _exchange_key(findings: FuzzFinding) -> tuple[str, bytes | None, bytes]:
    exchange = findings.exchange
    return exchange.request.path, exchange.request.content, exchange.content


def various(findings: Sequence[FuzzFinding]) -> list[FuzzFinding]:
    """Returns up to MOST_FINDINGS findings, preferably with different messages."""
    first_by_message: dict[str, FuzzFinding] = {}
    for finding in findings:
        first_by_message.setdefault(finding.message, finding)
    repeated = [finding for finding in findings if first_by_message[finding.message] is not finding]
    return [*first_by_message.values(), *repeated][:MOST_FINDINGS]
