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


def test_redirects_are_not_followed(script: Script) -> None:
    """Neither the prompt nor the key is sent to where another server says."""
    printed = script(
        HEAD
        + """
with Scripted() as server, Scripted() as other:
    other.says(models)
    for status in (301, 307):
        server.says(Answer("", status=status, headers={"location": other.url + "/models"}))
        for use in (lambda client: client.list_models(), stream):
            for outcome in outcomes(server.url, use, api_key="secret"):
                print(str(shown(outcome)).replace(other.url, "ELSEWHERE"))
        print(len(server.asked), len(other.asked))
"""
    )
    told = ["the server redirects to ELSEWHERE/models, which isn't followed" in line for line in printed]
    assert told == ([True] * 4 + [False]) * 2
    assert printed[4] == printed[9] == "4 0"


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
from specvino_client import async_client, client, transport
waits = []
transport.random = types.SimpleNamespace(random=lambda: 0.0)
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


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
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


def test_a_lost_connection_is_made_again(script: Script) -> None:
    """With the same idempotency key; requests that only read have none."""
    assert script(
        WAITS
        + """
with Scripted() as server:
    for use in (stream, list_models):
        answer = events(chunk, "[DONE]") if use is stream else models
        server.says(Answer(lost=True), busy(), answer, Answer(lost=True), answer)
        for outcome in outcomes(server.url, use):
            print(shown(outcome), waits)
            waits.clear()
        keys = [request.headers["idempotency-key"] for request in server.asked]
        print(len(keys), len(set(keys)), len(set(keys[:3])), None in keys)
for outcome in outcomes("http://127.0.0.1:1/v1", list_models, retries=5):
    print([type(each).__name__ for each in outcome], waits)
    waits.clear()
"""
    ) == [
        "['ChatCompletionChunk'] [0.5, 1.0]",
        "['ChatCompletionChunk'] [0.5]",
        "5 2 1 False",
        "['ModelList'] [0.5, 1.0]",
        "['ModelList'] [0.5]",
        "5 1 1 True",
        *["['ConnectionFailed'] [0.5, 1.0, 2.0, 4.0, 8.0]"] * 2,
    ]


def test_options_of_one_request(script: Script) -> None:
    """They are no fields of the body, and extra values take the place of others."""
    assert script(
        HEAD
        + """
import json
options = {"extra_headers": {"X-Mine": "1", "Authorization": "Bearer other"}, "extra_query": {"a": 1}, "timeout": 99}
def use(client):
    return client.create_response(model="m", input="hi", extra_body={"input": "ho", "more": 2}, **options)
def use_stream(client):
    return client.create_chat_completion_stream(model="m", messages=[], extra_body={"more": 2}, **options)
with Scripted() as server:
    server.says(Answer("{}"), Answer("{}"), events("[DONE]"))
    for each in (use, use_stream):
        list(outcomes(server.url, each, api_key="secret"))
    for request in server.asked:
        print(request.path, request.headers["x-mine"], request.headers.get_all("authorization"), request.sent)
    server.says(Answer("", hangs=True))
    for outcome in outcomes(server.url, lambda client: client.list_models(timeout=0.2)):
        print(shown(outcome), len(server.asked))
"""
    ) == [
        *["/v1/responses?a=1 1 ['Bearer other'] {'model': 'm', 'input': 'ho', 'more': 2}"] * 2,
        *["/v1/chat/completions?a=1 1 ['Bearer other'] {'model': 'm', 'messages': [], 'stream': True, 'more': 2}"] * 2,
        "['TimedOut: the server took too long: ReadTimeout'] 1",
        "['TimedOut: the server took too long: ReadTimeout'] 2",
    ]


def test_an_error_class_per_status(script: Script) -> None:
    statuses = {
        400: "BadRequestError",
        401: "AuthenticationError",
        403: "PermissionDeniedError",
        404: "NotFoundError",
        409: "ConflictError",
        418: "ApiError",
        422: "UnprocessableEntityError",
        429: "RateLimitError",
        500: "InternalServerError",
        599: "InternalServerError",
    }
    assert script(
        HEAD
        + f"""
import specvino_client
with Scripted() as server:
    for status in {list(statuses)}:
        server.says(Answer('{{"error": {{"message": "no"}}}}', status))
        (error,), _ = outcomes(server.url, lambda client: client.list_models(), retries=0)
        print(type(error).__name__, type(error) is getattr(specvino_client, type(error).__name__))
"""
    ) == [f"{name} True" for name in statuses.values()]


def test_a_server_that_stays_busy(script: Script) -> None:
    assert script(
        WAITS
        + """
with Scripted() as server:
    server.says(busy(retry_after="0"))
    for outcome in outcomes(server.url, list_models, retries=1):
        print(shown(outcome), len(server.asked))
"""
    ) == ["['InternalServerError: 503: busy'] 2", "['InternalServerError: 503: busy'] 4"]


def test_a_refusal_that_breaks_off(script: Script) -> None:
    """Its status counts, and the request isn't sent again."""
    assert script(
        HEAD
        + """
with Scripted() as server:
    server.says(Answer('{"error": {"message": "no"}}', 400, cut=True))
    for outcome in outcomes(server.url, lambda client: client.list_models()):
        print(shown(outcome), len(server.asked))
"""
    ) == ["['BadRequestError: 400: the answer is empty'] 1", "['BadRequestError: 400: the answer is empty'] 2"]


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_a_parameter_is_no_other_path(script: Script, value: str) -> None:
    assert script(
        HEAD
        + f"""
with Scripted() as server:
    server.says(Answer())
    try:
        list(outcomes(server.url, lambda client: client.delete_response({value!r})))
    except ValueError as error:
        print(error, server.asked)
    list(outcomes(server.url, lambda client: client.delete_response("a/../b?c")))
    print(server.asked[0].path)
"""
    ) == [
        f"response_id can't be {value!r}: it is a part of the address []",
        "/v1/responses/a%2F..%2Fb%3Fc",
    ]


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
        == ["['InternalServerError: 503: busy'] []"] * 2
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


def test_done_behind_the_last_event_is_an_end(script: Script) -> None:
    assert (
        script(
            RESPONSES
            + """
with Scripted() as server:
    server.says(events(event("response.completed"), "[DONE]"))
    for outcome in outcomes(server.url, lambda client: client.create_response_stream(model="m", input="hi")):
        print(shown(outcome))
"""
        )
        == ["['ResponseCompletedEvent']"] * 2
    )


LINES = (
    HEAD
    + """
import json
from scripted import lines
part = json.dumps({"model": "m", "message": {"role": "assistant", "content": "\u2028é"}, "done": False})
last = json.dumps({"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"})
error = json.dumps({"error": "no", "param": "messages.0", "code": "bad"})
ask = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "_debug_render_only": True}
def stream(client):
    return client.ollama_chat_stream(**ask)
"""
)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ('lines(part, "", last)', ["OllamaChatResponse", "OllamaChatResponse"]),
        ("lines(part)", ["OllamaChatResponse", "ConnectionFailed: the stream broke off before its last event"]),
        ("lines()", ["ConnectionFailed: the stream broke off before its last event"]),
        ("lines(part, error)", ["OllamaChatResponse", "ApiError: no"]),
        ("Answer(error, 400)", ["BadRequestError: 400: no"]),
        ("Answer(error)", ["ApiError: no"]),
        ("Answer(part)", ["OllamaChatResponse"]),
        ("Answer('[1]')", ["InvalidAnswer: a JSON object was expected instead of [1]"]),
        ('lines("[1")', ["InvalidAnswer: an event is not JSON: Expecting ',' delimiter: line 1 column 3 (char 2)"]),
    ],
    ids=["whole", "cut", "empty", "error", "refusal", "error alone", "line alone", "list", "nonsense"],
)
def test_streams_of_lines(script: Script, answer: str, outcome: list[str]) -> None:
    assert (
        script(
            LINES
            + f"""
with Scripted() as server:
    server.says({answer})
    for outcome in outcomes(server.url, stream):
        print(shown(outcome))
"""
        )
        == [str(outcome)] * 2
    )


def test_an_answer_in_place_of_lines_is_asked_for(script: Script) -> None:
    """And an error's text has the other fields beside it."""
    assert script(
        LINES
        + """
with Scripted() as server:
    server.says(Answer(last), Answer(last), lines(last), lines(last), Answer(error, 400))
    for use in (lambda client: client.ollama_chat(**ask), stream):
        list(outcomes(server.url, use))
    for request in server.asked:
        print(request.path, request.sent["stream"], request.sent["_debug_render_only"])
    for (refused,) in outcomes(server.url, lambda client: client.ollama_chat(**ask)):
        print(refused.message, refused.param, refused.code, refused.type)
"""
    ) == [
        *["/v1/api/chat False True"] * 2,
        *["/v1/api/chat True True"] * 2,
        *["no messages.0 bad None"] * 2,
    ]


# What a newer server may send: how it changes an answer, and what a user reads.
NEW_IN_CHAT = {
    "an enum's value": ("{'finish_reason': 'tired'}", "choice.finish_reason", "tired"),
    "a field": ("{'mood': {'of': 1}}", "choice.mood", "{'of': 1}"),
    "a number for a text": ("{'finish_reason': 7}", "choice.finish_reason", "7"),
    "a text for an object": ("{'logprobs': 'none'}", "choice.logprobs", "none"),
    "a text for a number": ("{'index': 'first'}", "choice.index", "first"),
    "a name that Python's own methods have": ("{'cls': 1, '_fields_set': 2}", "choice.cls + choice._fields_set", "3"),
}
NEW_IN_RESPONSES = {
    "an enum's value": ("{'status': 'asleep'}", "response.status", "asleep"),
    "a constant's value": ("{'object': 'response.v2'}", "response.object", "response.v2"),
    "a kind of item": (
        "{'output': [{'type': 'x', 'y': 1}]}",
        "response.output[0].y, response.output[0].type",
        "(1, 'x')",
    ),
    "a kind of part": (
        "{'output': [{**message, 'content': [{'type': 'x', 'y': 1}]}]}",
        "type(response.output[0]).__name__, response.output[0].content[0].y",
        "('OutputMessage', 1)",
    ),
    "a kind of tool": ("{'tools': [{'type': 'x', 'y': 1}]}", "response.tools[0].y", "1"),
    "no required field": ("{'output': [{'type': 'message'}]}", "response.output[0].content", "None"),
    "null for a list": ("{'output': None}", "response.output", "None"),
}


def test_answers_are_open(script: Script) -> None:
    """Whatever a newer server sends: the answer comes as it is, alone and in a stream, and can be dumped."""
    assert script(
        RESPONSES
        + f"""
message = {{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": []}}
chat = {{"id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": []}}
choice = {{"index": 0, "finish_reason": "stop", "message": {{"role": "assistant", "content": "x"}}}}
ask = {{"model": "m", "messages": [{{"role": "user", "content": "hi"}}]}}
def told(use, expression, **names):
    for outcome in outcomes(server.url, use):
        value = outcome[0]
        values = {{"choice": lambda: value.choices[0], "response": lambda: getattr(value, "response", value)}}
        print(eval(expression, {{name: values[name]() for name in values if name in expression}}))
        assert len(outcome) == 1, outcome
        value.model_dump(warnings=False), repr(value)
with Scripted() as server:
    for change, expression, _ in {list(NEW_IN_CHAT.values())!r}:
        changed = choice | eval(change)
        server.says(Answer(json.dumps(chat | {{"choices": [changed]}})))
        told(lambda client: client.create_chat_completion(**ask), expression)
        piece = json.loads(chunk) | {{"choices": [json.loads(chunk)["choices"][0] | eval(change)]}}
        server.says(events(json.dumps(piece), "[DONE]"))
        told(lambda client: client.create_chat_completion_stream(**ask), expression)
    for change, expression, _ in {list(NEW_IN_RESPONSES.values())!r}:
        changed = response | eval(change)
        server.says(Answer(json.dumps(changed)))
        told(lambda client: client.create_response(model="m", input="hi"), expression)
        last = {{"type": "response.completed", "sequence_number": 0, "response": changed}}
        server.says(events(json.dumps(last)))
        told(lambda client: client.create_response_stream(model="m", input="hi"), expression)
"""
    ) == [said for new in (NEW_IN_CHAT, NEW_IN_RESPONSES) for _, _, said in new.values() for _ in range(4)]


def test_unknown_events_come_too(script: Script) -> None:
    assert (
        script(
            RESPONSES
            + """
with Scripted() as server:
    server.says(events('{"type": "response.sung", "song": "la"}', event("response.completed")))
    for outcome in outcomes(server.url, lambda client: client.create_response_stream(model="m", input="hi")):
        print([type(each).__name__ for each in outcome], outcome[0].type, outcome[0].song)
"""
        )
        == ["['UnknownKind', 'ResponseCompletedEvent'] response.sung la"] * 2
    )


def test_what_is_no_object_is_no_answer(script: Script) -> None:
    *answers, event = script(
        HEAD
        + """
with Scripted() as server:
    for body in ("nonsense", "[1]"):
        server.says(Answer(body))
        print(*map(shown, outcomes(server.url, lambda client: client.list_models())))
    server.says(events("[1]"))
    print(*map(shown, outcomes(server.url, stream)))
"""
    )
    for text, reason in zip([*answers, event], ["not JSON", "instead of [1]", "instead of [1]"], strict=True):
        assert text.count("InvalidAnswer") == text.count(reason) == 2


def test_only_what_is_needed_is_imported(script: Script) -> None:
    """Programs start faster: neither the other client, nor WebSockets, nor the types of requests, and no validators."""
    assert script(
        """
import sys
others = ("websockets", "specvino_client.async_client", "specvino_client.params")
print([name for name in others if name in sys.modules])
from specvino_client import models
from pydantic import BaseModel
classes = [each for each in vars(models).values() if isinstance(each, type) and issubclass(each, BaseModel)]
print(len(classes) > 100, any(each.__pydantic_complete__ for each in classes))
"""
    ) == ["[]", "True False"]


def test_events_that_make_no_answer(script: Script) -> None:
    """They are read one by one as they are; there is only no final answer."""
    assert script(
        HEAD
        + """
import json
start = {"type": "message_start", "message": {"type": "message", "content": None}}
def block(kind, **more):
    return json.dumps({"type": f"content_block_{kind}", "index": 0, **more})
stop = json.dumps({"type": "message_stop"})
head = [json.dumps(start), block("start", content_block={"type": "text", "text": ""})]
null = block("delta", delta={"type": "text_delta", "text": None})
half = block("delta", delta={"type": "input_json_delta", "partial_json": "{"})
with Scripted() as server, Client(server.url) as client:
    for pieces in ([null], [half, block("stop")], [json.dumps({"type": "content_block_start"})]):
        server.says(events(*head, *pieces, stop))
        ask = dict(model="m", max_tokens=9, messages=[])
        print(len(list(client.create_message_stream(**ask))))
        try:
            print(client.create_message_stream(**ask).final().content[0].text == '')
        except InvalidAnswer as error:
            print(str(error)[:36])
"""
    ) == [
        "4",
        "True",
        "5",
        "the events make no answer: JSONDecod",
        "4",
        "the events make no answer: KeyError(",
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


def test_an_operation_at_the_root(script: Script, package: Callable[..., Path]) -> None:
    """vLLM: an operation at the server's root; Ollama: its own API."""
    sources = [str(package("python", "--dialect", system) / "src") for system in ("vllm", "ollama")]
    assert script(
        LINES
        + f"""
import sys
sys.path += {sources!r}
import specvino_client_ollama, specvino_client_vllm
with Scripted() as server:
    base = server.url.replace("/v1", "/base/v1")
    with specvino_client_vllm.Client(base) as client:
        server.says(Answer('{{"version": "0.9"}}'))
        print(client.get_version().version, server.asked[0].path)
    with specvino_client_ollama.Client(base) as client:
        server.says(lines(part, last))
        print(len(list(client.ollama_chat_stream(model="m", messages=[]))), server.asked[0].path)
"""
    ) == ["0.9 /version", "2 /api/chat"]


def test_an_error_goes_through_processes(script: Script) -> None:
    assert script(
        """
import pickle
error = pickle.loads(pickle.dumps(ApiError("no", status=404, code="gone")))
print(error, error.status, error.code)
"""
    ) == ["404: no 404 gone"]


def test_a_misspelled_field_or_option_is_sent_nowhere(script: Script) -> None:
    assert script(
        HEAD
        + """
ask = {"model": "m", "messages": []}
def misspelled(client):
    return client.create_chat_completion(**ask, tempreature=1)
def secret(client):
    return client.create_chat_completion_stream(**ask, extra_header={"Authorization": "Bearer secret"})
with Scripted() as server:
    server.says(Answer("{}"))
    for use in (misspelled, secret, lambda client: client.create_chat_completion(**ask, bogus=1)):
        try:
            list(outcomes(server.url, use))
        except TypeError as error:
            print(error, len(server.asked))
"""
    ) == [
        "tempreature is no field of the request; did you mean temperature? 0",
        "extra_header is no field of the request; did you mean extra_headers? 0",
        "bogus is no field of the request; extra_body sends it 0",
    ]
