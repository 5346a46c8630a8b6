"""A second validator of JSON answers: openapi-core, which shares no code with Schemathesis or our own validation."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from openapi_core import Config, OpenAPI
from openapi_core.datatypes import RequestParameters
from openapi_core.exceptions import OpenAPIError

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange
from specvino.document.transforms import to_31

if TYPE_CHECKING:
    from openapi_core.protocols import Request

# The largest number of validated answers of one form: each takes a millisecond, and most are the same refusals.
MOST_ALIKE = 8

_HOST = "http://server.invalid"


@dataclass
class _Request:
    """A request as openapi-core expects it; only path and method matter."""

    path: str
    method: str
    host_url: str = _HOST
    body: bytes | None = None
    content_type: str = ""
    parameters: RequestParameters = field(default_factory=RequestParameters)


@dataclass(frozen=True)
class _Answer:
    status_code: int
    content_type: str
    headers: dict[str, Any]
    data: bytes | None


class SecondValidator:
    """Validates answers by a dialect's document with openapi-core."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect.name
        self._document = dialect.document
        self._alike: Counter[tuple[str, str, int, Any]] = Counter()

    def violations(self, path: str, exchange: Exchange) -> list[str] | None:
        """Returns the violations of an answer, or None if it isn't validated: not JSON, an undocumented status (other
        checks report these), or the same form as MOST_ALIKE earlier answers. `path` is a template."""
        method, status = exchange.request.method, exchange.status or 0
        operation = self._document["paths"].get(path, {}).get(method.lower(), {})
        if exchange.media != "application/json" or str(status) not in operation.get("responses", {}):
            return None
        kind = (path, method, status, _form(exchange.content))
        self._alike[kind] += 1
        if self._alike[kind] > MOST_ALIKE:
            return None
        # Names instead of parameter values, which might not match the template.
        request = _Request(re.sub(r"[{}]", "", path), method.lower())
        answer = _Answer(status, exchange.headers["content-type"], dict(exchange.headers), exchange.content)
        return [
            _sentence(error) for error in _openapi(self._dialect).iter_response_errors(cast("Request", request), answer)
        ]


@cache
def _openapi(dialect: str) -> OpenAPI:
    """Returns a dialect's document for openapi-core. Operations are found by path, so the server's URL is irrelevant.
    The document isn't checked, which takes two seconds: that it is valid OpenAPI is tested."""
    document = Dialect(dialect).document
    if document["openapi"].startswith("3.2"):  # which openapi-core can't read
        document = to_31(document)
    paths = {path: _without_servers(item) for path, item in document["paths"].items()}
    return OpenAPI.from_dict({**document, "paths": paths, "servers": [{"url": _HOST}]}, Config(spec_validator_cls=None))


def _form(content: bytes) -> Any:
    """Returns the field names of a JSON value with the types of their values."""
    try:
        return _form_of(json.loads(content))
    except (ValueError, RecursionError):
        return None


def _form_of(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((name, _form_of(item)) for name, item in value.items())
    if isinstance(value, list):
        return frozenset(map(_form_of, value))
    return type(value)


def _without_servers(item: Any) -> Any:
    """Returns a path item without its own servers."""
    if not isinstance(item, dict):
        return item
    return {name: _without_servers(operation) for name, operation in item.items() if name != "servers"}


def _sentence(error: BaseException) -> str:
    """Returns an error with its causes, which its own text lacks."""
    causes = [str(cause) for cause in getattr(error, "schema_errors", None) or ()]
    inner = error.__cause__ if isinstance(error, OpenAPIError) else None
    if inner is not None:
        causes += [str(cause) for cause in getattr(inner, "schema_errors", None) or (inner,)]
    return f"{type(error).__name__}: {'; '.join(cause.splitlines()[0] for cause in causes if cause) or error}"
