"""Probes for what the transport of a server may be without."""

from specvino.conformance.session import Session
from specvino.conformance.verdict import Refused

ORIGIN = "http://localhost:3000"
"""Where a web page may come from whose requests any server that knows CORS lets in."""

SAID = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 1}


async def auth(session: Session) -> None:
    """Whether a key is needed. The list of models is open in some systems, so a conversation is asked for."""
    exchange = await session.raw("POST", "/chat/completions", body={"model": session.model, **SAID}, key=False)
    if exchange.ok:
        raise Refused("the server answers without a key")


async def cors(session: Session) -> None:
    """Whether web pages of another origin may use the server."""
    plain = await session.raw("GET", "/models", headers={"origin": ORIGIN})
    asked = {"origin": ORIGIN, "access-control-request-method": "POST"}
    preflight = await session.raw("OPTIONS", "/chat/completions", headers=asked, key=False, judged=False)
    if not any("access-control-allow-origin" in exchange.headers for exchange in (plain, preflight)):
        raise Refused(f"neither GET /models nor OPTIONS ({preflight.status}) is answered with an allowed origin")


async def request_id(session: Session) -> None:
    """Whether answers have an id by which a server's log can be searched."""
    exchange = await session.raw("GET", "/models")
    if not exchange.headers.get("x-request-id"):
        raise Refused("GET /models is answered without X-Request-Id")
