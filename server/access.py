"""Who may use the server: bearer keys, the hosts that it answers for, the origins of web pages, and who can reach it.

A web page can make a browser believe that the page's own name leads to this machine (DNS rebinding), and then use a
server without keys as if it were the page's own. Its requests still name the page's host, in the header `Host`.
"""

import hashlib
import hmac
import ipaddress
import logging
import os
import re
import stat
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from connexion.security import AbstractSecurityHandler
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

ENVIRONMENT = "SPECVINO_API_KEY"
METRICS_ENVIRONMENT = "SPECVINO_METRICS_KEY"

EVERY = "*"
"""Stands for all hosts, or all origins."""

logger = logging.getLogger("specvino.server")


class KeyFileError(Exception):
    """The file with the keys, or the variable, can't be used; `str()` says why in one line."""


def read_keys(file: Path | None, environment: str = ENVIRONMENT) -> frozenset[str]:
    """Returns the keys of a file, one a line, or else the one in the environment; none means that no key is needed.

    A key that is blank is a mistake, and never taken for none. Raises KeyFileError.
    """
    if file is None:
        key = os.environ.get(environment)
        if key is not None and not key.strip():
            raise KeyFileError(f"the environment variable {environment} is blank: give it a key, or unset it")
        return frozenset() if key is None else frozenset([key.strip()])
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        mode = stat.S_IMODE(file.stat().st_mode)
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(f"the API key file {file} can't be read: {error}") from error
    keys = frozenset(key for line in lines if (key := line.strip()) and not key.startswith("#"))
    if not keys:
        raise KeyFileError(f"the API key file {file} holds no key")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        logger.warning("other users can open the API key file %s (mode %03o): chmod 600 keeps them out", file, mode)
    return keys


def owner(key: bytes) -> str:
    """Returns a name for whom a key belongs to, which doesn't tell the key, for what is stored."""
    return hashlib.sha256(b"specvino owner\0" + key).hexdigest()[:32]


class BearerKeys(AbstractSecurityHandler):  # type: ignore[misc]
    """Is Connexion's handler of the bearer scheme."""

    def __init__(self, keys: frozenset[str]) -> None:
        self._keys = [key.encode("utf-8") for key in keys]
        self._owners = [owner(key) for key in self._keys]

    def get_fn(self, security_scheme: dict[str, Any], required_scopes: list[str]) -> Callable[[Any], dict[str, str]]:
        return self._check

    def _check(self, request: Any) -> dict[str, str]:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            message = "This server needs an API key, sent as 'Authorization: Bearer KEY'."
            raise ApiError(ErrorCode.INVALID_API_KEY, message)
        # The header is latin-1 on the wire; all keys are compared, so that the time says nothing about which fits.
        given = key.strip().encode("latin-1", "replace")
        fits = [hmac.compare_digest(given, known) for known in self._keys]
        if not any(fits):
            raise ApiError(ErrorCode.INVALID_API_KEY, "The API key is not one that this server accepts.")
        # Of the state that the whole exchange shares, as a handler's context is made of it.
        request.scope.setdefault("state", {})["owner"] = self._owners[fits.index(True)]
        return {"sub": "key"}


# Names that nobody can have on the internet, beside IP addresses and those without a dot.
_PRIVATE = (".localhost", ".local", ".internal", ".home.arpa")

_NAME = re.compile(r"(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_HEADER = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]*)(?::[0-9]*)?")


class HostError(ValueError):
    """A text is no name of a host; `str()` is a sentence."""


def allowed_hosts(values: Iterable[str], *, has_keys: bool) -> frozenset[str]:
    """Returns the names that are allowed beside those that nobody can have on the internet; `*` stands for all.

    Several may stand in a value, with commas between them. Without any all are allowed where the server `has_keys`, as
    a page has none. Raises HostError.
    """
    names = frozenset(part for value in values for each in value.split(",") if (part := each.strip().lower()))
    for name in names - {EVERY}:
        if not _NAME.fullmatch(name):
            raise HostError(f"an allowed host is a name without a port, as api.example.com, or *; {name!r} is neither")
    return names or frozenset([EVERY] if has_keys else [])


def is_host_allowed(header: str, names: frozenset[str]) -> bool:
    """Returns whether a server that is allowed these names answers to a `Host` header."""
    found = _HEADER.fullmatch(header.strip().lower())
    if EVERY in names or not found:
        return EVERY in names
    name = found[1].rstrip(".")
    if "." not in name or name.endswith(_PRIVATE) or _is_address(name):
        return True
    return name in names or any(each.startswith("*.") and name.endswith(each[1:]) for each in names)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Hosts:
    """Is ASGI middleware. Its errors are ApiErrors, so it stands below what gives them their envelope."""

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self.app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for name, value in scope["headers"] if scope["type"] == "http" else ():
            if name == b"host" and not is_host_allowed(host := value.decode("latin-1"), self._names):
                message = f"This server doesn't answer for the host {host[:200]!r}; --allowed-hosts names more."
                raise ApiError(ErrorCode.HOST_NOT_ALLOWED, message)
        await self.app(scope, receive, send)


_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")

# Browsers show no others to a page but the plainest.
_SHOWN = ("X-Request-Id", "X-Unsupported-Params", "Retry-After", "WWW-Authenticate")


class OriginError(ValueError):
    """A text is no origin; `str()` is a sentence."""


def allowed_origins(values: Iterable[str]) -> frozenset[str]:
    """Reads origins as browsers name them, or `*` for all; several may stand in a value, with commas between them.
    Raises OriginError."""
    origins = frozenset(part for value in values for each in value.split(",") if (part := each.strip().lower()))
    for origin in origins - {EVERY}:
        if not _ORIGIN.fullmatch(origin):
            raise OriginError(
                f"an allowed origin is a scheme and a host, as https://example.com:8443, or *; {origin!r} is neither"
            )
    return origins


class _Origins(CORSMiddleware):
    def preflight_response(self, request_headers: Any) -> Response:
        answer = super().preflight_response(request_headers)
        if answer.status_code < 400:
            return answer
        # Starlette's own words say what of the request isn't allowed: its origin, its method.
        message = f"A web page of {request_headers['origin'][:200]!r} may not send this: {bytes(answer.body).decode()}."
        error = ApiError(ErrorCode.ORIGIN_NOT_ALLOWED, message)
        kept = {name: value for name, value in answer.headers.items() if not name.startswith("content-")}
        return Response(msgspec.json.encode(error.body()), error.kind.status, kept, "application/json")


def origins_middleware(origins: frozenset[str]) -> partial[_Origins]:
    """Returns the middleware that answers preflights, and lets pages of these origins read the answers. Keys come in a
    header: no cookies do."""
    return partial(
        _Origins,
        allow_origins=sorted(origins),
        allow_methods=("GET", "POST", "DELETE"),
        allow_headers=(EVERY,),
        expose_headers=_SHOWN,
    )


class ServeError(Exception):
    """The server can't start; `str()` says why in one line."""


def require_unreachable(host: str, address: str) -> None:
    """Raises ServeError where other machines can reach the IP address that a host has."""
    if not ipaddress.ip_address(address).is_loopback:
        raise ServeError(
            f"other machines can reach {host}, so an API key is needed: --api-key-file FILE or SPECVINO_API_KEY "
            "(--insecure serves everybody without one)"
        )
