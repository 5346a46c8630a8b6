"""Capabilities that one request alone can't show: of the transport, and of stored responses."""

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import HELLO, UNSUPPORTED, Session, require_answer
from specvino.conformance.session.steps import counted
from specvino.conformance.session.stored_responses import (
    LONG_INPUT,
    SHORT,
    UNDER_WAY,
    delete,
    id_of,
    input_items,
    made,
    read,
    read_events,
)
from specvino.conformance.verdict import Advice, Failed, Refused

# The origin of a web page whose requests any server with CORS allows.
ORIGIN = "http://localhost:3000"

KEYS_ARE_CHECKED = Advice(
    "Whoever gives the suite a key expects the server to be closed to clients without one.",
    "/components/securitySchemes/BearerAuth",
)


async def lists_models(session: Session, endpoint: str) -> None:
    """Raises Failed without a list of models, which isn't optional."""
    exchange = await session.send("models")
    if exchange.status == 404:
        raise Failed("GET /models is 404: there is no list of models", exchange)
    require_answer(exchange)


async def requires_key(session: Session, endpoint: str) -> None:
    """Raises Failed if the server answers without a key. Some systems list their models to everybody, so the request
    is one for a conversation."""
    exchange = await session.raw("POST", "/chat/completions", body={"model": session.model, **HELLO}, key=False)
    if exchange.ok:
        raise Failed("a key was given, but the server answers without one", exchange, advice=KEYS_ARE_CHECKED)
    known = session.dialect.statuses("key", "chat") or ()
    if exchange.status is None or (exchange.status >= 500 and exchange.status not in known):
        raise Failed(f"a request without a key is neither answered nor refused: {exchange}", exchange)


async def allows_cors(session: Session, endpoint: str) -> None:
    """Raises Refused if web pages of another origin may not use the server, Failed for a wrong header."""
    plain = await session.raw("GET", "/models", headers={"origin": ORIGIN})
    headers = {"origin": ORIGIN, "access-control-request-method": "POST"}
    preflight = await session.raw("OPTIONS", "/chat/completions", headers=headers, key=False, for_rules=False)
    allowed = [exchange.headers.get("access-control-allow-origin", "") for exchange in (plain, preflight)]
    if not any(allowed):
        raise Refused(f"neither GET /models nor OPTIONS ({preflight.status}) is answered with an allowed origin")
    if several := [origin for origin in allowed if "," in origin]:
        raise Failed(f"Access-Control-Allow-Origin may name one origin only, but is {several[0]!r}", plain, preflight)


async def sends_request_id(session: Session, endpoint: str) -> None:
    """Raises Refused unless answers have an id by which a server's log can be searched."""
    exchange = await session.raw("GET", "/models")
    if "x-request-id" not in exchange.headers:
        raise Refused("GET /models is answered without X-Request-Id")
    if not exchange.headers["x-request-id"].strip():
        raise Failed("X-Request-Id is empty", exchange)


async def keeps_responses(session: Session, endpoint: str) -> None:
    """Raises Refused if the server says that it stores no responses, Failed if only reading one shows it."""
    first = await session.send("responses", {"input": "Say hello.", "max_output_tokens": SHORT, "store": True})
    _refused(first)
    require_answer(first)
    again = await read(session, id_of(first))
    if again.status in UNSUPPORTED and first.answer.get("store") is False:
        raise Refused("the server says that it stored nothing: store is false in its answer")
    if again.status != 200:
        raise Failed(f"the server takes store without effect: reading the response is answered {again.status}", again)


async def continues_responses(session: Session, endpoint: str) -> None:
    """Raises Refused or Failed if previous_response_id doesn't bring the earlier turns back."""
    first = await made(session, {"input": LONG_INPUT})
    body = {"input": "Say hello.", "previous_response_id": id_of(first), "max_output_tokens": SHORT}
    second = await session.send("responses", body)
    _refused(second)
    require_answer(second)
    with_first, alone = counted(second, "input_tokens"), counted(first, "input_tokens")
    if with_first <= alone:
        raise Failed(
            f"the server takes previous_response_id without effect: {with_first} tokens of input, where the earlier"
            f" turn alone had {alone}",
            first,
            second,
        )


async def deletes_responses(session: Session, endpoint: str) -> None:
    """Raises Refused or Failed if a stored response can't be deleted."""
    _answered(await delete(session, id_of(await made(session, {"input": "Say hello."}))))


async def lists_input_items(session: Session, endpoint: str) -> None:
    """Raises Refused or Failed if the input items of a stored response can't be listed."""
    _answered(await input_items(session, id_of(await made(session, {"input": "Say hello."}))))


async def answers_in_background(session: Session, endpoint: str) -> None:
    """Raises Refused or Failed if background doesn't answer at once."""
    exchange = await session.send(
        "responses", {"input": "Say hello.", "max_output_tokens": SHORT, "store": True, "background": True}
    )
    _answered(exchange)
    shown = exchange.answer.get("background")
    if shown is not True and exchange.answer.get("status") not in UNDER_WAY:
        raise Failed(f"the server takes background without effect: it is {shown!r} in the answer", exchange)


async def resumes_streams(session: Session, endpoint: str) -> None:
    """Raises Refused or Failed if the events of a background stream can't be read again."""
    operation = session.dialect.operations["response"]
    if not any(parameter["name"] == "stream" for parameter in operation.parameters):
        raise Refused(f"{session.dialect.name} doesn't stream stored responses")
    first = await made(session, {"input": "Say hello.", "background": True, "stream": True})
    again = await read_events(session, id_of(first))
    _answered(again)
    if not again.is_stream:
        raise Failed(f"the server takes stream without effect: the answer is {again.media}", again)


def _refused(exchange: Exchange) -> None:
    """Raises Refused if the answer is a proper refusal."""
    if exchange.status in UNSUPPORTED and exchange.content:
        message = exchange.error.get("message") or exchange.content.decode("utf-8", "replace")
        raise Refused(f"the server answers {exchange.status}: {str(message)[:160]}")


def _answered(exchange: Exchange) -> None:
    _refused(exchange)
    require_answer(exchange)
