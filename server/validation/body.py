"""The request's body as bytes."""

from collections.abc import Callable

from starlette.types import Receive, Scope

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError


class ClientGone(Exception):
    """The client closed the connection before its request was complete."""


def require_json(scope: Scope) -> None:
    """Refuses a body of another content type than JSON.

    One without is taken for JSON, unless a browser sends it: it does so for any web page and asks nobody before, which
    it must for JSON.
    """
    declared = by_browser = False
    for name, value in scope["headers"]:
        if name == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
            shown = value[:100].decode("latin-1")
            raise ApiError(
                ErrorCode.UNSUPPORTED_MEDIA_TYPE, f"The content encoding is {shown!r}, but must be identity."
            )
        by_browser = by_browser or name in (b"origin", b"sec-fetch-site")
        if name == b"content-type":
            declared = True
            media_type = value.split(b";", 1)[0].strip().lower()
            if media_type != b"application/json":
                shown = media_type[:100].decode("latin-1")
                raise ApiError(
                    ErrorCode.UNSUPPORTED_MEDIA_TYPE, f"The content type is {shown!r}, but must be application/json."
                )
    if by_browser and not declared:
        message = "The content type is missing, but a web page must send application/json."
        raise ApiError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, message)


async def read_body(scope: Scope, receive: Receive, limit: int, hold: Callable[[int], None]) -> bytes:
    """Returns the whole body, with or without a content length; `hold` is told the size of each piece.

    Raises ApiError over `limit` bytes, and ClientGone.
    """
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > limit:
            raise _too_large(limit)
    chunks = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        hold(len(chunk))
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


def _too_large(limit: int) -> ApiError:
    return ApiError(
        ErrorCode.REQUEST_TOO_LARGE, f"The request body is larger than the {limit} bytes that this server accepts."
    )
