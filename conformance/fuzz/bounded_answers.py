"""Bounds the answers that Schemathesis reads, as our own client does: requests has no limit of its own."""

from collections.abc import MutableMapping
from io import BytesIO
from typing import Any

import requests
from requests.exceptions import ChunkedEncodingError, ConnectionError, ContentDecodingError
from urllib3 import HTTPResponse
from urllib3.exceptions import ProtocolError, ReadTimeoutError

from specvino.conformance.http.content import BadContent, Content, TooLong
from specvino.document.operations import EVENTS

PIECE = 64 * 1024


def bound(kwargs: MutableMapping[str, Any]) -> None:
    """Adds a hook to the arguments of a request, which requests calls before it reads the content."""
    kwargs["hooks"] = {"response": _read}


def _read(response: requests.Response, **_: Any) -> None:
    """Reads the content of an answer, or of a stream only its content coding: Schemathesis reads streams by event."""
    try:
        content = Content(response.headers.get("content-encoding", ""))
        if response.headers.get("content-type", "").startswith(EVENTS):
            if response.raw.length_remaining != 0:
                content.require_known_coding()
            return
        for piece in response.raw.stream(PIECE, decode_content=False):
            content.add(piece)
    except (BadContent, TooLong) as error:
        response.close()
        raise ContentDecodingError(str(error)) from None
    # As requests does.
    except ProtocolError as error:
        raise ChunkedEncodingError(error) from error
    except ReadTimeoutError as error:
        raise ConnectionError(error) from error
    headers, raw = response.raw.headers.copy(), response.raw
    if content.is_coded:
        headers.discard("content-encoding")
        headers.discard("content-length")
    response.raw = HTTPResponse(
        BytesIO(content.decoded), headers, raw.status, raw.version, reason=raw.reason, preload_content=False
    )
