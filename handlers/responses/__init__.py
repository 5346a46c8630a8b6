"""POST /responses."""

from specvino.handlers.responses.handler import Responses

__all__ = ["Responses"]
