"""Images that requests hold or name: from their URLs to pixels."""

from specvino.handlers.media.load import ImageSource, Media, source
from specvino.handlers.media.place import place
from specvino.handlers.media.settings import MediaError, MediaSettings

__all__ = ["ImageSource", "Media", "MediaError", "MediaSettings", "place", "source"]
