"""Checks before a run: valid settings, a reachable server that accepts the key, and the model to use."""

import asyncio
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from specvino.conformance.dialect import Dialect
from specvino.conformance.endpoints import paths
from specvino.conformance.http.client import Client, full_url, tls
from specvino.conformance.http.exchange import Exchange, Request, Unreadable
from specvino.conformance.session.session import HELLO, Session

KEYLESS = (401, 403)

# Common base paths, to suggest one if the URL has none.
BASES = ("/v1", "/v3", "/openai/v1", "/api/v1")

LAST_PORT = 65_535

# Characters of header names (RFC 9110).
TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")

# Headers that the cases themselves control.
CASE_HEADERS = ("content-type", "content-length", "transfer-encoding", "connection", "accept", "origin")

# The statuses of a request that is invalid for this model; others, such as 429, may name a field, too.
INVALID = (400, 422)

# Seconds between two attempts while the server answers 503.
PAUSE = 1.0

# The largest number of model names in a message.
MAX_NAMES = 8


class CannotRun(Exception):
    """Raised if nothing can be tested; the message is one line."""


def checked_url(url: str) -> str:
    """Returns the base URL without a trailing slash. Raises CannotRun if it isn't valid."""
    try:
        parsed = httpx.URL(url)
        host, port = parsed.host, parsed.port or 0
    except (httpx.InvalidURL, UnicodeError) as error:  # the host name may be invalid
        raise CannotRun(f"{url!r} isn't a valid URL: {error}") from None
    if port > LAST_PORT:
        raise CannotRun(f"{url!r} isn't a valid URL: port {port} is above {LAST_PORT}")
    if parsed.scheme not in ("http", "https") or not host:
        raise CannotRun(f"{url!r} isn't the URL of a server: it must begin with http:// or https://")
    if parsed.userinfo:
        raise CannotRun("the URL contains a user name or password; use --api-key for the key")
    if parsed.query or parsed.fragment:
        raise CannotRun(f"{url!r} has a query or fragment; the base URL is the part before /chat/completions")
    return url.rstrip("/").removesuffix("/chat/completions")


def checked_key(key: str | None) -> str | None:
    """Returns the key without surrounding white space, or None if it's empty. Raises CannotRun, without showing the
    key, if a header can't contain it."""
    stripped = (key or "").strip()
    if not stripped.isascii() or any(not "!" <= character <= "~" for character in stripped):
        raise CannotRun("the key has characters that aren't allowed in a header")
    return stripped or None


def checked_key_header(name: str | None, key: str | None) -> str | None:
    """Returns the lower-case name of the header for the key. Raises CannotRun."""
    if name is None:
        return None
    if not TOKEN.fullmatch(name) or name.lower() in CASE_HEADERS:
        raise CannotRun(f"--auth-header {name!r} isn't a header name that can be used for a key, such as api-key")
    if key is None:
        raise CannotRun("--auth-header requires a key (--api-key)")
    return name.lower()


def checked_headers(lines: Iterable[str], key: str | None, key_header: str | None = None) -> dict[str, str]:
    """Parses `Name: value` lines into headers with lower-case names. Raises CannotRun, without showing values."""
    headers: dict[str, str] = {}
    key_name = key_header or "authorization"
    for line in lines:
        name, colon, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        if not colon or not TOKEN.fullmatch(name):
            raise CannotRun("--header requires the form 'Name: value'")
        if name in CASE_HEADERS:
            raise CannotRun(f"the header {name} is set by the cases and can't be given")
        if name == key_name and key:
            raise CannotRun("the key is given twice: with --api-key and as a header")
        if name in headers:
            raise CannotRun(f"the header {name} is given twice")
        if not value or not value.isascii() or not value.isprintable():
            raise CannotRun(f"the header {name} has an empty value, or characters that aren't allowed in a header")
        headers[name] = value
    return headers


def checked_certificates(path: Path, *, insecure: bool) -> str:
    """Returns the path of a readable file of CA certificates. Raises CannotRun."""
    if insecure:
        raise CannotRun("--cacert and --insecure can't be combined")
    try:
        tls(str(path), insecure=False)
    except OSError as error:
        raise CannotRun(f"{path} has no readable certificates: {error.strerror or error}") from None
    return str(path)


# The fields that a model may refuse: "Parameter support can differ depending on the model" (openai-python 3.54.0,
# resources/chat/completions/completions.py). Each has a value that only such a model refuses, and the field that
# replaces it; None if it has to be left out.
MODEL_DEPENDENT: Mapping[str, tuple[Any, str | None]] = {
    "max_tokens": (1, "max_completion_tokens"),
    "temperature": (0.7, None),
    "top_p": (0.9, None),
    "presence_penalty": (0.5, None),
    "frequency_penalty": (0.5, None),
    # "Not supported with latest reasoning models `o3` and `o4-mini`" (the same class, `stop`).
    "stop": (["###"], None),
}

# A small request of the responses API, for a server that has no chat.
RESPONSE: Mapping[str, Any] = {"input": "Hi", "max_output_tokens": 16, "store": False}

# The statuses of an endpoint that a server doesn't have.
MISSING = (404, 405, 501)


class Prepared(NamedTuple):
    """The model to use. `replaced` are the fields that it refuses, with the field to send instead; None to send
    none."""

    model: str
    replaced: dict[str, str | None]


async def preflight(client: Client, dialect: Dialect, model: str | None) -> Prepared:
    """Returns what a run has to know of the server. The model is `model`, or the first one that is listed. Raises
    CannotRun."""
    session = Session(client, dialect, model or "", lambda _: None, _capable)
    listing = await session.raw("GET", paths()["models"])
    _require_server(listing, client.target.url)
    _require_key(listing, client.target.key)
    listed = _names(listing)
    if model is None:
        if not listed:
            if _is_page(listing):
                await _send_first(Session(client, dialect, "", lambda _: None, _capable), listing, listed)
            elsewhere = await _other_base_url(session, listing)
            why = f"the server at {client.target.url} lists no models ({_outcome(listing)}); set --model"
            raise CannotRun(elsewhere or why)
        model = next(filter(_is_text, listed), listed[0])
    if not _is_text(model):
        raise CannotRun(f"the model's name {model!a} can't be encoded in UTF-8; set --model")
    replaced = await _send_first(Session(client, dialect, model, lambda _: None, _capable), listing, listed)
    return Prepared(model, replaced)


async def _capable(_: str) -> bool:
    return False


async def _send_first(session: Session, listing: Exchange, listed: list[str]) -> dict[str, str | None]:
    """Sends first chat requests, and returns the fields that the model refuses. Raises CannotRun if the server has no
    such model."""
    exchange, replaced = await _refused_fields(session, "chat", HELLO)
    if replaced or (exchange.ok and not _is_page(exchange)):
        return replaced
    if exchange.status in MISSING and "responses" in session.dialect.operations:
        answered, replaced = await _refused_fields(session, "responses", RESPONSE)
        if replaced or (answered.ok and not _is_page(answered)):
            return replaced
    if _is_refused(exchange):
        exchange = await _when_ready(session, "chat", HELLO)
    _require_key(exchange, session.client.target.key)
    if _is_page(exchange) and _is_page(listing):
        base = session.client.target.url
        raise CannotRun(await _other_base_url(session, listing) or f"no API is at {base}: it has only HTML pages")
    # 429 says nothing about the model: the run reports it.
    if not _is_refused(exchange) or exchange.status == 429 or session.model in listed:
        return {}
    if listed:
        names = ", ".join(listed[:MAX_NAMES]) + (", …" if len(listed) > MAX_NAMES else "")
        raise CannotRun(f"the server has no model {session.model!r} ({_outcome(exchange)}); it lists {names}")
    if listing.status == 404 and exchange.status == 404:
        base = session.client.target.url
        raise CannotRun(
            await _other_base_url(session, listing) or f"neither {paths()['models']} nor {paths()['chat']} is at {base}"
        )
    return {}


async def _refused_fields(
    session: Session, endpoint: str, small: Mapping[str, Any]
) -> tuple[Exchange, dict[str, str | None]]:
    """Sends a small request of an endpoint with all fields that a model may refuse. Returns the answer, and the fields
    that the model refuses on their own, while it accepts the request without them, with the field to send instead."""
    fields = session.dialect.fields(paths()[endpoint])
    dependent = {
        name: (value, instead)
        for name, (value, instead) in MODEL_DEPENDENT.items()
        if name in fields and (instead is None or instead in fields)
    }
    values = {name: value for name, (value, _) in dependent.items()}
    exchange = await _when_ready(session, endpoint, {**small, **values})
    replaced: dict[str, str | None] = {}
    plain = {name: value for name, value in small.items() if name not in dependent}
    limit: dict[str, Any] = {}
    for name, (value, instead) in dependent.items() if exchange.status in INVALID else ():
        alone = await _when_ready(session, endpoint, {**plain, **limit, name: value})
        if alone.ok and instead:
            limit = {name: value}
        if alone.status not in INVALID or _named(alone, {*dependent}) != name:
            continue
        other = {instead: value} if instead else limit
        if (await _when_ready(session, endpoint, {**plain, **other})).ok:
            replaced[name] = instead
            limit = other
    return exchange, replaced


async def _when_ready(session: Session, endpoint: str, body: Mapping[str, Any]) -> Exchange:
    """Sends a request, and repeats it while the server answers 503: it may still be loading the model."""
    target = session.client.target
    deadline = time.monotonic() + target.timeout
    while (exchange := await session.send(endpoint, body)).status == 503:
        if time.monotonic() > deadline:
            raise CannotRun(f"the server isn't ready after {target.timeout:g} s ({_outcome(exchange)})")
        await asyncio.sleep(PAUSE)
    return exchange


def _is_refused(exchange: Exchange) -> bool:
    return exchange.status is not None and 400 <= exchange.status < 500


def _named(exchange: Exchange, fields: set[str]) -> str | None:
    """Returns the one of these fields that an error is about; None if it names none or several."""
    param = exchange.error.get("param")
    if isinstance(param, str) and param in fields:
        return param
    named = fields & set(re.findall(r"\w+", exchange.content.decode("utf-8", "replace")))
    return named.pop() if len(named) == 1 else None


def _require_server(exchange: Exchange, url: str) -> None:
    if exchange.ended == "unreachable":
        raise CannotRun(f"no server is reachable at {url}: {_without_prefix(exchange.problem)}")
    if exchange.status is None and exchange.ended == "too slow":
        raise CannotRun(f"the server at {url} doesn't answer: {exchange.problem}")
    if exchange.status is None:
        raise CannotRun(f"{url} isn't an HTTP server: {exchange.problem or exchange.ended}")
    if 300 <= exchange.status < 400:
        location = exchange.headers.get("location", "nowhere")
        raise CannotRun(f"the server at {url} redirects to {location!r} ({exchange.status}); redirects aren't followed")


def _without_prefix(problem: str | None) -> str:
    return (problem or "").removeprefix("no connection: ")


def _is_page(exchange: Exchange) -> bool:
    return exchange.media == "text/html"


def _require_key(exchange: Exchange, key: str | None) -> None:
    if exchange.status in KEYLESS:
        requirement = "rejects the key" if key else "requires a key (--api-key)"
        raise CannotRun(f"the server {requirement} ({_outcome(exchange)})")


def _outcome(exchange: Exchange) -> str:
    message: Any = exchange.error.get("message")
    detail = f": {message[:160]}" if isinstance(message, str) else ""
    return f"{exchange.request.method} {exchange.request.path} returns {exchange.status}{detail}"


def _names(listing: Exchange) -> list[str]:
    """Returns the ids of the listed models that are non-empty strings."""
    try:
        data = listing.answer.get("data") if listing.ok else None
    except Unreadable:
        return []
    entries = data if isinstance(data, list) else []
    return [
        entry["id"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"]
    ]


def _is_text(name: str) -> bool:
    """Returns whether a string can be encoded: JSON can escape lone surrogates, UTF-8 can't encode them."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


async def _other_base_url(session: Session, listing: Exchange) -> str:
    """Returns a message with the right base URL if one of the common ones has a list of models; otherwise an empty
    string."""
    base = session.client.target.url
    for path in BASES:
        elsewhere = f"/{path}{paths()['models']}"
        if full_url(base, elsewhere) != full_url(base, paths()["models"]):
            request = Request(None, "GET", elsewhere, listing.request.headers, None)
            if _names(await session.client.send(request)):
                return f"the API isn't at {base}, but at {full_url(base, '/' + path)}"
    return ""
