"""Sends the requests of a report's findings again, and judges the answers by the same checks."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests
import schemathesis
from schemathesis import Case, Response
from schemathesis.checks import CHECKS as REGISTRY
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.generation.meta import (
    CaseMetadata,
    ComponentInfo,
    CoverageScenario,
    GenerationInfo,
    PhaseInfo,
)

from specvino.conformance.dialect import WHOLE, Dialect
from specvino.conformance.fuzz.checks import checks_for
from specvino.conformance.fuzz.exchanges import json_of
from specvino.conformance.fuzz.expected_refusals import path_parameters
from specvino.conformance.fuzz.options import CHECKS, SAYS
from specvino.conformance.fuzz.report import FuzzFinding, FuzzReport
from specvino.conformance.fuzz.run import FuzzRun, message_of
from specvino.conformance.fuzz.server import Server
from specvino.conformance.fuzz.verdicts import result_of
from specvino.conformance.http.client import Client, full_url
from specvino.conformance.http.exchange import Exchange, Request
from specvino.conformance.reports.records import Line, Sent
from specvino.conformance.reports.redact import HIDDEN
from specvino.conformance.verdict import Advice, Result, Verdict

# Checks that one request alone can't be judged by: they compare it with others.
OF_SEVERAL = (
    "missing_required_header",
    "use_after_free",
    "ensure_resource_availability",
    "ignored_auth",
    "object_level_authorization",
)

ESCAPED = re.compile(rb"\\x([0-9a-f]{2})")

# Headers that are the client's own, or not for another run.
OWN = ("authorization", "host", "content-length", "connection", "accept-encoding", "x-schemathesis-testcaseid")


@dataclass(slots=True)
class Replay:
    """Runs once. `base` is the URL that the lines' requests were sent below."""

    client: Client
    dialect: Dialect
    model: str
    base: str
    lines: Sequence[Line]
    requests: int = 0
    """Of the checks themselves; the client counts its own."""
    report: FuzzReport = field(default_factory=FuzzReport)
    _plain: schemathesis.BaseSchema = field(init=False)
    _filtered: schemathesis.BaseSchema = field(init=False)

    def __post_init__(self) -> None:
        target = self.client.target
        run = FuzzRun(target, self.dialect, 1, 0, models=[self.model], report=self.report)
        self._plain, self._filtered = run.schema(), run.schema(Server(target, self.dialect.document))

    async def results(self) -> AsyncGenerator[Result, None]:
        for line in self.lines:
            yield await self._again(line)

    async def _again(self, line: Line) -> Result:
        endpoint, _, check = line.rule.split("/")
        says, name = SAYS[check], check.replace("-", "_")
        if name not in CHECKS or name in OF_SEVERAL or endpoint not in self.dialect.operations:
            because = "it takes more than this request: run the layer again with the report's seed"
            return Result(line.rule, "fuzz", says, Verdict.NOT_EXERCISED, because=because)
        found: list[FuzzFinding] = []
        sent = 0
        for request in self._requests(line, endpoint):
            exchange = await self.client.send(request)
            sent += 1
            place = self.dialect.operations[endpoint].place
            for message in await asyncio.to_thread(self._broken, endpoint, name, exchange):
                found.append(FuzzFinding(place, name, message, "", exchange))
        if not sent:
            because = "the report holds no whole request: it is cut, or holds what a report doesn't show"
            return Result(line.rule, "fuzz", says, Verdict.NOT_EXERCISED, because=because)
        advice = Advice(line.advice, line.source) if line.advice else None
        return replace(result_of(line.rule, says, found, sent), advice=advice)

    def _requests(self, line: Line, endpoint: str) -> Iterator[Request]:
        for found in line.findings:
            for shown in found.exchanges:
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

    def _broken(self, endpoint: str, name: str, exchange: Exchange) -> list[str]:
        """Returns what a check finds wrong with an answer."""
        if exchange.status is None:
            return [exchange.problem or exchange.ended]
        operation = self.dialect.operations[endpoint]
        # Where no document lists the refusals they were told as a share of all: none is a fault by itself.
        shares = name == "positive_data_acceptance" and self.dialect.name != WHOLE
        schema = self._plain if shares else self._filtered
        case = _case(schema[operation.path][operation.method], exchange.request)
        own = {check.__name__: check for check in checks_for(self.dialect)}
        check: Any = own.get(name) or REGISTRY.get_one(name)
        try:
            case.validate_response(_response(exchange, self.client.target.url), checks=[check])
        except FailureGroup as group:
            return [message_of(failure) for failure in group.exceptions]
        return []


def content_of(sent: Sent) -> bytes | None:
    """Returns the body that was sent, or None where the report doesn't hold it as it was."""
    plain = (sent.body or "").encode()
    # A report writes bytes and characters that can't be shown as \xff.
    as_bytes = ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), plain)
    as_characters = ESCAPED.sub(lambda match: chr(int(match[1], 16)).encode(), plain)
    return next((each for each in (plain, as_bytes, as_characters) if each and len(each) == sent.size), None)


def _case(operation: Any, request: Request) -> Case[Any]:
    """Returns the request as Schemathesis has one; it finds out by itself whether the request is valid."""
    meta = _meta(operation, request)
    case: Case[Any] = operation.Case(
        method=request.method,
        path_parameters=path_parameters(operation.path, urlsplit(request.path).path),
        query=dict(parse_qsl(urlsplit(request.path).query, keep_blank_values=True)),
        headers=dict(request.headers),
        **({} if request.content is None else {"body": request.body, "media_type": "application/json"}),
        _meta=meta,
    )
    for location in meta.components:
        meta.mark_dirty(location)
    return case


def _meta(operation: Any, request: Request) -> CaseMetadata:
    strange = request.method.upper() != operation.method.upper()
    scenario = CoverageScenario.UNSPECIFIED_HTTP_METHOD if strange else CoverageScenario.DEFAULT_POSITIVE_TEST
    mode = GenerationMode.NEGATIVE if strange else GenerationMode.POSITIVE
    places = {
        ParameterLocation.PATH: bool(operation.path_parameters),
        ParameterLocation.QUERY: bool(operation.query),
        ParameterLocation.BODY: request.content is not None,
    }
    return CaseMetadata(
        generation=GenerationInfo(time=0.0, mode=mode),
        components={place: ComponentInfo(mode=mode) for place, is_there in places.items() if is_there},
        phase=PhaseInfo.coverage(scenario=scenario, description="A request of a report"),
    )


def _response(exchange: Exchange, base: str) -> Response:
    sent = exchange.request
    request = requests.Request(sent.method, full_url(base, sent.path), dict(sent.headers), data=sent.content).prepare()
    return Response(
        status_code=exchange.status or 0,
        headers={name: [value] for name, value in exchange.headers.items() if name != "content-encoding"},
        content=exchange.content,
        request=request,
        elapsed=exchange.seconds,
        verify=True,
        stream_cut_short=exchange.ended != "complete",
    )
