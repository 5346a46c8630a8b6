"""Two servers compared by the whole judge, over real HTTP."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
import pytest
from reference_server.bench import KEY, MODEL
from reference_server.chat import Chat
from reference_server.generation import Asked, Generation
from reference_server.http import Http
from reference_server.mutants.chat import ChatsInMilliseconds, KnowsNoDevelopers
from reference_server.mutants.rules_streams import EndsWithoutDone, FinishesTwice
from reference_server.mutants.streaming import LosesLastPiece, NoNullUsage
from reference_server.mutants.usage import CountsTurns
from reference_server.oddities.answers import (
    CountsNothing,
    DatedModels,
    FieldsOfItsOwn,
    IndentedArguments,
    RoleBesideTheFirstText,
    StreamsInTwoPieces,
)
from reference_server.oddities.http import (
    ClosesConnections,
    ErrorsNameNoField,
    ErrorsOfItsOwn,
    ManyHeaders,
    NamesCharset,
    RefusesWith422,
)
from reference_server.oddities.responses import KeepsAlive
from reference_server.openai_responses import OpenAIResponses
from reference_server.part import Part
from reference_server.server import ReferenceServer
from support.asgi import answering
from support.comparing import compared, differences, messages

from specvino.conformance import CannotRun, Report, Settings, Severity, Verdict, parity, parity_async
from specvino.conformance.two_servers import run
from specvino.conformance.two_servers.tally import MOST_ROWS


def server(*parts: type[Part], model: str = MODEL) -> ReferenceServer:
    return ReferenceServer(*parts, OpenAIResponses, key=KEY, model=model)


class Counted(Generation):
    """Another process: other ids and other draws, since it has counted further."""

    def count(self) -> int:
        return super().count() + 7_000


class Later(Http):
    """It began an hour later."""

    def now(self) -> int:
        return super().now() + 3_600


SUBJECTS = ("chat/basics", "chat/streams", "chat/tools", "completions/streams", "models", "responses")
"""Texts that are drawn, calls, streams, and what is stored under an id of each server."""


def test_equal_servers_differ_in_nothing() -> None:
    """Although each has other ids, times and draws, and another name for its model."""
    report = compared(server(), server(Counted, Later, model="another"), *SUBJECTS, key=KEY)
    assert not [(line.rule, line.why) for line in report.bad]
    assert report.exit_code == 0
    notes = {line.rule: line.because for line in report.lines if line.verdict is Verdict.NOT_EXERCISED}
    assert "transport/parity/drawn" in notes
    endpoints = {line.rule.partition("/")[0] for line in report.lines if line.judged}
    assert endpoints >= {"chat", "completions", "models", "responses", "response", "transport"}


@pytest.mark.parametrize(("model", "other"), [("model", "user"), ("messages", "b/ü")])
def test_a_model_may_have_the_name_of_a_field(model: str, other: str) -> None:
    a, b = server(model=model), server(model=other)
    report = compared(a, b, "chat/basics/answers", "models", "transport/bodies", key=KEY)
    assert not [(line.rule, line.why) for line in report.bad if line.severity is Severity.MUST]
    assert {"chat/parity/status", "models/parity/status", "model/parity/status"} <= {line.rule for line in report.lines}
    assert "transport/parity/one-sided" not in {line.rule for line in report.lines}


def test_without_compared_answers_servers_are_not_equal(monkeypatch) -> None:
    monkeypatch.setattr(run, "by_identity", lambda session: {})
    report = compared(server(), server(), "chat/basics/answers", key=KEY)
    assert report.complete
    assert report.exit_code == 2


def test_what_is_stored_has_the_id_of_its_server() -> None:
    report = compared(server(), server(Counted), "responses/stored", key=KEY)
    assert not report.bad
    assert {line.rule for line in report.lines} >= {"response/parity/status", "response_deletion/parity/status"}
    assert "transport/parity/one-sided" not in {line.rule for line in report.lines}


def test_how_texts_are_divided_is_no_difference() -> None:
    report = compared(server(), server(StreamsInTwoPieces), "chat/streams", "chat/logprobs", key=KEY)
    assert not [(line.rule, line.why) for line in report.bad]


@pytest.mark.parametrize(
    ("part", "cases", "rule", "message"),
    [
        (
            KnowsNoDevelopers,
            "chat/roles",
            "chat/parity/status/200-400",
            "the status is 200 OK at A and 400 Bad Request at B",
        ),
        (
            RefusesWith422,
            "chat/basics",
            "chat/parity/status/400-422",
            "the status is 400 Bad Request at A and 422 Unprocessable Entity at B",
        ),
        (
            ErrorsNameNoField,
            "chat/basics",
            "chat/parity/error/error.param",
            "error.param is a string at A and null at B",
        ),
        (ErrorsOfItsOwn, "chat/basics", "chat/parity/error/error.type", "error.type is "),
        (FieldsOfItsOwn, "chat/basics", "chat/parity/field/", " is only at B, "),
        (CountsNothing, "chat/basics", "chat/parity/field/usage", "usage is only at A, an object"),
        (CountsTurns, "chat/basics", "chat/parity/value/usage.prompt_tokens", "usage.prompt_tokens is "),
        (
            ChatsInMilliseconds,
            "chat/basics/answers",
            "chat/parity/value/created",
            "created is a time at A and a time of 13 digits at B",
        ),
        (
            DatedModels,
            "chat/basics/answers",
            "chat/parity/value/model",
            "model is the requested model at A and ",
        ),
        (
            LosesLastPiece,
            "chat/streams/plain",
            "chat/parity/stream-value/choices.*.message.content",
            "choices.*.message.content is ",
        ),
        (
            RoleBesideTheFirstText,
            "chat/streams/plain",
            "chat/parity/event/role+content",
            "events of the type role+content are only at B",
        ),
        (EndsWithoutDone, "chat/streams/plain", "chat/parity/event/[DONE]", "events of the type [DONE] are only at A"),
        (
            FinishesTwice,
            "chat/streams/plain",
            "chat/parity/event/finish",
            "events of the type finish are sent at A and sent repeatedly at B",
        ),
        (NoNullUsage, "chat/streams/plain", "chat/parity/event-field/usage", "usage is only at A, null"),
        (
            KeepsAlive,
            "responses/streams/plain",
            "responses/parity/event/keepalive",
            "events of the type keepalive are only at B",
        ),
        (
            IndentedArguments,
            "chat/tools",
            "chat/parity/value/choices.*.message.tool_calls.*.function.arguments",
            "choices.*.message.tool_calls.*.function.arguments is ",
        ),
        (
            ManyHeaders,
            "models",
            "transport/parity/header/x-ratelimit-remaining-requests",
            "the header x-ratelimit-remaining-requests is only at B",
        ),
    ],
)
def test_a_difference_is_described(part: type[Part], cases: str, rule: str, message: str) -> None:
    report = compared(server(), server(part), cases, key=KEY)
    found = {name: text for name, text in messages(report).items() if name.startswith(rule)}
    assert found, messages(report)
    assert any(message in text for text in found.values()), found
    assert report.exit_code == 1
    line = differences(report)[next(iter(found))]
    assert report.footer is not None
    assert line.rule in {rule for fault in report.footer.faults for rule in fault.rules}
    assert line.severity is Severity.MUST
    one, other = line.findings[0].exchanges
    assert one.curl.partition("/v1/")[2] == other.curl.partition("/v1/")[2] != ""
    assert one.request.url != other.request.url
    assert f"of {cases}" in line.because


@pytest.mark.parametrize(
    ("part", "rules"),
    [
        (NamesCharset, {"transport/parity/header/content-type parameters"}),
        (ClosesConnections, {"transport/parity/header/connection"}),
    ],
)
def test_what_no_program_acts_by_is_advice(part: type[Part], rules: set[str]) -> None:
    report = compared(server(), server(part), "models/list", key=KEY)
    assert differences(report).keys() == rules
    assert report.exit_code == 0
    assert compared(server(), server(part), "models/list", key=KEY, fail_on=Severity.SHOULD).exit_code == 1


class DrawsAlways(Generation):
    """It draws at temperature 0, too."""

    def is_greedy(self, body: Mapping[str, Any]) -> bool:
        return False


def test_what_a_server_draws_is_compared_by_its_shape() -> None:
    report = compared(server(), server(DrawsAlways), "chat/basics", "chat/streams/plain", key=KEY)
    assert differences(report).keys() == {"chat/parity/drawn/answer"}
    assert messages(report)["chat/parity/drawn/answer"].endswith(
        "the same each time at A and another one each time at B"
    )
    assert differences(report)["chat/parity/drawn/answer"].severity is Severity.SHOULD


class OnceAlike(Chat):
    """Its first answer to a request has a text that the other server's has, too, and a count of its own."""

    made = 10

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Any) -> dict[str, Any]:
        answer = super().chat_completion(head, asked, outputs)
        seen: list[Mapping[str, Any]] = vars(self).setdefault("seen", [])
        text, made = ("Once.", self.made) if asked.body not in seen else ("Later.", 12)
        seen.append(asked.body)
        answer["choices"][0]["message"]["content"] = text
        return {**answer, "usage": {**answer["usage"], "completion_tokens": made}}


class OnceAlikeToo(OnceAlike):
    made = 11


def test_what_repetitions_do_not_show_is_no_difference() -> None:
    """Counts are compared where the texts are the same, which they are once."""
    report = compared(server(OnceAlike), server(OnceAlikeToo), "chat/basics/answers", key=KEY)
    assert not [(line.rule, line.why) for line in report.bad]


class ManyFields(Chat):
    def chat_message(self, asked: Asked, output: Any) -> dict[str, Any]:
        return {**super().chat_message(asked, output), **dict.fromkeys(map("f{}".format, range(MOST_ROWS + 20)))}


def test_a_report_says_how_much_it_leaves_out() -> None:
    report = compared(server(), server(ManyFields), "chat/basics/answers", key=KEY)
    assert len(differences(report)) == MOST_ROWS
    [because] = [line.because for line in report.lines if line.rule == "transport/parity/more"]
    assert because == "20 more in single answers"


class LacksRefusal(Chat):
    def chat_message(self, asked: Asked, output: Any) -> dict[str, Any]:
        return {name: value for name, value in super().chat_message(asked, output).items() if name != "refusal"}


def test_a_field_is_missed_where_texts_are_drawn() -> None:
    report = compared(server(DrawsAlways), server(DrawsAlways, LacksRefusal), "chat/basics/answers", key=KEY)
    assert messages(report) == {
        "chat/parity/field/choices.*.message.refusal": "choices.*.message.refusal is only at A, null"
    }


def test_verdicts_that_differ_have_the_rule_of_the_judge() -> None:
    report = compared(server(), server(EndsWithoutDone), "chat/streams/plain", key=KEY)
    by_rule = {line.rule: line for line in report.bad}
    line = by_rule["chat/rules/stream-end"]
    assert line.why.startswith("pass at A, fail at B: ")
    assert line.fails
    assert "chat/parity/verdict" not in {line.rule for line in report.lines}
    equal = compared(server(), server(), "chat/streams/plain", key=KEY)
    assert "chat/parity/verdict" in {line.rule for line in equal.lines if line.verdict is Verdict.PASS}


class Proxy:
    """Forwards to a server, and tells nobody how long to wait; it names itself in `owned_by` of models."""

    def __init__(self, url: str) -> None:
        self.url = url.removesuffix("/v1")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        content, more = b"", True
        while more:
            message = await receive()
            content += message.get("body", b"")
            more = message.get("more_body", False)
        async with httpx.AsyncClient(trust_env=False) as client:
            path = scope["raw_path"].decode() + (f"?{scope['query_string'].decode()}" if scope["query_string"] else "")
            answer = await client.request(scope["method"], self.url + path, headers=scope["headers"], content=content)
        headers = [
            (name, value)
            for name, value in answer.headers.raw
            if name.lower() not in (b"content-length", b"connection", b"x-request-id")
        ]
        body = answer.content.replace(b'"owned_by":"', b'"owned_by":"proxied-')
        await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def test_what_a_proxy_changes() -> None:
    async def beside_both() -> Report:
        async with answering(server()) as behind, answering(Proxy(behind)) as proxy:
            settings = Settings(behind, key=KEY, filters=("chat/basics", "chat/streams/plain", "models"))
            return await parity_async(settings, replace(settings, url=proxy))

    report = asyncio.run(beside_both())
    owned = 'owned_by is "specvino" at A and "proxied-specvino" at B'
    assert messages(report) == {
        "models/parity/value/data.*.owned_by": f"data.*.{owned}",
        "model/parity/value/owned_by": owned,
        "transport/parity/header/x-request-id": "the header x-request-id is only at A",
    }


class Dies(Http):
    """It answers no more after some requests."""

    left = 12

    async def serve(self, call: Any) -> None:
        self.left -= 1
        if self.left > 0:
            await super().serve(call)
        else:
            call.connection.abort()


def test_a_server_that_dies_is_no_equal() -> None:
    report = compared(server(), server(Dies), "chat/basics", key=KEY)
    assert report.exit_code == 1
    assert report.footer is not None
    assert not report.complete
    assert report.shortcoming.startswith("The server became unreachable during chat/basics/")
    assert report.shortcoming.endswith(" at B.")


def test_both_are_compared_by_the_same_plan() -> None:
    url = "http://127.0.0.1:1/v1"
    for other in (Settings(url, dialect="vllm"), Settings(url, profile="core"), Settings(url, filters=("chat",))):
        with pytest.raises(CannotRun, match="must be the same for both servers"):
            parity(Settings(url), other)
