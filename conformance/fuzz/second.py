"""A second judge of JSON answers: openapi-core, which shares no code with Schemathesis or with our own shapes."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from openapi_core.exceptions import OpenAPIError
from schemathesis import Response

from specvino.conformance.dialect import WHOLE, Dialect, lowered

if TYPE_CHECKING:
    from openapi_core.protocols import Request

_HOST = "http://server.invalid"


@dataclass
class _Request:
    """As openapi-core wants it: all that it needs of a request is which operation it is for."""

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


class SecondJudge:
    def __init__(self, dialect: Dialect) -> None:
        self._document = lowered() if dialect.name == WHOLE else dialect.document

    @cached_property
    def _judge(self) -> OpenAPI:
        """Takes a second to build. The address that was judged is of no interest to it: paths alone find operations."""
        paths = {path: _without_servers(item) for path, item in self._document["paths"].items()}
        return OpenAPI.from_dict({**self._document, "paths": paths, "servers": [{"url": _HOST}]})

    def violations(self, path: str, method: str, response: Response) -> list[str] | None:
        """None for what isn't JSON or has an undocumented status: others tell that. `path` is a template."""
        media = response.headers.get("content-type", [""])[0]
        operation = self._document["paths"].get(path, {}).get(method.lower(), {})
        if not media.startswith("application/json") or str(response.status_code) not in operation.get("responses", {}):
            return None
        headers = {name: values[0] for name, values in response.headers.items()}
        # Names in the place of the parameters: what was sent may hold anything, and would not be found.
        request = _Request(re.sub(r"[{}]", "", path), method.lower())
        answer = _Answer(response.status_code, media, headers, response.content)
        return [_sentence(error) for error in self._judge.iter_response_errors(cast("Request", request), answer)]


def _without_servers(item: Any) -> Any:
    """A path item whose operations are where all others are."""
    if not isinstance(item, dict):
        return item
    return {name: _without_servers(each) for name, each in item.items() if name != "servers"}


def _sentence(error: BaseException) -> str:
    """Its own text says only that there was an error; what it was is in its causes."""
    causes = [str(each) for each in getattr(error, "schema_errors", None) or ()]
    inner = error.__cause__ if isinstance(error, OpenAPIError) else None
    if inner is not None:
        causes += [str(each) for each in getattr(inner, "schema_errors", None) or (inner,)]
    return f"{type(error).__name__}: {'; '.join(each.splitlines()[0] for each in causes if each) or error}"
