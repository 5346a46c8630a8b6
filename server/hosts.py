"""The names that clients may call the server by (the header `Host`).

A web page can make a browser believe that the page's own name leads to this machine (DNS rebinding), and then use a
server without keys as if it were the page's own. Its requests still name the page's host.
"""

import ipaddress
import re
from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

EVERY = "*"

# Names that nobody can have on the internet, beside IP addresses and those without a dot.
_PRIVATE = (".localhost", ".local", ".internal", ".home.arpa")

_NAME = re.compile(r"(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_HEADER = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]*)(?::[0-9]*)?")


class HostError(ValueError):
    """A text is no name of a host; `str()` is a sentence."""


def parse(values: Iterable[str], *, has_keys: bool) -> frozenset[str]:
    """Returns the names that are allowed beside those that nobody can have on the internet; `*` stands for all.

    Several may stand in a value, with commas between them. Without any all are allowed where the server `has_keys`, as
    a page has none. Raises HostError.
    """
    names = frozenset(part for value in values for each in value.split(",") if (part := each.strip().lower()))
    for name in names - {EVERY}:
        if not _NAME.fullmatch(name):
            raise HostError(f"an allowed host is a name without a port, as api.example.com, or *; {name!r} is neither")
    return names or frozenset([EVERY] if has_keys else [])


def is_allowed(header: str, names: frozenset[str]) -> bool:
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
            if name == b"host" and not is_allowed(host := value.decode("latin-1"), self._names):
                message = f"This server doesn't answer for the host {host[:200]!r}; --allowed-hosts names more."
                raise ApiError(ErrorCode.HOST_NOT_ALLOWED, message)
        await self.app(scope, receive, send)
