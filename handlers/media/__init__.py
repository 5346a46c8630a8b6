"""Images that requests contain or refer to: from their URLs to pixels."""

from specvino.handlers.media.drafts import ImageSource, MessageDraft, PlacedSource, place, source
from specvino.handlers.media.load import Media, fetches
from specvino.handlers.media.rules import MediaError, MediaSettings

__all__ = [
    "ImageSource",
    "Media",
    "MediaError",
    "MediaSettings",
    "MessageDraft",
    "PlacedSource",
    "fetches",
    "place",
    "source",
]
