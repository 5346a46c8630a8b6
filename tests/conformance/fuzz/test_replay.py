"""A report's findings are sent again and judged as before."""

import asyncio
import json
from typing import ClassVar

import pytest
from reference_server.bench import KEY, MODEL
from reference_server.oddities.requests import RefusesMaxTokens
from reference_server.server import ReferenceServer
from support.asgi import answering
from support.judging import report_of
from support.reports import SHOWN, line, report

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.options import Options
from specvino.conformance.fuzz.replay import content_of
from specvino.conformance.http.client import Target
from specvino.conformance.job import Job
from specvino.conformance.reports.records import FindingRecord, RequestRecord
from specvino.conformance.reports.redact import MORE
from specvino.conformance.verdict import Verdict


class Faulty(ReferenceServer):
    """Answers one path as it is told to, until its status is 0."""

    path = "/v1/tokenize"
    status, body = 500, b"oh"
    headers: tuple[dict[bytes, bytes], ...] = ()

    async def __call__(self, scope, receive, send):
        self.headers = (*self.headers, dict(scope.get("headers", ())))
        if self.status and scope.get("path") == self.path:
            headers = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": self.status, "headers": headers})
            return await send({"type": "http.response.body", "body": self.body})
        return await super().__call__(scope, receive, send)


def judged(server, key_header=None, **how):
    async def run():
        async with answering(server) as url:
            target = Target(url, KEY, key_header=key_header)
            return await report_of(Job(target, Dialect("ovms"), "core", ("fuzz",), ("tokenize",), **how))

    return asyncio.run(run())


def by_rule(made):
    return {line.rule: line for line in made.lines}


def test_a_fault_is_found_again_until_it_is_mended() -> None:
    server = Faulty(key=KEY, model=MODEL)
    before = judged(server, generated=Options(max_examples=20))
    failed = {rule for rule, line in by_rule(before).items() if line.verdict is Verdict.FAIL}
    assert "tokenize/fuzz/not-a-server-error" in failed
    again = judged(server, replayed=before)
    assert {rule for rule, line in by_rule(again).items() if line.verdict is Verdict.FAIL} == failed
    shown = [exchange.request for line in before.lines for finding in line.findings for exchange in finding.exchanges]
    whole = [request for request in shown if request.size == 0 or content_of(request) is not None]
    assert sum(line.judged for line in again.lines) == len(whole) > len(shown) / 2
    assert again.header.generated is None
    server.status, server.body = 200, b'{"tokens": [1]}'
    mended = by_rule(judged(server, replayed=before))
    assert mended.keys() == failed
    for check in ("not-a-server-error", "response-schema-conformance"):
        assert mended[f"tokenize/fuzz/{check}"].verdict is Verdict.PASS


def test_what_is_invalid_must_be_refused_again() -> None:
    server = Faulty(key=KEY, model=MODEL)
    server.status, server.body = 200, b'{"tokens": [1]}'
    before = judged(server, generated=Options(max_examples=20))
    rule = "tokenize/fuzz/negative-data-rejection"
    assert by_rule(before)[rule].verdict is Verdict.FAIL
    assert by_rule(judged(server, replayed=before))[rule].verdict is Verdict.FAIL
    server.status = 0
    assert by_rule(judged(server, replayed=before))[rule].verdict is Verdict.PASS


def test_what_is_valid_must_be_answered_again() -> None:
    server = Faulty(key=KEY, model=MODEL)
    server.status, server.body = 400, b'{"error": "No."}'
    before = judged(server, generated=Options(max_examples=100))
    rule = "tokenize/fuzz/positive-data-acceptance"
    assert by_rule(before)[rule].verdict is Verdict.FAIL
    again = by_rule(judged(server, replayed=before))[rule]
    assert again.verdict is Verdict.FAIL
    assert "Valid data should have been accepted" in again.findings[0].message
    server.status, server.body = 200, b'{"tokens": [1]}'
    assert by_rule(judged(server, replayed=before))[rule].verdict is Verdict.PASS


@pytest.mark.parametrize("lacks", [{"size": 10_000}, {"headers": {"x": "y", MORE: "3 more"}}])
def test_what_a_report_holds_in_part_is_not_sent(lacks) -> None:
    server = Faulty(key=KEY, model=MODEL)
    before = judged(server, generated=Options(max_examples=20))
    rule = "tokenize/fuzz/not-a-server-error"
    cut = [
        exchange.model_copy(update={"request": exchange.request.model_copy(update=lacks)})
        for exchange in by_rule(before)[rule].findings[0].exchanges
    ]
    broken = by_rule(before)[rule].findings[0].model_copy(update={"exchanges": tuple(cut)})
    held = report(line(rule, "fail").model_copy(update={"layer": "fuzz", "findings": (broken,)}))
    again = by_rule(judged(server, replayed=held))[rule]
    assert (again.verdict, again.judged) == (Verdict.NOT_EXERCISED, 0)
    assert "no complete request" in again.because


def test_the_key_goes_in_its_own_header() -> None:
    server = Faulty(key=None, model=MODEL)
    before = judged(server, generated=Options(max_examples=20))
    first = len(server.headers)
    judged(server, key_header="x-api-key", replayed=before)
    again = server.headers[first:]
    assert again
    assert all(headers.get(b"x-api-key") == KEY.encode() and b"authorization" not in headers for headers in again)


HELLO = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 3}


@pytest.mark.parametrize(
    ("check", "wrong", "sent"),
    [
        ("positive-data-acceptance", {}, {"max_completion_tokens": 3}),
        ("negative-data-rejection", {"stream": "yes"}, {"max_completion_tokens": 3}),
        ("negative-data-rejection", {"max_tokens": "3"}, {"max_tokens": "3"}),
    ],
)
def test_a_field_that_the_model_refuses_is_not_sent(check, wrong, sent) -> None:
    class Noting(RefusesMaxTokens):
        bodies: ClassVar = []

        def accepted(self, call, component):
            self.bodies.append(call.body)
            return super().accepted(call, component)

    body = json.dumps({**HELLO, **wrong})
    recorded = SHOWN.request.model_copy(update={"body": body, "size": len(body)})
    finding = FindingRecord(message="", exchanges=(SHOWN.model_copy(update={"request": recorded}),))
    held = report(line(f"chat/fuzz/{check}", "fail", findings=(finding,)).model_copy(update={"layer": "fuzz"}))

    async def run():
        async with answering(ReferenceServer(Noting, key=KEY, model=MODEL)) as url:
            return await report_of(Job(Target(url, KEY), Dialect("specvino"), "core", ("fuzz",), replayed=held))

    (again,) = asyncio.run(run()).lines
    assert again.verdict is Verdict.PASS
    assert Noting.bodies[-1] == {**{name: HELLO[name] for name in ("model", "messages")}, **wrong, **sent}


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        ("[1]", b"[1]"),
        (r'"\xff"', b'"\xff"'),
        (r'"\x85"', '"\x85"'.encode()),
        (r'"\x41"', rb'"\x41"'),
        ("\n::error::", b"\n::error::"),
        ("\u202e", "\u202e".encode()),
        (r'"\u202e"', rb'"\u202e"'),
        ("\U000e0041", "\U000e0041".encode()),
        ("\x0d\r\n\ud800", b"\x0d\r\n\xed\xa0\x80"),
    ],
)
def test_a_body_is_sent_as_it_was(body, sent) -> None:
    assert content_of(RequestRecord(method="POST", url="/", headers={}, body=body, size=len(sent))) == sent


def test_a_check_of_several_requests_is_not_judged_by_one() -> None:
    rule = "tokenize/fuzz/ignored-auth"
    held = report(line(rule, "fail").model_copy(update={"layer": "fuzz"}))
    made = by_rule(judged(ReferenceServer(key=KEY, model=MODEL), replayed=held))
    assert made[rule].verdict is Verdict.NOT_EXERCISED
    assert "the report's seed" in made[rule].because
