"""An image in the request itself: data:image/png;base64,... ; the type in it is not believed, so it isn't read."""

import re

from specvino.handlers.media.refusals import InvalidImage
from specvino.handlers.media.settings import MAX_BYTES

# OpenVINO Model Server takes it also without the type.
_HEAD = re.compile(r"(data:[^,]{0,256};)?base64,", re.IGNORECASE)


def is_data_url(url: str) -> bool:
    """Returns whether the image is in the URL itself."""
    return url[:5].lower() == "data:" or _HEAD.match(url) is not None


def base64_of(url: str) -> str:
    """Returns what stands behind the head, which may still be no base64. Raises InvalidImage."""
    head = _HEAD.match(url)
    if head is None:
        raise InvalidImage("The data URL is not in base64.")
    text = url[head.end() :]
    if len(text) // 4 * 3 > MAX_BYTES:
        raise InvalidImage(f"The image has more than {MAX_BYTES:,} bytes.")
    return text
