"""Images that requests hold or name: from their URLs to pixels."""

from specvino.handlers.media.load import Media, fetches
from specvino.handlers.media.place import MessageDraft, PlacedSource, place
from specvino.handlers.media.settings import MediaError, MediaSettings
from specvino.handlers.media.source import ImageSource, source

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
