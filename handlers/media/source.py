"""Where the images of a request are."""

from dataclasses import dataclass

from specvino.generated import models
from specvino.handlers.or_none import or_none


@dataclass(frozen=True, slots=True)
class ImageSource:
    """Where an image is, and the dotted path of the part that says so; `detail` as requests have it."""

    param: str
    url: str
    detail: str | None


def source(param: str, url: str | models.ImageUrl, detail: str | None = None) -> ImageSource:
    """Returns the source that a part names; the `detail` in a URL's object counts where there is one."""
    if isinstance(url, str):
        return ImageSource(param, url, detail)
    return ImageSource(param, url.url, or_none(url.detail) or detail)
