"""The layer on the reference server: its rules, its findings, its end."""

import asyncio
import json
import re

import pytest
from reference_server.bench import KEY, MODEL
from reference_server.server import ReferenceServer
from support.asgi import answering

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.check_texts import SAYS
from specvino.conformance.fuzz.layer import Fuzz
from specvino.conformance.fuzz.server import Server
from specvino.conformance.http.client import Target
from specvino.conformance.verdict import Verdict

# What only goes wrong, is for our own document, or for streams.
NOT_HERE = {"answers", "run", "error-code-conformance", "stream-conformance"}


def fuzzed(server, *, by="openai", key=KEY, **how):
    """The results by rule, and the layer."""

    async def run():
        async with answering(server) as url:
            fuzz = Fuzz(Target(url, key), Dialect(by), [MODEL], **{"profile": "core", **how})
            return {result.rule: result async for result in fuzz.results()}, fuzz

    return asyncio.run(run())


def test_it_finds_nothing_in_the_reference_server():
    results, fuzz = fuzzed(ReferenceServer(key=KEY, model=MODEL), filters=["models", "model"])
    bad = [result for result in results.values() if result.verdict is not Verdict.PASS]
    assert not bad, [(result.rule, result.because, *(str(each) for each in result.findings)) for result in bad]
    assert {rule.rsplit("/", 1)[1] for rule in results} >= SAYS.keys() - NOT_HERE
    assert sum(result.checked for rule, result in results.items() if rule.endswith("/requests")) == fuzz.requests > 5
    assert str(fuzz).startswith(f"{fuzz.requests} requests: all that there was")


class Forgetful(ReferenceServer):
    """Has no responses, and its list of models has none."""

    async def __call__(self, scope, receive, send):
        if scope.get("path") == "/v1/responses":
            return await _answer(send, 404, b'{"error":{"message":"No.","type":"a","param":null,"code":null}}')
        keyed = (b"authorization", f"Bearer {KEY}".encode()) in scope["headers"]
        if scope.get("path") == "/v1/models" and keyed:
            return await _answer(send, 200, b'{"object":"list"}')
        return await super().__call__(scope, receive, send)


async def _answer(send, status, body):
    headers = [(b"content-type", b"application/json"), (b"x-request-id", b"req_1")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def test_what_a_server_has_not_is_left_out_and_a_finding_has_its_exchange():
    results, _ = fuzzed(Forgetful(key=KEY, model=MODEL), filters=["responses", "response", "models"])
    because = {rule: result.because for rule, result in results.items() if result.verdict is Verdict.SKIP}
    assert because == {
        "responses/fuzz/requests": "the server answers 404: it has no POST /responses",
        "response/fuzz/requests": "the server keeps no responses",
    }
    (failed,) = (result for result in results.values() if result.verdict is Verdict.FAIL)
    assert failed.rule == "models/fuzz/response-schema-conformance"
    (exchange,) = failed.findings[0].exchanges
    assert (exchange.request.method, exchange.request.path, exchange.status) == ("GET", "/models", 200)
    assert exchange.content == b'{"object":"list"}'
    assert failed.findings[0].message == 'Response violates schema: it: "data" is a required property'


def test_a_filter_chooses_rules():
    results, _ = fuzzed(ReferenceServer(key=KEY, model=MODEL), filters=["models/fuzz/second-judge"])
    assert results.keys() == {"models/fuzz/requests", "models/fuzz/second-judge"}


def test_without_a_key_nothing_is_said_of_keys():
    results, _ = fuzzed(ReferenceServer(key=None, model=MODEL), key=None, filters=["models"])
    assert "models/fuzz/ignored-auth" not in results
    results, _ = fuzzed(ReferenceServer(key=None, model=MODEL), filters=["models"])
    assert "models/fuzz/ignored-auth" not in results
    results, _ = fuzzed(ReferenceServer(key=KEY, model=MODEL), filters=["models"])
    assert results["models/fuzz/ignored-auth"].verdict is Verdict.PASS


def test_a_box_of_time():
    results, fuzz = fuzzed(ReferenceServer(key=KEY, model=MODEL), by="specvino", profile="full", max_time=3.0)
    assert fuzz.report.ended == "max_time"
    assert f"{fuzz.requests} requests: the time of 3 s was up" in str(fuzz)
    requests = [result for rule, result in results.items() if rule.endswith("/requests")]
    assert {result.because for result in requests if result.verdict is Verdict.PASS} == {str(fuzz)}
    late = [result.because for result in requests if result.verdict is Verdict.SKIP]
    assert late == ["the time was up before"] * len(late)
    assert len(requests) == len(Dialect("specvino").operations)


class Refusing(ReferenceServer):
    """Every text of a conversation, or those that are long."""

    longest = -1

    async def __call__(self, scope, receive, send):
        if scope.get("path") != "/v1/tokenize":
            return await super().__call__(scope, receive, send)
        body = (await receive())["body"]
        if len(body) > self.longest:
            return await _answer(send, 400, b'{"error": "No."}')
        return await _answer(send, 200, b'{"tokens": [1]}')


ENVELOPE = {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}}


def test_a_server_may_refuse_one_valid_request_but_not_all():
    rule = "tokenize/fuzz/positive-data-acceptance"
    server = Refusing(key=None, model=MODEL)
    results, _ = fuzzed(server, by="ovms", key=None, filters=["tokenize"])
    assert results[rule].verdict is Verdict.FAIL
    (finding,) = results[rule].findings
    assert re.fullmatch(r"none of \d+ valid requests was answered", finding.message)
    assert {exchange.status for exchange in finding.exchanges} == {400}
    server.longest = 60
    results, _ = fuzzed(server, by="ovms", key=None, filters=["tokenize"])
    assert results[rule].verdict is Verdict.PASS
    assert re.fullmatch(r"\d+ of \d+ valid requests were refused", results[rule].because)
    assert "valid ones were refused" in results["tokenize/fuzz/requests"].because


class Busy(ReferenceServer):
    """Answers every second time only."""

    asked = 0

    async def __call__(self, scope, receive, send):
        self.asked += 1
        if self.asked % 2:
            headers = [(b"content-type", b"application/json"), (b"retry-after", b"0")]
            await send({"type": "http.response.start", "status": 503, "headers": headers})
            await send({"type": "http.response.body", "body": json.dumps(ENVELOPE).encode()})
        else:
            await super().__call__(scope, receive, send)


def test_a_busy_server_is_asked_again_and_is_not_broken():
    async def run():
        async with answering(Busy(key=None, model=MODEL)) as url:
            server = Server(Target(url), {"paths": {}})
            return await asyncio.to_thread(lambda: (server.models, server.status("GET", "/models")))

    assert asyncio.run(run()) == ((MODEL,), 200)
    results, _ = fuzzed(Busy(key=None, model=MODEL), key=None, filters=["models"])
    assert results["models/fuzz/not-a-server-error"].verdict is Verdict.PASS


class Mute(ReferenceServer):
    """Makes no response and counts no tokens, and doesn't say so."""

    async def __call__(self, scope, receive, send):
        if scope.get("path") == "/v1/responses":
            await asyncio.Event().wait()
        await super().__call__(scope, receive, send)


def test_a_probe_without_an_answer_is_a_finding_and_ends_nothing():
    async def run():
        async with answering(Mute(key=None, model=MODEL)) as url:
            fuzz = Fuzz(
                Target(url, timeout=0.2), Dialect("specvino"), [MODEL], "core", max_time=6, filters=["response"]
            )
            return {result.rule: result async for result in fuzz.results()}

    results = asyncio.run(run())
    assert not [result for result in results.values() if result.verdict is Verdict.ERROR]
    assert results["response/fuzz/answers"].verdict is Verdict.FAIL
    assert "POST /responses got no answer" in results["response/fuzz/answers"].findings[0].message


class Hanging(ReferenceServer):
    async def __call__(self, scope, receive, send):
        if scope.get("path") == "/v1/models":
            await asyncio.Event().wait()
        await super().__call__(scope, receive, send)


class Crashing(ReferenceServer):
    async def __call__(self, scope, receive, send):
        if scope.get("path") == "/v1/models":
            return await _answer(send, 500, b"oh")
        return await super().__call__(scope, receive, send)


def test_one_fault_is_one_finding():
    results, _ = fuzzed(Crashing(key=KEY, model=MODEL), by="specvino", filters=["models"])
    failed = {rule for rule, result in results.items() if result.verdict is Verdict.FAIL}
    assert failed == {"models/fuzz/not-a-server-error", "models/fuzz/response-schema-conformance"}


def test_silence_is_a_finding():
    async def run():
        async with answering(Hanging(key=KEY, model=MODEL)) as url:
            fuzz = Fuzz(Target(url, KEY, timeout=0.5), Dialect("specvino"), [MODEL], "core", filters=["models"])
            return {result.rule: result async for result in fuzz.results()}

    results = asyncio.run(run())
    assert results["models/fuzz/answers"].verdict is Verdict.FAIL
    assert "timed out" in results["models/fuzz/answers"].findings[0].message


async def until(holds):
    while not holds():  # noqa: ASYNC110 - a thread changes it
        await asyncio.sleep(0.01)


def test_it_ends_with_whoever_asked():
    async def run():
        async with answering(ReferenceServer(key=KEY, model=MODEL)) as url:
            fuzz = Fuzz(Target(url, KEY), Dialect("specvino"), [MODEL])
            task = asyncio.create_task(anext(fuzz.results()))
            await until(lambda: fuzz.requests >= 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(lambda: fuzz.report.ended == "interrupted")

    asyncio.run(run())


def test_no_server_is_an_error_of_the_run():
    async def run():
        fuzz = Fuzz(Target("http://127.0.0.1:9"), Dialect("specvino"))
        return [result async for result in fuzz.results()]

    (result,) = asyncio.run(run())
    assert (result.rule, result.verdict) == ("transport/fuzz/run", Verdict.ERROR)
    assert "refused" in result.because
