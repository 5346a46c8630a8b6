"""Resends the requests of a report's findings and judges each answer with our own checks."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from specvino.conformance.dialect import WHOLE, Dialect
from specvino.conformance.fuzz.checks import Checks, json_of
from specvino.conformance.fuzz.document import path_parameters, refusal_codes
from specvino.conformance.fuzz.options import CHECKS, NOT_INSTALLED, SAYS
from specvino.conformance.fuzz.refusals.conditions import is_true
from specvino.conformance.fuzz.refusals.refused import Refused
from specvino.conformance.fuzz.report import FuzzFinding, FuzzReport
from specvino.conformance.fuzz.server import BadStatus, NoAnswer, Server
from specvino.conformance.fuzz.verdicts import result_of
from specvino.conformance.http.client import Client
from specvino.conformance.http.exchange import Exchange, Request
from specvino.conformance.reports.records import Line, Sent
from specvino.conformance.reports.redact import HIDDEN
from specvino.conformance.verdict import Advice, Result, Verdict

ESCAPED = re.compile(rb"\\x([0-9a-f]{2})")

# Headers that are the client's own, or not for another run.
OWN = ("authorization", "host", "content-length", "connection", "accept-encoding", "x-schemathesis-testcaseid")


@dataclass(slots=True)
class Replay:
    """A single replay. `base` is the URL that the paths of the recorded requests are relative to."""

    client: Client
    dialect: Dialect
    model: str
    base: str
    lines: Sequence[Line]
    requests: int = 0
    """Of the checks themselves; the client counts its own."""
    report: FuzzReport = field(default_factory=FuzzReport)
    _checks: Checks = field(init=False)
    _server: Server = field(init=False)

    def __post_init__(self) -> None:
        self._checks = Checks(self.dialect)
        self._server = Server(self.client.target, self.dialect.document)

    async def results(self) -> AsyncGenerator[Result, None]:
        """Yields a result for each line. The requests of a finding were made of the same document, so that they are as
        valid or invalid as the report says."""
        for line in self.lines:
            yield await self._again(line)

    async def _again(self, line: Line) -> Result:
        endpoint, _, check = line.rule.split("/")
        says, name = SAYS[check], check.replace("-", "_")
        if name not in CHECKS or name not in self._checks.names or endpoint not in self.dialect.operations:
            because = "it takes more than this request: run the layer again with the report's seed"
            return Result(line.rule, "fuzz", says, Verdict.NOT_EXERCISED, because=because)
        findings: list[FuzzFinding] = []
        sent = 0
        for request in self._requests(line, endpoint):
            exchange = await self.client.send(request)
            sent += 1
            place = self.dialect.operations[endpoint].label
            try:
                violations = await asyncio.to_thread(self._violations, name, exchange)
            except ModuleNotFoundError:
                return Result(line.rule, "fuzz", says, Verdict.NOT_EXERCISED, because=NOT_INSTALLED)
            findings += (FuzzFinding(place, name, message, "", exchange) for message in violations)
        if not sent:
            because = "the report holds no whole request: it is cut, or holds what a report doesn't show"
            return Result(line.rule, "fuzz", says, Verdict.NOT_EXERCISED, because=because)
        advice = Advice(line.advice, line.source) if line.advice else None
        return replace(result_of(line.rule, says, findings, sent), advice=advice)

    def _requests(self, line: Line, endpoint: str) -> Iterator[Request]:
        for finding in line.findings:
            for shown in finding.exchanges:
                content = content_of(shown.request)
                if shown.request.size and content is None:
                    continue
                path = shown.request.url.removeprefix(self.base.rstrip("/"))
                headers = {
                    name: value
                    for name, value in shown.request.headers.items()
                    if name.lower() not in OWN and value != HIDDEN
                }
                headers |= self.client.target.credentials(self.client.target.key)
                yield Request(endpoint, shown.request.method, path, headers, content, json_of(content))

    def _violations(self, name: str, exchange: Exchange) -> list[str]:
        if exchange.status is None:
            return [exchange.problem or exchange.ended]
        violations = self._checks.violations(name, exchange)
        return [] if violations and name == "positive_data_acceptance" and self._is_expected(exchange) else violations

    def _is_expected(self, exchange: Exchange) -> bool:
        """Returns whether our own document lists the refusal of a valid request, and its reason is true. The documents
        of others list none: there the share of all refusals is judged, and each that is replayed is a part of it."""
        refused = refusal_of(exchange, self.dialect)
        operation = self.dialect.operations[exchange.request.endpoint or ""]
        if self.dialect.name != WHOLE or refused is None or refused.code not in refusal_codes(operation.definition):
            return False
        try:
            return is_true(refused, self._server)
        except (NoAnswer, BadStatus):
            return False


def refusal_of(exchange: Exchange, dialect: Dialect) -> Refused | None:
    """Returns the refused request as sent, or None if the answer has no error object."""
    error = exchange.error
    if not {"code", "message", "param"} <= error.keys():
        return None
    body: Any = exchange.request.body
    url = urlsplit(exchange.request.path)
    endpoint = exchange.request.endpoint or ""
    template = dialect.operations[endpoint].path
    query = dict(parse_qsl(url.query, keep_blank_values=True))
    return Refused(
        endpoint,
        path_parameters(template, url.path),
        body if isinstance(body, dict) else None,
        str(error["code"]),
        str(error["message"]),
        error["param"],
        query,
    )


def content_of(sent: Sent) -> bytes | None:
    """Returns the body as sent, or None if the report doesn't contain it unchanged."""
    plain = (sent.body or "").encode()
    # A report writes bytes and characters that can't be shown as \xff.
    as_bytes = ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), plain)
    as_characters = ESCAPED.sub(lambda match: chr(int(match[1], 16)).encode(), plain)
    return next(
        (content for content in (plain, as_bytes, as_characters) if content and len(content) == sent.size), None
    )
