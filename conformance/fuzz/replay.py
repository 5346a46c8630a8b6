"""Sends the requests of a report's `fuzz` findings again, and checks the answers with our own code."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.answer_checks import AnswerChecks, json_of
from specvino.conformance.fuzz.document import path_parameters, refusal_codes
from specvino.conformance.fuzz.endpoint_results import result_of
from specvino.conformance.fuzz.options import CHECKS, SAYS, not_installed
from specvino.conformance.fuzz.refusals.justification import is_justified
from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.report import FuzzFinding, FuzzReport
from specvino.conformance.fuzz.server import BadStatus, NoAnswer, Server
from specvino.conformance.http.client import Client
from specvino.conformance.http.exchange import Exchange, Request
from specvino.conformance.reports.records import Line, RequestRecord
from specvino.conformance.reports.redact import HIDDEN, MORE
from specvino.conformance.session.refused_fields import RefusedFields
from specvino.conformance.verdict import Advice, Result, Verdict

ESCAPED_BYTE = re.compile(rb"\\x([0-9a-f]{2})")
ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")

# Headers that the client sets itself, or that belong to the original run.
OWN = ("authorization", "host", "content-length", "connection", "accept-encoding", "x-schemathesis-testcaseid")


@dataclass(slots=True)
class Replay:
    """One replay. `base` is the base URL of the recorded requests."""

    client: Client
    dialect: Dialect
    model: str
    base: str
    lines: Sequence[Line]
    replaced: Mapping[str, str | None] = field(default_factory=dict)
    """The fields that the model refuses, with the field that is sent instead; None if they are left out."""
    requests: int = 0
    """Requests by the checks themselves; the client counts the replayed ones."""
    report: FuzzReport = field(default_factory=FuzzReport)
    _checks: AnswerChecks = field(init=False)
    _server: Server = field(init=False)
    _refused: RefusedFields = field(init=False)

    def __post_init__(self) -> None:
        self._checks = AnswerChecks(self.dialect)
        self._server = Server(self.client.target, self.dialect.document)
        self._refused = RefusedFields(self.dialect, self.replaced)

    async def results(self) -> AsyncGenerator[Result, None]:
        """Yields a result for each line. The dialect must be that of the report, so that requests are still as valid or
        invalid."""
        for line in self.lines:
            yield await self._replay_line(line)

    async def _replay_line(self, line: Line) -> Result:
        endpoint, _, check = line.rule.split("/")
        says, name = SAYS[check], check.replace("-", "_")
        if name not in CHECKS or name not in self._checks.names or endpoint not in self.dialect.operations:
            because = "the check needs further requests: run the layer again with the report's seed"
            return Result(line.rule, "fuzz", says, Verdict.NOT_EXERCISED, because=because)
        findings: list[FuzzFinding] = []
        sent = 0
        for request in self._requests(line, endpoint):
            exchange = await self.client.send(request)
            sent += 1
            label = self.dialect.operations[endpoint].label
            try:
                violations = await asyncio.to_thread(self._violations, name, exchange)
            except ModuleNotFoundError:
                return Result(line.rule, "fuzz", says, Verdict.NOT_EXERCISED, because=not_installed())
            findings += (FuzzFinding(label, name, message, "", exchange) for message in violations)
        if not sent:
            because = "the report has no complete request: it is truncated, or has redacted values"
            return Result(line.rule, "fuzz", says, Verdict.NOT_EXERCISED, because=because)
        advice = Advice(line.advice, line.source) if line.advice else None
        return replace(result_of(line.rule, says, findings, sent), advice=advice)

    def _requests(self, line: Line, endpoint: str) -> Iterator[Request]:
        for finding in line.findings:
            for exchange in finding.exchanges:
                content = content_of(exchange.request)
                if (exchange.request.size and content is None) or MORE in exchange.request.headers:
                    continue
                path = exchange.request.url.removeprefix(self.base.rstrip("/"))
                headers = {
                    name: value
                    for name, value in exchange.request.headers.items()
                    if name.lower() not in OWN and value != HIDDEN
                }
                headers |= self.client.target.credentials(self.client.target.key)
                sent = json_of(content)
                body = self._refused.replaced_alike(endpoint, sent)
                if body != sent:
                    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
                yield Request(endpoint, exchange.request.method, path, headers, content, body)

    def _violations(self, name: str, exchange: Exchange) -> list[str]:
        if exchange.status is None:
            return [exchange.problem or exchange.ended]
        violations = self._checks.violations(name, exchange)
        return [] if violations and name == "positive_data_acceptance" and self._is_expected(exchange) else violations

    def _is_expected(self, exchange: Exchange) -> bool:
        """Returns whether a valid request was refused with a listed and justified refusal. If the document lists
        none, all replayed refusals are part of the judged share."""
        refused = refusal_of(exchange, self.dialect)
        operation = self.dialect.operations[exchange.request.endpoint or ""]
        if refused is None or refused.code not in refusal_codes(operation.definition):
            return False
        try:
            return is_justified(refused, self._server)
        except (NoAnswer, BadStatus):
            return False


def refusal_of(exchange: Exchange, dialect: Dialect) -> RefusedRequest | None:
    """Returns the refused request; None if the answer has no error object."""
    error = exchange.error
    if not {"code", "param"} <= error.keys():
        return None
    body: Any = exchange.request.body
    url = urlsplit(exchange.request.path)
    endpoint = exchange.request.endpoint or ""
    template = dialect.operations[endpoint].path
    query = dict(parse_qsl(url.query, keep_blank_values=True))
    return RefusedRequest(
        endpoint,
        path_parameters(template, url.path),
        body if isinstance(body, dict) else None,
        str(error["code"]),
        error["param"],
        query,
    )


def content_of(sent: RequestRecord) -> bytes | None:
    """Returns the original body; None if the report doesn't have it unchanged."""
    body = sent.body or ""
    plain = body.encode()
    # Reports escape unprintable bytes as \xff, and characters as \xff or \u202e.
    as_bytes = ESCAPED_BYTE.sub(lambda match: bytes.fromhex(match[1].decode()), plain)
    as_characters = ESCAPED.sub(lambda match: chr(int(match[1] or match[2] or match[3], 16)), body).encode(
        "utf-8", "surrogatepass"
    )
    return next(
        (content for content in (plain, as_bytes, as_characters) if content and len(content) == sent.size), None
    )
