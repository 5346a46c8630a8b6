"""The document of the running server, with its keys, models and limits."""

from specvino.handlers.own_document.described import OwnDocument
from specvino.handlers.own_document.facts import Door, Facts

__all__ = ["Door", "Facts", "OwnDocument"]
