"""Checks of API keys, CORS headers and request ids."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from specvino.conformance.case_checks.capabilities import ORIGIN
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.shapes import ERRORS_OUTSIDE, is_undocumented
from specvino.conformance.session.session import HELLO, Session, require_answer
from specvino.conformance.session.steps import expect, send_step
from specvino.conformance.verdict import Failed, NotExercised

PATH = "/chat/completions"

# HTTP's status for a method that the server doesn't know.
NOT_IMPLEMENTED = 501


async def wrong_key_refused(session: Session, endpoint: str, *, authorization: str = "", stream: bool = False) -> None:
    """A request without the right key is refused, and the error doesn't contain a wrong key, since errors are
    logged."""
    body = {"model": session.model, **HELLO, **({"stream": True} if stream else {})}
    headers, key = wrong_credentials(session, authorization)
    exchange = await session.raw("POST", PATH, body=body, key=False, headers=headers)
    require_key_refused(session, "chat", exchange, key)


def wrong_credentials(session: Session, authorization: str) -> tuple[dict[str, str], str]:
    """Returns the headers for a wrong `Authorization`, in the header that the run sends keys in, and the key in it."""
    scheme, _, key = authorization.partition(" ")
    if authorization and session.client.target.key_header:
        if scheme != "Bearer" or not key:
            _require_scheme(session)
        return session.client.target.credentials(key), key
    return {"authorization": authorization}, key


def require_key_refused(session: Session, endpoint: str, exchange: Exchange, key: str) -> None:
    """Raises Failed unless the request is refused, without the key in the error."""
    expect(exchange, {"refused": "key"}, session.dialect, endpoint)
    if key and key.encode() in exchange.content:
        raise Failed("the error contains the key", exchange)


async def unauthorized_names_scheme(session: Session, endpoint: str) -> None:
    """A 401 has WWW-Authenticate with the scheme."""
    _require_scheme(session)
    exchange = await session.raw("POST", PATH, body={"model": session.model, **HELLO}, key=False)
    if exchange.status == 401 and "bearer" not in exchange.headers.get("www-authenticate", "").lower():
        raise Failed("the WWW-Authenticate header of the 401 doesn't name the scheme Bearer", exchange)


async def auth_scheme_accepted(session: Session, endpoint: str, *, scheme: str) -> None:
    """The right key is accepted with this spelling of the scheme."""
    _require_scheme(session)
    headers = {"authorization": f"{scheme} {session.client.target.key}"}
    require_answer(await session.raw("POST", PATH, body={"model": session.model, **HELLO}, key=False, headers=headers))


async def head_matches_get(session: Session, endpoint: str, *, path: str) -> None:
    """HEAD returns the status and media type of GET, or is refused; it is no server error."""
    get, head = await session.raw("GET", path), await session.raw("HEAD", path, for_rules=False)
    if head.status is None or (head.status >= 500 and head.status != NOT_IMPLEMENTED):
        raise Failed(f"GET returns {get.status}, but HEAD {head.status or head.problem}", get, head)
    if head.ok and (head.status, head.media) != (get.status, get.media):
        raise Failed(f"GET returns {get.status} {get.media}, but HEAD {head.status} {head.media}", get, head)


def _require_scheme(session: Session) -> None:
    if session.client.target.key_header:
        raise NotExercised(f"the key is sent in {session.client.target.key_header}, which has no scheme")


async def allow_names_method(session: Session, endpoint: str, *, method: str, path: str, named: str) -> None:
    """The Allow header of a 405 has the path's method. Another case checks the 405 itself."""
    exchange = await session.raw(method, path, content=b"{}")
    if exchange.status != 405:
        raise NotExercised(f"a wrong method returns {exchange.status or exchange.ended}")
    methods = [name.strip() for name in exchange.headers.get("allow", "").split(",")]
    if named not in methods:
        raise Failed(f"the Allow header of the 405 is {exchange.headers.get('allow')!r}, without {named}", exchange)


async def streams_with_headers(
    session: Session, endpoint: str, *, to: str, body: Mapping[str, Any], headers: Mapping[str, str]
) -> None:
    """A request that streams without these request headers also streams with them."""
    exchange = await session.answered(to, body, headers=headers)
    if exchange.is_stream:
        return
    plain = await session.answered(to, body)
    if not plain.is_stream:
        raise NotExercised("without these headers the answer isn't a stream either")
    raise Failed(f"with {dict(headers)} the answer is {exchange.media or 'of no media type'}", exchange, plain)


async def errors_have_json_type(session: Session, endpoint: str, *, requests: Sequence[Mapping[str, Any]]) -> None:
    """Refusals of these requests have a JSON content type, which is advice for paths and methods that the document
    doesn't have. Other cases check that they are refused, and rules for all answers that they have a body."""
    refusals = [
        exchange
        for exchange in [await send_step(session, endpoint, {"raw": raw}) for raw in requests]
        if not exchange.ok and (exchange.content or exchange.status is None)
    ]
    if not refusals:
        raise NotExercised("none of the requests is refused with a body")
    declared = {"status": ["4xx"], "headers": {"content-type": {"pattern": "^application/json"}}}
    for refusal in sorted(refusals, key=partial(is_undocumented, session.dialect)):
        try:
            expect(refusal, declared, session.dialect, endpoint)
        except Failed as failed:
            outside = is_undocumented(session.dialect, refusal) and refusal.status is not None
            raise Failed(str(failed), refusal, advice=ERRORS_OUTSIDE if outside else None) from None


async def cors_preflight(session: Session, endpoint: str, *, headers: list[str]) -> None:
    """The CORS preflight request, which has no key, allows these headers."""
    request_headers = {
        "origin": ORIGIN,
        "access-control-request-method": "POST",
        "access-control-request-headers": ",".join(sorted(headers)),
    }
    exchange = await session.raw("OPTIONS", PATH, headers=request_headers, key=False, for_rules=False)
    if exchange.status is None or not 200 <= exchange.status < 300:
        raise Failed(f"the preflight returns {exchange.status or exchange.ended}, not a 2xx", exchange)
    _require_allowed(exchange)
    # By the Fetch standard, * doesn't cover Authorization, but browsers accept it.
    allowed = exchange.headers.get("access-control-allow-headers", "").lower()
    named = [name.strip() for name in allowed.split(",")]
    if "*" not in named and (missing := [name for name in headers if name not in named]):
        raise Failed(f"the preflight doesn't allow the header {missing[0]}", exchange)


async def cors_on_all_answers(session: Session, endpoint: str, *, requests: Mapping[str, Mapping[str, Any]]) -> None:
    """Answers to these bodies, including errors, may be read by pages of another origin."""
    for body in requests.values():
        exchange = await session.send("chat", body, headers={"origin": ORIGIN})
        _require_allowed(exchange)


async def request_ids_unique(session: Session, endpoint: str, *, requests: Mapping[str, Mapping[str, Any]]) -> None:
    """Each answer has its own X-Request-Id."""
    seen: dict[str, Exchange] = {}
    for body in requests.values():
        exchange = await session.send("chat", body)
        id = exchange.headers.get("x-request-id")
        if not id:
            raise Failed(f"GET /models has X-Request-Id, but {exchange} doesn't", exchange)
        if id in seen:
            raise Failed(f"two answers have the id {id!r}", seen[id], exchange)
        seen[id] = exchange


def _require_allowed(exchange: Exchange) -> None:
    allowed = exchange.headers.get("access-control-allow-origin")
    if allowed not in ("*", ORIGIN):
        raise Failed(f"pages at {ORIGIN} can't read the answer: Access-Control-Allow-Origin is {allowed!r}", exchange)
