"""Headers: API keys, web pages of another origin, request ids."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.checks.capabilities import ORIGIN
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import HELLO, Session, require_answer
from specvino.conformance.session.steps import expect, send_step
from specvino.conformance.verdict import Failed, NotExercised

PATH = "/chat/completions"

# What HTTP has for a method that the server doesn't know.
NOT_IMPLEMENTED = 501


async def key_refused(session: Session, endpoint: str, *, authorization: str = "", stream: bool = False) -> None:
    """A request without the right key is refused; HTTP requires that the answer names the scheme. No error
    repeats a wrong key, since errors get into logs."""
    body = {"model": session.model, **HELLO, **({"stream": True} if stream else {})}
    scheme, _, given = authorization.partition(" ")
    headers = {"authorization": authorization}
    if authorization and session.client.target.key_header:
        if scheme != "Bearer" or not given:
            _require_scheme(session)
        headers = session.client.target.credentials(given)
    exchange = await session.raw("POST", PATH, body=body, key=False, headers=headers)
    expect(exchange, {"refused": "key"}, session.dialect, "chat")
    if given and given.encode() in exchange.content:
        raise Failed("the error repeats the whole key", exchange)


async def challenged(session: Session, endpoint: str) -> None:
    """A 401 names the scheme."""
    _require_scheme(session)
    exchange = await session.raw("POST", PATH, body={"model": session.model, **HELLO}, key=False)
    if exchange.status == 401 and "bearer" not in exchange.headers.get("www-authenticate", "").lower():
        raise Failed("a 401 has no header WWW-Authenticate that names the scheme Bearer", exchange)


async def key_taken(session: Session, endpoint: str, *, scheme: str) -> None:
    """The right key is accepted with the scheme's name in this spelling."""
    _require_scheme(session)
    headers = {"authorization": f"{scheme} {session.client.target.key}"}
    require_answer(await session.raw("POST", PATH, body={"model": session.model, **HELLO}, key=False, headers=headers))


async def head(session: Session, endpoint: str, *, path: str) -> None:
    """HEAD has the status and the media type of GET, or is refused; it is no server error."""
    whole, head = await session.raw("GET", path), await session.raw("HEAD", path, for_rules=False)
    if head.status is None or (head.status >= 500 and head.status != NOT_IMPLEMENTED):
        raise Failed(f"GET is answered with {whole.status}, and HEAD with {head.status or head.problem}", whole, head)
    if head.ok and (head.status, head.media) != (whole.status, whole.media):
        told = f"{whole.status} {whole.media}", f"{head.status} {head.media}"
        raise Failed(f"GET is answered with {told[0]}, and HEAD with {told[1]}", whole, head)


def _require_scheme(session: Session) -> None:
    if session.client.target.key_header:
        raise NotExercised(f"the key goes in the header {session.client.target.key_header}, which has no scheme")


async def methods_named(session: Session, endpoint: str, *, method: str, path: str, named: str) -> None:
    """A 405 names the method of the path. Another case tests that it is a 405."""
    exchange = await session.raw(method, path, content=b"{}")
    if exchange.status != 405:
        raise NotExercised(f"a wrong method is answered {exchange.status or exchange.ended}")
    methods = [name.strip() for name in exchange.headers.get("allow", "").split(",")]
    if named not in methods:
        raise Failed(f"a 405 has the header Allow {exchange.headers.get('allow')!r}, without {named}", exchange)


async def streams_alike(
    session: Session, endpoint: str, *, to: str, body: Mapping[str, Any], headers: Mapping[str, str]
) -> None:
    """A stream that comes without these request headers comes with them, too."""
    exchange = await session.answered(to, body, headers=headers)
    if exchange.is_stream:
        return
    plain = await session.answered(to, body)
    if not plain.is_stream:
        raise NotExercised(f"without these headers the answer is {plain.media or 'of no media type'}, too")
    raise Failed(f"with {dict(headers)} the answer is {exchange.media or 'of no media type'}", exchange, plain)


async def errors_declared(session: Session, endpoint: str, *, requests: Sequence[Mapping[str, Any]]) -> None:
    """Refusals of these requests, which are steps, have a JSON content type. Other cases test that they are refused."""
    refusals = [
        exchange
        for exchange in [await send_step(session, endpoint, {"raw": raw}) for raw in requests]
        if not exchange.ok
    ]
    if not refusals:
        raise NotExercised("none of the requests is refused")
    for refusal in refusals:
        declared = {"status": ["4xx"], "headers": {"content-type": {"pattern": "^application/json"}}}
        expect(refusal, declared, session.dialect, endpoint)


async def preflight(session: Session, endpoint: str, *, headers: list[str]) -> None:
    """A page may send these headers: the preflight request, which has no key, is answered so."""
    asked = {
        "origin": ORIGIN,
        "access-control-request-method": "POST",
        "access-control-request-headers": ",".join(sorted(headers)),
    }
    exchange = await session.raw("OPTIONS", PATH, headers=asked, key=False, for_rules=False)
    if exchange.status is None or not 200 <= exchange.status < 300:
        raise Failed(f"the preflight is answered with {exchange.status or exchange.ended}, not with a 2xx", exchange)
    _require_allowed(exchange)
    # By the Fetch standard a star doesn't mean Authorization, but browsers let it pass.
    allowed = exchange.headers.get("access-control-allow-headers", "").lower()
    named = [name.strip() for name in allowed.split(",")]
    if "*" not in named and (missing := [name for name in headers if name not in named]):
        raise Failed(f"the preflight doesn't allow the header {missing[0]}", exchange)


async def cors_everywhere(session: Session, endpoint: str, *, requests: Mapping[str, Mapping[str, Any]]) -> None:
    """A page may read the answer to each of these bodies, also an error."""
    for body in requests.values():
        exchange = await session.send("chat", body, headers={"origin": ORIGIN})
        _require_allowed(exchange)


async def request_ids(session: Session, endpoint: str, *, requests: Mapping[str, Mapping[str, Any]]) -> None:
    """Each of these bodies is answered with an id of its own."""
    seen: dict[str, Exchange] = {}
    for body in requests.values():
        exchange = await session.send("chat", body)
        id = exchange.headers.get("x-request-id")
        if not id:
            raise Failed(f"GET /models is answered with X-Request-Id, {exchange} isn't", exchange)
        if id in seen:
            raise Failed(f"two requests have the id {id!r}", seen[id], exchange)
        seen[id] = exchange


def _require_allowed(exchange: Exchange) -> None:
    allowed = exchange.headers.get("access-control-allow-origin")
    if allowed not in ("*", ORIGIN):
        raise Failed(
            f"a page at {ORIGIN} may not read the answer: Access-Control-Allow-Origin is {allowed!r}", exchange
        )
