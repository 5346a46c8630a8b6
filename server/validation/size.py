"""How much a body may hold: what many values in it cost is counted before they are made."""

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

# A body of the largest size may have one name, object or list for so many of its bytes, and one element for so many.
# Then none of the steps that make a request of it holds up the event loop for 50 ms. A text needs none of them.
BYTES_FOR_A_NAME = 256
BYTES_FOR_AN_ELEMENT = 64

# Of each any body may have as many: where bodies must be small, their bytes are bound enough.
ALWAYS = 1024


def require_size(raw: bytes, max_body: int) -> None:
    """Raises ApiError for a JSON text with more values than a body of at most `max_body` bytes may have."""
    names, elements = _most(max_body, BYTES_FOR_A_NAME), _most(max_body, BYTES_FOR_AN_ELEMENT)
    # Most bodies are within the bounds even if their texts are taken for structure.
    if _within(raw, names, elements):
        return
    # Between two strings stands a colon or a comma at the least.
    outside = _outside_strings(raw, names + elements + 1)
    if outside is not None and _within(outside, names, elements):
        return
    message = (
        f"The request body has more than {names} names, objects and lists, or more than {elements} elements, "
        "which this server accepts in all."
    )
    raise ApiError(ErrorCode.REQUEST_TOO_LARGE, message)


def most_elements(max_body: int) -> int:
    """Returns the most elements that a list may have: what is counted are the commas between them."""
    return _most(max_body, BYTES_FOR_AN_ELEMENT) + 1


def _most(max_body: int, bytes_for_one: int) -> int:
    return max(ALWAYS, max_body // bytes_for_one)


def _outside_strings(raw: bytes, most: int) -> bytes | None:
    """Returns a JSON text without what its strings hold; None if there are more than `most` strings."""
    # Without escapes, quotes are the ends of strings.
    raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(raw.split(b'"')[::2]) if raw.count(b'"') // 2 <= most else None


def _within(text: bytes, names: int, elements: int) -> bool:
    return _count(text, b":{[") <= names and _count(text, b",") <= elements


def _count(raw: bytes, characters: bytes) -> int:
    return len(raw) - len(raw.translate(None, characters))
