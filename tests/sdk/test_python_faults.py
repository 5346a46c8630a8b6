"""What both Python clients send, and what they make of a server that is busy, slow or wrong."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from specvino.sdk.document import document_of

Script = Callable[..., list[str]]

CHUNK = {
    "id": "a",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": None, "logprobs": None}],
}

HEAD = f"""
from scripted import Answer, Scripted, events
from ways import outcomes
from specvino_client import ConnectionFailed, InvalidAnswer, TimedOut
chunk = {json.dumps(CHUNK)!r}
models = Answer('{{"object": "list", "data": []}}')
def stream(client):
    return client.create_chat_completion_stream(model="m", messages=[{{"role": "user", "content": "hi"}}])
def shown(outcome):
    return [type(each).__name__ + f": {{each}}" * isinstance(each, Exception) for each in outcome]
"""


@pytest.mark.parametrize(
    ("options", "sent"), [("api_key='secret'", "Bearer secret"), ("api_key=None", "None"), ("", "None")]
)
def test_the_key(script: Script, options: str, sent: str) -> None:
    assert (
        script(
            HEAD
            + f"""
with Scripted() as server:
    server.says(models, models, events(chunk, "[DONE]"))
    for use in (lambda client: client.list_models(), stream):
        list(outcomes(server.url, use, {options}))
    for request in server.asked:
        print(request.path, request.headers["authorization"])
"""
        )
        == [f"/v1/models {sent}"] * 2 + [f"/v1/chat/completions {sent}"] * 2
    )


def test_a_server_that_takes_too_long(script: Script) -> None:
    """Before its answer, and within a stream."""
    assert script(
        HEAD
        + """
with Scripted() as server:
    server.says(Answer("", hangs=True))
    for outcome in outcomes(server.url, lambda client: client.list_models(), timeout=2):
        print(shown(outcome), isinstance(outcome[0], ConnectionFailed))
    server.says(events(chunk, hangs=True))
    for outcome in outcomes(server.url, stream, timeout=2):
        print(shown(outcome))
"""
    ) == [
        *["['TimedOut: the server took too long: ReadTimeout'] True"] * 2,
        *["['ChatCompletionChunk', 'TimedOut: the server took too long: ReadTimeout']"] * 2,
    ]


# What the clients wait for is noted, and over at once.
WAITS = (
    HEAD
    + """
import email.utils, time, types
from specvino_client import async_client, client
waits = []
async def later(seconds):
    waits.append(seconds)
client.time = types.SimpleNamespace(sleep=waits.append)
async_client.asyncio = types.SimpleNamespace(sleep=later)
def busy(status=503, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer('{"error": {"message": "busy"}}', status, headers=headers)
def list_models(client):
    return client.list_models()
"""
)


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again(script: Script, status: int) -> None:
    """After as many seconds as it says, or as the client thinks right."""
    assert script(
        WAITS
        + f"""
with Scripted() as server:
    server.says(busy({status}, retry_after="7"), busy({status}), models, busy({status}, retry_after="1.5"), models)
    for outcome in outcomes(server.url, list_models):
        print(shown(outcome), waits)
        waits.clear()
"""
    ) == ["['ModelList'] [7.0, 1.0]", "['ModelList'] [1.5]"]


def test_a_server_that_stays_busy(script: Script) -> None:
    assert script(
        WAITS
        + """
with Scripted() as server:
    server.says(busy(retry_after="0"))
    for outcome in outcomes(server.url, list_models, retries=1):
        print(shown(outcome), len(server.asked))
"""
    ) == ["['ApiError: 503: busy'] 2", "['ApiError: 503: busy'] 4"]


def test_a_date_after_which_to_ask_again(script: Script) -> None:
    """A past one is now."""
    *past, one, other = script(
        WAITS
        + """
def date(seconds):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)
with Scripted() as server:
    for seconds in (-9, 50):
        server.says(busy(retry_after=date(seconds)), models, busy(retry_after=date(seconds)), models)
        for outcome in outcomes(server.url, list_models):
            print(shown(outcome), waits if seconds < 0 else 0 < waits[0] <= seconds)
            waits.clear()
"""
    )
    assert past == ["['ModelList'] [0.0]"] * 2
    assert one == other == "['ModelList'] True"


@pytest.mark.parametrize("retry_after", ["61", "soon", "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_nobody_waits_for_ever(script: Script, retry_after: str) -> None:
    assert (
        script(
            WAITS
            + f"""
with Scripted() as server:
    server.says(busy(retry_after={retry_after!r}))
    for outcome in outcomes(server.url, list_models):
        print(shown(outcome), waits)
"""
        )
        == ["['ApiError: 503: busy'] []"] * 2
    )


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ('events(chunk, "[DONE]")', ["ChatCompletionChunk"]),
        ("events(chunk)", ["ChatCompletionChunk", "ConnectionFailed: the stream broke off before its [DONE]"]),
        ("""Answer('{"error": {"message": "no"}}')""", ["ApiError: no"]),
        ("Answer(chunk)", ["InvalidAnswer: the server sent one answer where a stream was asked for"]),
        ('events("[1")', ["InvalidAnswer: an event is not JSON: Expecting ',' delimiter: line 1 column 3 (char 2)"]),
    ],
    ids=["whole", "cut", "error", "answer", "nonsense"],
)
def test_streams_that_are_none(script: Script, answer: str, outcome: list[str]) -> None:
    assert (
        script(
            HEAD
            + f"""
with Scripted() as server:
    server.says({answer})
    for outcome in outcomes(server.url, stream):
        print(shown(outcome))
"""
        )
        == [str(outcome)] * 2
    )


# Events of a response, of which the document has an example.
STORED = document_of(None)["paths"]["/responses/{response_id}"]["get"]
ANSWER = STORED["responses"]["200"]["content"]["application/json"]
RESPONSES = (
    HEAD
    + f"""
import json
response = {ANSWER["examples"]["completed"]["value"]!r}
def event(type):
    return json.dumps({{"type": type, "sequence_number": 0, "response": response}})
"""
)


@pytest.mark.parametrize("last", ["completed", "incomplete", "failed"])
def test_a_stream_without_a_terminator_is_whole_with_its_last_event(script: Script, last: str) -> None:
    assert (
        script(
            RESPONSES
            + f"""
with Scripted() as server:
    server.says(events(event("response.created"), event("response.{last}")))
    for outcome in outcomes(server.url, lambda client: client.create_response_stream(model="m", input="hi")):
        print([each.type for each in outcome])
"""
        )
        == [f"['response.created', 'response.{last}']"] * 2
    )


def test_a_stream_without_its_last_event(script: Script) -> None:
    """One that goes on behind an event may hold none: it may have been the last."""
    assert script(
        RESPONSES
        + """
with Scripted() as server:
    server.says(events(event("response.created")))
    for outcome in outcomes(server.url, lambda client: client.create_response_stream(model="m", input="hi")):
        print(shown(outcome))
    for outcome in outcomes(server.url, lambda client: client.retrieve_response_stream("r", starting_after=0)):
        print(shown(outcome))
    server.says(events())
    for outcome in outcomes(server.url, lambda client: client.retrieve_response_stream("r")):
        print(shown(outcome))
    for outcome in outcomes(server.url, lambda client: client.retrieve_response_stream("r", starting_after=9)):
        print(shown(outcome))
"""
    ) == [
        *["['ResponseCreatedEvent', 'ConnectionFailed: the stream broke off before its last event']"] * 4,
        *["['ConnectionFailed: the stream broke off before its last event']"] * 2,
        *["[]"] * 2,
    ]


def test_a_stream_is_left(script: Script) -> None:
    """Nothing is asked before the first event, and no connection stays open."""
    assert script(
        HEAD
        + """
import asyncio, httpx
with Scripted() as server:
    server.says(events(chunk, "[DONE]"))
    http = httpx.Client()
    left = stream(Client(server.url, http=http))
    print(len(server.asked))
    print(next(left).choices[0].delta.content, len(server.asked))
    left.close()
    print([each.is_idle() or each.is_closed() for each in http._transport._pool.connections])
    http.close()
    async def main():
        async with AsyncClient(server.url) as client:
            left = stream(client)
            print((await anext(left)).choices[0].delta.content)
            await left.aclose()
    asyncio.run(main())
"""
    ) == ["0", "x 1", "[]", "x"]


def test_a_server_that_sends_more_than_its_document_has(script: Script, package: Callable[..., Path]) -> None:
    """vLLM: an operation at the server's root, and types of events that its document doesn't have."""
    assert script(
        HEAD
        + f"""
import sys
sys.path.insert(0, {str(package("python", "--dialect", "vllm") / "src")!r})
from specvino_client_vllm import Client, ConnectionFailed
with Scripted() as server, Client(server.url.replace("/v1", "/base/v1")) as client:
    server.says(Answer('{{"version": "0.9"}}'))
    print(client.get_version().version, server.asked[0].path)
    server.says(events('{{"type": "response.reasoning_part.added", "sequence_number": 1}}'))
    try:
        print(list(client.create_response_stream(model="m", input="hi")))
    except ConnectionFailed as error:
        print(error)
"""
    ) == ["0.9 /version", "the stream broke off before its last event"]


def test_an_error_goes_through_processes(script: Script) -> None:
    assert script(
        """
import pickle
error = pickle.loads(pickle.dumps(ApiError("no", status=404, code="gone")))
print(error, error.status, error.code)
"""
    ) == ["404: no 404 gone"]
