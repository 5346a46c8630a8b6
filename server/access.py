"""Access to the server: bearer keys, allowed hosts and origins, and the requirement of keys on public addresses.

Hosts are checked because of DNS rebinding: a web page can point its own domain at this machine, and then use a server
without keys as if it were same-origin. The `Host` header of its requests still names the page's domain.
"""

import codecs
import hashlib
import hmac
import ipaddress
import logging
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from connexion.security import NO_VALUE, AbstractSecurityHandler
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from specvino.engine.errors import WrongInput
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

ENVIRONMENT = "SPECVINO_API_KEY"
METRICS_ENVIRONMENT = "SPECVINO_METRICS_KEY"

EVERY = "*"
"""Stands for all hosts, or all origins."""

logger = logging.getLogger("specvino.server")


class KeyFileError(WrongInput):
    """The key file or environment variable can't be used; `str()` is the reason in one line."""


class KeyLine(NamedTuple):
    """The line of a key, for errors, and the words that follow the key."""

    origin: str
    words: tuple[str, ...] = ()


def read_keys(file: Path | None, environment: str = ENVIRONMENT) -> dict[str, KeyLine]:
    """Returns the keys of a file, one per line, or else the key in the environment variable; empty if keys aren't used.

    A blank key is an error, and doesn't mean that keys aren't used. Raises KeyFileError.
    """
    if file is None:
        key = os.environ.get(environment)
        if key is not None and not key.strip():
            raise KeyFileError(f"the environment variable {environment} is blank: set it to a key, or unset it")
        return {} if key is None else {key.strip(): KeyLine(f"the environment variable {environment}")}
    try:
        content = file.read_bytes().removeprefix(codecs.BOM_UTF8)
        mode = stat.S_IMODE(file.stat().st_mode)
    except OSError as error:
        raise KeyFileError(f"the API key file {file} can't be read: {error.strerror}") from error
    keys: dict[str, KeyLine] = {}
    for number, line in enumerate(content.splitlines(), 1):
        origin = f"the API key file {file}, line {number}"
        try:
            words = line.decode("utf-8").split()
        except UnicodeDecodeError:
            raise KeyFileError(f"{origin}: the line isn't UTF-8") from None
        if not words or words[0].startswith("#"):
            continue
        if words[0] in keys:
            raise KeyFileError(f"{origin}: duplicate key")
        keys[words[0]] = KeyLine(origin, tuple(words[1:]))
    if not keys:
        raise KeyFileError(f"the API key file {file} contains no key")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        logger.warning("other users can access the API key file %s (mode %03o): use chmod 600", file, mode)
    return keys


def owner(key: bytes) -> str:
    """Returns an ID of a key's owner for stored data, which doesn't reveal the key."""
    return hashlib.sha256(b"specvino owner\0" + key).hexdigest()[:32]


class BearerKeys(AbstractSecurityHandler):  # type: ignore[misc]
    """Connexion's handler for the bearer scheme, in any case of its letters unless it must be `exact`."""

    def __init__(self, keys: frozenset[str], *, exact: bool = False) -> None:
        self._exact = exact
        self._keys = [key.encode("utf-8") for key in keys]
        self._owners = [owner(key) for key in self._keys]

    def get_fn(self, security_scheme: dict[str, Any], required_scopes: list[str]) -> Callable[[Any], dict[str, str]]:
        return self.check

    def check(self, request: Any) -> dict[str, str]:
        """Notes the key's owner in the request's state. Raises ApiError."""
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if (scheme if self._exact else scheme.capitalize()) != "Bearer" or not key.strip():
            message = "This server needs an API key, sent as 'Authorization: Bearer KEY'."
            raise ApiError(ErrorCode.INVALID_API_KEY, message)
        return self._admit(request, key)

    def _admit(self, request: Any, key: str) -> dict[str, str]:
        # The header is latin-1 on the wire. All keys are compared, so that the time doesn't reveal which one matches.
        encoded = key.strip().encode("latin-1", "replace")
        fits = [hmac.compare_digest(encoded, known) for known in self._keys]
        if not any(fits):
            raise ApiError(ErrorCode.INVALID_API_KEY, "The API key is invalid.")
        # In the state that the whole exchange shares, from which the handler's context is built.
        request.scope.setdefault("state", {})["owner"] = self._owners[fits.index(True)]
        return {"sub": "key"}


class HeaderKeys(BearerKeys):
    """Connexion's handler for keys in `x-api-key`, for operations that accept these as well as bearer keys."""

    def check(self, request: Any) -> Any:
        key = request.headers.get("x-api-key")
        return NO_VALUE if key is None else self._admit(request, key)


# Names that can't be registered on the internet, like IP addresses and names without a dot.
_PRIVATE = (".localhost", ".local", ".internal", ".home.arpa")

_NAME = re.compile(r"(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_HEADER = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]*)(?::[0-9]*)?")


class HostError(WrongInput):
    """A value isn't a hostname; `str()` is a sentence."""


def allowed_hosts(values: Iterable[str], *, has_keys: bool) -> frozenset[str]:
    """Parses hostnames to allow in addition to names that can't be registered on the internet; `*` stands for all.

    A value may contain several, separated by commas. Without values, all hosts are allowed if the server `has_keys`,
    since a web page has no key. Raises HostError.
    """
    names = frozenset(name for value in values for part in value.split(",") if (name := part.strip().lower()))
    for name in names - {EVERY}:
        if not _NAME.fullmatch(name):
            raise HostError(
                f"an allowed host must be a name without a port, such as api.example.com, or *; got {name!r}"
            )
    return names or frozenset([EVERY] if has_keys else [])


def is_host_allowed(header: str, names: frozenset[str]) -> bool:
    """Returns whether a `Host` header is allowed, given the configured names."""
    match = _HEADER.fullmatch(header.strip().lower())
    if EVERY in names or not match:
        return EVERY in names
    name = match[1].rstrip(".")
    if "." not in name or name.endswith(_PRIVATE) or _is_address(name):
        return True
    return name in names or any(allowed.startswith("*.") and name.endswith(allowed[1:]) for allowed in names)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def require_host(scope: Scope, names: frozenset[str]) -> None:
    """Raises ApiError for a request whose `Host` header isn't allowed, or that has several, or none in HTTP/1.1.

    RFC 9112, 3.2, demands it: a proxy before the server may have read another one.
    """
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    if len(hosts) > 1 or (not hosts and scope["http_version"] == "1.1"):
        message = f"The request has {len(hosts) or 'no'} Host headers; exactly one is required."
        raise ApiError(ErrorCode.INVALID_HTTP, message)
    for host in hosts:
        if not is_host_allowed(host, names):
            message = f"The host {host[:200]!r} isn't allowed. The server's operator can allow it with --allowed-hosts."
            raise ApiError(ErrorCode.HOST_NOT_ALLOWED, message)


class Hosts:
    """ASGI middleware that checks the `Host` header. It raises ApiError, so it runs inside the exception middleware."""

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self.app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            require_host(scope, self._names)
        await self.app(scope, receive, send)


_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")

# Browsers hide other response headers from web pages, except basic ones.
_SHOWN = (
    "X-Request-Id",
    "X-Unsupported-Params",
    "Retry-After",
    "WWW-Authenticate",
    *(f"X-RateLimit-{name}-{kind}" for kind in ("Requests", "Tokens") for name in ("Limit", "Remaining", "Reset")),
)


class OriginError(WrongInput):
    """A value isn't an origin; `str()` is a sentence."""


def allowed_origins(values: Iterable[str]) -> frozenset[str]:
    """Parses origins in the form that browsers send, or `*` for all. A value may contain several, separated by commas.
    Raises OriginError."""
    origins = frozenset(origin for value in values for part in value.split(",") if (origin := part.strip().lower()))
    for origin in origins - {EVERY}:
        if not _ORIGIN.fullmatch(origin):
            raise OriginError(
                f"an allowed origin must be a scheme and a host, such as https://example.com:8443, or *; got {origin!r}"
            )
    return origins


class _Origins(CORSMiddleware):
    def preflight_response(self, request_headers: Any) -> Response:
        answer = super().preflight_response(request_headers)
        if answer.status_code < 400:
            return answer
        # Starlette's text says what isn't allowed: the origin or the method.
        message = (
            f"Web pages of {request_headers['origin'][:200]!r} can't send this request: {bytes(answer.body).decode()}."
        )
        error = ApiError(ErrorCode.ORIGIN_NOT_ALLOWED, message)
        kept = {name: value for name, value in answer.headers.items() if not name.startswith("content-")}
        return Response(msgspec.json.encode(error.body()), error.kind.status, kept, "application/json")


def origins_middleware(origins: frozenset[str]) -> partial[_Origins]:
    """Returns the middleware that answers preflights and allows pages of these origins to read responses. Keys are sent
    in a header, so cookies aren't allowed."""
    return partial(
        _Origins,
        allow_origins=sorted(origins),
        allow_methods=("GET", "POST", "DELETE"),
        allow_headers=(EVERY,),
        expose_headers=_SHOWN,
    )


class Preflights:
    """ASGI middleware that answers OPTIONS at any path, as the emulated system does, with its headers. Only the
    operator decides which origins may read answers, so `Access-Control-Allow-Origin` isn't sent.
    """

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        self.app = app
        self._headers = {name: value for name, value in headers.items() if name != "Access-Control-Allow-Origin"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "OPTIONS":
            await Response(headers=self._headers)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


class ServeError(Exception):
    """The server can't start; `str()` is the reason in one line."""


class WrongOptions(WrongInput, ServeError):
    """Options are at fault."""


def require_unreachable(host: str, address: str) -> None:
    """Raises ServeError if other machines can reach `address`, the IP address of `host`."""
    if not ipaddress.ip_address(address).is_loopback:
        raise WrongOptions(
            f"other machines can reach {host}, so an API key is required: set --api-key-file FILE or SPECVINO_API_KEY "
            "(or --insecure to serve without keys)"
        )
