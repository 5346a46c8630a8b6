"""The preflight of a run: whether the server exists and accepts the key, and which model it serves."""

import asyncio
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx

from specvino.conformance.dialect import Dialect
from specvino.conformance.endpoints import paths
from specvino.conformance.http.client import Client, full_url, tls
from specvino.conformance.http.exchange import Exchange, Request, Unreadable
from specvino.conformance.session.session import Session

KEYLESS = (401, 403)

# Common base paths of an API, for users who gave only the server.
BASES = ("/v1", "/v3", "/openai/v1", "/api/v1")

LAST_PORT = 65_535

# The name of a header.
TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")

# Headers that cases set or leave out.
OF_REQUESTS = ("content-type", "content-length", "transfer-encoding", "connection", "accept", "origin")

# Seconds between two checks whether the server is ready.
PAUSE = 1.0

# The number of models in a message.
MOST_NAMES = 8


class CannotRun(Exception):
    """Nothing can be tested; the text says why in one line."""


def checked_url(url: str) -> str:
    """Returns the base URL without a trailing slash. Raises CannotRun."""
    try:
        parsed = httpx.URL(url)
        host, port = parsed.host, parsed.port or 0
    except (httpx.InvalidURL, UnicodeError) as error:  # the host name may be invalid
        raise CannotRun(f"{url!r} is no URL: {error}") from None
    if port > LAST_PORT:
        raise CannotRun(f"{url!r} is no URL: there is no port {port}")
    if parsed.scheme not in ("http", "https") or not host:
        raise CannotRun(f"{url!r} is no URL of a server: it begins with http:// or https://")
    if parsed.userinfo:
        raise CannotRun("the URL has a name or a password in it; a key is given with --api-key")
    if parsed.query or parsed.fragment:
        raise CannotRun(f"{url!r} has more than a path; the base URL is what comes before /chat/completions")
    return url.rstrip("/").removesuffix("/chat/completions")


def checked_key(key: str | None) -> str | None:
    """Returns the key as a header can contain it. Raises CannotRun, without showing the key."""
    stripped = (key or "").strip()
    if not stripped.isascii() or any(not "!" <= character <= "~" for character in stripped):
        raise CannotRun("the key has characters that no header can carry")
    return stripped or None


def checked_key_header(name: str | None, key: str | None) -> str | None:
    """Returns the lower-case name of the header for the key. Raises CannotRun."""
    if name is None:
        return None
    if not TOKEN.fullmatch(name) or name.lower() in OF_REQUESTS:
        raise CannotRun(f"--auth-header {name!r} is no name of a header that a key could go in, such as api-key")
    if key is None:
        raise CannotRun("--auth-header says where the key goes, but there is no key; --api-key gives it")
    return name.lower()


def checked_headers(lines: Iterable[str], key: str | None, key_header: str | None = None) -> dict[str, str]:
    """Returns headers given as `Name: value`, with lower-case names. Raises CannotRun, without showing a value."""
    headers: dict[str, str] = {}
    of_key = key_header or "authorization"
    for line in lines:
        name, colon, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        if not colon or not TOKEN.fullmatch(name):
            raise CannotRun("a header is given as --header 'Name: value'")
        if name in OF_REQUESTS:
            raise CannotRun(f"the header {name} is each request's own")
        if name == of_key and key:
            raise CannotRun("the key is given twice: as a header, too")
        if name in headers:
            raise CannotRun(f"the header {name} is given twice")
        if not value or not value.isascii() or not value.isprintable():
            raise CannotRun(f"the header {name} has no value that a header can carry")
        headers[name] = value
    return headers


def checked_certificates(path: Path, *, insecure: bool) -> str:
    """Returns the path of a file with certificates. Raises CannotRun."""
    if insecure:
        raise CannotRun("--cacert says how the certificate is checked, and --insecure that it isn't")
    try:
        tls(str(path), insecure=False)
    except OSError as error:
        raise CannotRun(f"{path} holds no certificates that can be read: {error.strerror or error}") from None
    return str(path)


async def preflight(client: Client, dialect: Dialect, model: str | None) -> str:
    """Returns the model's name: `model`, or the first that the server lists. Raises CannotRun."""
    session = Session(client, dialect, model or "", lambda _: None, _capable)
    listing = await session.raw("GET", paths()["models"])
    _require_server(listing, client.target.url)
    _require_key(listing, client.target.key)
    listed = _names(listing)
    if model is None:
        if not listed:
            elsewhere = await _elsewhere(session, listing)
            why = f"the server at {client.target.url} lists no models ({_answered(listing)}); --model names one"
            raise CannotRun(elsewhere or why)
        model = next(filter(_is_text, listed), listed[0])
    if not _is_text(model):
        raise CannotRun(f"the model's name {model!a} is no text that could be sent; --model names another")
    await _first(Session(client, dialect, model, lambda _: None, _capable), listing, listed)
    return model


async def _capable(_: str) -> bool:
    return False


async def _first(session: Session, listing: Exchange, listed: list[str]) -> None:
    """Sends the first request: it may take as long as loading a model, during which many servers answer 503."""
    target = session.client.target
    deadline = time.monotonic() + target.timeout
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    while (first := await session.send("chat", body)).status == 503:
        if time.monotonic() > deadline:
            raise CannotRun(f"the server is not ready after {target.timeout:g} s ({_answered(first)})")
        await asyncio.sleep(PAUSE)
    _require_key(first, session.client.target.key)
    refused = first.status is not None and 400 <= first.status < 500
    if not refused or session.model in listed:
        return
    if listed:
        names = ", ".join(listed[:MOST_NAMES]) + (", …" if len(listed) > MOST_NAMES else "")
        raise CannotRun(f"the server has no model {session.model!r} ({_answered(first)}); it lists {names}")
    if listing.status == 404 and first.status == 404:
        base = session.client.target.url
        raise CannotRun(
            await _elsewhere(session, listing) or f"neither {paths()['models']} nor {paths()['chat']} is at {base}"
        )


def _require_server(exchange: Exchange, url: str) -> None:
    if exchange.ended == "unreachable":
        raise CannotRun(f"no server answers at {url}: {_bare(exchange.problem)}")
    if exchange.status is None and exchange.ended == "too slow":
        raise CannotRun(f"the server at {url} does not answer: {exchange.problem}")
    if exchange.status is None:
        raise CannotRun(f"what answers at {url} is no HTTP server: {exchange.problem or exchange.ended}")
    if 300 <= exchange.status < 400:
        to = exchange.headers.get("location", "nowhere")
        raise CannotRun(f"the server at {url} sends to {to!r} ({exchange.status}), which is not followed")


def _bare(problem: str | None) -> str:
    return (problem or "").removeprefix("no connection: ")


def _require_key(exchange: Exchange, key: str | None) -> None:
    if exchange.status in KEYLESS:
        requirement = "refuses the key" if key else "asks for a key, which --api-key gives"
        raise CannotRun(f"the server {requirement} ({_answered(exchange)})")


def _answered(exchange: Exchange) -> str:
    message: Any = exchange.error.get("message")
    shown = f": {message[:160]}" if isinstance(message, str) else ""
    return f"{exchange.request.method} {exchange.request.path} is answered with {exchange.status}{shown}"


def _names(listing: Exchange) -> list[str]:
    """Returns the ids of the listed models, as far as they can be read."""
    try:
        data = listing.answer.get("data") if listing.ok else None
    except Unreadable:
        return []
    entries = data if isinstance(data, list) else []
    return [
        entry["id"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"]
    ]


def _is_text(name: str) -> bool:
    """Returns whether a text can be encoded: JSON can escape lone surrogates, which UTF-8 can't encode."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


async def _elsewhere(session: Session, listing: Exchange) -> str:
    """Returns a message with the base URL of this server's API, if that is another one; otherwise an empty text."""
    base = session.client.target.url
    for path in BASES:
        elsewhere = f"/{path}{paths()['models']}"
        if full_url(base, elsewhere) != full_url(base, paths()["models"]):
            request = Request(None, "GET", elsewhere, listing.request.headers, None)
            if _names(await session.client.send(request)):
                return f"there is no API at {base}, but at {full_url(base, '/' + path)}"
    return ""
