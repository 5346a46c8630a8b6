"""Verifies refusals of images and other parts that aren't text."""

import base64
import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.server import Server

_DATA = re.compile(r"(?i)(data:[^,]{0,256};)?base64,")


# Types of items and blocks that can't become text, besides those with images.
UNREADABLE = (
    *("compaction", "compaction_trigger", "computer_call_output", "configuration_update"),
    *("server_tool_use", "web_search_tool_result"),
)


def unsupported_content(refused: RefusedRequest, server: Server) -> bool:
    part = _part(refused)
    kind = str(part.get("type")) if part else ""
    if part and "image" in kind and url_of(part) is not None:
        return not server.facts.get("vision", False) or bool(refused.value("raw"))
    return kind in UNREADABLE or re.search("image|audio|file|video|embeds|thinking|tool_reference", kind) is not None


def invalid_image(refused: RefusedRequest, server: Server) -> bool:
    url = _named_url(refused)
    if url is None or not server.facts.get("vision", True):
        return False
    return (is_in_request(url) and _is_bad(url, server.facts)) or _exceeds(
        _number_of_images(refused.body), server.facts.get("images")
    )


def invalid_image_url(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the server supports images and the URL in `param` isn't a data URL: such an image can't be
    refused for its location."""
    url = _named_url(refused)
    return url is not None and server.facts.get("vision", True) and not is_in_request(url)


def failed_to_download_image(refused: RefusedRequest, server: Server) -> bool:
    url = _named_url(refused)
    return url is not None and server.facts.get("vision", True) and re.match("(?i)https?://", url) is not None


def with_image(part: Mapping[str, Any], url: str) -> dict[str, Any]:
    """Returns a part with the image of a data URL in place of its own."""
    if "source" not in part:
        return {**part, "image_url": {"url": url}}
    media, _, data = url.removeprefix("data:").partition(";base64,")
    return {**part, "source": {"type": "base64", "media_type": media, "data": data}}


def is_in_request(url: str) -> bool:
    """Returns whether a URL contains the image itself."""
    return url.lower().startswith("data:") or _DATA.match(url) is not None


def _part(refused: RefusedRequest) -> Mapping[str, Any] | None:
    """Returns the content part that `param` refers to, directly or by a field; for a file of a list of images a part
    with it."""
    path = (refused.param or "").split(".")
    file = refused.value(refused.param or "")
    if "images" in path[-2:-1] and isinstance(file, str):
        return {"type": "image", "source": {"type": "base64", "data": file}}
    parts = (refused.value(".".join(path[:end])) for end in range(len(path), 0, -1) if path[end - 1] != "source")
    return next((part for part in parts if isinstance(part, Mapping) and "type" in part), None)


def _named_url(refused: RefusedRequest) -> str | None:
    part = _part(refused)
    return url_of(part) if part else None


def url_of(part: Mapping[str, Any]) -> str | None:
    """Returns the URL of a part's image, a data URL for the data of a source; None without one."""
    source = part.get("source") if part.get("type") == "image" else part.get("image_url")
    if isinstance(source, Mapping) and source.get("type") == "base64":
        return f"data:;base64,{source.get('data')}"
    url = source.get("url") if isinstance(source, Mapping) else source
    return url if isinstance(url, str) else None


def _is_bad(url: str, facts: Mapping[str, Any]) -> bool:
    from PIL import Image  # of the extra fuzz

    head = _DATA.match(url)
    if head is None:
        return True
    try:
        data = base64.b64decode("".join(url[head.end() :].split()), validate=True)
        with Image.open(BytesIO(data)) as image:
            if image.format not in ("PNG", "JPEG", "WEBP", "GIF", "BMP"):
                return True
            image.load()
    except Exception:  # decoders raise arbitrary exceptions for damaged files
        return True
    width, height = image.size
    ratio = facts.get("image_ratio")
    return (
        _exceeds(max(width, height), ratio and ratio * min(width, height))
        or _exceeds(len(data), facts.get("image_bytes"))
        # A limit for all images together, after they were scaled down: a single smaller image is never too large.
        or _exceeds(width * height, facts.get("image_pixels"))
    )


def _exceeds(number: float, limit: int | None) -> bool:
    return limit is not None and number > limit


def _number_of_images(value: Any) -> int:
    if isinstance(value, Mapping):
        files = value.get("images")
        own = len(files) if isinstance(files, list) else int("image_url" in value or value.get("type") == "image")
        return own + sum(map(_number_of_images, value.values()))
    return sum(map(_number_of_images, value)) if isinstance(value, list) else 0
