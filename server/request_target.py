"""Whom a request is for: its target and its Host header, which a proxy before the server may have read otherwise."""

import re
from collections.abc import Iterable

import httptools

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

# RFC 9110, 7.2: a host and a port, and nothing else: no path, no user. Empty is allowed. Names have no escapes, which
# no client writes, and which others may resolve.
_HOST = re.compile(rb"(\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+,;=-]*)(?::(\d{0,5}))?", re.IGNORECASE)

_PORTS = {b"http": 80, b"https": 443}


def require_one_target(target: bytes, headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raises ApiError for a Host header that isn't a host, and for a target in absolute form that names another one.

    RFC 9112, 3.2.2, says to believe the target then, and to ignore the header. Nobody but a proxy sends that form, and
    one whose two hosts differ would let its own rules see another host than this server: neither is believed.
    """
    hosts = [_HOST.fullmatch(value.strip()) for name, value in headers if name == b"host"]
    if None in hosts:
        raise ApiError(ErrorCode.INVALID_HTTP, "The Host header isn't a host with or without a port.")
    scheme, separator, _ = target.partition(b"://")
    if not separator or target.startswith((b"/", b"*")):
        return
    try:
        url = httptools.parse_url(target)
    except httptools.HttpParserInvalidURLError:
        url = None
    port = _PORTS.get(scheme.lower())
    if url is None or url.userinfo or port is None:
        raise ApiError(ErrorCode.INVALID_HTTP, "The request's target is neither a path nor an address of HTTP.")
    named = (url.host or b"").strip(b"[]").lower(), url.port or port
    for host in hosts:
        assert host is not None
        if named != (host[1].strip(b"[]").lower(), int(host[2] or port)):
            message = "The host of the request's target and that of its Host header aren't the same."
            raise ApiError(ErrorCode.INVALID_HTTP, message)
