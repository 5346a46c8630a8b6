"""Probes for what the transport of a server may be without."""

from specvino.conformance.cases.session import Session, require_answer
from specvino.conformance.verdict import Advice, Failed, Refused

# Where a web page may come from whose requests any server that knows CORS lets in.
ORIGIN = "http://localhost:3000"

SAID = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 1}


KEYS_ARE_ASKED_FOR = Advice(
    "Who gives a key to the suite believes that the server is closed to those who have none.",
    "/components/securitySchemes/BearerAuth",
)


async def lists_models(session: Session) -> None:
    """Raises Failed where there is no list of models, which nobody may be without."""
    exchange = await session.send("models")
    if exchange.status == 404:
        raise Failed("GET /models is 404: there is no list of models", exchange)
    require_answer(exchange)


async def auth(session: Session) -> None:
    """Finds out whether a key is needed; raises Failed where it isn't. The list of models is open in some systems, so
    a conversation is asked for."""
    exchange = await session.raw("POST", "/chat/completions", body={"model": session.model, **SAID}, key=False)
    if exchange.ok:
        raise Failed("a key was given, but the server answers without one", exchange, advice=KEYS_ARE_ASKED_FOR)
    known = session.dialect.statuses("key", "chat") or ()
    if exchange.status is None or (exchange.status >= 500 and exchange.status not in known):
        raise Failed(f"a request without a key is neither answered nor refused: {exchange}", exchange)


async def cors(session: Session) -> None:
    """Finds out whether web pages of another origin may use the server. Raises Refused where they may not, Failed for a
    wrong header."""
    plain = await session.raw("GET", "/models", headers={"origin": ORIGIN})
    asked = {"origin": ORIGIN, "access-control-request-method": "POST"}
    preflight = await session.raw("OPTIONS", "/chat/completions", headers=asked, key=False, for_rules=False)
    allowed = [each.headers.get("access-control-allow-origin", "") for each in (plain, preflight)]
    if not any(allowed):
        raise Refused(f"neither GET /models nor OPTIONS ({preflight.status}) is answered with an allowed origin")
    if several := [each for each in allowed if "," in each]:
        raise Failed(f"Access-Control-Allow-Origin may name one origin only, but is {several[0]!r}", plain, preflight)


async def request_id(session: Session) -> None:
    """Raises Refused unless answers have an id by which a server's log can be searched."""
    exchange = await session.raw("GET", "/models")
    if "x-request-id" not in exchange.headers:
        raise Refused("GET /models is answered without X-Request-Id")
    if not exchange.headers["x-request-id"].strip():
        raise Failed("X-Request-Id is empty", exchange)
