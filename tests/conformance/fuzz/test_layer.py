"""The layer on the reference server: its rules, its findings, its end."""

import asyncio
import importlib
import json
import sys
from typing import ClassVar

import pytest
import schemathesis
from reference_server.bench import KEY, MODEL
from reference_server.oddities.requests import DrawsAtOneTemperature, RefusesMaxTokens
from reference_server.refusal import Refusal
from reference_server.server import ReferenceServer
from schemathesis.checks import CHECKS as REGISTRY
from support.asgi import answering
from support.judging import failure_lines, report_of

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.endpoint_results import FEWEST, MOST_REFUSED, REJECTION
from specvino.conformance.fuzz.exchanges import checks_for
from specvino.conformance.fuzz.layer import Fuzz
from specvino.conformance.fuzz.options import CHECKS, SAYS, Options
from specvino.conformance.fuzz.server import Server
from specvino.conformance.http.client import Target
from specvino.conformance.job import Job
from specvino.conformance.verdict import Verdict
from specvino.generated.errors import ErrorCode

# What only goes wrong, is for our own document, or for streams.
NOT_HERE = {"answers", "run", "error-code-conformance", "stream-conformance"}


def fuzzed(server, *, by="openai", key=KEY, **how):
    """The results by rule, and the layer."""

    async def run():
        async with answering(server) as url:
            fuzz = Fuzz(Target(url, key), Dialect(by), [MODEL], **{"profile": "core", **how})
            return {result.rule: result async for result in fuzz.results()}, fuzz

    return asyncio.run(run())


def test_it_finds_nothing_in_the_reference_server() -> None:
    results, fuzz = fuzzed(ReferenceServer(key=KEY, model=MODEL), filters=["models", "model"])
    bad = [result for result in results.values() if result.verdict not in (Verdict.PASS, Verdict.NOT_EXERCISED)]
    assert not bad, [(result.rule, result.because, *(str(finding) for finding in result.findings)) for result in bad]
    assert all(
        result.verdict is Verdict.PASS for result in results.values() if result.rule != f"model/fuzz/{REJECTION}"
    )
    assert {rule.rsplit("/", 1)[1] for rule in results} >= SAYS.keys() - NOT_HERE
    assert sum(result.checked for rule, result in results.items() if rule.endswith("/requests")) == fuzz.requests > 5
    assert not any("was reached" in result.because for result in results.values())


def test_each_line_counts_the_requests_of_its_endpoint() -> None:
    results, fuzz = fuzzed(ReferenceServer(key=KEY, model=MODEL), filters=["models", "model"])
    for endpoint, label in (("models", "GET /models"), ("model", "GET /models/{model}")):
        sent = fuzz.report.count(operation=label)
        requests = results[f"{endpoint}/fuzz/requests"]
        assert requests.checked == sent < fuzz.requests
        assert requests.because.startswith(f"{sent} requests, of which {fuzz.report.valid[label]} were valid and ")
        assert results[f"{endpoint}/fuzz/positive-data-acceptance"].checked == fuzz.report.valid[label]
        assert 0 < results[f"{endpoint}/fuzz/not-a-server-error"].checked <= sent


def test_too_few_requests_prove_nothing() -> None:
    results, fuzz = fuzzed(ReferenceServer(key=KEY, model=MODEL), filters=["chat"], options=Options(max_examples=1))
    sent = fuzz.report.valid["POST /chat/completions"] + fuzz.report.invalid["POST /chat/completions"]
    assert 0 < sent < FEWEST
    assert {result.verdict for result in results.values()} == {Verdict.NOT_EXERCISED}
    few = f"too few requests: {sent}, at least {FEWEST} are required"
    assert {result.because for rule, result in results.items() if not rule.endswith("/requests")} == {few}
    assert results["chat/fuzz/requests"].because.startswith(f"{few}; ")


def test_too_few_requests_prove_what_they_break() -> None:
    server = Crashing(key=KEY, model=MODEL)
    server.broken = "/v1/tokenize"
    results, _ = fuzzed(server, by="ovms", filters=["tokenize"], options=Options(max_examples=1))
    assert results["tokenize/fuzz/not-a-server-error"].verdict is Verdict.FAIL


def test_checks_in_and_out() -> None:
    server = ReferenceServer(key=KEY, model=MODEL)
    only = Options(include=("second_judge", "not_a_server_error"), exclude=("second_judge",))
    results, _ = fuzzed(server, filters=["models"], options=only)
    assert results.keys() == {"models/fuzz/requests", "models/fuzz/not-a-server-error"}
    results, _ = fuzzed(server, filters=["models"], options=Options(exclude=("second_judge", "ignored_auth")))
    assert "models/fuzz/not-a-server-error" in results
    assert not {"models/fuzz/second-judge", "models/fuzz/ignored-auth"} & results.keys()


def test_the_checks_are_those_that_there_are() -> None:
    schemathesis.checks.load_all_checks()
    own = {check.__name__ for check in checks_for(Dialect("specvino"))}
    assert set(CHECKS) == {*REGISTRY.get_all_names(), *own} - {"max_response_time"}
    with pytest.raises(ValueError, match="unknown check 'not_a_server'; the checks are not_a_server_error, "):
        Options(exclude=("not_a_server",))
    with pytest.raises(ValueError, match="all included checks are excluded"):
        Options(include=("second_judge",), exclude=("second_judge",))


def test_the_seed_makes_the_requests(tmp_path, monkeypatch) -> None:
    def sent(seed):
        server = Listening(key=KEY, model=MODEL)
        server.bodies = []
        fuzzed(server, filters=["tokenize"], by="ovms", options=Options(seed=seed))
        return server.bodies

    first = sent(1)
    assert len(first) > 5
    assert sent(1) == first
    # Hypothesis reads the constants of modules that don't come from a package.
    (tmp_path / "imported_later.py").write_text(f"NAMES = {[f'name {number}' for number in range(200)]}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("imported_later")
    assert sent(1) == first
    del sys.modules["imported_later"]
    assert sent(2) != first


class ReasoningModel(RefusesMaxTokens, DrawsAtOneTemperature):
    """Refuses what OpenAI's reasoning models refuse, and keeps which generated requests it refuses for that."""

    refused: ClassVar[list[str]] = []
    generated: ClassVar[list[str]] = []

    def accepted(self, call, component):
        if "x-schemathesis-testcaseid" in call.headers:
            self.generated.append(call.body)
        try:
            return super().accepted(call, component)
        except Refusal as refusal:
            if "x-schemathesis-testcaseid" in call.headers and refusal.code is ErrorCode.UNSUPPORTED_PARAMETER:
                self.refused.append(call.body)
            raise


def test_fields_that_the_model_refuses_are_not_sent() -> None:
    async def run():
        async with answering(ReferenceServer(ReasoningModel, key=KEY, model=MODEL)) as url:
            return await report_of(Job(Target(url, KEY), Dialect("specvino"), "core", ("fuzz",), ("chat",)))

    ReasoningModel.refused.clear()
    ReasoningModel.generated.clear()
    report = asyncio.run(run())
    assert report.header.replaced == {"max_tokens": "max_completion_tokens", "temperature": None}
    assert len(ReasoningModel.generated) > 5
    assert ReasoningModel.refused == []
    assert not failure_lines(report)
    accepted = next(line for line in report.lines if line.rule == "chat/fuzz/positive-data-acceptance")
    assert accepted.verdict is Verdict.PASS


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


def test_what_a_server_has_not_is_left_out_and_a_finding_has_its_exchange() -> None:
    results, _ = fuzzed(Forgetful(key=KEY, model=MODEL), filters=["responses", "response", "models"])
    because = {rule: result.because for rule, result in results.items() if result.verdict is Verdict.SKIP}
    assert because == {
        "responses/fuzz/requests": "POST /responses returns 404",
        "response/fuzz/requests": "the server stores no responses",
    }
    (failed,) = (result for result in results.values() if result.verdict is Verdict.FAIL)
    assert failed.rule == "models/fuzz/response-schema-conformance"
    (exchange,) = failed.findings[0].exchanges
    assert (exchange.request.method, exchange.request.path, exchange.status) == ("GET", "/models", 200)
    assert exchange.content == b'{"object":"list"}'
    assert failed.findings[0].message == 'Response violates schema: it: "data" is a required property'


def test_a_filter_chooses_rules() -> None:
    results, _ = fuzzed(ReferenceServer(key=KEY, model=MODEL), filters=["models/fuzz/second-judge"])
    assert results.keys() == {"models/fuzz/requests", "models/fuzz/second-judge"}


def test_without_a_key_nothing_is_said_of_keys() -> None:
    results, _ = fuzzed(ReferenceServer(key=None, model=MODEL), key=None, filters=["models"])
    assert "models/fuzz/ignored-auth" not in results
    results, _ = fuzzed(ReferenceServer(key=None, model=MODEL), filters=["models"])
    assert "models/fuzz/ignored-auth" not in results
    results, _ = fuzzed(ReferenceServer(key=KEY, model=MODEL), filters=["models"])
    assert results["models/fuzz/ignored-auth"].verdict is Verdict.PASS


def test_a_box_of_time() -> None:
    results, fuzz = fuzzed(ReferenceServer(key=KEY, model=MODEL), by="specvino", profile="full", max_time=3.0)
    assert fuzz.report.ended == "max_time"
    requests = [result for rule, result in results.items() if rule.endswith("/requests")]
    assert all(
        result.because.endswith("; the time limit of 3 s was reached")
        for result in requests
        if result.verdict is not Verdict.SKIP
    )
    late = [result.because for result in requests if result.verdict is Verdict.SKIP]
    assert late == ["the time limit was reached before"] * len(late)
    assert len(requests) == len(Dialect("specvino").operations)


class Refusing(ReferenceServer):
    """Each so many-th valid text for its model, whatever else was drawn."""

    every = 1
    asked = 0

    async def __call__(self, scope, receive, send):
        if scope.get("path") != "/v1/tokenize":
            return await super().__call__(scope, receive, send)
        if Dialect("ovms").accepts("tokenize", body := _object((await receive())["body"])) and body["model"] == MODEL:
            self.asked += 1
            if self.asked % self.every == 0:
                return await _answer(send, 400, b'{"error": "No."}')
        return await _answer(send, 200, b'{"tokens": [1]}')


def _object(content):
    try:
        return json.loads(content)
    except ValueError:
        return None


ENVELOPE = {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}}


def refusing(every):
    """How many of the valid requests are refused, and the result."""
    server = Refusing(key=None, model=MODEL)
    server.every = every
    results, fuzz = fuzzed(server, by="ovms", key=None, filters=["tokenize"], options=Options(max_examples=60))
    refused, accepted = fuzz.report.refused["POST /tokenize"], fuzz.report.accepted["POST /tokenize"]
    assert "valid ones were refused with a justified reason" in results["tokenize/fuzz/requests"].because
    return refused, refused + accepted, results["tokenize/fuzz/positive-data-acceptance"]


def test_a_server_may_refuse_one_valid_request_or_another() -> None:
    refused, all_of_them, result = refusing(every=8)
    assert 0 < refused <= MOST_REFUSED * all_of_them
    assert (result.verdict, result.because) == (
        Verdict.PASS,
        f"{refused} of {all_of_them} valid requests were refused",
    )


@pytest.mark.parametrize("every", [1, 2])
def test_a_server_that_refuses_many_valid_requests_is_told_how_many(every) -> None:
    refused, all_of_them, result = refusing(every)
    assert (refused < all_of_them) == (every > 1)
    assert refused > MOST_REFUSED * all_of_them
    (finding,) = result.findings
    assert (result.verdict, finding.message) == (
        Verdict.FAIL,
        f"{refused} of {all_of_them} valid requests were refused",
    )
    assert {exchange.status for exchange in finding.exchanges} == {400}
    # What a model can't do is nobody's fault; that nothing at all is answered is.
    assert bool(result.advice) == (every > 1)


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


def test_a_busy_server_is_asked_again_and_is_not_broken() -> None:
    async def run():
        async with answering(Busy(key=None, model=MODEL)) as url:
            server = Server(Target(url), {"paths": {}})
            return await asyncio.to_thread(lambda: (server.models, server.status("GET", "/models")))

    assert asyncio.run(run()) == ((MODEL,), 200)
    results, _ = fuzzed(Busy(key=None, model=MODEL), key=None, filters=["models"])
    assert results["models/fuzz/not-a-server-error"].verdict is Verdict.PASS


class Listening(ReferenceServer):
    """Keeps what it is asked to tokenize."""

    bodies: list[bytes]

    async def __call__(self, scope, receive, send):
        if scope.get("path") != "/v1/tokenize":
            return await super().__call__(scope, receive, send)
        self.bodies.append((await receive()).get("body", b""))
        return await _answer(send, 200, b'{"tokens": [1], "count": 1, "max_model_len": 8}')


class Mute(ReferenceServer):
    """Makes no response and counts no tokens, and doesn't say so."""

    async def __call__(self, scope, receive, send):
        if scope.get("path") == "/v1/responses":
            await asyncio.Event().wait()
        await super().__call__(scope, receive, send)


def test_a_probe_without_an_answer_is_a_finding_and_ends_nothing() -> None:
    async def run():
        async with answering(Mute(key=None, model=MODEL)) as url:
            fuzz = Fuzz(
                Target(url, timeout=1.5), Dialect("specvino"), [MODEL], "core", max_time=10, filters=["response"]
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
    broken = "/v1/models"

    async def __call__(self, scope, receive, send):
        if scope.get("path") == self.broken:
            return await _answer(send, 500, b"oh")
        return await super().__call__(scope, receive, send)


def test_one_fault_is_one_finding() -> None:
    results, _ = fuzzed(Crashing(key=KEY, model=MODEL), by="specvino", filters=["models"])
    failed = {rule for rule, result in results.items() if result.verdict is Verdict.FAIL}
    assert failed == {"models/fuzz/not-a-server-error", "models/fuzz/response-schema-conformance"}


def test_silence_is_a_finding() -> None:
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


def test_it_ends_with_whoever_asked() -> None:
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


def test_no_server_is_an_error_of_the_run() -> None:
    async def run():
        fuzz = Fuzz(Target("http://127.0.0.1:9"), Dialect("specvino"))
        return [result async for result in fuzz.results()]

    (result,) = asyncio.run(run())
    assert (result.rule, result.verdict) == ("transport/fuzz/run", Verdict.ERROR)
    assert "refused" in result.because
