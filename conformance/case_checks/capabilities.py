"""Probes of capabilities that one request can't show: of the transport, and of stored responses."""

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import HELLO, UNSUPPORTED, Session, require_answer
from specvino.conformance.session.steps import counted
from specvino.conformance.session.stored_responses import (
    LONG_INPUT,
    SHORT,
    UNDER_WAY,
    create,
    create_conversation,
    delete,
    id_of,
    input_items,
    read,
    read_events,
)
from specvino.conformance.verdict import Advice, Failed, Refused

# An origin that servers with CORS usually allow.
ORIGIN = "http://localhost:3000"

KEYS_ARE_CHECKED = Advice(
    "A run with a key expects the server to refuse clients without one.",
    "/components/securitySchemes/BearerAuth",
)


async def lists_models(session: Session, endpoint: str) -> None:
    """Raises Failed without a list of models, which isn't optional."""
    exchange = await session.send("models")
    if exchange.status == 404:
        raise Failed("GET /models returns 404: there is no list of models", exchange)
    require_answer(exchange)


async def requires_key(session: Session, endpoint: str) -> None:
    """Raises Failed if the server answers a chat request without a key. Some systems list models without one."""
    exchange = await session.raw("POST", "/chat/completions", body={"model": session.model, **HELLO}, key=False)
    if exchange.ok:
        raise Failed("the server answers without a key", exchange, advice=KEYS_ARE_CHECKED)
    statuses = session.dialect.statuses("key", "chat") or ()
    if exchange.status is None or (exchange.status >= 500 and exchange.status not in statuses):
        raise Failed(f"a request without a key is neither answered nor refused: {exchange}", exchange)


async def allows_cors(session: Session, endpoint: str) -> None:
    """Raises Refused if pages of another origin can't use the server, Failed for an invalid header."""
    plain = await session.raw("GET", "/models", headers={"origin": ORIGIN})
    headers = {"origin": ORIGIN, "access-control-request-method": "POST"}
    preflight = await session.raw("OPTIONS", "/chat/completions", headers=headers, key=False, for_rules=False)
    allowed = [exchange.headers.get("access-control-allow-origin", "") for exchange in (plain, preflight)]
    if not any(allowed):
        raise Refused(f"neither GET /models nor OPTIONS ({preflight.status}) returns Access-Control-Allow-Origin")
    if several := [origin for origin in allowed if "," in origin]:
        raise Failed(f"Access-Control-Allow-Origin must be one origin, but is {several[0]!r}", plain, preflight)


async def sends_request_id(session: Session, endpoint: str) -> None:
    """Raises Refused if answers have no X-Request-Id."""
    exchange = await session.raw("GET", "/models")
    if "x-request-id" not in exchange.headers:
        raise Refused("GET /models has no X-Request-Id")
    if not exchange.headers["x-request-id"].strip():
        raise Failed("X-Request-Id is empty", exchange)


async def keeps_responses(session: Session, endpoint: str) -> None:
    """Raises Refused if the server states that it doesn't store responses, Failed if only reading one shows it."""
    first = await session.send("responses", {"input": "Say hello.", "max_output_tokens": SHORT, "store": True})
    _refused(first)
    require_answer(first)
    again = await read(session, id_of(first))
    if again.status in UNSUPPORTED and first.answer.get("store") is False:
        raise Refused("store is false in the answer")
    if again.status != 200:
        raise Failed(f"store has no effect: reading the response returns {again.status}", again)


async def keeps_conversations(session: Session, endpoint: str) -> None:
    """Raises Refused if the server refuses to create a conversation, Failed if only reading one shows it."""
    first = await create_conversation(session, [])
    _refused(first)
    require_answer(first)
    again = await session.raw("GET", f"/conversations/{id_of(first)}", endpoint="conversation")
    if again.status != 200:
        raise Failed(f"a conversation was created, but reading it returns {again.status}", again)


async def continues_responses(session: Session, endpoint: str) -> None:
    """Raises Refused or Failed if previous_response_id doesn't include the earlier turns."""
    first = await create(session, {"input": LONG_INPUT})
    body = {"input": "Say hello.", "previous_response_id": id_of(first), "max_output_tokens": SHORT}
    second = await session.send("responses", body)
    _refused(second)
    require_answer(second)
    continued, first_turn = counted(second, "input_tokens"), counted(first, "input_tokens")
    if continued <= first_turn:
        raise Failed(
            f"previous_response_id has no effect: input_tokens is {continued}, but {first_turn} for the earlier turn",
            first,
            second,
        )


async def deletes_responses(session: Session, endpoint: str) -> None:
    """Raises Refused or Failed if a stored response can't be deleted."""
    _require_supported(await delete(session, id_of(await create(session, {"input": "Say hello."}))))


async def lists_input_items(session: Session, endpoint: str) -> None:
    """Raises Refused or Failed if the input items of a stored response can't be listed."""
    _require_supported(await input_items(session, id_of(await create(session, {"input": "Say hello."}))))


async def answers_in_background(session: Session, endpoint: str) -> None:
    """Raises Refused or Failed if a background response isn't returned immediately."""
    exchange = await session.send(
        "responses", {"input": "Say hello.", "max_output_tokens": SHORT, "store": True, "background": True}
    )
    _require_supported(exchange)
    shown = exchange.answer.get("background")
    if shown is not True and exchange.answer.get("status") not in UNDER_WAY:
        raise Failed(f"background has no effect: it is {shown!r} in the answer", exchange)


async def resumes_streams(session: Session, endpoint: str) -> None:
    """Raises Refused or Failed if the events of a background stream can't be read again."""
    operation = session.dialect.operations["response"]
    if not any(parameter["name"] == "stream" for parameter in operation.parameters):
        raise Refused(f"{session.dialect.name} doesn't stream stored responses")
    first = await create(session, {"input": "Say hello.", "background": True, "stream": True})
    again = await read_events(session, id_of(first))
    _require_supported(again)
    if not again.is_stream:
        raise Failed(f"stream has no effect: the answer is {again.media}", again)


def _refused(exchange: Exchange) -> None:
    """Raises Refused if the server refuses the request with a proper error."""
    if exchange.status in UNSUPPORTED and exchange.content:
        message = exchange.error.get("message") or exchange.content.decode("utf-8", "replace")
        raise Refused(f"the server answers {exchange.status}: {str(message)[:160]}")


def _require_supported(exchange: Exchange) -> None:
    _refused(exchange)
    require_answer(exchange)
