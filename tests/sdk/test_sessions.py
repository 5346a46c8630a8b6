"""Sessions of the Python client: WebSockets, against our server and against one with faults."""

from collections.abc import Callable, Iterator

import pytest
from support.serving_here import ServerHere, serving_here

from specvino.sdk.document import document_of, for_requests, methods

Script = Callable[..., list[str]]

KEY = "sk-session"
HEAD = f"""
import asyncio
from specvino_client import ConnectionFailed, InvalidAnswer, TimedOut
KEY = {KEY!r}
def text(response):
    return "".join(part.text for item in response.output for part in item.content)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ServerHere]:
    options = ("--engine", "scripted", "--served-model-name", "m")
    with serving_here(*options, env={"SPECVINO_API_KEY": KEY}) as server:
        yield server


def test_turns(script: Script, server: ServerHere) -> None:
    """Responses that aren't stored continue each other; a refused request doesn't end the session."""
    assert script(
        HEAD
        + """
with Client(URL, api_key=KEY) as client, client.create_response_session() as session:
    events = list(session.send(model="m", input="hello", store=False))
    print(events[0].type, events[-1].type, {type(event).__name__ for event in events} >= {"ResponseTextDeltaEvent"})
    first = events[-1].response
    *_, last = session.send(model="m", input="again", store=False, previous_response_id=first.id)
    print(last.response.previous_response_id == first.id)
    print(last.response.usage.input_tokens > first.usage.input_tokens)
    try:
        list(session.send(model="m", input="hi", temperature=9))
    except ApiError as error:
        print(error.status, error.param, error.code)
    *_, warm = session.send(model="m", input="hello", generate=False, store=False)
    print(warm.response.output, warm.response.status)
    *_, last = session.send(model="m", input="hi", previous_response_id=warm.response.id)
    print(text(last.response) != "")
""",
        server.url,
    ) == [
        "response.created response.completed True",
        "True",
        "True",
        "400 temperature decimal_above_max_value",
        "[] completed",
        "True",
    ]


def test_the_same_without_waiting(script: Script, server: ServerHere) -> None:
    """Lanes are read by tasks of their own."""
    assert script(
        HEAD
        + """
async def ask(session, lane):
    return [event async for event in session.send(model="m", input=f"hello {lane}", stream_id=lane, temperature=0)]
async def main():
    async with AsyncClient(URL, api_key=KEY) as client, client.create_response_session() as session:
        lanes = [str(number) for number in range(8)]
        for lane, events in zip(lanes, await asyncio.gather(*(ask(session, lane) for lane in lanes))):
            own = {event.model_extra["stream_id"] for event in events}
            print(own == {lane}, text(events[-1].response) == f"hello {lane}")
        try:
            await ask(session, "")
        except ApiError as error:
            print(error.status, error.param)
asyncio.run(main())
""",
        server.url,
    ) == ["True True"] * 8 + ["400 stream_id"]


def test_lanes_in_threads(script: Script, server: ServerHere) -> None:
    assert script(
        HEAD
        + """
from concurrent.futures import ThreadPoolExecutor
def ask(lane):
    *_, last = session.send(model="m", input=f"hello {lane}", stream_id=lane, temperature=0)
    return text(last.response) == f"hello {lane}"
with Client(URL, api_key=KEY) as client, client.create_response_session() as session, ThreadPoolExecutor(8) as pool:
    print(*pool.map(ask, map(str, range(16))))
""",
        server.url,
    ) == [" ".join(["True"] * 16)]


def test_an_answer_that_is_left(script: Script, server: ServerHere) -> None:
    """Its other events aren't those of the next one; and two that are read in turn don't mix."""
    assert script(
        HEAD
        + """
with Client(URL, api_key=KEY) as client, client.create_response_session() as session:
    left = session.send(model="m", input="left")
    next(left)
    left.close()
    *_, last = session.send(model="m", input="read")
    print(text(last.response))
    one, two = (session.send(model="m", input=name, stream_id=name) for name in ("one", "two"))
    next(one), next(two)
    *_, first = one
    *_, second = two
    print(text(first.response), text(second.response))
""",
        server.url,
    ) == ["read", "one two"]


def test_what_keeps_a_session_from_opening(script: Script, server: ServerHere) -> None:
    lines = script(
        HEAD
        + """
def opened(url, **options):
    with Client(url, **options) as client:
        try:
            with client.create_response_session():
                return "open"
        except (ApiError, ConnectionFailed) as error:
            return type(error).__name__, getattr(error, "status", None), getattr(error, "code", None)
async def opened_later(url, **options):
    async with AsyncClient(url, **options) as client:
        try:
            async with client.create_response_session():
                return "open"
        except (ApiError, ConnectionFailed) as error:
            return type(error).__name__, getattr(error, "status", None), getattr(error, "code", None)
for url, options in ((URL, {}), (URL + "/x", {"api_key": KEY}), ("http://127.0.0.1:9/v1", {}), (URL, {"api_key": KEY})):
    print(opened(url, **options))
    print(asyncio.run(opened_later(url, **options)))
""",
        server.url,
    )
    refused = ["('AuthenticationError', 401, 'invalid_api_key')", "('NotFoundError', 404, 'not_found')"]
    expected = [*refused, "('ConnectionFailed', None, None)", "open"]
    assert lines == [copy for line in expected for copy in (line, line)]


# One use of both clients, on a server with planted faults.
FAULTS = (
    HEAD
    + """
import json
from talking import Talking
def sent(url, **options):
    came = []
    try:
        with Client(url, **options) as client, client.create_response_session() as session:
            for event in session.send(model="m", input="hi"):
                came.append(event.type)
    except (ApiError, ConnectionFailed, InvalidAnswer) as error:
        came.append(f"{type(error).__name__}: {error}"[:100])
    return came
def sent_later(url, **options):
    came = []
    async def main():
        try:
            async with AsyncClient(url, **options) as client, client.create_response_session() as session:
                async for event in session.send(model="m", input="hi"):
                    came.append(event.type)
        except (ApiError, ConnectionFailed, InvalidAnswer) as error:
            came.append(f"{type(error).__name__}: {error}"[:100])
    asyncio.run(main())
    return came
def error(status, **error):
    return json.dumps({"type": "error", "status": status, "error": {"message": "no", **error}})
def tried(*said, **options):
    for use in (sent, sent_later):
        with Talking(*said) as server:
            print(use(server.url, **options), len(server.asked))
done = json.dumps({"type": "response.unknown"})
"""
)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("[error(418, code='teapot')]", "['ApiError: 418: no'] 1"),
        ("[1011]", "['ConnectionFailed: the connection was closed before the answer was complete: 1011 over'] 1"),
        ("['rubbish']", "['InvalidAnswer: an event is not JSON: Expecting value: line 1 column 1 (char 0)'] 1"),
        ("[done, error(500)]", "['response.unknown', 'InternalServerError: 500: no'] 1"),
        ("[error(503, headers={'Retry-After': '0'})], [error(418)]", "['ApiError: 418: no'] 2"),
        ("[error(503, headers={'Retry-After': '0'})]", "['InternalServerError: 503: no'] 3"),
        (
            "[done, error(503, headers={'Retry-After': '0'})], [error(418)]",
            "['response.unknown', 'InternalServerError: 503: no'] 1",
        ),
        ("[error(429, headers={'Retry-After': '999'})]", "['RateLimitError: 429: no'] 1"),
    ],
    ids=["error", "closed", "nonsense", "late error", "busy", "stays busy", "busy too late", "busy for long"],
)
def test_faults(script: Script, fault: str, expected: str) -> None:
    assert script(f"{FAULTS}tried({fault})\n") == [expected] * 2


def test_a_server_that_takes_too_long(script: Script) -> None:
    expected = "['TimedOut: the server took too long to send an event'] 1"
    assert script(f"{FAULTS}tried([], timeout=0.5)\n") == [expected] * 2


def test_what_is_sent(script: Script) -> None:
    """A request has its type, and the handshake the key and the client's name."""
    assert (
        script(
            FAULTS
            + """
for use in (sent, sent_later):
    with Talking([error(418)]) as server:
        use(server.url, api_key="secret")
        print(server.asked[0])
        print(server.headers["authorization"], server.headers.get_all("user-agent"))
"""
        )
        == ['{"model": "m", "input": "hi", "type": "response.create"}', "Bearer secret ['specvino-client/0.1.0']"] * 2
    )


def test_a_message_has_the_fields_of_the_body_but_those_that_a_connection_decides() -> None:
    document = for_requests(document_of(None))
    schemas = document["components"]["schemas"]
    body, message = (set(schemas[name]["properties"]) for name in ("CreateResponseRequest", "CreateResponseMessage"))
    assert message - body == {"generate", "stream_id"}
    assert body - message == {"background"}
    assert schemas["CreateResponseMessage"]["required"] == ["model", "input"]


def test_who_has_sessions() -> None:
    def operations_with_sessions(dialect: str | None) -> list[str]:
        return [method.id for method in methods(document_of(dialect)) if method.socket]

    assert operations_with_sessions(None) == operations_with_sessions("openai") == ["create_response"]
    assert operations_with_sessions("vllm") == []


def test_a_redirect_is_not_followed(script: Script) -> None:
    assert script(
        """
import asyncio
from scripted import Answer, Scripted, _Handler
from specvino_client import ApiError, AsyncClient, Client
_Handler.protocol_version = "HTTP/1.1"  # as a handshake requires
async def later(url):
    async with AsyncClient(url, api_key="secret") as client:
        async with client.create_response_session():
            pass
def now(url):
    with Client(url, api_key="secret") as client, client.create_response_session():
        pass
for ask in (lambda url: asyncio.run(later(url)), now):
    with Scripted() as server, Scripted() as other:
        server.says(Answer("", status=307, headers={"location": other.url.replace("http", "ws") + "/responses"}))
        other.says(Answer("", status=400))
        try:
            ask(server.url)
        except ApiError as error:
            print(error.status, "isn't followed" in str(error), len(other.asked))
"""
    ) == ["307 True 0", "307 True 0"]
